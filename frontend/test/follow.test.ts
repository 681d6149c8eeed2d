import assert from "node:assert/strict";
import { test } from "node:test";
import { isInBook, isShown, momentAt, momentsOfSentences, nextInBook, shotAt } from "../src/follow.ts";
import { countUpTo } from "../src/order.ts";
import type { PageLink } from "../src/payload.ts";
import { random } from "./random.ts";

const moment = (start_s: number, end_s = start_s + 1) => ({ start_s, end_s, text: "", shot: null });
const link = (sentence: number, score = 1, in_book = true): PageLink => ({ sentence, score, in_book });

test("countUpTo agrees with counting, on random sorted values with ties", () => {
  const next = random(1);
  for (let round = 0; round < 200; round++) {
    const values = Array.from({ length: next(20) }, () => next(10)).sort((a, b) => a - b);
    const limit = next(12) - 1;
    const counted = values.filter((value) => value <= limit).length;
    assert.equal(countUpTo(values.length, (k) => values[k], limit), counted);
  }
});

test("the moment at a time is the last that has begun", () => {
  const moments = [moment(2), moment(5), moment(5), moment(9)];
  assert.equal(momentAt(moments, 1.9), null);
  assert.equal(momentAt(moments, 2), 0);
  assert.equal(momentAt(moments, 5), 2);
  assert.equal(momentAt(moments, 1e9), 3);
  assert.equal(momentAt([], 3), null);
  assert.equal(shotAt([[0, 4], [4, 8]], 4), 1);
});

test("the next moment in the book skips what is absent or not sure enough", () => {
  const links = [link(1), link(2, 0.6), link(3, 0.3, false), link(4, 0.8)];
  assert.equal(nextInBook(links, 0, 1, 0.7), 3);
  assert.equal(nextInBook(links, 0, 1, 0.5), 1);
  assert.equal(nextInBook(links, 3, -1, 0.7), 0);
  assert.equal(nextInBook(links, null, 1, 0), 0);
  assert.equal(nextInBook(links, 3, 1, 0), null);
  assert.equal(nextInBook(links, null, -1, 0), null);
});

test("below one half guesses are shown, down to the probability that the reader asks for", () => {
  const [guess, none] = [link(1, 0.3, false), link(1, 0, false)];
  assert.deepEqual([0.5, 0.35, 0.3, 0].map((threshold) => isShown(guess, threshold)), [false, false, true, true]);
  assert.equal(isInBook(guess, 0), false);
  assert.equal(isShown(none, 0), false);
  assert.equal(nextInBook([link(1), guess, link(2)], 0, 1, 0.2), 1);
});

test("a sentence has all of its moments, in time order", () => {
  const moments = momentsOfSentences([link(7), link(2), link(7), null]);
  assert.deepEqual(moments.get(7), [0, 2]);
  assert.deepEqual([...moments.keys()].sort(), [2, 7]);
  assert.equal(isShown(link(1, 0.5), 0.5), true);
});
