import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, locate, matchFiles, partAt, when, whenBriefly } from "../src/parts.ts";

const part = (title: string, start_s: number, duration_s: number) => ({ title, file_name: `${title}.mp4`, start_s, duration_s });
const parts = [part("CD1", 0, 100.1), part("CD2", 100.1, 50)];
const film = { title: "Film", duration_s: 150.1, file_name: null, shots: [], parts };

test("a time is in the part that has begun last", () => {
  assert.deepEqual([0, 100, 100.1, 500].map((time_s) => partAt(parts, time_s)), [0, 0, 1, 1]);
  assert.deepEqual(locate(parts, 112.1), [parts[1], 12]);
});

test("times have the name of their part, where there are several", () => {
  assert.equal(when(film, 99), "CD1 1:39");
  assert.equal(when(film, 112.1), "CD2 0:12");
  const whole = { ...film, parts: undefined };
  assert.equal(when(whole, 112.1), "1:52");
  const episodes = parts.map((one) => ({ ...one, title: `S01E0${one.title[2]} The Storm` }));
  assert.equal(whenBriefly(film, 112.1), "CD2 0:12");
  assert.equal(whenBriefly({ ...film, parts: episodes }, 112.1), "2 · 0:12");
  assert.equal(filesOf(whole)[0].duration_s, 150.1);
});

test("chosen files are matched by name, else in natural order, and all of them are needed", () => {
  const named = (...names: string[]) => names.map((name) => ({ name }));
  const names = (files: { name: string }[] | null) => files?.map(({ name }) => name);
  assert.deepEqual(names(matchFiles(parts, named("CD2.mp4", "other.mp4", "CD1.mp4"))), ["CD1.mp4", "CD2.mp4"]);
  assert.deepEqual(names(matchFiles(parts, named("film 10.webm", "film 9.webm"))), ["film 9.webm", "film 10.webm"]);
  assert.equal(matchFiles(parts, named("CD1.mp4")), null);
});
