// How much of the film is in the book, and of the book in the film: the same figures as `folioreel report`.

import type { Book } from "./book.ts";
import { type Chance, type Estimate, estimateShare } from "./estimates.ts";
import type { Judgement, Moment, PageLink } from "./payload.ts";

export interface ChapterUse {
  chapter: number | null;
  /** Its first paragraph, and the first of the next chapter. */
  first: number;
  end: number;
  /** Of its words, those in paragraphs that the film renders; null where nothing of it has been seen. */
  share: Estimate | null;
}

export interface SceneUse {
  start_s: number;
  end_s: number;
  /** First moment, and the first of the next scene. */
  first: number;
  end: number;
  /** How many of its moments have been seen. */
  seen: number;
  /** Of its spoken lines, those in the book; null where nobody speaks. */
  share: Estimate | null;
}

/** Links as they are now, and those of them that a reader has judged. */
export interface Judged {
  links: PageLink[];
  judged: Map<number, Judgement>;
}

const SCENE_S = 120;
const SHORTEST_SCENE_S = 40;

const chanceOf = ({ links, judged }: Judged, i: number): number => (judged.has(i) ? Number(links[i].in_book) : links[i].score);

/** The spoken lines among the moments from `first` to before `end`, each with the probability that it is in the book. */
export function lineChances(moments: Moment[], found: Judged, first = 0, end = moments.length): Chance[] {
  const chances: Chance[] = [];
  for (let i = first; i < end; i++) {
    if (moments[i].text === "") continue;
    chances.push({ weight: 1, chance: chanceOf(found, i), isJudged: found.judged.has(i) });
  }
  return chances;
}

/** Each paragraph with its words, and the probability that some moment renders it. */
export function paragraphChances(book: Book, found: Judged): Chance[] {
  const chances = book.paragraphs.map((_, p): Chance => ({ weight: book.words[p], chance: 0, isJudged: false }));
  found.links.forEach(({ sentence, in_book }, i) => {
    const paragraph = chances[book.paragraphOf(sentence)];
    paragraph.chance = 1 - (1 - paragraph.chance) * (1 - chanceOf(found, i));
    paragraph.isJudged ||= found.judged.has(i) && in_book;
  });
  return chances;
}

/** Each chapter with its share, over those of its paragraphs that are shown. */
export function chapterUse(book: Book, chances: Chance[], isShown: (paragraph: number) => boolean = () => true): ChapterUse[] {
  const starts = book.chapters.map((chapter) => chapter.paragraph);
  const hasFront = starts.length === 0 || starts[0] > 0;
  const bounds = [...(hasFront ? [0] : []), ...starts, book.paragraphs.length];
  return bounds.slice(0, -1).map((first, k) => {
    const end = bounds[k + 1];
    const seen = chances.slice(first, end).filter((_, p) => isShown(first + p));
    const chapter = hasFront ? (k === 0 ? null : k - 1) : k;
    return { chapter, first, end, share: estimateShare(seen) };
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

/** Each scene with the share of its lines, of those seen, that are in the book. */
export function sceneUse(moments: Moment[], found: Judged, duration_s: number, seenLimit_s = Infinity): SceneUse[] {
  const starts = sceneStarts(moments, duration_s);
  return starts.map((first, k) => {
    const end = starts[k + 1] ?? moments.length;
    const seen = moments.slice(first, end).filter((moment) => moment.start_s <= seenLimit_s).length;
    return {
      start_s: k === 0 ? 0 : moments[first].start_s,
      end_s: end < moments.length ? moments[end].start_s : duration_s,
      first,
      end,
      seen,
      share: estimateShare(lineChances(moments, found, first, first + seen)),
    };
  });
}
