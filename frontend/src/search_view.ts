// The search field and what it finds, book and subtitles together (an ARIA combobox).

import type { App } from "./app.ts";
import { element, icon } from "./dom.ts";
import { type Match, SearchIndex } from "./search.ts";
import { counted } from "./words.ts";

const LIMIT = 100;
/** Where the field has room for a single word. */
const NARROW = "(max-width: 480px)";
/** Characters before the first match that are shown with it. */
const CONTEXT = 32;

export class SearchView {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list = element("div", { class: "found-list", role: "listbox", id: "found", "aria-label": "Found" });
  private readonly panel: HTMLElement;
  private readonly status = element("p", { class: "found-status", role: "status" });
  private readonly book: SearchIndex;
  private readonly film: SearchIndex;
  private options: { node: HTMLElement; act: () => void }[] = [];
  private active = -1;

  constructor(
    private readonly app: App,
    private readonly showSentence: (sentence: number) => void,
  ) {
    this.book = new SearchIndex(app.book.sentences);
    this.film = new SearchIndex(app.payload.moments.map((moment) => moment.text));
    this.input = element("input", {
      type: "search",
      role: "combobox",
      "aria-label": "Search book and subtitles",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "found",
      autocomplete: "off",
      spellcheck: "false",
      input: () => this.search(),
      focus: () => this.search(),
      keydown: (event: KeyboardEvent) => this.onKey(event),
    });
    const narrow = matchMedia(NARROW);
    const hint = () => (this.input.placeholder = narrow.matches ? "Search" : "Search book and film");
    narrow.addEventListener("change", hint);
    hint();
    this.panel = element("div", { class: "found", hidden: true }, this.status, this.list);
    // Keeps the focus in the field, so that a press on a result is not first a loss of focus.
    this.panel.addEventListener("mousedown", (event) => event.preventDefault());
    this.root = element("div", { class: "search", role: "search" }, icon("search"), this.input, this.panel);
    this.root.addEventListener("focusout", () => this.close());
    app.on("veil", () => this.panel.hidden || this.search());
  }

  /** Searches for some words, as if the reader had typed them. */
  find(words: string): void {
    this.input.focus();
    this.input.value = words;
    this.search();
  }

  private close(): void {
    this.panel.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.setActive(-1);
  }

  private search(): void {
    const { app } = this;
    const query = this.input.value.trim();
    if (query.length < 2) return this.close();
    const { hidesSpoilers } = app.kept;
    const inBook = this.book.find(query, LIMIT, (j) => app.isTold(j));
    const inFilm = this.film.find(query, LIMIT, (i) => app.payload.moments[i].start_s <= app.seenLimit_s);
    this.options = [];
    this.list.replaceChildren();
    this.addGroup("Book", inBook.matches, (match) => this.bookOption(match));
    this.addGroup("Film", inFilm.matches, (match) => this.filmOption(match));
    const total = inBook.total + inFilm.total;
    this.status.textContent =
      total === 0
        ? `Nothing found${hidesSpoilers ? " in what has been seen" : ""}.`
        : `${counted(inBook.total, "sentence", "sentences")} of the book, ${counted(inFilm.total, "line", "lines")} of the film`;
    this.panel.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.setActive(-1);
  }

  private addGroup(name: string, matches: Match[], make: (match: Match) => [HTMLElement, () => void]): void {
    if (matches.length === 0) return;
    const group = element("div", { role: "group", "aria-label": name });
    group.append(element("p", { class: "found-head", "aria-hidden": "true" }, name));
    for (const match of matches) {
      const [node, act] = make(match);
      node.id = `found-${this.options.length}`;
      node.addEventListener("click", () => this.choose(act));
      this.options.push({ node, act });
      group.append(node);
    }
    this.list.append(group);
  }

  private bookOption(match: Match): [HTMLElement, () => void] {
    const { book } = this.app;
    const place = [this.timeOf(match.index), book.chapterTitleOf(match.index)].filter(Boolean).join(" · ");
    const node = this.option(place, book.sentences[match.index], match);
    node.classList.add("of-book");
    return [node, () => this.showSentence(match.index)];
  }

  /** When a sentence is filmed, or about when, where only its paragraph is; empty where neither is. */
  private timeOf(sentence: number): string {
    const { app } = this;
    const time = (j: number) => {
      const moments = app.momentsOf.get(j);
      return moments ? app.when(app.payload.moments[moments[0]].start_s) : null;
    };
    const own = time(sentence);
    if (own) return own;
    const [first, end] = app.book.sentencesOf(app.book.paragraphOf(sentence));
    for (let j = first; j < end; j++) {
      const near = time(j);
      if (near) return `about ${near}`;
    }
    return "";
  }

  private filmOption(match: Match): [HTMLElement, () => void] {
    const moment = this.app.payload.moments[match.index];
    return [this.option(this.app.when(moment.start_s), moment.text, match), () => this.app.goTo(match.index)];
  }

  private option(place: string, text: string, { ranges }: Match): HTMLElement {
    const line = element("span", { class: "found-text", dir: "auto" });
    const earliest = (ranges[0]?.[0] ?? 0) - CONTEXT;
    const start = earliest <= 0 ? 0 : text.indexOf(" ", earliest) + 1;
    let at = start;
    if (start > 0) line.append("…");
    for (const [from, to] of ranges) {
      line.append(text.slice(at, from), element("mark", {}, text.slice(from, to)));
      at = to;
    }
    line.append(text.slice(at));
    return element("div", { role: "option", class: "found-option", "aria-selected": "false" }, line, element("span", { class: "found-place" }, place));
  }

  private setActive(index: number): void {
    this.options[this.active]?.node.setAttribute("aria-selected", "false");
    this.active = index;
    const node = this.options[index]?.node;
    if (!node) return this.input.removeAttribute("aria-activedescendant");
    node.setAttribute("aria-selected", "true");
    node.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", node.id);
  }

  private choose(act: () => void): void {
    this.input.blur();
    this.close();
    act();
  }

  private onKey(event: KeyboardEvent): void {
    const count = this.options.length;
    if (event.key === "Escape") {
      if (this.panel.hidden) this.input.blur();
      this.close();
    } else if (event.key === "Enter" && !this.panel.hidden && count > 0) {
      this.choose(this.options[Math.max(0, this.active)].act);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count > 0) {
      if (this.panel.hidden) this.search();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.setActive((this.active + step + (this.active < 0 && step < 0 ? 1 : 0) + count) % count);
    } else return;
    event.preventDefault();
  }
}
