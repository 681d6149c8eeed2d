// The links as the reader has corrected them.

import { type Judge, JudgeError, LocalJudge, ServerJudge } from "./judge.ts";
import type { Judgement, Moment, PageLink, Payload, Revised } from "./payload.ts";
import { clock, counted } from "./words.ts";

export class Corrections {
  readonly links: PageLink[];
  judged = new Map<number, Judgement>();
  private count = 0;
  /** Judgements that are on their way. */
  private pending = 0;
  private readonly judge: Judge;
  private readonly moments: Moment[];
  /** What the reader should know of the first judgement. */
  private caution: string;

  constructor(payload: Payload, key: string) {
    this.moments = payload.moments;
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

  /** Keeps a judgement; returns what to tell the reader. */
  add(judgement: Judgement, done: string): Promise<string> {
    const { caution } = this;
    this.caution = "";
    return this.revise(this.judge.judge(judgement), judgement.moment, done + caution);
  }

  /** Takes the last judgement back; returns what to tell the reader. */
  undo(): Promise<string> {
    const last = [...this.judged.keys()].at(-1);
    const place = last === undefined ? "" : ` at ${clock(this.moments[last].start_s)}`;
    return this.revise(this.judge.undo(), last ?? -1, `Undone${place}.`);
  }

  private async revise(answer: Promise<Revised>, moment: number, done: string): Promise<string> {
    this.pending += 1;
    try {
      const revised = await answer;
      this.apply(revised);
      const others = revised.links.filter(([changed]) => changed !== moment).length;
      return others > 0 ? `${done} ${counted(others, "other link", "other links")} changed with it.` : done;
    } catch (error) {
      if (!(error instanceof JudgeError)) throw error;
      if (error.revised) this.apply(error.revised);
      return error.message;
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
      // Taken out first, so that the last judgement is the last of the map.
      this.judged.delete(judgement.moment);
      this.judged.set(judgement.moment, judgement);
    }
    this.count = judgements.length;
  }
}
