// The fidelity report: how much of each chapter the film uses, how much of each scene is in the book.

import type { Book } from "./book.ts";
import { isShown } from "./follow.ts";
import type { Moment, PageLink } from "./payload.ts";

export interface ChapterUse {
  chapter: number | null;
  first: number;
  end: number;
  /** How many of its paragraphs have been seen: all of them, where nothing is hidden. */
  seen: number;
  /** Share of those that a moment of the film is linked to. */
  share: number;
}

export interface SceneUse {
  start_s: number;
  end_s: number;
  /** First moment, and the first of the next scene. */
  first: number;
  end: number;
  /** How many of its moments have been seen. */
  seen: number;
  /** Share of those that are in the book. */
  share: number;
}

const SCENE_S = 120;
const SHORTEST_SCENE_S = 40;

/** Each chapter with the share of its paragraphs, up to the last sentence shown, that the film uses. */
export function chapterUse(book: Book, links: PageLink[], threshold: number, veil = Infinity): ChapterUse[] {
  const used = new Set(
    links.filter((link) => isShown(link, threshold)).map((link) => book.paragraphOf(link.sentence)),
  );
  const starts = book.chapters.map((chapter) => chapter.paragraph);
  const hasFront = starts.length === 0 || starts[0] > 0;
  const bounds = [...(hasFront ? [0] : []), ...starts, book.paragraphs.length];
  return bounds.slice(0, -1).map((first, k) => {
    const end = bounds[k + 1];
    let [count, seen] = [0, 0];
    for (let p = first; p < end && book.paragraphs[p] <= veil; p++) {
      seen += 1;
      count += used.has(p) ? 1 : 0;
    }
    const chapter = hasFront ? (k === 0 ? null : k - 1) : k;
    return { chapter, first, end, seen, share: count / Math.max(1, seen) };
  });
}

/** Where scenes begin: the film cut at its longest pauses, a scene for every two minutes or so. */
export function sceneStarts(moments: Moment[], duration_s: number): number[] {
  const wanted = Math.max(1, Math.round(duration_s / SCENE_S));
  const spoken = moments.flatMap((m, i) => (m.text === "" ? [] : [i]));
  const rows = spoken.length > 1 ? spoken : moments.map((_, i) => i);
  const pauses = rows
    .slice(1)
    .map((i, k) => ({ moment: i, pause_s: moments[i].start_s - moments[rows[k]].end_s }))
    .sort((a, b) => b.pause_s - a.pause_s || a.moment - b.moment);
  const starts = moments.length > 0 ? [0] : [];
  for (const { moment } of pauses) {
    if (starts.length >= wanted) break;
    const time_s = moments[moment].start_s;
    if (starts.every((i) => Math.abs(moments[i].start_s - time_s) >= SHORTEST_SCENE_S)) {
      starts.push(moment);
    }
  }
  return starts.sort((a, b) => a - b);
}

/** Each scene with the share of its moments, of those seen, that are in the book. */
export function sceneUse(
  moments: Moment[],
  links: PageLink[],
  duration_s: number,
  threshold: number,
  seenLimit_s = Infinity,
): SceneUse[] {
  const starts = sceneStarts(moments, duration_s);
  return starts.map((first, k) => {
    const end = starts[k + 1] ?? moments.length;
    const seen = moments.slice(first, end).filter((moment) => moment.start_s <= seenLimit_s).length;
    const inBook = links.slice(first, first + seen).filter((link) => isShown(link, threshold)).length;
    return {
      start_s: k === 0 ? 0 : moments[first].start_s,
      end_s: end < moments.length ? moments[end].start_s : duration_s,
      first,
      end,
      seen,
      share: inBook / Math.max(1, seen),
    };
  });
}

export function meanShare(parts: { seen: number; share: number }[]): number {
  const seen = parts.reduce((sum, part) => sum + part.seen, 0);
  const used = parts.reduce((sum, part) => sum + part.share * part.seen, 0);
  return seen === 0 ? 0 : used / seen;
}
