// The links as the reader has corrected them.

import { type Judge, JudgeError, LocalJudge, ServerJudge } from "./judge.ts";
import { when } from "./parts.ts";
import type { Judgement, Moment, PageLink, Payload, Revised } from "./payload.ts";
import { isSameJudgement, momentsOf } from "./spans.ts";
import { counted } from "./words.ts";

/** What to tell the reader of a judgement or an undo, and of which moment it was (null: none). */
export interface Outcome {
  words: string;
  moment: number | null;
}

export class Corrections {
  readonly links: PageLink[];
  judged = new Map<number, Judgement>();
  private count = 0;
  /** Judgements that are on their way. */
  private pending = 0;
  private readonly judge: Judge;
  private readonly moments: Moment[];
  private readonly film: Payload["film"];
  /** What the reader should know of the first judgement. */
  private caution: string;

  constructor(payload: Payload, key: string) {
    this.moments = payload.moments;
    this.film = payload.film;
    this.links = [...payload.links];
    this.caution = payload.server ? "" : " In this file a judgement changes its own link alone, and stays in this browser.";
    if (payload.server) {
      this.judge = new ServerJudge(payload.server, payload.revision);
      this.setJudgements(payload.judgements);
    } else {
      const local = new LocalJudge(payload, key);
      this.judge = local;
      this.apply(local.revised());
    }
  }

  get canUndo(): boolean {
    return this.count + this.pending > 0;
  }

  /** Keeps judgements, which one undo takes back. */
  add(judgements: Judgement[], done: string): Promise<Outcome> {
    const { caution } = this;
    this.caution = "";
    return this.revise(this.judge.judge(...judgements), () => ({ words: done + caution, moment: judgements[0].moment }));
  }

  /** Takes back what was judged last. */
  undo(): Promise<Outcome> {
    return this.revise(this.judge.undo(), ({ undone }) => {
      const moment = undone ?? null;
      return { words: moment === null ? "Undone." : `Undone at ${when(this.film, this.moments[moment].start_s)}.`, moment };
    });
  }

  private async revise(answer: Promise<Revised>, name: (revised: Revised) => Outcome): Promise<Outcome> {
    this.pending += 1;
    try {
      const revised = await answer;
      const { words, moment } = name(revised);
      const [known, links] = [this.judged, [...this.links]];
      this.apply(revised);
      const isOwn = (i: number) => !isSame(known.get(i), this.judged.get(i));
      const others = revised.links.filter(([changed, link]) => !isOwn(changed) && isElsewhere(link, links[changed])).length;
      const more = others > 0 ? ` ${counted(others, "other link", "other links")} changed with it.` : "";
      const trouble = revised.trouble ? ` It is safe in journal.jsonl, but ${revised.trouble}.` : "";
      return { words: words + more + trouble, moment };
    } catch (error) {
      if (!(error instanceof JudgeError)) throw error;
      if (error.revised) this.apply(error.revised);
      return { words: error.message, moment: null };
    } finally {
      this.pending -= 1;
    }
  }

  private apply(revised: Revised): void {
    for (const [moment, link] of revised.links) this.links[moment] = link;
    this.setJudgements(revised.judgements);
  }

  private setJudgements(judgements: Judgement[]): void {
    this.judged = new Map();
    for (const judgement of judgements) {
      for (const moment of momentsOf(judgement)) {
        // Taken out first, so that the last judgement is the last of the map.
        this.judged.delete(moment);
        this.judged.set(moment, judgement);
      }
    }
    this.count = judgements.length;
  }
}

function isSame(a: Judgement | undefined, b: Judgement | undefined): boolean {
  return a && b ? isSameJudgement(a, b) : a === b;
}

/** Whether a link leads elsewhere than before; another score alone is no change that a reader sees. */
function isElsewhere(link: PageLink, before: PageLink): boolean {
  return link.in_book !== before.in_book || (link.in_book && link.sentence !== before.sentence);
}
