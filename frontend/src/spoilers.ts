// What the film has told of the book so far, passage by passage.

import type { Book } from "./book.ts";
import { isInBook } from "./follow.ts";
import { SURE } from "./outliers.ts";
import type { Moment, PageLink } from "./payload.ts";

/** Sentences shown on each side of a link in a paragraph without an end. */
const AROUND = 12;
/** Paragraphs between two passages that count as told with them: a link is only right to within three. */
const BRIDGED = 3;

/** The links of a film, and which of them stand alone (outliers.ts). */
export interface FilmLinks {
  moments: Moment[];
  links: PageLink[];
  outliers: Int8Array;
}

/**
 * Which sentences have been told once the film has run to `seen_s`: each link's paragraph, and short gaps between them.
 * A link that stands alone far ahead tells nothing unless it is very sure: if it is wrong, it gives the end away.
 */
export function toldSentences(book: Book, { moments, links, outliers }: FilmLinks, seen_s: number, threshold: number): Uint8Array {
  const told = new Uint8Array(book.sentences.length);
  const paragraphs = new Set<number>();
  for (let i = 0; i < moments.length && moments[i].start_s <= seen_s; i++) {
    const { sentence, score } = links[i];
    if (!isInBook(links[i], threshold) || (outliers[i] > 0 && score < SURE)) continue;
    const paragraph = book.paragraphOf(sentence);
    const [first, end] = book.sentencesOf(paragraph);
    told.fill(1, Math.max(first, sentence - AROUND), Math.min(end, sentence + AROUND + 1));
    paragraphs.add(paragraph);
  }
  const inOrder = [...paragraphs].sort((a, b) => a - b);
  inOrder.forEach((paragraph, k) => {
    const next = inOrder[k + 1];
    const isNear = next !== undefined && next - paragraph - 1 <= BRIDGED;
    if (!isNear || book.chapterOf(next) !== book.chapterOf(paragraph)) return;
    for (let between = paragraph + 1; between < next; between++) {
      const [first, end] = book.sentencesOf(between);
      if (end - first <= 2 * AROUND) told.fill(1, first, end);
    }
  });
  return told;
}

/** The stretches of told sentences, as first and one after the last. */
export function toldRuns(told: Uint8Array): [number, number][] {
  const runs: [number, number][] = [];
  for (let first = told.indexOf(1); first >= 0; ) {
    const next = told.indexOf(0, first);
    const end = next < 0 ? told.length : next;
    runs.push([first, end]);
    first = told.indexOf(1, end);
  }
  return runs;
}
