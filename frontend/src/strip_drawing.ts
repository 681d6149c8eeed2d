// Drawing the strip: lines that rarely change on one canvas, what moves on another above it.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { countUpTo } from "./order.ts";
import { toldRuns } from "./spoilers.ts";
import { clock } from "./words.ts";

export const RULER_PX = 18;
const SHELF_PX = 22;
const NEAR_PX = 6;
const MARK_PX = 8;
const GUESS_DASH = [2, 4];
const FONT = "11px system-ui, sans-serif";
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];
const COLOURS = ["spoken", "silent", "judged", "lit", "faint", "shelf", "shelf-ink"] as const;

export class StripDrawing {
  readonly base = element("canvas", { "aria-hidden": "true" });
  readonly top = element("canvas", { "aria-hidden": "true" });
  width_px = 0;
  height_px = 0;
  hovered: number | null = null;
  private colours: Record<string, string> = {};
  private isDirty = true;
  private frame = 0;

  constructor(
    private readonly app: App,
    private readonly board: HTMLElement,
  ) {
    board.append(this.base, this.top);
    app.on(["links", "veil", "axes"], () => this.redraw());
    app.on("theme", () => this.readColours());
    app.on(["time", "moment"], () => this.draw());
    new ResizeObserver(() => this.onResize()).observe(board);
  }

  // ---- where things are

  filmX(time_s: number): number {
    return this.app.filmAxis.toPixel(time_s, this.width_px);
  }

  bookX(sentence: number): number {
    return this.app.bookAxis.toPixel(sentence + 0.5, this.width_px);
  }

  get bottom_px(): number {
    return this.height_px - SHELF_PX;
  }

  /** The moment whose line passes near a point. */
  momentNear(x: number, y: number): number | null {
    if (y < RULER_PX || y > this.bottom_px + 4) return null;
    const { moments } = this.app.payload;
    const u = (y - RULER_PX) / (this.bottom_px - RULER_PX);
    const s = curveShare(u);
    let best: number | null = null;
    let bestDistance = NEAR_PX;
    moments.forEach((moment, i) => {
      const link = this.app.shownLink(i);
      if (!link) return;
      const at = this.filmX(moment.start_s) * (1 - s) + this.bookX(link.sentence) * s;
      const distance = Math.abs(at - x);
      if (distance < bestDistance) [best, bestDistance] = [i, distance];
    });
    return best;
  }

  // ---- drawing

  readColours(): void {
    const style = getComputedStyle(this.board);
    for (const name of COLOURS) {
      this.colours[name] = style.getPropertyValue(`--strip-${name}`).trim();
    }
    this.redraw();
  }

  private onResize(): void {
    const { clientWidth, clientHeight } = this.board;
    [this.width_px, this.height_px] = [clientWidth, clientHeight];
    for (const canvas of [this.base, this.top]) {
      canvas.width = Math.round(clientWidth * devicePixelRatio);
      canvas.height = Math.round(clientHeight * devicePixelRatio);
    }
    this.readColours();
  }

  /** Draws all of it again, lines that did not move too. */
  redraw(): void {
    this.isDirty = true;
    this.draw();
  }

