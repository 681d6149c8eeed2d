// The book: set as a long page that follows the film, unless the reader is elsewhere in it.

import type { App } from "./app.ts";
import { element, icon, isStill } from "./dom.ts";
import { clamp } from "./order.ts";
import { decorate, makeBlock, sentencesIn, shapeOf } from "./paragraph_view.ts";
import { VirtualList } from "./virtual_list.ts";

/** Where the current sentence comes to stand, and where it may stand, as shares of the height. */
const PLACE = 0.36;
const COMFORT: [number, number] = [0.14, 0.62];
const SOFTNESS_MS = 150;
const HEAD_PX = 130;

export class BookView {
  readonly root: HTMLElement;
  readonly scroller: HTMLElement;
  readonly sheet = element("div", { class: "sheet" });
  private readonly tail: HTMLElement;
  private readonly back: HTMLButtonElement;
  private readonly list: VirtualList;
  private width_px = 0;
  /** The film's place when the book last followed it. */
  private followed: number | null = null;
  private target: number | null = null;
  private animation = 0;
  private last_ms = 0;

  constructor(private readonly app: App) {
    const { language } = app.payload.book;
    if (language) this.sheet.lang = language;
    this.tail = element(
      "div",
      { class: "veil-note", hidden: true },
      element("p", {}, "The book goes on when the film has got there."),
      element("button", { type: "button", click: () => app.setSpoilers(false) }, "Show the whole book"),
    );
    this.scroller = element(
      "div",
      { class: "book-scroll", tabindex: 0, role: "region", "aria-label": "Text of the book" },
      this.sheet,
    );
    this.list = new VirtualList(this.scroller, this.sheet, this.tail, (block) => makeBlock(app, block));
    this.back = element(
      "button",
      { type: "button", class: "back-button", hidden: true, click: () => this.comeBack() },
      icon("down"),
      element("span", {}, "Back to the film’s place"),
    );
    this.root = element("section", { class: "book", "aria-label": "Book" }, this.scroller, this.back);
    this.listen();
  }

  private listen(): void {
    const { app } = this;
    this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
    this.scroller.addEventListener("click", (event) => this.onClick(event));
    app.on(["moment", "lit", "links", "picked"], () => this.repaint());
    app.on(["moment", "links"], () => this.follow());
    app.on("player", () => app.place !== this.followed && this.follow());
    app.on("follow", () => this.follow());
    app.on("veil", () => this.reset(true));
    app.on("display", () => this.reset());
    new ResizeObserver(() => this.onResize()).observe(this.scroller);
  }

  /** The first sentence in view; null where nothing is shown. */
  get topSentence(): number | null {
    const { book, told } = this.app;
    const first = book.blocks[this.list.first] ?? 0;
    if (told === null) return first;
    const shown = told.indexOf(1, first);
    return shown < 0 ? null : shown;
  }

  /** Fills the book for the first time; the view must be in the document. */
  start(): void {
    this.onResize();
    const { awayAt } = this.app.kept;
    const { heights } = this.list;
    const { place } = this.app;
    if (awayAt !== null) this.list.scrollTo(heights.before(Math.min(awayAt, heights.size - 1)));
    else if (place !== null) this.show(place, false);
    this.list.render();
    this.showBack();
  }

  /** Fills the book again; after a change of the veil, what looks as before stays. */
  private reset(isVeilOnly = false): void {
    const { app } = this;
    this.tail.hidden = app.told === null;
    const isPickFocused = document.activeElement?.matches(".sentence.picked");
    this.list.reset(this.estimates(), (block, item) => isVeilOnly && item.dataset.shape === shapeOf(app, block));
    if (isPickFocused && this.app.picked !== null) {
      this.sentenceElement(this.app.picked)?.focus({ preventScroll: true });
    }
    this.follow();
  }

  private estimates(): number[] {
    const { book } = this.app;
    const style = getComputedStyle(this.sheet);
    const font_px = parseFloat(style.fontSize);
    const line_px = parseFloat(style.lineHeight);
    const perLine = Math.max(10, this.sheet.clientWidth / (font_px * 0.45));
    const heads = new Set(book.chapters.map((chapter) => book.paragraphs[chapter.paragraph]));
    return book.blocks.map((_, block) => {
      const [first, end] = book.sentencesOfBlock(block);
      let characters = 0;
      for (let j = first; j < end; j++) if (this.app.isTold(j)) characters += book.sentences[j].length + 1;
      if (characters === 0) return 0;
      return Math.ceil(characters / perLine) * line_px + (heads.has(first) ? HEAD_PX : 0);
    });
  }

  private onResize(): void {
    const width_px = this.sheet.clientWidth;
    if (width_px === this.width_px) return this.list.render();
    this.width_px = width_px;
    return this.reset();
  }

  private onScroll(): void {
    const isReader = this.list.isReaderScroll();
    this.list.render();
    if (!isReader) return;
    this.stop();
    this.leaveOrStay();
  }

  /** After the reader moved: still with the film if its passage is in view, away if not. */
  private leaveOrStay(): void {
    const isSeen = this.isPlaceSeen();
    this.app.kept.awayAt = isSeen ? null : this.list.first;
    this.app.saveSoon();
    if (!isSeen) this.app.setFollowing(false);
    // Not announced: the page must not move under the reader's hand.
    else this.app.isFollowing = true;
    this.showBack();
  }

