// From the film's time to its moment, and from there to the next one in the book.

import { countUpTo } from "./order.ts";
import type { Moment, PageLink } from "./payload.ts";

/** The last moment that has begun at a time; null before the first. */
export function momentAt(moments: Moment[], time_s: number): number | null {
  const begun = countUpTo(moments.length, (i) => moments[i].start_s, time_s);
  return begun === 0 ? null : begun - 1;
}

/** The shot on screen at a time; null where the film has none. */
export function shotAt(shots: [number, number][], time_s: number): number | null {
  const begun = countUpTo(shots.length, (k) => shots[k][0], time_s);
  return begun === 0 ? null : begun - 1;
}

/** Below this a link is a guess: the film is more likely not in the book there. */
export const GUESS = 0.5;

/** Whether a link says that the moment is in the book, and is sure enough for the reader. */
export function isInBook(link: PageLink, threshold: number): boolean {
  return link.in_book && (link.score >= threshold || threshold <= GUESS);
}

/** Whether a link is shown; where the reader asks for guesses, these are, too. */
export function isShown(link: PageLink, threshold: number): boolean {
  return isInBook(link, threshold) || (threshold < GUESS && link.score > 0 && link.score >= threshold);
}

/** The nearest moment after (step 1) or before (step -1) whose link is shown. */
export function nextInBook(
  links: PageLink[],
  from: number | null,
  step: 1 | -1,
  threshold: number,
): number | null {
  const first = from === null ? (step === 1 ? 0 : -1) : from + step;
  for (let i = first; i >= 0 && i < links.length; i += step) {
    if (isShown(links[i], threshold)) return i;
  }
  return null;
}

/** The moments of each sentence, in time order; null stands for a link that is not shown. */
export function momentsOfSentences(links: (PageLink | null)[]): Map<number, number[]> {
  const moments = new Map<number, number[]>();
  links.forEach((link, i) => {
    if (link === null) return;
    const others = moments.get(link.sentence);
    if (others) others.push(i);
    else moments.set(link.sentence, [i]);
  });
  return moments;
}
