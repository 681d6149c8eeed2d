import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, SearchIndex } from "../src/search.ts";

const all = () => true;

test("folding forgets case, accents and quotes, and remembers where each character was", () => {
  assert.equal(fold("Élan, “naïve”").text, 'elan, "naive"');
  for (const text of ["İstanbul ß ﬁ", "e\u0301te\u0301", "🙂 emoji", "Straße — 5", "co\u00adop"]) {
    const { text: folded, places } = fold(text);
    assert.equal(places?.length, folded.length + 1);
    assert.ok(places?.every((place, k) => k === 0 || place >= places[k - 1]));
  }
});

test("accents do not matter on either side, and what is marked is what was found", () => {
  const texts = ["La fille de Cé\u0301line à Łódź", "Celine", "Die Straße nach Köln", "cafe\u0301 noir"];
  const index = new SearchIndex(texts);
  const marked = (query: string) =>
    index.find(query, 10, all).matches.flatMap(({ index: k, ranges }) => ranges.map(([from, to]) => texts[k].slice(from, to)));
  assert.deepEqual(marked("céline"), ["Cé\u0301line", "Celine"]);
  assert.deepEqual(marked("lodz"), ["Łódź"]);
  assert.deepEqual(marked("strasse"), ["Straße"]);
  assert.deepEqual(marked("café noir"), ["cafe\u0301 noir"]);
});

test("a phrase comes before its words apart", () => {
  const index = new SearchIndex(["The sea was dark.", "Dark sea. A dark sea!", "Nothing", "DARK   horse"]);
  const found = index.find("dark  sea", 10, all);
  assert.deepEqual(found.matches.map((match) => match.index), [1, 0]);
  assert.deepEqual(found.matches[0].ranges, [[0, 8], [12, 20]]);
  assert.deepEqual(found.matches[1].ranges, [[4, 7], [12, 16]]);
  assert.equal(found.total, 2);
});

test("quotes and case do not matter, hidden texts are never found, the limit keeps the total", () => {
  const index = new SearchIndex(["I don’t know", "don't", "DON'T!"]);
  assert.equal(index.find("don’t", 10, all).total, 3);
  const few = index.find("don't", 1, all);
  assert.equal(few.matches.length, 1);
  assert.equal(few.total, 3);
  assert.deepEqual(index.find("don't", 10, (k) => k !== 1).matches.map((m) => m.index), [0, 2]);
  assert.equal(index.find("   ", 10, all).total, 0);
});

test("the marks of other languages are found as people type them", () => {
  const texts = ["Vous venez\u202f? dit-il.", "« Venez ! »", "رأى البيت", "שלום, ד״ר לוי", "תל־אביב", "سـلام"];
  const index = new SearchIndex(texts);
  const marked = (query: string) =>
    index.find(query, 10, all).matches.flatMap(({ index: k, ranges }) => ranges.map(([from, to]) => texts[k].slice(from, to)));
  assert.deepEqual(marked("venez?"), ["venez\u202f?"]);
  assert.deepEqual(marked("venez"), ["venez", "Venez"]);
  assert.deepEqual(marked("venez ?"), ["venez\u202f?"]);
  assert.deepEqual(marked("«venez!»"), ["« Venez ! »"]);
  assert.deepEqual(marked("venez !"), ["Venez !"]);
  assert.deepEqual(marked("راى"), ["رأى"]);
  assert.deepEqual(marked('ד"ר'), ["ד״ר"]);
  assert.deepEqual(marked("תל-אביב"), ["תל־אביב"]);
  assert.deepEqual(marked("سلام"), ["سـلام"]);
  assert.deepEqual(new SearchIndex(["Who ? he asked"]).find("who? he", 10, all).total, 1);
  assert.equal(index.find("?", 10, all).total, 1);
});
