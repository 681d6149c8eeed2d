import assert from "node:assert/strict";
import { test } from "node:test";
import type { PageLink } from "../src/payload.ts";
import { seenSentence } from "../src/spoilers.ts";

const moments = Array.from({ length: 6 }, (_, i) => ({ start_s: i * 10, end_s: i * 10 + 5, text: "x", shot: null }));
const links = (...places: (number | null)[]): PageLink[] =>
  places.map((sentence) => ({ sentence: sentence ?? 0, score: sentence === null ? 0.1 : 0.9, in_book: sentence !== null }));

test("the book is seen as far as the film has led, and never less", () => {
  const walk = links(3, 5, 40, 20, null, 60);
  assert.equal(seenSentence(moments, walk, -1), -1);
  assert.equal(seenSentence(moments, walk, 10), 5);
  assert.equal(seenSentence(moments, walk, 30), 40);
  assert.equal(seenSentence(moments, walk, 49), 40);
  assert.equal(seenSentence(moments, walk, 1000), 60);
});

test("one link that leaps to the end does not give the end away", () => {
  const leap = links(3, 5, 9000, 7, null, 12);
  assert.equal(seenSentence(moments, leap, 1000), 12);
  const scene = links(3, 5, 9000, 9004, null, 12);
  assert.equal(seenSentence(moments, scene, 1000), 9004);
});

test("a link that is not sure shows nothing", () => {
  const unsure = links(3, 5).map((link) => ({ ...link, score: 0.4 }));
  assert.equal(seenSentence(moments.slice(0, 2), unsure, 1000), -1);
});
