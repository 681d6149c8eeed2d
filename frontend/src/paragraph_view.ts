// One paragraph of the book (or a piece of a very long one) as elements, with its chapter head and the time of its first link.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { whenBriefly } from "./parts.ts";
import { passageOf } from "./spans.ts";
import { certainty } from "./words.ts";
import { gapBetween } from "./typesetting.ts";

/** “Chapter Six: Tarpaulin” as its number and its name; a title without both stays whole. */
export function splitTitle(title: string): [string | null, string] {
  const parts = /^((?:chapter|part|book|letter|kapitel|chapitre)\s+[\w-]+|[ivxlc]+|\d+)\s*[.:–—-]\s+(.+)$/i.exec(title);
  return parts ? [parts[1], parts[2]] : [null, title];
}

/** The last sentence before another that is shown; -1 where there is none. */
function shownBefore(app: App, sentence: number): number {
  if (app.told === null || sentence === 0) return sentence - 1;
  return app.told.lastIndexOf(1, sentence - 1);
}

/** What stands before a block: the book's title, a gap that the film has not told, the chapter's title. */
function headsBefore(app: App, first: number): HTMLElement[] {
  const { book } = app;
  const heads: HTMLElement[] = [];
  const before = shownBefore(app, first);
  if (before < 0 && book.title) heads.push(element("div", { class: "title" }, book.title));
  const chapter = book.chapterOf(book.paragraphOf(first));
  const start = chapter === null ? 0 : book.sentencesOfChapter(chapter)[0];
  if (chapter !== null && before < start) {
    const [label, title] = splitTitle(book.chapterTitle(chapter));
    heads.push(element("h2", { class: "chapter" }, label && element("span", { class: "chapter-label" }, label, " "), title));
  }
  if (first > Math.max(before + 1, start)) heads.push(element("p", { class: "gap", title: "Not told yet" }, "· · ·"));
  return heads;
}

/** The sentences of a block that are shown, and what stands before them: all that its element is made from. */
export function shapeOf(app: App, block: number): string {
  if (app.told === null) return "";
  const [first, end] = app.book.sentencesOfBlock(block);
  const before = shownBefore(app, first);
  const chapter = before < 0 ? "" : app.book.chapterOf(app.book.paragraphOf(before));
  return [before === first - 1, chapter, ...app.told.slice(first, end)].join(" ");
}

/** A block's element; sentences that the film has not told are left out of it. */
export function makeBlock(app: App, block: number): HTMLElement {
  const text = element("p", { dir: "auto" });
  const [first, end] = app.book.sentencesOfBlock(block);
  let last: number | null = null;
  let start = first;
  for (let j = first; j < end; j++) {
    if (!app.isTold(j)) continue;
    if (last === null) start = j;
    else if (j > last + 1) text.append("… ");
    const { isVerse, startsLine, lines } = app.book.linesOf(j);
    if (isVerse) text.classList.add("verse");
    if (startsLine && last !== null) text.append(element("br"));
    const set = lines.map((line) => line.map((run) => (run.isItalic ? element("i", {}, run.text) : run.text)));
    const parts = set.flatMap((line, k) => (k === 0 ? line : [element("br"), ...line]));
    const next = app.book.sentences[j + 1];
    const gap = j + 1 < end && next !== undefined ? gapBetween(app.book.sentences[j], next) : " ";
    text.append(element("span", { class: "sentence", "data-sentence": j }, ...parts), gap);
    last = j;
  }
  const item = element("div", { class: "item", "data-shape": shapeOf(app, block) }, ...headsBefore(app, start), text);
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
  let time_s = Infinity;
  let hasNow = false;
  for (const span of sentencesIn(item)) {
    const j = Number(span.dataset.sentence);
    const moments = app.momentsOf.get(j);
    decorateLink(app, span, moments);
    const isNow = j === now;
    hasNow ||= isNow;
    span.classList.toggle("now", isNow);
    span.classList.toggle("was", !isNow && j === app.lit?.sentence);
    span.classList.toggle("picked", j === app.picked);
    span.classList.toggle("in-span", j >= first && j <= last);
    span.tabIndex = j === app.picked || (app.picked === null && isNow) ? 0 : -1;
    if (moments) time_s = Math.min(time_s, app.payload.moments[moments[0]].start_s);
  }
  item.classList.toggle("has-now", hasNow);
  if (time_s === Infinity) delete item.dataset.time;
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
    span.classList.remove("linked", "silent", "guess");
    for (const name of ["role", "aria-description"]) span.removeAttribute(name);
    return;
  }
  const first = app.payload.moments[moments[0]];
  const score = Math.max(...moments.map((i) => app.links[i].score));
  const isGuess = moments.every((i) => !app.links[i].in_book);
  span.classList.add("linked");
  span.classList.toggle("silent", moments.every((i) => app.payload.moments[i].text === ""));
  span.classList.toggle("guess", isGuess);
  span.setAttribute("role", "link");
  span.setAttribute("aria-description", `${isGuess ? "perhaps " : ""}in the film at ${app.when(first.start_s)}: ${certainty(score)}`);
}
