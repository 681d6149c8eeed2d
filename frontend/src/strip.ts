// The alignment strip: film time above, the book below, a line a link (the paper's figure, live).

import type { App } from "./app.ts";
import { element, iconButton } from "./dom.ts";
import { RULER_PX, StripDrawing } from "./strip_drawing.ts";
import { certainty, percent } from "./words.ts";

const DRAG_PX = 4;
/** Moments that PageUp and PageDown go by. */
const PAGE = 10;

export interface StripHandlers {
  /** The reader takes the current link by its lower end. */
  dragLink(event: PointerEvent): void;
  showSentence(sentence: number): void;
}

export class Strip {
  readonly root: HTMLElement;
  private readonly board: HTMLElement;
  private readonly drawing: StripDrawing;
  private readonly tip = element("div", { class: "tip", hidden: true });
  private dragFrom: { x: number; film: number; book: number; moved: boolean } | null = null;

  constructor(
    private readonly app: App,
    private readonly handlers: StripHandlers,
  ) {
    this.board = element(
      "div",
      { class: "strip-board", role: "slider", tabindex: 0, "aria-label": "Alignment strip: moments of the film", "aria-valuemin": 0 },
      this.tip,
    );
    this.drawing = new StripDrawing(app, this.board);
    this.board.setAttribute("aria-valuemax", String(Math.max(0, app.payload.moments.length - 1)));
    const legend = element(
      "p",
      { class: "legend" },
      element("span", { class: "key spoken" }, "spoken"),
      element("span", { class: "key silent" }, "silent"),
      element("span", { class: "key judged" }, "judged"),
    );
    const zoom = element(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom of the strip" },
      iconButton("minus", "Zoom out (−)", () => this.zoom(1.5)),
      iconButton("plus", "Zoom in (+)", () => this.zoom(1 / 1.5)),
      iconButton("whole", "Show all of it (0)", () => this.showAll()),
    );
    const foot = element("div", { class: "strip-foot" }, legend, zoom);
    this.root = element("section", { class: "strip", "aria-label": "Alignment" }, this.board, foot);
    this.listen();
    this.showValue();
  }

  private listen(): void {
    const { app, board } = this;
    app.on("moment", () => this.onMoment());
    app.on("links", () => this.showValue());
    board.addEventListener("pointerdown", (event) => this.onDown(event));
    board.addEventListener("pointermove", (event) => this.onMove(event));
    board.addEventListener("pointerup", (event) => this.onUp(event));
    board.addEventListener("pointerleave", () => this.hover(null));
    board.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    board.addEventListener("keydown", (event) => this.onKey(event));
  }

  // ---- where things are

  /** The sentence below a point of the screen, where the point is on the lower half of the strip. */
  sentenceAt(x: number, y: number): number | null {
    const box = this.board.getBoundingClientRect();
    const isInside = x >= box.left && x <= box.right && y > box.top + box.height / 2 && y <= box.bottom;
    if (!isInside) return null;
    const at = Math.floor(this.app.bookAxis.toValue(x - box.left, this.drawing.width_px));
    const sentence = Math.min(this.app.book.sentences.length - 1, at);
    return this.app.isTold(sentence) ? sentence : null;
  }

  private isOnHandle(x: number, y: number): boolean {
    const { link } = this.app;
    return link !== null && Math.hypot(x - this.drawing.bookX(link.sentence), y - this.drawing.bottom_px) < 14;
  }

  // ---- acting

  private point(event: PointerEvent | WheelEvent): [number, number] {
    const box = this.board.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    const [x, y] = this.point(event);
    if (this.isOnHandle(x, y)) return this.handlers.dragLink(event);
    this.board.setPointerCapture(event.pointerId);
    const { filmAxis, bookAxis } = this.app;
    this.dragFrom = { x, film: filmAxis.start, book: bookAxis.start, moved: false };
  }

  private onMove(event: PointerEvent): void {
    const [x, y] = this.point(event);
    const from = this.dragFrom;
    if (!from) {
      this.board.style.cursor = this.isOnHandle(x, y) ? "grab" : "";
      return this.hover(this.drawing.momentNear(x, y), x);
    }
    from.moved ||= Math.abs(x - from.x) > DRAG_PX;
    if (!from.moved) return;
    const { filmAxis, bookAxis } = this.app;
    if (y < RULER_PX + 8 || (filmAxis.isWhole && bookAxis.isWhole)) {
      this.app.seek(filmAxis.toValue(x, this.drawing.width_px));
    } else {
      const share = (from.x - x) / Math.max(1, this.drawing.width_px);
      filmAxis.pan(from.film + share * filmAxis.span - filmAxis.start);
      bookAxis.pan(from.book + share * bookAxis.span - bookAxis.start);
      this.app.emit("axes");
    }
  }

