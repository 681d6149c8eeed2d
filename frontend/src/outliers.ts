// Links that stand alone, far from where the film is in the book: they may be true quotes, and they may be wrong.

import { isInBook } from "./follow.ts";
import type { Moment, PageLink } from "./payload.ts";

/** Another link supports one that is at most this far from it in the film (seconds) … */
const NEAR_S = 120;
/** … and in the book: as a share of it, but at least so many sentences. */
const NEAR = { share: 0.03, least: 20 };
/** What is farther than this from the film's place in the book is far. */
const FAR = { share: 0.1, least: 40 };
/** A link that is so sure is believed without support: at most one in twenty is wrong. */
export const SURE = 0.95;

/** Of each moment, whether its link lies alone far ahead of the film's place (1), far behind it (-1), or neither (0). */
export function findOutliers(moments: Moment[], links: PageLink[], sentences: number, threshold: number): Int8Array {
  const within = ({ share, least }: typeof NEAR) => Math.max(least, share * sentences);
  const [near, far] = [within(NEAR), within(FAR)];
  const outliers = new Int8Array(links.length);
  let place = 0;
  links.forEach((link, i) => {
    const step = link.sentence - place;
    const isAlone = Math.abs(step) > far && !hasSupport(moments, links, i, near, threshold);
    if (isAlone) outliers[i] = Math.sign(step);
    else if (isInBook(link, threshold)) place = link.sentence;
  });
  return outliers;
}

/** Whether a link that is in the book is near a moment's in both film and book. */
function hasSupport(moments: Moment[], links: PageLink[], moment: number, near: number, threshold: number): boolean {
  const { start_s } = moments[moment];
  const supports = (k: number) => isInBook(links[k], threshold) && Math.abs(links[k].sentence - links[moment].sentence) <= near;
  for (const step of [-1, 1]) {
    for (let k = moment + step; k in moments && Math.abs(moments[k].start_s - start_s) <= NEAR_S; k += step) {
      if (supports(k)) return true;
    }
  }
  return false;
}
