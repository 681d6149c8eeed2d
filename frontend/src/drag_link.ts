// Moving a link by hand: from its handle to the sentence under the pointer, in the book or the strip.

import type { App } from "./app.ts";
import type { BookView } from "./book_view.ts";
import { element, icon } from "./dom.ts";

const EDGE_PX = 70;
const SCROLL_PX = 14;
/** A pointer between two lines of a sentence is on neither: we look so far above and below it. */
const BETWEEN_LINES_PX = [0, -6, 6];

export class LinkDrag {
  /** The handle beside the current passage. */
  readonly grip = element(
    "button",
    { type: "button", class: "grip", tabindex: -1, "aria-hidden": "true", title: "Drag to the right sentence" },
    icon("grip"),
  );
  private readonly label = element("div", { class: "drag-label", hidden: true });
  private target: number | null = null;
  /** The moment whose link is dragged: the film may play on meanwhile. */
  private moment: number | null = null;
  /** Where the pointer is; null until it moves. */
  private pointer: PointerEvent | null = null;
  private frame = 0;

  constructor(
    private readonly app: App,
    private readonly view: BookView,
    private readonly stripSentenceAt: (x: number, y: number) => number | null,
  ) {
    document.body.append(this.label);
    this.grip.addEventListener("pointerdown", (event) => this.start(event));
    app.on(["moment", "links", "veil", "follow"], () => this.place());
    view.scroller.addEventListener("scroll", () => this.place(), { passive: true });
    // Another width or size of the text fills the book again.
    new ResizeObserver(() => this.place()).observe(view.sheet);
  }

  /** Puts the grip beside the current sentence, where that is rendered. */
  place(): void {
    const { link } = this.app;
    const span = link && this.view.sentenceElement(link.sentence);
    if (!span) return this.grip.remove();
    const item = span.closest<HTMLElement>(".item")!;
    if (this.grip.parentElement !== item) item.append(this.grip);
    const first = span.getClientRects()[0] ?? span.getBoundingClientRect();
    this.grip.style.top = `${first.top - item.getBoundingClientRect().top + first.height / 2}px`;
  }

  /** Follows the pointer until it is let go (the link moves) or Escape is pressed (it stays). */
  start(event: PointerEvent): void {
    event.preventDefault();
    this.moment = this.app.moment;
    document.body.classList.add("dragging-link");
    const move = (moved: PointerEvent) => {
      this.pointer = moved;
      this.aim(moved);
    };
    const end = (last: Event) => {
      if (this.pointer && last instanceof PointerEvent && last.type === "pointerup") this.aim(last);
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", key, true);
      this.finish(last.type === "pointerup");
    };
    const key = (pressed: KeyboardEvent) => {
      if (pressed.key !== "Escape") return;
      pressed.stopPropagation();
      end(pressed);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    addEventListener("keydown", key, true);
    this.frame = requestAnimationFrame(this.scroll);
  }

  /** Finds what is under the pointer, which may change under a pointer that rests: the book scrolls. */
  private aim({ clientX, clientY }: PointerEvent): void {
    const span = BETWEEN_LINES_PX.map((dy) =>
      document.elementFromPoint(clientX, clientY + dy)?.closest<HTMLElement>(".sentence"),
    ).find((found) => found);
    const target = span ? Number(span.dataset.sentence) : this.stripSentenceAt(clientX, clientY);
    this.setTarget(target);
    this.label.hidden = target === null;
    this.label.style.transform = `translate(${Math.min(clientX + 14, innerWidth - 300)}px, ${clientY + 16}px)`;
  }

  private setTarget(target: number | null): void {
    if (target === this.target) return;
    if (this.target !== null) this.view.sentenceElement(this.target)?.classList.remove("target");
    this.target = target;
    if (target === null) return;
    this.view.sentenceElement(target)?.classList.add("target");
    this.label.textContent = this.app.book.sentences[target];
  }

  /** Near the book's edges the book moves on, so that far sentences can be reached. */
  private readonly scroll = (): void => {
    this.frame = requestAnimationFrame(this.scroll);
    if (!this.pointer) return;
    const { clientX, clientY } = this.pointer;
    const box = this.view.scroller.getBoundingClientRect();
    if (clientX > box.left && clientX < box.right) {
      if (clientY > box.top - 20 && clientY < box.top + EDGE_PX) this.view.scroller.scrollTop -= SCROLL_PX;
      if (clientY > box.bottom - EDGE_PX && clientY < box.bottom + 20) this.view.scroller.scrollTop += SCROLL_PX;
    }
    this.aim(this.pointer);
  };

  private finish(isDropped: boolean): void {
    cancelAnimationFrame(this.frame);
    const target = this.target;
    this.setTarget(null);
    this.pointer = null;
    this.label.hidden = true;
    document.body.classList.remove("dragging-link");
    const { moment } = this;
    if (!isDropped || target === null || moment === null || target === this.app.shownLink(moment)?.sentence) return;
    void this.app.linkTo(target, moment);
  }
}
