import assert from "node:assert/strict";
import { test } from "node:test";
import { type Payload, PayloadError, readPayload } from "../src/payload.ts";

const payload = (): Payload => ({
  version: 1,
  id: "0123456789abcdef",
  book: { title: "B", sentences: ["a", "b", "c"], paragraphs: [0, 2], chapters: [{ title: "One", paragraph: 0 }] },
  film: { title: "F", duration_s: 10, file_name: null, shots: [[0, 5]] },
  moments: [{ start_s: 0, end_s: 1, text: "hello", shot: 0 }],
  links: [{ sentence: 1, score: 0.5, in_book: true }],
  thumbnails: [null],
  judgements: [{ moment: 0, verdict: "none", sentence: null }],
  revision: 0,
  server: null,
});

test("a whole payload is read as it is", () => {
  assert.deepEqual(readPayload(JSON.stringify(payload())), payload());
});

const broken: [string, (p: any) => void][] = [
  ["another version", (p) => (p.version = 2)],
  ["no name", (p) => delete p.id],
  ["no sentences", (p) => (p.book.sentences = [])],
  ["a sentence is not text", (p) => (p.book.sentences[1] = { html: "<b>" })],
  ["paragraphs are out of order", (p) => (p.book.paragraphs = [0, 0])],
  ["chapters are out of order", (p) => (p.book.chapters[0].paragraph = 9)],
  ["moments are out of order", (p) => (p.moments = [{ ...p.moments[0], start_s: 5, end_s: 6 }, p.moments[0]])],
  ["a shot that is not there", (p) => (p.moments[0].shot = 3)],
  ["links and moments", (p) => p.links.pop()],
  ["a link names a sentence", (p) => (p.links[0].sentence = 3)],
  ["a link names a sentence", (p) => (p.links[0].score = "high")],
  ["thumbnails and shots", (p) => p.thumbnails.push(null)],
  ["a judgement names", (p) => (p.judgements[0].moment = 4)],
  ["the italics are wrong", (p) => (p.book.italics = { "0": [0, 1, 1] })],
  ["the film is missing", (p) => delete p.film],
];

for (const [words, spoil] of broken) {
  test(`a payload is refused: ${words}`, () => {
    const spoilt = payload();
    spoil(spoilt);
    assert.throws(
      () => readPayload(JSON.stringify(spoilt)),
      (error) => error instanceof PayloadError && error.message.includes(words),
    );
  });
}

test("no payload, or half of one, is said to be so", () => {
  for (const text of [null, "", "  ", "{", "null", JSON.stringify(payload()).slice(0, 80)]) {
    assert.throws(() => readPayload(text), PayloadError);
  }
});
