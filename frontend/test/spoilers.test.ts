import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
import { findOutliers } from "../src/outliers.ts";
import type { PageLink } from "../src/payload.ts";
import { toldRuns, toldSentences } from "../src/spoilers.ts";

/** 100 paragraphs of two sentences, in chapters of 20. */
const book = new Book({
  title: "B",
  sentences: Array.from({ length: 200 }, (_, j) => `s${j}`),
  paragraphs: Array.from({ length: 100 }, (_, p) => 2 * p),
  chapters: Array.from({ length: 5 }, (_, c) => ({ title: `C${c}`, paragraph: 20 * c })),
});
const at = (i: number) => ({ start_s: i * 10, end_s: i * 10 + 5, text: "x", shot: null });
const links = (...places: (number | null)[]): PageLink[] =>
  places.map((sentence) => ({ sentence: sentence ?? 190, score: sentence === null ? 0.1 : 0.9, in_book: sentence !== null }));
/** The links as the page has them. */
function filmLinks(found: PageLink[], threshold = 0.5) {
  const moments = found.map((_, i) => at(i));
  return { moments, links: found, outliers: findOutliers(moments, found, book.sentences.length, threshold) };
}
const told = (found: PageLink[], seen_s: number, threshold = 0.5) =>
  toldRuns(toldSentences(book, filmLinks(found, threshold), seen_s, threshold));
const sure = (found: PageLink[], i: number, score: number) => found.map((link, k) => (k === i ? { ...link, score } : link));

test("what is told is the paragraph of each link that was watched, and no more", () => {
  const walk = links(3, 30, 61);
  assert.deepEqual(told(walk, -1), []);
  assert.deepEqual(told(walk, 0), [[2, 4]]);
  assert.deepEqual(told(walk, 10), [[2, 4], [30, 32]]);
  assert.deepEqual(told(walk, 1000), [[2, 4], [30, 32], [60, 62]]);
});

test("a flash-forward lifts its own passage alone", () => {
  assert.deepEqual(told(sure(links(3, 180, 5), 1, 0.95), 1000), [[2, 6], [180, 182]]);
});

test("a link alone far ahead lifts nothing, unless it is very sure or another link is near it", () => {
  // In this book of 200 sentences, 40 are far and 20 are near.
  assert.deepEqual(told(sure(links(3, 180, 5), 1, 0.94), 1000), [[2, 6]]);
  assert.deepEqual(told(links(3, 44, 5), 1000), [[2, 6]]);
  assert.deepEqual(told(links(3, 43, 5), 1000), [[2, 6], [42, 44]]);
  assert.deepEqual(told(links(3, 180, 160, 5), 1000), [[2, 6], [160, 162], [180, 182]]);
  assert.deepEqual(told(links(3, 180, 159, 5), 1000), [[2, 6]]);
  // Near in the film, too: 12 moments of ten seconds are two minutes, 13 are more.
  const apart = (count: number) => links(3, 180, ...Array(count - 1).fill(null), 182);
  assert.deepEqual(told(apart(12), 1000), [[2, 4], [180, 184]]);
  assert.deepEqual(told(apart(13), 1000), [[2, 4]]);
  // The support may be still to come, but it is not told before.
  assert.deepEqual(told(apart(12), 20), [[2, 4], [180, 182]]);
  // A guess supports nothing, nor does a link that the reader does not want to see.
  assert.deepEqual(told(sure(links(3, 180, 182), 2, 0.6), 1000, 0.8), [[2, 4]]);
});

test("a link alone far behind gives nothing away", () => {
  assert.deepEqual(told(links(100, 102, 3, 104), 1000), [[2, 4], [100, 106]]);
});

test("outliers lie alone, far from where the film is; where it leaps with several links, it is there", () => {
  const outliers = (found: PageLink[]) => [...filmLinks(found).outliers];
  assert.deepEqual(outliers(links(3, 180, 5, 7)), [0, 1, 0, 0]);
  assert.deepEqual(outliers(links(120, 122, 3, 124)), [0, 0, -1, 0]);
  assert.deepEqual(outliers(links(3, 120, 122, 160)), [0, 0, 0, 0]);
  // The first of all: the film is thought to begin with the book.
  assert.deepEqual(outliers(links(180, 3, 5)), [1, 0, 0]);
  // Very sure or not, a quote from elsewhere is no place to stay at.
  assert.deepEqual(outliers(sure(links(3, 180, 5), 1, 1)), [0, 1, 0]);
  // Nor is a guess.
  assert.deepEqual(outliers(links(3, null, 5)), [0, 1, 0]);
});

test("a moment that is not in the book tells nothing, wherever its guess lies", () => {
  assert.deepEqual(told(links(null, 3, null), 1000), [[2, 4]]);
  // Not even where the reader asks to see guesses.
  assert.deepEqual(told(links(null, 3, null), 1000, 0), [[2, 4]]);
});

test("links that are not sure enough for the reader tell nothing", () => {
  const unsure = links(3, 30).map((link, i) => ({ ...link, score: i === 0 ? 0.6 : 0.9 }));
  assert.deepEqual(told(unsure, 1000, 0.8), [[30, 32]]);
});

test("up to three paragraphs between two told ones are told, but never those of two chapters", () => {
  assert.deepEqual(told(links(0, 8), 1000), [[0, 10]]);
  assert.deepEqual(told(links(0, 10), 1000), [[0, 2], [10, 12]]);
  assert.deepEqual(told(links(36, 42), 1000), [[36, 38], [42, 44]]);
});

test("of a paragraph without an end, only what stands around the link is told", () => {
  const endless = new Book({ title: "", sentences: book.sentences, paragraphs: [0], chapters: [] });
  const found = toldSentences(endless, filmLinks(sure(links(100), 0, 1)), 1000, 0.5);
  assert.deepEqual(toldRuns(found), [[88, 113]]);
});

test("runs agree with the sentences one by one", () => {
  assert.deepEqual(toldRuns(Uint8Array.of(1, 1, 0, 1, 0, 0, 1)), [[0, 2], [3, 4], [6, 7]]);
  assert.deepEqual(toldRuns(Uint8Array.of()), []);
});
