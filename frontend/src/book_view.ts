// The book: a long scroll of which only the visible paragraphs are in the document.

import type { App } from "./app.ts";
import { element, icon, isStill } from "./dom.ts";
import { Heights } from "./heights.ts";
import { clamp } from "./order.ts";
import { decorate, makeParagraph, sentencesIn } from "./paragraph_view.ts";

/** Rendered above and below what is seen. */
const OVERSCAN_PX = 900;
/** Where the current sentence comes to stand, and where it may stand, as shares of the height. */
const PLACE = 0.36;
const COMFORT: [number, number] = [0.14, 0.62];
const SOFTNESS_MS = 150;
const HEAD_PX = 130;

export class BookView {
  readonly root: HTMLElement;
  readonly scroller: HTMLElement;
  private readonly sheet = element("div", { class: "sheet" });
  private readonly window = element("div", { class: "window" });
  private readonly tail: HTMLElement;
  private readonly back: HTMLButtonElement;
  private readonly items = new Map<number, HTMLElement>();
  private heights = new Heights([]);
  private width_px = 0;
  /** Where we scrolled to ourselves: anything else is the reader's doing. */
  private expected_px = 0;
  private target: number | null = null;
  private animation = 0;
  private last_ms = 0;

  constructor(private readonly app: App) {
    this.sheet.append(this.window);
    const show = element("button", { type: "button", click: () => app.setSpoilers(false) }, "Show the whole book");
    this.tail = element(
      "div",
      { class: "veil-note", hidden: true },
      element("p", {}, "The book goes on when the film has got there."),
      show,
    );
    this.sheet.append(this.tail);
    this.scroller = element(
      "div",
      { class: "book-scroll", tabindex: 0, role: "region", "aria-label": "Text of the book" },
      this.sheet,
    );
    this.back = element(
      "button",
      { type: "button", class: "back-button", hidden: true, click: () => app.setFollowing(true) },
      icon("down"),
      "Back to the film’s place",
    );
    this.root = element("section", { class: "book", "aria-label": "Book" }, this.scroller, this.back);
    this.listen();
  }

  private listen(): void {
    const { app } = this;
    this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
    this.scroller.addEventListener("click", (event) => this.onClick(event));
    app.on(["moment", "links", "picked"], () => this.repaint());
    app.on(["moment", "links"], () => this.follow());
    app.on("follow", () => {
      this.follow(true);
      this.showBack();
    });
    app.on("veil", () => this.reset());
    new ResizeObserver(() => this.onResize()).observe(this.scroller);
  }

  /** Fills the book for the first time; the view must be in the document. */
  start(): void {
    this.onResize();
    const { awayAt } = this.app.kept;
    if (awayAt !== null) this.setScroll(this.heights.before(Math.min(awayAt, this.heights.size - 1)));
    else if (this.app.link) this.show(this.app.link.sentence, false);
    this.render();
    this.showBack();
  }

  // ---- the list

  /** Paragraphs that may be shown. */
  private get count(): number {
    const { book, veil } = this.app;
    if (veil < 0) return 0;
    return veil >= book.sentences.length ? book.paragraphs.length : book.paragraphOf(veil) + 1;
  }

  /** Measures anew after a change of width, or of what may be shown; the place is kept. */
  private reset(): void {
    const top = this.heights.size > 0 ? this.heights.at(this.scroller.scrollTop) : 0;
    const within_px = this.scroller.scrollTop - this.heights.before(top);
    this.items.clear();
    this.window.replaceChildren();
    this.heights = new Heights(this.estimates());
    this.tail.hidden = this.count === this.app.book.paragraphs.length;
    this.sizeSheet();
    this.setScroll(this.heights.before(Math.min(top, this.heights.size)) + within_px);
    this.render();
    this.follow();
    this.showBack();
  }

  private estimates(): number[] {
    const { book } = this.app;
    const style = getComputedStyle(this.sheet);
    const font_px = parseFloat(style.fontSize);
    const line_px = parseFloat(style.lineHeight);
    const perLine = Math.max(10, this.sheet.clientWidth / (font_px * 0.45));
    const heads = new Set(book.chapters.map((chapter) => chapter.paragraph));
    return Array.from({ length: this.count }, (_, p) => {
      const [first, end] = book.sentencesOf(p);
      let characters = 0;
      for (let j = first; j < end; j++) characters += book.sentences[j].length + 1;
      return Math.ceil(characters / perLine) * line_px + (heads.has(p) ? HEAD_PX : 0);
    });
  }

