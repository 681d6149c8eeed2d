import assert from "node:assert/strict";
import { test } from "node:test";
import { Heights } from "../src/heights.ts";
import { random } from "./random.ts";

test("sums and places agree with plain addition, while heights change", () => {
  const next = random(2);
  for (const size of [1, 2, 7, 64, 100]) {
    const plain = Array.from({ length: size }, () => 1 + next(50));
    const heights = new Heights(plain);
    for (let round = 0; round < 60; round++) {
      const changed = next(size);
      const height = 1 + next(50);
      assert.equal(heights.set(changed, height), height - plain[changed]);
      plain[changed] = height;
      const index = next(size + 1);
      const before = plain.slice(0, index).reduce((sum, value) => sum + value, 0);
      assert.equal(heights.before(index), before);
      const offset = next(before + 60);
      let item = 0;
      for (let sum = plain[0]; sum <= offset && item < size - 1; sum += plain[++item]);
      assert.equal(heights.at(offset), item);
    }
  }
});

test("offsets outside of the list give its ends", () => {
  const heights = new Heights([10, 20]);
  assert.equal(heights.at(-500), 0);
  assert.equal(heights.at(500), 1);
});
