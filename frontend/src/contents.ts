// Above the book: the chapter that is read, which opens the list of all, and the size of the text.

import type { App } from "./app.ts";
import type { BookView } from "./book_view.ts";
import { element, icon, iconButton } from "./dom.ts";

export class Contents {
  readonly bar: HTMLElement;
  readonly dialog = element("dialog", { class: "sheet-dialog contents", "aria-labelledby": "contents-title" });
  private readonly title = element("span", { class: "contents-now" });
  private readonly smaller: HTMLButtonElement;
  private readonly larger: HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly book: BookView,
  ) {
    const open = element(
      "button",
      { type: "button", class: "contents-button", title: "Chapters (C)", "aria-haspopup": "dialog", click: () => this.open() },
      icon("list"),
      this.title,
    );
    this.smaller = iconButton("smaller", "Smaller text", () => app.display.resize(-1));
    this.larger = iconButton("larger", "Larger text", () => app.display.resize(1));
    this.bar = element("div", { class: "book-bar" }, open, this.smaller, this.larger);
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    book.scroller.addEventListener("scroll", () => this.show(), { passive: true });
    app.on(["display", "veil", "links"], () => this.show());
    this.show();
  }

  show(): void {
    const { display, book } = this.app;
    this.smaller.disabled = display.isSmallest;
    this.larger.disabled = display.isLargest;
    const sentence = this.book.topSentence;
    const title = sentence === null ? "Chapters" : book.chapterTitleOf(sentence);
    if (this.title.textContent !== title) this.title.textContent = title;
  }

  open(): void {
    const close = () => this.dialog.close();
    this.dialog.replaceChildren(
      element("header", {}, element("h2", { id: "contents-title" }, "Chapters"), iconButton("cross", "Close", close)),
      element("ol", {}, ...this.rows(close)),
    );
    this.dialog.showModal();
    this.dialog.querySelector<HTMLElement>("[aria-current]")?.focus();
  }

  /** The chapters of which something is shown, each with the time at which the film first comes to it. */
  private rows(close: () => void): HTMLElement[] {
    const { app } = this;
    const { book } = app;
    const here = this.book.topSentence;
    const current = here === null ? null : book.chapterOf(book.paragraphOf(here));
    const chapters = book.chapters.length ? [...book.chapters.keys()] : [];
    let hidden = 0;
    const rows = chapters.flatMap((chapter) => {
      const [first, end] = book.sentencesOfChapter(chapter);
      const shown = app.told === null ? first : app.told.subarray(0, end).indexOf(1, first);
      if (shown < 0) {
        hidden += 1;
        return [];
      }
      const moments = [...app.momentsOf].filter(([j]) => j >= first && j < end).map(([, found]) => found[0]);
      const time = moments.length ? app.when(app.payload.moments[Math.min(...moments)].start_s) : "not in the film";
      const act = () => {
        close();
        this.book.pickAt(shown);
      };
      const isNow = chapter === current;
      const button = element(
        "button",
        { type: "button", class: "row", "aria-current": isNow ? "true" : null, click: act },
        element("span", { class: "row-label" }, book.chapterTitle(chapter)),
        element("span", { class: "row-share" }, time),
      );
      return [element("li", {}, button)];
    });
    if (hidden > 0) rows.push(element("li", { class: "contents-hidden" }, `${hidden} more, which the film has not told yet`));
    if (rows.length === 0) rows.push(element("li", { class: "contents-hidden" }, "This book has no chapters."));
    return rows;
  }
}