  private sizeSheet(): void {
    this.sheet.style.height = `${this.heights.before(this.heights.size) + (this.tail.hidden ? 0 : 180)}px`;
    this.tail.style.top = `${this.heights.before(this.heights.size)}px`;
  }

  /** Brings into the document what is seen, and takes out what is not. */
  private render(): void {
    const top_px = this.scroller.scrollTop;
    if (this.heights.size === 0) return;
    const first = this.heights.at(top_px - OVERSCAN_PX);
    const last = this.heights.at(top_px + this.scroller.clientHeight + OVERSCAN_PX);
    for (const [p, item] of this.items) {
      if (p >= first && p <= last) continue;
      item.remove();
      this.items.delete(p);
    }
    const fresh: number[] = [];
    let before: Element | null = null;
    for (let p = last; p >= first; p--) {
      let item = this.items.get(p);
      if (!item) {
        item = makeParagraph(this.app, p);
        this.items.set(p, item);
        this.window.insertBefore(item, before);
        fresh.push(p);
      }
      before = item;
    }
    this.measure(fresh);
    this.window.style.transform = `translateY(${this.heights.before(first)}px)`;
  }

  /** Takes the true heights of new paragraphs, so that what is read stays where it is. */
  private measure(fresh: number[]): void {
    if (fresh.length === 0) return;
    const top_px = this.scroller.scrollTop;
    const anchor = this.heights.at(top_px);
    let growth_px = 0;
    for (const p of fresh) {
      const growth = this.heights.set(p, this.items.get(p)!.getBoundingClientRect().height);
      if (p < anchor) growth_px += growth;
    }
    this.sizeSheet();
    if (Math.abs(growth_px) >= 1) this.setScroll(top_px + growth_px);
  }

  private setScroll(top_px: number): void {
    this.scroller.scrollTop = top_px;
    this.expected_px = this.scroller.scrollTop;
  }

  private onResize(): void {
    const width_px = this.sheet.clientWidth;
    if (width_px === this.width_px) return this.render();
    this.width_px = width_px;
    return this.reset();
  }

  private onScroll(): void {
    const isOurs = Math.abs(this.scroller.scrollTop - this.expected_px) <= 2;
    this.expected_px = this.scroller.scrollTop;
    this.render();
    if (isOurs) return;
    this.stop();
    this.app.kept.awayAt = this.heights.at(this.scroller.scrollTop);
    this.app.setFollowing(this.isPlaceSeen());
    if (this.app.isFollowing) this.app.kept.awayAt = null;
    this.app.saveSoon();
    this.showBack();
  }

  /** Selecting text is not clicking: only a plain click on a sentence acts. */
  private onClick(event: MouseEvent): void {
    const span = (event.target as Element).closest<HTMLElement>(".sentence");
    if (!span || getSelection()?.isCollapsed === false) return;
    const sentence = Number(span.dataset.sentence);
    this.app.pick(sentence);
    span.focus({ preventScroll: true });
    if (this.app.momentsOf.has(sentence)) this.app.playSentence(sentence);
  }

  private repaint(): void {
    for (const item of this.items.values()) decorate(this.app, item);
  }

  // ---- moving

  /** Follows the film again, also where it was followed but its passage is out of view. */
  comeBack(): void {
    if (this.app.isFollowing) this.follow(true);
    else this.app.setFollowing(true);
  }

  sentenceElement(sentence: number): HTMLElement | null {
    const item = this.items.get(this.app.book.paragraphOf(sentence));
    if (!item) return null;
    return sentencesIn(item).find((span) => Number(span.dataset.sentence) === sentence) ?? null;
  }

  /** The top of a sentence in the scroller: exact where it is rendered, estimated where not. */
  private topOf(sentence: number): number {
    const span = this.sentenceElement(sentence);
    if (!span) return this.heights.before(this.app.book.paragraphOf(sentence));
    // A sentence may start at the end of a line: its first line counts.
    const first = span.getClientRects()[0] ?? span.getBoundingClientRect();
    return first.top - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop;
  }

