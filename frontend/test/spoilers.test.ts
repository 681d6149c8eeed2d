import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
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
const told = (found: PageLink[], seen_s: number, threshold = 0.5) =>
  toldRuns(toldSentences(book, found.map((_, i) => at(i)), found, seen_s, threshold));

test("what is told is the paragraph of each link that was watched, and no more", () => {
  const walk = links(3, 30, 61);
  assert.deepEqual(told(walk, -1), []);
  assert.deepEqual(told(walk, 0), [[2, 4]]);
  assert.deepEqual(told(walk, 10), [[2, 4], [30, 32]]);
  assert.deepEqual(told(walk, 1000), [[2, 4], [30, 32], [60, 62]]);
});

test("a flash-forward lifts its own passage alone", () => {
  assert.deepEqual(told(links(3, 180, 5), 1000), [[2, 6], [180, 182]]);
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
  const found = toldSentences(endless, [at(0)], links(100), 1000, 0.5);
  assert.deepEqual(toldRuns(found), [[88, 113]]);
});

test("runs agree with the sentences one by one", () => {
  assert.deepEqual(toldRuns(Uint8Array.of(1, 1, 0, 1, 0, 0, 1)), [[0, 2], [3, 4], [6, 7]]);
  assert.deepEqual(toldRuns(Uint8Array.of()), []);
});
