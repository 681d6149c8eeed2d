// The film's shots as small pictures along its time, on the same scale as the strip below it.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { shotAt } from "./follow.ts";

const PICTURE_PX = 78;
const STEP_S = 5;
const PAGE_S = 60;

export class Timeline {
  readonly root: HTMLElement;
  private readonly pictures = element("div", { class: "pictures", "aria-hidden": "true" });
  private readonly head = element("div", { class: "playhead", "aria-hidden": "true" });
  private readonly preview = element("img", { alt: "" });
  private readonly previewTime = element("span");
  private readonly tip: HTMLElement;
  private isDragging = false;

  constructor(private readonly app: App) {
    this.tip = element("div", { class: "shot-tip", hidden: true }, this.preview, this.previewTime);
    this.root = element(
      "div",
      { class: "timeline", role: "slider", tabindex: 0, "aria-label": "Time in the film", "aria-valuemin": 0 },
      this.pictures,
      this.head,
      this.tip,
    );
    this.root.setAttribute("aria-valuemax", String(Math.round(app.payload.film.duration_s)));
    this.root.hidden = app.payload.thumbnails.every((thumbnail) => thumbnail === null);
    this.listen();
    this.showTime();
  }

  private listen(): void {
    const { root, app } = this;
    root.addEventListener("pointerdown", (event) => {
      root.setPointerCapture(event.pointerId);
      this.isDragging = true;
      this.seekTo(event);
    });
    root.addEventListener("pointermove", (event) => {
      if (this.isDragging) this.seekTo(event);
      this.showTip(event);
    });
    root.addEventListener("pointerup", () => (this.isDragging = false));
    root.addEventListener("pointercancel", () => (this.isDragging = false));
    root.addEventListener("pointerleave", () => (this.tip.hidden = true));
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const times_s: Record<string, number> = {
        ArrowUp: app.time_s + STEP_S,
        ArrowDown: app.time_s - STEP_S,
        PageUp: app.time_s + PAGE_S,
        PageDown: app.time_s - PAGE_S,
        Home: 0,
        End: app.payload.film.duration_s,
      };
      if (!(event.key in times_s)) return;
      event.preventDefault();
      app.seek(times_s[event.key]);
    });
    app.on("time", () => this.showTime());
    app.on(["axes", "veil", "links"], () => this.fill());
    new ResizeObserver(() => this.fill()).observe(root);
  }

  private timeAt(event: PointerEvent): number {
    const box = this.root.getBoundingClientRect();
    return this.app.filmAxis.toValue(event.clientX - box.left, box.width);
  }

  private seekTo(event: PointerEvent): void {
    this.app.seek(this.timeAt(event));
  }

  /** The picture of the shot at a time, unless it is still to be hidden. */
  private pictureAt(time_s: number): string | null {
    const { film, thumbnails } = this.app.payload;
    const shot = shotAt(film.shots, time_s);
    if (shot === null || film.shots[shot][0] > this.app.seenLimit_s) return null;
    return thumbnails[shot] ?? null;
  }

  private fill(): void {
    const width_px = this.root.clientWidth;
    if (width_px === 0) return;
    const count = Math.max(1, Math.round(width_px / PICTURE_PX));
    while (this.pictures.children.length > count) this.pictures.lastElementChild!.remove();
    while (this.pictures.children.length < count) {
      this.pictures.append(element("img", { alt: "", draggable: "false", loading: "lazy" }));
    }
    [...this.pictures.children].forEach((child, k) => {
      const image = child as HTMLImageElement;
      const time_s = this.app.filmAxis.toValue((k + 0.5) / count, 1);
      const picture = this.pictureAt(time_s);
      image.classList.toggle("none", picture === null);
      if (picture === null) image.removeAttribute("src");
      else if (image.getAttribute("src") !== picture) image.src = picture;
    });
    this.showTime();
  }

  private showTime(): void {
    const { app } = this;
    const x = app.filmAxis.toPixel(app.time_s, this.root.clientWidth);
    this.head.style.transform = `translateX(${x}px)`;
    const seconds = String(Math.round(app.time_s));
    if (this.root.getAttribute("aria-valuenow") === seconds) return;
    this.root.setAttribute("aria-valuenow", seconds);
    this.root.setAttribute("aria-valuetext", app.when(app.time_s));
  }

  private showTip(event: PointerEvent): void {
    const time_s = this.timeAt(event);
    const picture = this.pictureAt(time_s);
    this.tip.hidden = event.pointerType !== "mouse";
    this.preview.hidden = picture === null;
    if (picture !== null) this.preview.src = picture;
    this.previewTime.textContent = this.app.when(time_s);
    const box = this.root.getBoundingClientRect();
    const x = Math.max(0, Math.min(box.width - 168, event.clientX - box.left - 84));
    this.tip.style.transform = `translateX(${x}px)`;
  }
}
