// A long list in a scroller, of which only what is seen (and a little more) is in the document.

import { element } from "./dom.ts";
import { Heights } from "./heights.ts";

/** Rendered above and below what is seen. */
const OVERSCAN_PX = 900;

export class VirtualList {
  readonly items = new Map<number, HTMLElement>();
  heights = new Heights([]);
  private readonly window = element("div", { class: "window" });
  /** Where we scrolled to ourselves: anything else is the reader's doing. */
  private expected_px = 0;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly sheet: HTMLElement,
    /** Stands below the last item. */
    private readonly tail: HTMLElement,
    private readonly make: (index: number) => HTMLElement,
  ) {
    sheet.append(this.window, tail);
  }

  get top_px(): number {
    return this.scroller.scrollTop;
  }

  /** The item at the top of what is seen. */
  get first(): number {
    return this.heights.at(this.top_px);
  }

  /** Starts anew with other heights (0: not shown); the place is kept, and so are items that `isSame`. */
  reset(estimates: number[], isSame: (index: number, item: HTMLElement) => boolean = () => false): void {
    const first = this.heights.size > 0 ? this.first : 0;
    const within_px = this.top_px - this.heights.before(first);
    for (const [index, item] of this.items) {
      if (estimates[index] > 0 && isSame(index, item)) estimates[index] = this.heights.values[index];
      else {
        this.drop(item);
        this.items.delete(index);
      }
    }
    this.heights = new Heights(estimates);
    this.size();
    this.scrollTo(this.heights.before(Math.min(first, this.heights.size)) + within_px);
    this.render();
  }

  private size(): void {
    const end_px = this.heights.before(this.heights.size);
    this.tail.style.top = `${end_px}px`;
    this.sheet.style.height = `${end_px + this.tail.offsetHeight}px`;
  }

  /** Brings into the document what is seen, and takes out what is not. */
  render(): void {
    if (this.heights.size === 0) return;
    const first = this.heights.at(this.top_px - OVERSCAN_PX);
    const last = this.heights.at(this.top_px + this.scroller.clientHeight + OVERSCAN_PX);
    for (const [index, item] of this.items) {
      if (index >= first && index <= last) continue;
      this.drop(item);
      this.items.delete(index);
    }
    const fresh: number[] = [];
    let before: Element | null = null;
    for (let index = last; index >= first; index--) {
      if (this.heights.values[index] === 0) continue;
      let item = this.items.get(index);
      if (!item) {
        item = this.make(index);
        this.items.set(index, item);
        this.window.insertBefore(item, before);
        fresh.push(index);
      }
      before = item;
    }
    this.measure(fresh);
    this.window.style.transform = `translateY(${this.heights.before(first)}px)`;
  }

  /** Takes an item out; a focus in it stays in the list, where the keys go on from. */
  private drop(item: HTMLElement): void {
    if (item.contains(document.activeElement)) this.scroller.focus({ preventScroll: true });
    item.remove();
  }

  /** Takes the true heights of new items, so that what is read stays where it is. */
  private measure(fresh: number[]): void {
    if (fresh.length === 0) return;
    const anchor = this.first;
    let growth_px = 0;
    for (const index of fresh) {
      const growth = this.heights.set(index, this.items.get(index)!.getBoundingClientRect().height);
      if (index < anchor) growth_px += growth;
    }
    this.size();
    if (Math.abs(growth_px) >= 1) this.scrollTo(this.top_px + growth_px);
  }

  scrollTo(top_px: number): void {
    this.scroller.scrollTop = top_px;
    this.expected_px = this.scroller.scrollTop;
  }

  /** After a scroll event: whether the reader made it. */
  isReaderScroll(): boolean {
    const isOurs = Math.abs(this.top_px - this.expected_px) <= 2;
    this.expected_px = this.top_px;
    return !isOurs;
  }
}
