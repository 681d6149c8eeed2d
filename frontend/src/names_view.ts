// The people and places of the passage, below the book; each leads to where else it is named.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { findNameWords, namesIn } from "./names.ts";

const DELAY_MS = 300;
/** Paragraphs on each side that belong to a passage. */
const AROUND = 3;

export class NamesView {
  readonly root = element("nav", { class: "names-bar", "aria-label": "People and places of this passage", hidden: true });
  private words: Set<string> | null = null;
  private paragraph: number | null = null;

  constructor(
    private readonly app: App,
    private readonly search: (words: string) => void,
  ) {
    app.on(["moment", "picked", "links"], () => this.show());
    app.on("veil", () => {
      this.paragraph = null;
      this.show();
    });
    // A long book takes a moment to look through: not while the page opens.
    setTimeout(() => {
      this.words = findNameWords(app.book.sentences);
      this.show();
    }, DELAY_MS);
  }

  /** The passage that is picked, or else that of the film. */
  private show(): void {
    const { app } = this;
    const sentence = app.picked ?? app.place;
    if (this.words === null) return;
    if (sentence === null || !app.isTold(sentence)) {
      this.paragraph = null;
      return this.root.replaceChildren();
    }
    const paragraph = app.book.paragraphOf(sentence);
    if (paragraph === this.paragraph) return;
    this.paragraph = paragraph;
    // In talk, a paragraph has few names: those around it belong to the passage.
    const last = app.book.paragraphs.length - 1;
    const [first] = app.book.sentencesOf(Math.max(0, paragraph - AROUND));
    const [, end] = app.book.sentencesOf(Math.min(last, paragraph + AROUND));
    const shown = app.book.sentences.slice(first, end).filter((_, k) => app.isTold(first + k));
    const names = namesIn(shown.join(" "), this.words);
    this.root.hidden = this.words.size === 0;
    this.root.replaceChildren(
      ...names.map((name) =>
        element("button", { type: "button", class: "name", title: `Where else ${name} is named`, click: () => this.search(name) }, name),
      ),
    );
  }
}
