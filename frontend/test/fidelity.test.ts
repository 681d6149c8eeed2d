import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
import { estimateShare } from "../src/estimates.ts";
import { chapterUse, lineChances, paragraphChances, sceneStarts, sceneUse } from "../src/fidelity.ts";
import type { PageLink } from "../src/payload.ts";

const book = new Book({
  title: "B",
  sentences: ["a", "b", "c", "d", "e", "f"],
  paragraphs: [0, 2, 3, 5],
  chapters: [{ title: "One", paragraph: 1 }, { title: "", paragraph: 3 }],
});
const link = (sentence: number, score = 1) => ({ sentence, score, in_book: true });

test("the book knows where a sentence stands", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((j) => book.paragraphOf(j)), [0, 0, 1, 2, 2, 3]);
  assert.deepEqual([0, 1, 2, 3].map((p) => book.chapterOf(p)), [null, 0, 0, 1]);
  assert.deepEqual(book.sentencesOf(3), [5, 6]);
  assert.deepEqual(book.sentencesOfChapter(0), [2, 5]);
  assert.equal(book.chapterTitleOf(5), "Chapter 2");
});

const judged = (links: PageLink[], ...moments: number[]) => ({
  links,
  judged: new Map(moments.map((moment) => [moment, { moment, verdict: "match" as const, sentence: 0 }])),
});

test("a paragraph is rendered if any of its links is right", () => {
  // 1 - 0.5 · 0.8, and a judged link decides.
  const chances = paragraphChances(book, judged([link(0, 0.5), link(1, 0.2), link(5, 0.3)], 2));
  assert.deepEqual(chances.map(({ chance }) => Number(chance.toFixed(9))), [0.6, 0, 0, 1]);
  assert.deepEqual(chances.map(({ isJudged }) => isJudged), [false, false, false, true]);
  assert.deepEqual(chances.map(({ weight }) => weight), [2, 1, 2, 1]);
});

test("a chapter's share weighs its paragraphs by their words, front matter apart, and only those seen", () => {
  const chances = paragraphChances(book, judged([link(2), link(5, 0.2)]));
  const shares = (seen?: (p: number) => boolean) => chapterUse(book, chances, seen).map((use) => [use.chapter, use.share && Number(use.share.value.toFixed(9))]);
  assert.deepEqual(shares(), [[null, 0], [0, 0.333333333], [1, 0.2]]);
  assert.deepEqual(shares((p) => p === 1), [[null, null], [0, 1], [1, null]]);
});

test("lines that were judged are certain, others leave room, silent shots do not count", () => {
  const moments = ["a", "b", "", "c"].map((text, i) => ({ start_s: i, end_s: i + 1, text, shot: null }));
  const links = [link(0, 0.5), link(0, 0.5), link(0, 0.5), { sentence: 0, score: 0.9, in_book: false }];
  const all = estimateShare(lineChances(moments, judged(links, 0, 1, 3)));
  assert.deepEqual(all, { value: 2 / 3, low: 2 / 3, high: 2 / 3 });
  // By hand: 100 lines of ½ vary by 1.96 √(½·½/100) = 0.098; odds of e^1.568 to 1 are 0.3275 more than ½; together 0.3418.
  const even = estimateShare(Array.from({ length: 100 }, () => ({ weight: 1, chance: 0.5, isJudged: false })));
  assert.deepEqual([even?.value, even?.low.toFixed(4), even?.high.toFixed(4)], [0.5, "0.1582", "0.8418"]);
  assert.equal(estimateShare([]), null);
});

test("scenes are cut at the longest pauses and are none too short", () => {
  const at = (start_s: number) => ({ start_s, end_s: start_s + 2, text: "x", shot: null });
  const moments = [at(0), at(30), at(60), at(130), at(133), at(200), at(239)];
  assert.deepEqual(sceneStarts(moments, 240), [0, 3]);
  assert.deepEqual(sceneStarts([], 240), []);
  const links = [link(0), link(0, 0.1), link(0), link(0), link(0, 0.1), link(0, 0.1), link(0, 0.1)];
  const rounded = (limit_s?: number) =>
    sceneUse(moments, judged(links), 240, limit_s).map((s) => [s.start_s, s.end_s, s.seen, s.share && Number(s.share.value.toFixed(9))]);
  assert.deepEqual(rounded(), [[0, 130, 3, 0.7], [130, 240, 4, 0.325]]);
  assert.deepEqual(rounded(40), [[0, 130, 2, 0.55], [130, 240, 0, null]]);
});
