// How far into the book the film has led so far.

import { momentAt } from "./follow.ts";
import type { Moment, PageLink } from "./payload.ts";

/** A lone link must not lift the veil: another sure one near in film and book has to stand by it. */
const NEAR_MOMENTS = 12;
const NEAR_SENTENCES = 60;
const SURE = 0.5;

/** The last sentence that has been seen once the film has run to `seen_s`; -1 before the first. */
export function seenSentence(moments: Moment[], links: PageLink[], seen_s: number): number {
  const last = momentAt(moments, seen_s);
  if (last === null) return -1;
  const isSure = (i: number) => links[i].in_book && links[i].score >= SURE;
  let farthest = -1;
  for (let i = 0; i <= last; i++) {
    const { sentence, score } = links[i];
    if (!isSure(i) || sentence <= farthest) continue;
    // The reader's own judgement (score 1) needs no second witness, nor does a step onwards.
    let vouched = score === 1 || (farthest >= 0 && sentence - farthest <= NEAR_SENTENCES);
    const end = Math.min(last, i + NEAR_MOMENTS);
    for (let k = Math.max(0, i - NEAR_MOMENTS); k <= end && !vouched; k++) {
      vouched = k !== i && isSure(k) && Math.abs(links[k].sentence - sentence) <= NEAR_SENTENCES;
    }
    if (vouched) farthest = sentence;
  }
  return farthest;
}
