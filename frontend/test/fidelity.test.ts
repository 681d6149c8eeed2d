import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
import { chapterUse, meanShare, sceneStarts, sceneUse } from "../src/fidelity.ts";

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

test("a chapter's share counts its paragraphs that are used, front matter apart", () => {
  const uses = chapterUse(book, [link(2), link(2), link(5, 0.2)], 0.5);
  assert.deepEqual(uses.map((use) => [use.chapter, use.share]), [[null, 0], [0, 0.5], [1, 0]]);
  assert.equal(meanShare(uses), 0.25);
});

test("under a veil only what has been seen counts", () => {
  const uses = chapterUse(book, [link(2)], 0.5, 2);
  assert.deepEqual(uses.map((use) => [use.seen, use.share]), [[1, 0], [1, 1], [0, 0]]);
  assert.equal(meanShare(uses), 0.5);
  const moments = [0, 10, 20, 30].map((start_s) => ({ start_s, end_s: start_s + 2, text: "x", shot: null }));
  const [scene] = sceneUse(moments, [link(0), link(0, 0.1), link(0), link(0)], 40, 0.5, 15);
  assert.deepEqual([scene.seen, scene.share], [2, 0.5]);
});

test("scenes are cut at the longest pauses and are none too short", () => {
  const at = (start_s: number) => ({ start_s, end_s: start_s + 2, text: "x", shot: null });
  const moments = [at(0), at(30), at(60), at(130), at(133), at(200), at(239)];
  assert.deepEqual(sceneStarts(moments, 240), [0, 3]);
  assert.deepEqual(sceneStarts([], 240), []);
  const links = [link(0), link(0, 0.1), link(0), link(0), link(0, 0.1), link(0, 0.1), link(0, 0.1)];
  const scenes = sceneUse(moments, links, 240, 0.5);
  assert.deepEqual(scenes.map((scene) => [scene.start_s, scene.end_s, scene.share]), [[0, 130, 2 / 3], [130, 240, 0.25]]);
});
