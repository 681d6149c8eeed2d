import assert from "node:assert/strict";
import { test } from "node:test";

import { gapBetween, joinSentences, keepMarks } from "../src/typesetting.ts";

test("French marks keep their spaces", () => {
  assert.equal(keepMarks("« Où vas-tu ? » dit-il : personne !", "fr"), "«\u00a0Où vas-tu\u202f?\u00a0» dit-il\u00a0: personne\u202f!");
  assert.equal(keepMarks("Wait ! he said.", "en"), "Wait ! he said.");
});

test("sentences are joined as their language writes them", () => {
  assert.equal(joinSentences(["He left.", "She stayed."]), "He left. She stayed.");
  assert.equal(joinSentences(["合久必分。", "“周末七国。”", "天下"]), "合久必分。“周末七国。”天下");
  assert.equal(gapBetween("หนูต้องไป", "คุณปู่"), " ");
  assert.equal(gapBetween("", "A"), " ");
});
