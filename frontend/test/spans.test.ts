import assert from "node:assert/strict";
import { test } from "node:test";
import { spansOf } from "../src/judgement_file.ts";
import type { Judgement, Moment, PageLink } from "../src/payload.ts";
import { confirmEach, isSameJudgement, judgementWords, makeJudgement, momentsOf, Selection, sentenceAt, usualKind } from "../src/spans.ts";

test("moments of a span keep their sentence if it is in the passage; else sentences are dealt out", () => {
  const judgement = makeJudgement("match", [10, 14], [100, 108], null, "");
  assert.deepEqual(momentsOf(judgement), [10, 11, 12, 13, 14]);
  assert.deepEqual(momentsOf(judgement).map((moment) => sentenceAt(judgement, moment, 7)), [100, 102, 104, 106, 108]);
  assert.equal(sentenceAt(judgement, 10, 108), 108);
  assert.equal(sentenceAt({ moment: 3, verdict: "none", sentence: null }, 3, 5), null);
});

test("a judgement has only what is not as usual", () => {
  assert.deepEqual(makeJudgement("match", [3, 3], [5, 5], null, "  "), { moment: 3, verdict: "match", sentence: 5 });
  assert.deepEqual(makeJudgement("none", [3, 4], [5, 5], "audio", " odd "), { moment: 3, moment_to: 4, verdict: "none", sentence: null, note: "odd" });
  const plain: Judgement = { moment: 3, verdict: "match", sentence: 5 };
  assert.ok(isSameJudgement(plain, { ...plain, moment_to: 3, sentence_to: 5 }));
  assert.ok(!isSameJudgement(plain, { ...plain, note: "x" }));
});

test("each moment is confirmed by its own link, and one without a link is left alone", () => {
  const sentences = [90, null, 12, 55];
  const linkOf = (moment: number): PageLink | null => {
    const sentence = sentences[moment - 4];
    return sentence === null ? null : { sentence, score: 0.8, in_book: true };
  };
  assert.deepEqual(confirmEach([4, 5, 6], linkOf, null, ""), [
    { moment: 4, verdict: "match", sentence: 90 },
    { moment: 6, verdict: "match", sentence: 12 },
  ]);
  assert.deepEqual(confirmEach([7], linkOf, "audio", "bells"), [{ moment: 7, verdict: "match", sentence: 55, kind: "audio", note: "bells" }]);
});

test("what a judgement says in words", () => {
  assert.equal(judgementWords({ moment: 3, verdict: "match", sentence: 5 }), "");
  assert.equal(judgementWords({ moment: 3, moment_to: 5, verdict: "match", sentence: 5, kind: "audio", note: "bells" }), "3 moments, audio: bells");
  assert.equal(judgementWords({ moment: 3, verdict: "match", sentence: 5, sentence_to: 7 }), "3 sentences");
});

test("the usual kind is dialogue where anybody speaks", () => {
  const moments = ["", "Yes.", "", ""].map((text, k): Moment => ({ start_s: k, end_s: k + 1, text, shot: null }));
  assert.equal(usualKind(moments, [0, 2]), "dialogue");
  assert.equal(usualKind(moments, [2, 3]), "visual");
});

test("a stretch grows and shrinks around its anchor", () => {
  const { moments } = new Selection();
  moments.extend(5, 6);
  moments.extend(99, 8);
  assert.deepEqual(moments.span, [5, 8]);
  moments.extend(99, 3);
  assert.deepEqual(moments.span, [3, 5]);
  assert.equal(moments.end, 3);
});

test("a judgement that lost a moment to a later one is saved in pieces", () => {
  const long: Judgement = { moment: 1, moment_to: 4, verdict: "match", sentence: 7 };
  const short: Judgement = { moment: 2, verdict: "none", sentence: null };
  const judged = new Map([...momentsOf(long).map((moment): [number, Judgement] => [moment, long]), [2, short]]);
  const one = { verdict: "match", sentence: 7 };
  assert.deepEqual(spansOf(judged), [{ ...one, moment: 1 }, short, { ...one, moment: 3, moment_to: 4 }]);
});
