// One axis of the strip: a window of values over a width of pixels, to zoom and to move.

import { clamp } from "./order.ts";

export class Axis {
  start: number;
  end: number;

  constructor(
    readonly limit: number,
    readonly shortest: number,
  ) {
    this.start = 0;
    this.end = limit;
  }

  get span(): number {
    return this.end - this.start;
  }

  get isWhole(): boolean {
    return this.start <= 0 && this.end >= this.limit;
  }

  toPixel(value: number, width_px: number): number {
    return ((value - this.start) / this.span) * width_px;
  }

  toValue(x_px: number, width_px: number): number {
    return clamp(this.start + (x_px / Math.max(1, width_px)) * this.span, 0, this.limit);
  }

  /** Shows less (factor < 1) or more around a value that keeps its place. */
  zoom(factor: number, around: number): void {
    const span = clamp(this.span * factor, Math.min(this.shortest, this.limit), this.limit);
    const ratio = (around - this.start) / this.span;
    this.moveTo(around - ratio * span, span);
  }

  /** Moves the window by an amount, within the limits. */
  pan(amount: number): void {
    this.moveTo(this.start + amount, this.span);
  }

  /** Moves the window just enough that a value is in it with some room; whether it moved. */
  reveal(value: number): boolean {
    const room = this.span * 0.1;
    const before = this.start;
    if (value < this.start + room || value > this.end - room) {
      this.moveTo(value - this.span / 2, this.span);
    }
    return this.start !== before;
  }

  whole(): void {
    this.moveTo(0, this.limit);
  }

  private moveTo(start: number, span: number): void {
    this.start = clamp(start, 0, Math.max(0, this.limit - span));
    this.end = this.start + span;
  }
}
