// Stretches: several moments or several sentences, and the judgements that speak of them.

import type { Judgement, Kind, Moment, PageLink } from "./payload.ts";
import { counted } from "./words.ts";

/** First and last. */
export type Span = [number, number];

export const KINDS: Kind[] = ["dialogue", "visual", "audio"];

/** All from the first to the last. */
export function allOf([first, last]: Span): number[] {
  return Array.from({ length: last - first + 1 }, (_, k) => first + k);
}

/** The moments that a judgement speaks of. */
export function momentsOf({ moment, moment_to }: Judgement): number[] {
  return allOf([moment, moment_to ?? moment]);
}

/** The sentences that a judgement names; null where the moments are not in the book. */
export function passageOf({ sentence, sentence_to }: Judgement): Span | null {
  return sentence === null ? null : [sentence, sentence_to ?? sentence];
}

/** The sentence that a judged moment is linked to: what was found, if it is in the passage; else they are dealt out in order. */
export function sentenceAt(judgement: Judgement, moment: number, found: number): number | null {
  const passage = passageOf(judgement);
  if (!passage) return null;
  const [first, last] = passage;
  if (found >= first && found <= last) return found;
  const steps = Math.max(1, momentsOf(judgement).length - 1);
  return first + Math.floor(((moment - judgement.moment) * (last - first)) / steps);
}

/** Dialogue if anybody speaks in the moments, else visual. */
export function usualKind(moments: Moment[], [first, last]: Span): Kind {
  return moments.slice(first, last + 1).some((moment) => moment.text !== "") ? "dialogue" : "visual";
}

/** A judgement with only what is not as usual, as the server writes it. */
export function makeJudgement(verdict: "match" | "none", moments: Span, passage: Span | null, kind: Kind | null, note: string): Judgement {
  const judgement: Judgement = { moment: moments[0], verdict, sentence: null };
  if (moments[1] !== moments[0]) judgement.moment_to = moments[1];
  if (verdict === "match" && passage) {
    judgement.sentence = passage[0];
    if (passage[1] !== passage[0]) judgement.sentence_to = passage[1];
    if (kind) judgement.kind = kind;
  }
  if (note.trim()) judgement.note = note.trim();
  return judgement;
}

/** Says of each moment that its own link is right; of those without one, nothing. */
export function confirmEach(moments: number[], linkOf: (moment: number) => PageLink | null, kind: Kind | null, note: string): Judgement[] {
  return moments.flatMap((moment) => {
    const link = linkOf(moment);
    return link ? [makeJudgement("match", [moment, moment], [link.sentence, link.sentence], kind, note)] : [];
  });
}

export function isSameJudgement(a: Judgement, b: Judgement): boolean {
  const key = (j: Judgement) => JSON.stringify([j.moment, j.moment_to ?? j.moment, j.verdict, passageOf(j), j.kind ?? "", j.note ?? ""]);
  return key(a) === key(b);
}

/** What a judgement says beyond its verdict, in words: “3 moments, 2 sentences, visual: the weighing”. */
export function judgementWords(judgement: Judgement): string {
  const moments = momentsOf(judgement).length;
  const [first, last] = passageOf(judgement) ?? [0, 0];
  const spans = [moments > 1 && counted(moments, "moment", "moments"), last > first && counted(last - first + 1, "sentence", "sentences")];
  const parts = [...spans, judgement.kind].filter(Boolean).join(", ");
  return [parts, judgement.note ?? ""].filter(Boolean).join(": ");
}

/** A stretch that grows from an anchor. */
class Stretch {
  private ends: Span | null = null;

  get span(): Span | null {
    return this.ends && [Math.min(...this.ends), Math.max(...this.ends)];
  }

  /** The end that moves, if there is a stretch. */
  get end(): number | null {
    return this.ends && this.ends[1];
  }

  extend(from: number, to: number): void {
    this.ends = [this.ends ? this.ends[0] : from, to];
  }

  set(span: Span | null): void {
    this.ends = span;
  }
}

/** What the reader has selected for the next judgement. */
export class Selection {
  readonly moments = new Stretch();
  readonly sentences = new Stretch();
  /** Null: as the moments are. */
  kind: Kind | null = null;
  /** Null: nothing was typed. */
  note: string | null = null;

  get isActive(): boolean {
    return Boolean(this.moments.span || this.sentences.span || this.kind || this.note !== null);
  }

  clear(): void {
    this.moments.set(null);
    this.sentences.set(null);
    this.kind = this.note = null;
  }
}
