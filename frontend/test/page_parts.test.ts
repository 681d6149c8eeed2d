import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
import type { Judgement } from "../src/payload.ts";
import { judgedLink, LocalJudge, ServerJudge } from "../src/judge.ts";
import { ClockPlayer } from "../src/player.ts";
import { Axis } from "../src/scale.ts";
import { curveShare } from "../src/strip_drawing.ts";
import { splitTitle } from "../src/paragraph_view.ts";
import { clock, percent, sureness } from "../src/words.ts";

test("an axis zooms around a value that keeps its place, and never leaves its limits", () => {
  const axis = new Axis(1000, 20);
  axis.zoom(0.5, 250);
  assert.deepEqual([axis.start, axis.end], [125, 625]);
  assert.equal(axis.toPixel(250, 400), 100);
  assert.equal(axis.toValue(100, 400), 250);
  axis.pan(10_000);
  assert.deepEqual([axis.start, axis.end], [500, 1000]);
  axis.zoom(0.0001, 600);
  assert.equal(axis.span, 20);
  axis.zoom(1e9, 600);
  assert.equal(axis.isWhole, true);
});

test("an axis moves only if a value is out of sight", () => {
  const axis = new Axis(1000, 20);
  axis.zoom(0.1, 0);
  assert.equal(axis.reveal(50), false);
  assert.equal(axis.reveal(500), true);
  assert.deepEqual([axis.start, axis.end], [450, 550]);
});

test("a line's curve goes from end to end, straight through the middle", () => {
  assert.ok(Math.abs(curveShare(0)) < 1e-4);
  assert.ok(Math.abs(curveShare(0.5) - 0.5) < 1e-4);
  assert.ok(Math.abs(curveShare(1) - 1) < 1e-4);
  assert.ok(curveShare(0.25) < 0.25);
});

test("the clock plays, pauses, changes its speed and stops at the end", () => {
  let now_ms = 0;
  const player = new ClockPlayer(100, () => undefined, () => now_ms);
  player.play();
  now_ms = 2000;
  assert.equal(player.time_s, 2);
  player.rate = 3;
  now_ms = 3000;
  assert.equal(player.time_s, 5);
  player.pause();
  now_ms = 9000;
  assert.equal(player.time_s, 5);
  player.seek(99);
  player.play();
  now_ms = 20_000;
  assert.equal(player.time_s, 100);
});

test("a judgement in the one-file page changes its own link, and undo brings back what was", async () => {
  const links = [{ sentence: 1, score: 0.4, in_book: true }, { sentence: 2, score: 0.9, in_book: true }];
  const payload = { links, judgements: [], moments: [{}, {}], book: { sentences: ["a", "b", "c"] } };
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    localStorage: { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => kept.set(k, v) },
  });
  const judge = new LocalJudge(payload as never, "key");
  await judge.judge({ moment: 0, verdict: "match", sentence: 2 });
  const none = await judge.judge({ moment: 0, verdict: "none", sentence: null });
  const again = await judge.judge({ moment: 0, verdict: "none", sentence: null });
  assert.deepEqual([again.links, again.judgements.length], [[], 2]);
  assert.deepEqual(none.links, [[0, { sentence: 1, score: 0, in_book: false }]]);
  assert.equal(new LocalJudge(payload as never, "key").judgements.length, 2);
  assert.deepEqual((await judge.undo()).links, [[0, { sentence: 2, score: 1, in_book: true }]]);
  const last = await judge.undo();
  assert.deepEqual([last.links, last.undone], [[[0, links[0]]], 0]);
  assert.deepEqual((await judge.undo()).links, []);
  assert.deepEqual(judgedLink(links[0], { moment: 0, verdict: "none", sentence: null }), { sentence: 1, score: 0, in_book: false });
});

test("judgements made at once are undone at once, also by a page that is opened again", async () => {
  const links = [1, 2, 0].map((sentence) => ({ sentence, score: 0.4, in_book: true }));
  const payload = { links, judgements: [], moments: [{}, {}, {}], book: { sentences: ["a", "b", "c"] } };
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    localStorage: { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => kept.set(k, v) },
  });
  const one: Judgement = { moment: 1, verdict: "none", sentence: null };
  const several = links.map(({ sentence }, moment): Judgement => ({ moment, verdict: "match", sentence }));
  await new LocalJudge(payload as never, "key").judge(one);
  const revised = await new LocalJudge(payload as never, "key").judge(...several);
  assert.deepEqual(revised.links.map(([moment, link]) => [moment, link.sentence, link.score]), [[0, 1, 1], [1, 2, 1], [2, 0, 1]]);
  const again = new LocalJudge(payload as never, "key");
  assert.deepEqual(again.judgements, [one, ...several]);
  const undone = await again.undo();
  assert.deepEqual([undone.undone, undone.judgements], [0, [one]]);
  assert.deepEqual(JSON.parse(kept.get("key") as string), [one]);
});

test("judgements made faster than they are answered go one after the other", async () => {
  const revisions: number[] = [];
  Object.assign(globalThis, {
    fetch: async (_: string, request: { body: string }) => {
      const { revision } = JSON.parse(request.body);
      await new Promise((done) => setTimeout(done, 5));
      revisions.push(revision);
      return { ok: true, status: 200, json: async () => ({ revision: revision + 1, judgements: [], links: [] }) };
    },
  });
  const judge = new ServerJudge({ video: null, judge: "judge", undo: "undo" }, 7);
  const judgement = { moment: 0, verdict: "none" as const, sentence: null };
  await Promise.all([judge.judge(judgement), judge.undo(), judge.judge(judgement)]);
  assert.deepEqual(revisions, [7, 8, 9]);
});

test("a paragraph without an end is shown in pieces", () => {
  const sentences = Array.from({ length: 350 }, () => "x");
  const book = new Book({ title: "", sentences, paragraphs: [0, 3, 340], chapters: [] });
  assert.deepEqual(book.blocks, [0, 3, 103, 203, 303, 340]);
  assert.deepEqual(book.sentencesOfBlock(3), [203, 303]);
  assert.deepEqual(book.sentencesOfBlock(5), [340, 350]);
  assert.deepEqual([0, 2, 3, 202, 349].map((j) => book.blockOf(j)), [0, 0, 1, 2, 5]);
});

test("numbers are said as a reader says them", () => {
  assert.deepEqual([0, 61, 3599.9, 3600, 7323].map(clock), ["0:00", "1:01", "59:59", "1:00:00", "2:02:03"]);
  assert.equal(percent(0.934), "93 %");
  assert.deepEqual([1, 0.85, 0.6, 0.5, 0.1].map(sureness), ["Very sure", "Sure", "Likely", "Perhaps", "Guess"]);
});

test("a chapter's number and name come apart where it has both", () => {
  assert.deepEqual(splitTitle("CHAPTER SIX: Tarpaulin"), ["CHAPTER SIX", "Tarpaulin"]);
  assert.deepEqual(splitTitle("IV. The Sea"), ["IV", "The Sea"]);
  assert.deepEqual(splitTitle("Chapter 12"), [null, "Chapter 12"]);
  assert.deepEqual(splitTitle("In which nothing happens"), [null, "In which nothing happens"]);
});
