// The spoken lines of the film as a list that follows it.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { countUpTo } from "./order.ts";
import { VirtualList } from "./virtual_list.ts";
import { whenBriefly } from "./parts.ts";

const LINE_PX = 32;
/** Letters of a line in the list, about. */
const LETTERS = 60;
/** Where the current line comes to stand, as a share of the height. */
const PLACE = 0.35;

export class Transcript {
  readonly root: HTMLElement;
  private readonly list: VirtualList;
  /** The moments in which somebody speaks. */
  private readonly spoken: number[];
  private now: number | null = null;
  private isFollowing = true;
  private width_px = 0;

  constructor(private readonly app: App) {
    this.spoken = app.payload.moments.flatMap(({ text }, i) => (text === "" ? [] : [i]));
    const sheet = element("div", { class: "transcript-sheet" });
    this.root = element("section", { class: "transcript", tabindex: 0, "aria-label": "Transcript" }, sheet);
    this.list = new VirtualList(this.root, sheet, element("div"), (k) => this.makeLine(k));
    this.root.addEventListener("scroll", () => this.onScroll(), { passive: true });
    app.on("moment", () => this.follow());
    app.on(["links", "display"], () => this.reset());
    new ResizeObserver(() => this.reset()).observe(this.root);
  }

  private get isShown(): boolean {
    return this.root.clientHeight > 0 && this.spoken.length > 0;
  }

  private reset(): void {
    if (!this.isShown) return;
    const { moments } = this.app.payload;
    this.list.reset(
      this.spoken.map((i) => (this.app.isHidden(i) ? 0 : LINE_PX * Math.ceil(moments[i].text.length / LETTERS))),
      () => this.width_px === this.root.clientWidth,
    );
    this.width_px = this.root.clientWidth;
    this.follow();
  }

  private makeLine(k: number): HTMLElement {
    const { app } = this;
    const { start_s, text } = app.payload.moments[this.spoken[k]];
    const line = element(
      "button",
      { type: "button", class: "line", tabindex: -1, click: () => app.goTo(this.spoken[k]) },
      element("span", { class: "line-time" }, whenBriefly(app.payload.film, start_s)),
      element("span", { class: "line-text", lang: app.payload.film.language ?? null, dir: "auto" }, text),
    );
    this.paint(k, line);
    return line;
  }

  private paint(k: number, line: HTMLElement): void {
    line.classList.toggle("in-book", this.app.shownLink(this.spoken[k]) !== null);
    line.classList.toggle("now", k === this.now);
    if (k === this.now) line.setAttribute("aria-current", "true");
    else line.removeAttribute("aria-current");
  }

  private repaint(): void {
    for (const [k, line] of this.list.items) this.paint(k, line);
  }

  /** After the film, unless the reader has scrolled away from it. */
  private follow(): void {
    const { moment } = this.app;
    this.now = moment === null ? null : countUpTo(this.spoken.length, (k) => this.spoken[k], moment) - 1;
    if (!this.isShown) return;
    this.repaint();
    if (!this.isFollowing || this.now === null || this.now < 0) return;
    for (let pass = 0; pass < 2; pass++) {
      this.list.scrollTo(this.list.heights.before(this.now) - PLACE * this.root.clientHeight);
      this.list.render();
    }
  }

  private onScroll(): void {
    const isReader = this.list.isReaderScroll();
    this.list.render();
    if (!isReader || this.now === null) return;
    const distance_px = this.list.heights.before(this.now) - this.list.top_px;
    this.isFollowing = distance_px >= 0 && distance_px < this.root.clientHeight;
  }
}
