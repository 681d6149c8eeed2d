import assert from "node:assert/strict";
import { test } from "node:test";
import { Book } from "../src/book.ts";
import { findNameWords, namesIn } from "../src/names.ts";
import { linkTo, linkToShare, shareHint, timeIn, wrap } from "../src/share.ts";

test("names are words that have a capital wherever they stand, again and again", () => {
  const text = [
    "But Petra went to Fairhithe with Miss Lunn.",
    "Then Petra saw Fairhithe, and Miss Lunn saw it, too.",
    "On Monday the old Petra and the older Lunn were in Fairhithe.",
    "On Monday, on Monday, on Monday the Ferry came; the ferry, the ferry, a ferry, and a Ferry, my Ferry.",
    "“Petra’s hat,” said Lunn.",
    "It was Mrs. Thrupp. “Oh,” said Mrs. Thrupp. Here came Mrs. Thrupp.",
    ...Array.from({ length: 20 }, () => "It was a long way to the town, and nobody had thought of the rain that fell on the hills all day."),
  ];
  const words = findNameWords(text);
  assert.deepEqual([...words].sort(), ["Fairhithe", "Lunn", "Petra", "Thrupp"]);
  assert.deepEqual(namesIn(text[0], words), ["Petra", "Fairhithe", "Miss Lunn"]);
  assert.deepEqual(namesIn("“Petra’s hat,” said Mr. Lunn. Lunn laughed. But Petra did not.", words), ["Petra", "Mr Lunn"]);
  assert.deepEqual(namesIn("Then it rained.", words), []);
});

test("where all nouns have capitals, these say nothing", () => {
  const german = Array.from({ length: 5 }, () => "Der alte Mann ging mit dem Hund und der Katze durch die Stadt am Fluss, und Petra sah den Mond.");
  assert.equal(findNameWords(german).size, 0);
});

test("a link leads to a time, and is read as seconds or as a clock", () => {
  assert.equal(linkTo("http://127.0.0.1:8000/x/#t=5", 73.24), "http://127.0.0.1:8000/x/#t=73.2");
  assert.deepEqual(["#t=73.2", "#t=1:13", "#t=1:02:03", "", "#t=", "#t=x", "#t=-5", "#t=1:2:3:4"].map(timeIn), [73.2, 73, 3723, null, null, null, null, null]);
});

test("what is shared holds no secret, and says where it works", () => {
  const served = "http://127.0.0.1:8123/s3cr3t/";
  assert.equal(linkToShare(served, 73.24, true), "page.html#t=73.2");
  assert.match(shareHint(served, true), /while folioreel view runs/);
  assert.equal(linkToShare("file:///films/page.html", 5, false), "file:///films/page.html#t=5");
  assert.match(shareHint("file:///films/page.html", false), /on this computer/);
  assert.equal(shareHint("https://example.org/page.html", false), "");
});

test("text is wrapped at spaces, and a long word stands alone", () => {
  const measure = (text: string) => text.length;
  assert.deepEqual(wrap("a bb ccc dddd", 6, measure), ["a bb", "ccc", "dddd"]);
  assert.deepEqual(wrap("incomprehensibilities a", 6, measure), ["incomprehensibilities", "a"]);
  assert.deepEqual(wrap("", 6, measure), [""].slice(1));
});

test("verse keeps its lines, and both keep their italics", () => {
  const italics = { "0": [0, 3, 4, 6], "1": [3, 6] };
  const book = new Book({ title: "", sentences: ["One, two", "Prose."], paragraphs: [0, 1], chapters: [], verse: { "0": [0, 5] }, italics });
  const shown = (j: number) => book.linesOf(j).lines.map((line) => line.map((run) => (run.isItalic ? `*${run.text}*` : run.text)).join(""));
  assert.deepEqual(shown(0), ["*One*,* *", "*t*wo"]);
  assert.deepEqual(shown(1), ["Pro*se.*"]);
  assert.deepEqual([0, 1].map((j) => book.linesOf(j).isVerse), [true, false]);
  assert.equal(book.linesOf(0).startsLine, true);
});
