// How sentences are set: spaces that French marks keep beside them, and none between Chinese sentences.

import { countUpTo } from "./order.ts";

const UNSPACED = /[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]/;
const QUOTES = "'‘’‚‛`\"“”„‟«»‹›「」『』《》〈〉";

/** A sentence whose marks cannot be parted from their words at the end of a line; it is as long as before. */
export function keepMarks(text: string, language?: string): string {
  if (language !== "fr") return text;
  return text.replace(/ (?=[!?;])/g, "\u202f").replace(/ (?=[»:])|(?<=«) /g, "\u00a0");
}

/** A stretch of a line, in italics or not. */
export interface Run {
  text: string;
  isItalic: boolean;
}

/** A sentence cut into lines, and each of them where italics begin or end. */
export function cutRuns(text: string, lines: number[], italics: number[]): Run[][] {
  const bounds = [0, ...lines.filter((start) => start > 0), text.length];
  return bounds.slice(1).map((end, k) => {
    const cuts = [bounds[k], ...italics.filter((place) => place > bounds[k] && place < end), end];
    return cuts.slice(1).map((to, n) => {
      const isItalic = countUpTo(italics.length, (m) => italics[m], cuts[n]) % 2 === 1;
      return { text: text.slice(cuts[n], to), isItalic };
    });
  });
}

/** What comes between two sentences: a space, or nothing in Chinese and Japanese. */
export function gapBetween(before: string, after: string): string {
  const last = [...before].reverse().find((mark) => !QUOTES.includes(mark)) ?? "";
  const first = [...after].find((mark) => !QUOTES.includes(mark)) ?? "";
  return UNSPACED.test(last) && UNSPACED.test(first) ? "" : " ";
}

/** Sentences as one text. */
export function joinSentences(sentences: string[]): string {
  return sentences.reduce((text, next, k) => (k === 0 ? next : text + gapBetween(sentences[k - 1], next) + next), "");
}
