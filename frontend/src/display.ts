// How the page is shown: for reading or with all tools, and how large the text of the book is.

import { clamp } from "./order.ts";
import { readItem, writeItem } from "./memory.ts";

/** What a phone has, upright or on its side. */
const SMALL = "(max-width: 760px), (max-height: 480px)";
const SIZES = [0.8, 0.9, 1, 1.12, 1.26, 1.42, 1.6, 1.8];
const KEY = "folioreel:display";

export class Display {
  /** Null as long as the reader has not chosen: then a small screen is for reading. */
  private chosen: boolean | null = null;
  private size = SIZES.indexOf(1);
  private readonly small = matchMedia(SMALL);

  constructor(private readonly onChange: () => void) {
    const kept = readItem(KEY) as { reads?: unknown; size?: unknown } | null;
    if (typeof kept?.reads === "boolean") this.chosen = kept.reads;
    if (typeof kept?.size === "number" && kept.size in SIZES) this.size = kept.size;
    this.small.addEventListener("change", () => this.show());
    this.show();
  }

  /** Whether only what a reader needs is shown: no strip, and nothing to correct with. */
  get isReading(): boolean {
    return this.chosen ?? this.small.matches;
  }

  setReading(isReading: boolean): void {
    this.chosen = isReading;
    this.keep();
  }

  resize(step: 1 | -1): void {
    this.size = clamp(this.size + step, 0, SIZES.length - 1);
    this.keep();
  }

  get isLargest(): boolean {
    return this.size === SIZES.length - 1;
  }

  get isSmallest(): boolean {
    return this.size === 0;
  }

  private keep(): void {
    writeItem(KEY, { reads: this.chosen, size: this.size });
    this.show();
  }

  private show(): void {
    document.documentElement.classList.toggle("reading", this.isReading);
    document.documentElement.style.setProperty("--text-size", String(SIZES[this.size]));
    this.onChange();
  }
}