  private placeFor(sentence: number): number {
    const height_px = this.scroller.clientHeight;
    const limit_px = this.scroller.scrollHeight - height_px;
    return clamp(this.topOf(sentence) - height_px * PLACE, 0, Math.max(0, limit_px));
  }

  /** Whether the current passage is on screen (or there is none to miss). */
  private isPlaceSeen(): boolean {
    const { link } = this.app;
    if (!link) return this.app.isFollowing;
    const top_px = this.topOf(link.sentence) - this.scroller.scrollTop;
    return top_px > 0 && top_px < this.scroller.clientHeight - 20;
  }

  /** After the film, unless the reader is elsewhere or the place is well in view. */
  private follow(isForced = false): void {
    const { link, isFollowing } = this.app;
    if (!isFollowing) return this.showBack();
    if (!link) return;
    const share = (this.topOf(link.sentence) - this.scroller.scrollTop) / this.scroller.clientHeight;
    if (isForced || share < COMFORT[0] || share > COMFORT[1]) this.show(link.sentence, true);
  }

  /** Scrolls to a sentence, softly if asked and if the reader does not mind motion. */
  show(sentence: number, isSoft: boolean): void {
    this.stop();
    const height_px = this.scroller.clientHeight;
    const distance_px = this.topOf(sentence) - height_px * PLACE - this.scroller.scrollTop;
    if (isSoft && !isStill()) {
      // A leap over chapters shows only its end.
      const leap_px = Math.abs(distance_px) - 1.5 * height_px;
      if (leap_px > 0) this.setScroll(this.scroller.scrollTop + Math.sign(distance_px) * leap_px);
      this.target = sentence;
      this.last_ms = performance.now();
      this.animation = requestAnimationFrame(this.glide);
      return;
    }
    // Each pass renders and measures more of what lies around the place.
    for (let pass = 0; pass < 3; pass++) {
      this.setScroll(this.placeFor(sentence));
      this.render();
    }
  }

  private readonly glide = (now_ms: number): void => {
    if (this.target === null) return;
    this.render();
    const rest_px = this.placeFor(this.target) - this.scroller.scrollTop;
    const share = 1 - Math.exp(-Math.min(50, now_ms - this.last_ms) / SOFTNESS_MS);
    this.last_ms = now_ms;
    const step_px = Math.abs(rest_px) < 2 ? rest_px : rest_px * share + Math.sign(rest_px) * 0.6;
    const before_px = this.scroller.scrollTop;
    this.setScroll(before_px + step_px);
    const isThere = Math.abs(rest_px) < 2 || this.scroller.scrollTop === before_px;
    if (isThere) this.stop();
    else this.animation = requestAnimationFrame(this.glide);
  };

  private stop(): void {
    cancelAnimationFrame(this.animation);
    this.target = null;
  }

  private showBack(): void {
    const { link, isFollowing } = this.app;
    this.back.hidden = isFollowing;
    const isAbove = link !== null && this.topOf(link.sentence) < this.scroller.scrollTop;
    this.back.classList.toggle("up", isAbove);
  }

  /** Picks the sentence after or before the picked one (or the current one) and focuses it. */
  pickNext(step: 1 | -1): void {
    const { app } = this;
    const from = app.picked ?? app.link?.sentence ?? app.book.sentencesOf(this.heights.at(this.scroller.scrollTop + 40))[0] - step;
    const last = Math.min(app.book.sentences.length - 1, app.veil);
    this.pickAt(clamp(from + step, 0, Math.max(0, last)));
  }

  /** Picks a sentence, brings it into view and focuses it. */
  pickAt(sentence: number): void {
    this.app.pick(sentence);
    const share = (this.topOf(sentence) - this.scroller.scrollTop) / this.scroller.clientHeight;
    if (!this.sentenceElement(sentence) || share < 0.05 || share > 0.85) {
      this.show(sentence, false);
      this.app.kept.awayAt = this.heights.at(this.scroller.scrollTop);
      this.app.setFollowing(this.isPlaceSeen());
    }
    this.sentenceElement(sentence)?.focus({ preventScroll: true });
  }
}