  private onUp(event: PointerEvent): void {
    const from = this.dragFrom;
    this.dragFrom = null;
    if (!from || from.moved) return;
    const [x, y] = this.point(event);
    const near = this.drawing.momentNear(x, y);
    if (near !== null) this.app.goTo(near);
    else if (y < this.drawing.height_px / 2) this.app.seek(this.app.filmAxis.toValue(x, this.drawing.width_px));
    else {
      const sentence = this.sentenceAt(event.clientX, event.clientY);
      if (sentence !== null) this.handlers.showSentence(sentence);
    }
  }

  /** Above, the film's axis; below, the book's; between, both. */
  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    const [x, y] = this.point(event);
    const { filmAxis, bookAxis } = this.app;
    const share = y / Math.max(1, this.drawing.height_px);
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const amount = (event.deltaX || event.deltaY) / Math.max(1, this.drawing.width_px);
      filmAxis.pan(amount * filmAxis.span);
      bookAxis.pan(amount * bookAxis.span);
    } else {
      const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004);
      if (share < 0.7) filmAxis.zoom(factor, filmAxis.toValue(x, this.drawing.width_px));
      if (share > 0.3) bookAxis.zoom(factor, bookAxis.toValue(x, this.drawing.width_px));
    }
    this.app.emit("axes");
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.app.payload.moments.length - 1;
    const acts: Record<string, () => void> = {
      ArrowRight: () => this.app.step(1),
      ArrowUp: () => this.app.step(1),
      ArrowLeft: () => this.app.step(-1),
      ArrowDown: () => this.app.step(-1),
      PageUp: () => this.app.goTo(Math.min(last, (this.app.moment ?? 0) + PAGE)),
      PageDown: () => this.app.goTo(Math.max(0, (this.app.moment ?? 0) - PAGE)),
      Home: () => this.app.goTo(0),
      End: () => this.app.goTo(last),
      "+": () => this.zoom(1 / 1.5),
      "=": () => this.zoom(1 / 1.5),
      "-": () => this.zoom(1.5),
      "0": () => this.showAll(),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** Zooms both axes around the current link. */
  zoom(factor: number): void {
    const { filmAxis, bookAxis, link, time_s } = this.app;
    filmAxis.zoom(factor, time_s);
    bookAxis.zoom(factor, link ? link.sentence : (bookAxis.start + bookAxis.end) / 2);
    this.revealNow();
    this.app.emit("axes");
  }

  showAll(): void {
    this.app.filmAxis.whole();
    this.app.bookAxis.whole();
    this.app.emit("axes");
  }

  private revealNow(): boolean {
    const { filmAxis, bookAxis, link, time_s } = this.app;
    const film = filmAxis.isWhole ? false : filmAxis.reveal(time_s);
    const book = bookAxis.isWhole || !link ? false : bookAxis.reveal(link.sentence);
    return film || book;
  }

  private onMoment(): void {
    if (!this.dragFrom && this.revealNow()) this.app.emit("axes");
    this.showValue();
  }

  private showValue(): void {
    const { app } = this;
    this.board.setAttribute("aria-valuenow", String(app.moment ?? 0));
    const link = app.link;
    const place = link ? `${app.book.chapterTitleOf(link.sentence)}, ${certainty(link.score)}` : "no link";
    this.board.setAttribute("aria-valuetext", `${app.when(app.time_s)}, ${place}`);
  }

  private hover(moment: number | null, x = 0): void {
    if (moment !== this.drawing.hovered) {
      this.drawing.hovered = moment;
      this.drawing.draw();
    }
    this.tip.hidden = moment === null;
    if (moment === null) return;
    const { text, start_s } = this.app.payload.moments[moment];
    const { sentence, score } = this.app.links[moment];
    const spoken = text || "(nobody speaks)";
    this.tip.replaceChildren(
      element("b", {}, `${this.app.when(start_s)} · ${percent(score)}`),
      element("span", {}, spoken),
      element("q", {}, this.app.book.sentences[sentence]),
    );
    this.tip.style.left = `${Math.max(0, Math.min(this.drawing.width_px - 260, x - 130))}px`;
  }
}
