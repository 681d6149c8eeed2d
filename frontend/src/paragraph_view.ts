// One paragraph of the book (or a piece of a very long one) as elements, with its chapter head and the time of its first link.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { whenBriefly } from "./parts.ts";
import { passageOf } from "./spans.ts";
import { percent } from "./words.ts";

/** “Chapter Six: Tarpaulin” as its number and its name; a title without both stays whole. */
export function splitTitle(title: string): [string | null, string] {
  const parts = /^((?:chapter|part|book|letter|kapitel|chapitre)\s+[\w-]+|[ivxlc]+|\d+)\s*[.:–—-]\s+(.+)$/i.exec(title);
  return parts ? [parts[1], parts[2]] : [null, title];
}

/** The book's title and the chapter's, where they stand before a sentence. */
function headsBefore(app: App, sentence: number): HTMLElement[] {
  const { book } = app;
  const paragraph = book.paragraphOf(sentence);
  const heads: HTMLElement[] = [];
  if (book.paragraphs[paragraph] !== sentence) return heads;
  if (sentence === 0 && book.title) heads.push(element("h1", { class: "title" }, book.title));
  const chapter = book.chapterOf(paragraph);
  if (chapter !== null && book.chapters[chapter].paragraph === paragraph) {
    const [label, title] = splitTitle(book.chapterTitle(chapter));
    heads.push(element("h2", { class: "chapter" }, label && element("span", { class: "chapter-label" }, label, " "), title));
  }
  return heads;
}

/** A block's element; sentences beyond the veil are left out of it. */
export function makeBlock(app: App, block: number): HTMLElement {
  const text = element("p", { dir: "auto" });
  const [first, end] = app.book.sentencesOfBlock(block);
  for (let j = first; j < Math.min(end, app.veil + 1); j++) {
    text.append(element("span", { class: "sentence", "data-sentence": j }, app.book.sentences[j]), " ");
  }
  const item = element("div", { class: "item" }, ...headsBefore(app, first), text);
  decorate(app, item);
  return item;
}

export function sentencesIn(item: HTMLElement): HTMLElement[] {
  return [...item.querySelectorAll<HTMLElement>(".sentence")];
}

/** Shows links, the current passage and the picked sentence on a paragraph that is there. */
export function decorate(app: App, item: HTMLElement): void {
  const now = app.link?.sentence ?? -1;
  const [first, last] = shownPassage(app) ?? [-1, -1];
  let time_s: number | null = null;
  let hasNow = false;
  for (const span of sentencesIn(item)) {
    const j = Number(span.dataset.sentence);
    const moments = app.momentsOf.get(j);
    decorateLink(app, span, moments);
    const isNow = j === now;
    hasNow ||= isNow;
    span.classList.toggle("now", isNow);
    span.classList.toggle("picked", j === app.picked);
    span.classList.toggle("in-span", j >= first && j <= last);
    span.tabIndex = j === app.picked || (app.picked === null && isNow) ? 0 : -1;
    if (moments && time_s === null) time_s = app.payload.moments[moments[0]].start_s;
  }
  item.classList.toggle("has-now", hasNow);
  if (time_s === null) delete item.dataset.time;
  else item.dataset.time = whenBriefly(app.payload.film, time_s);
}

/** The sentences that are selected; else those that the current moment was judged to render. */
function shownPassage(app: App): [number, number] | null {
  if (app.selection.sentences.span) return app.selection.sentences.span;
  const known = app.moment === null ? undefined : app.judged.get(app.moment);
  const passage = known && app.link ? passageOf(known) : null;
  return passage && passage[1] > passage[0] ? passage : null;
}

function decorateLink(app: App, span: HTMLElement, moments: number[] | undefined): void {
  if (!moments) {
    span.classList.remove("linked", "silent", "unsure");
    for (const name of ["role", "aria-description"]) span.removeAttribute(name);
    return;
  }
  const first = app.payload.moments[moments[0]];
  const score = Math.max(...moments.map((i) => app.links[i].score));
  span.classList.add("linked");
  span.classList.toggle("silent", moments.every((i) => app.payload.moments[i].text === ""));
  span.classList.toggle("unsure", score < 0.5);
  span.setAttribute("role", "link");
  span.setAttribute("aria-description", `in the film at ${app.when(first.start_s)}, ${percent(score)} sure`);
}