  /** Draws what moves, once before the next frame, however often it is asked. */
  draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.width_px === 0 || this.height_px === 0) return;
      if (this.isDirty) this.drawBase();
      this.isDirty = false;
      this.drawTop();
    });
  }

  private clean(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const context = canvas.getContext("2d")!;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, this.width_px, this.height_px);
    return context;
  }

  private drawBase(): void {
    const context = this.clean(this.base);
    this.drawShelf(context);
    this.drawRuler(context);
    const { moments } = this.app.payload;
    for (let i = 0; i < moments.length; i++) {
      const link = this.app.shownLink(i);
      if (!link || this.app.judged.has(i)) continue;
      context.globalAlpha = link.in_book ? 0.08 + 0.42 * link.score ** 2 : 0.3;
      context.setLineDash(link.in_book ? [] : GUESS_DASH);
      this.drawLine(context, i, link.sentence, this.colours[moments[i].text === "" ? "silent" : "spoken"], 1);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    this.drawJudged(context);
  }

  /** Judged links above all others; a moment judged to be not in the book is a mark at the film's edge. */
  private drawJudged(context: CanvasRenderingContext2D): void {
    const { app } = this;
    context.fillStyle = this.colours.judged;
    for (const i of app.judged.keys()) {
      const link = app.shownLink(i);
      if (link) this.drawLine(context, i, link.sentence, this.colours.judged, 2);
      else if (!app.links[i].in_book && !app.isHidden(i)) {
        context.fillRect(this.filmX(app.payload.moments[i].start_s) - 2, RULER_PX, 4, MARK_PX);
      }
    }
  }

  private drawLine(context: CanvasRenderingContext2D, moment: number, sentence: number, colour: string, width: number): void {
    const x0 = this.filmX(this.app.payload.moments[moment].start_s);
    const x1 = this.bookX(sentence);
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > this.width_px) return;
    const middle = (RULER_PX + this.bottom_px) / 2;
    context.beginPath();
    context.moveTo(x0, RULER_PX);
    context.bezierCurveTo(x0, middle, x1, middle, x1, this.bottom_px);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }

  /** The book's axis: its chapters, side by side. */
  private drawShelf(context: CanvasRenderingContext2D): void {
    const { book, told } = this.app;
    const runs = told === null ? [[0, book.sentences.length]] : toldRuns(told);
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const top = this.bottom_px + 2;
    const bottom = this.height_px;
    const count = Math.max(1, book.chapters.length);
    for (let c = 0; c < count; c++) {
      const [first, end] = book.chapters.length ? book.sentencesOfChapter(c) : [0, book.sentences.length];
      let [left, right] = [0, 0];
      context.fillStyle = this.colours.shelf;
      for (const [from, to] of runs) {
        if (to <= first || from >= end) continue;
        const x0 = Math.max(0, this.app.bookAxis.toPixel(Math.max(first, from), this.width_px));
        const x1 = Math.min(this.width_px, this.app.bookAxis.toPixel(Math.min(end, to), this.width_px));
        if (x1 <= x0) continue;
        context.fillRect(x0, top, Math.max(1, x1 - x0 - (to >= end ? 1 : 0)), bottom - top);
        if (x1 - x0 > right - left) [left, right] = [x0, x1];
      }
      if (book.chapters.length === 0 || right === left) continue;
      const title = book.chapterTitle(c);
      const label = [title, String(c + 1)].find((text) => context.measureText(text).width < right - left - 8);
      context.fillStyle = this.colours["shelf-ink"];
      if (label) context.fillText(label, left + 4, (top + bottom) / 2 + 0.5);
    }
  }

  private drawRuler(context: CanvasRenderingContext2D): void {
    const { filmAxis } = this.app;
    // The smallest step that leaves room for its label.
    const tooSmall = countUpTo(STEPS_S.length, (k) => STEPS_S[k], (filmAxis.span / this.width_px) * 64);
    const step = STEPS_S[Math.min(STEPS_S.length - 1, tooSmall)];
    context.fillStyle = this.colours.faint;
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    this.app.files.forEach((_, k) => this.drawTimes(context, k, step));
  }

  /** The times of a file, from its beginning on; where there are several, after its name. */
  private drawTimes(context: CanvasRenderingContext2D, k: number, step: number): void {
    const { files, filmAxis, payload } = this.app;
    const { title, start_s } = files[k];
    const end_s = Math.min(files[k + 1]?.start_s ?? Infinity, filmAxis.end);
    const first = Math.max(0, Math.ceil((filmAxis.start - start_s) / step) * step);
    let free_px = -Infinity;
    for (let time_s = first; start_s + time_s <= end_s; time_s += step) {
      const x = this.filmX(start_s + time_s);
      const isName = time_s === 0 && payload.film.parts !== undefined;
      context.fillRect(Math.round(x), isName ? 0 : RULER_PX - 5, 1, isName ? RULER_PX : 5);
      const labels = isName ? [title, title.split(" ")[0], String(k + 1)] : [clock(time_s)];
      const room_px = Math.min(this.width_px, this.filmX(end_s)) - x - 4;
      const label = labels.find((text) => context.measureText(text).width < room_px);
      if (!label || x < free_px) continue;
      context.fillText(label, x + 4, RULER_PX / 2 - 1);
      // A long name takes the room of the first times.
      if (isName) free_px = x + 4 + context.measureText(label).width;
    }
  }

  /** What moves: the hovered line, the current link with its handle, the film's place. */
  private drawTop(): void {
    const context = this.clean(this.top);
    const { app } = this;
    const hovered = this.hovered === null ? null : app.shownLink(this.hovered);
    if (hovered && this.hovered !== null) this.drawLine(context, this.hovered, hovered.sentence, this.colours.lit, 1.5);
    const x = this.filmX(app.time_s);
    context.fillStyle = this.colours.lit;
    context.fillRect(Math.round(x) - 0.5, 0, 1.5, RULER_PX);
    if (!app.link || app.moment === null) return;
    context.shadowColor = this.colours.lit;
    context.shadowBlur = 8;
    this.drawLine(context, app.moment, app.link.sentence, this.colours.lit, 2.2);
    context.beginPath();
    context.arc(this.bookX(app.link.sentence), this.bottom_px, 5, 0, 7);
    context.fill();
    context.shadowBlur = 0;
  }
}

/** How far across a line has come at a share of its way down (its curve's x by its y). */
export function curveShare(u: number): number {
  // The Bézier has y(t) = 1.5t(1-t)² + 1.5t²(1-t) + t³ and x(t) = 3t²(1-t) + t³; solve for t.
  let low = 0;
  let high = 1;
  for (let k = 0; k < 20; k++) {
    const t = (low + high) / 2;
    const y = 1.5 * t * (1 - t) ** 2 + 1.5 * t * t * (1 - t) + t ** 3;
    if (y < u) low = t;
    else high = t;
  }
  return 3 * low * low * (1 - low) + low ** 3;
}