  /** Selecting text is not clicking: only a plain click on a sentence acts. */
  private onClick(event: MouseEvent): void {
    const span = (event.target as Element).closest<HTMLElement>(".sentence");
    if (!span || getSelection()?.isCollapsed === false) return;
    const sentence = Number(span.dataset.sentence);
    span.focus({ preventScroll: true });
    if (this.app.linking !== null) void this.app.linkTo(sentence, this.app.linking);
    else if (this.app.momentsOf.has(sentence)) this.app.playSentence(sentence);
    else this.app.pick(sentence);
  }

  private repaint(): void {
    for (const item of this.list.items.values()) decorate(this.app, item);
  }

  // ---- moving

  /** The element of a sentence, if it is in the document. */
  sentenceElement(sentence: number): HTMLElement | null {
    const item = this.list.items.get(this.app.book.blockOf(sentence));
    if (!item) return null;
    return sentencesIn(item).find((span) => Number(span.dataset.sentence) === sentence) ?? null;
  }

  /** The top of a sentence below the scroller's top: exact where it is rendered, estimated where not. */
  private distanceTo(sentence: number): number {
    const span = this.sentenceElement(sentence);
    if (!span) return this.list.heights.before(this.app.book.blockOf(sentence)) - this.list.top_px;
    // A sentence may start at the end of a line: its first line counts.
    const first = span.getClientRects()[0] ?? span.getBoundingClientRect();
    return first.top - this.scroller.getBoundingClientRect().top;
  }

  private placeFor(sentence: number): number {
    const height_px = this.scroller.clientHeight;
    const limit_px = Math.max(0, this.scroller.scrollHeight - height_px);
    return clamp(this.list.top_px + this.distanceTo(sentence) - height_px * PLACE, 0, limit_px);
  }

  private isPlaceSeen(): boolean {
    const { place } = this.app;
    if (place === null) return false;
    const distance_px = this.distanceTo(place);
    return distance_px > 0 && distance_px < this.scroller.clientHeight - 20;
  }

  /** Back to the film's place, to follow it again. */
  comeBack(): void {
    this.app.setFollowing(true);
    const { place } = this.app;
    if (place !== null) this.show(place, true);
  }

  /** After the film, unless the reader is elsewhere or the place is well in view. */
  private follow(): void {
    const { place, isFollowing } = this.app;
    this.followed = place;
    this.showBack();
    if (!isFollowing || place === null) return;
    const share = this.distanceTo(place) / this.scroller.clientHeight;
    if (share < COMFORT[0] || share > COMFORT[1]) this.show(place, true);
  }

  /** Scrolls to a sentence, softly if asked and if the reader does not mind motion. */
  show(sentence: number, isSoft: boolean): void {
    this.stop();
    if (!isSoft || isStill()) {
      // Each pass renders and measures more of what lies around the place.
      for (let pass = 0; pass < 3; pass++) {
        this.list.scrollTo(this.placeFor(sentence));
        this.list.render();
      }
      return;
    }
    // A leap over chapters shows only its end.
    const distance_px = this.placeFor(sentence) - this.list.top_px;
    const leap_px = Math.abs(distance_px) - 1.5 * this.scroller.clientHeight;
    if (leap_px > 0) this.list.scrollTo(this.list.top_px + Math.sign(distance_px) * leap_px);
    this.target = sentence;
    this.last_ms = performance.now();
    this.animation = requestAnimationFrame(this.glide);
  }

  private readonly glide = (now_ms: number): void => {
    if (this.target === null) return;
    this.list.render();
    const rest_px = this.placeFor(this.target) - this.list.top_px;
    const share = 1 - Math.exp(-clamp(now_ms - this.last_ms, 1, 50) / SOFTNESS_MS);
    this.last_ms = now_ms;
    const before_px = this.list.top_px;
    const step_px = Math.abs(rest_px) < 2 ? rest_px : rest_px * share + Math.sign(rest_px);
    this.list.scrollTo(before_px + step_px);
    if (Math.abs(rest_px) < 2 || this.list.top_px === before_px) return this.stop();
    this.animation = requestAnimationFrame(this.glide);
  };

  private stop(): void {
    cancelAnimationFrame(this.animation);
    this.target = null;
  }

  private showBack(): void {
    this.back.hidden = this.app.isFollowing;
    const { place } = this.app;
    this.back.classList.toggle("up", place !== null && this.distanceTo(place) < 0);
  }

  // ---- picking

  /** Picks the sentence after or before the picked one (or the current one) and focuses it. */
  pickNext(step: 1 | -1): void {
    const { app } = this;
    const top = app.book.blocks[this.list.first] - step;
    const from = app.picked ?? app.link?.sentence ?? top;
    let next = clamp(from + step, 0, app.book.sentences.length - 1);
    while (next in app.book.sentences && !app.isTold(next)) next += step;
    if (next in app.book.sentences) this.pickAt(next);
  }

  /** Picks a sentence, brings it into view and focuses it. */
  pickAt(sentence: number): void {
    this.app.pick(sentence);
    this.keepInView(sentence);
    this.sentenceElement(sentence)?.focus({ preventScroll: true });
  }

  /** Scrolls to a sentence unless it is well in view. */
  keepInView(sentence: number): void {
    const share = this.distanceTo(sentence) / this.scroller.clientHeight;
    if (!this.sentenceElement(sentence) || share < 0.05 || share > 0.85) {
      this.show(sentence, false);
      this.leaveOrStay();
    }
  }
}
