// Keeping the reader's judgements: on the server, or in this browser for the one-file page.

import { readItem, writeItem } from "./memory.ts";
import { isJudgement, type Judgement, type PageLink, type Payload, type Revised, type Server } from "./payload.ts";
import { isSameJudgement, momentsOf, sentenceAt } from "./spans.ts";

export interface Judge {
  /** Keeps judgements as one step, which one undo takes back. */
  judge(...judgements: Judgement[]): Promise<Revised>;
  undo(): Promise<Revised>;
}

/** A judgement that was not kept; the message is for the reader. */
export class JudgeError extends Error {
  constructor(
    message: string,
    /** What the server holds instead, where another page was ahead of this one. */
    readonly revised: Revised | null = null,
  ) {
    super(message);
  }
}

/** The link that a judgement makes of a moment's link. */
export function judgedLink(link: PageLink, judgement: Judgement, moment = judgement.moment): PageLink {
  const sentence = judgement.verdict === "match" ? sentenceAt(judgement, moment, link.sentence) : null;
  if (sentence !== null) return { ...link, sentence, score: 1, in_book: true };
  return { ...link, score: 0, in_book: false };
}

/** Keeps judgements in a plain file beside the alignment, and solves the chain again. */
export class ServerJudge implements Judge {
  /** One after the other: each must know the revision that the one before it made. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: Server,
    private revision: number,
  ) {}

  judge(...judgements: Judgement[]): Promise<Revised> {
    return this.queue(this.server.judge, { judgements });
  }

  undo(): Promise<Revised> {
    return this.queue(this.server.undo, {});
  }

  private queue(address: string, body: object): Promise<Revised> {
    const answer = this.last.then(() => this.post(address, { ...body, revision: this.revision }));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async post(address: string, body: object): Promise<Revised> {
    let response: Response;
    try {
      response = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    } catch {
      throw new JudgeError("folioreel does not answer: is it still running? Nothing was changed.");
    }
    const answer = await response.json().catch(() => null);
    if (response.status === 409 && answer?.links) {
      this.revision = answer.revision;
      throw new JudgeError("Another window was ahead; this page now shows its state. Judge again.", answer);
    }
    if (!response.ok || !answer?.links) {
      throw new JudgeError(answer?.error ?? `The judgement was not kept (status ${response.status}).`);
    }
    this.revision = answer.revision;
    return answer;
  }
}

/** Keeps judgements in this browser; a link changes alone, there is no chain here. */
export class LocalJudge implements Judge {
  /** What one undo takes back at a time. */
  private readonly steps: Judgement[][];

  constructor(
    private readonly payload: Payload,
    private readonly key: string,
  ) {
    const kept = readItem(key);
    const known = Array.isArray(kept) ? (kept as (Judgement | Judgement[])[]) : payload.judgements;
    const steps = known.map((step) => [step].flat().filter((judgement) => isJudgement(judgement, payload)));
    this.steps = steps.filter((step) => step.length > 0);
  }

  get judgements(): Judgement[] {
    return this.steps.flat();
  }

  async judge(...judgements: Judgement[]): Promise<Revised> {
    const fresh = judgements.filter((judgement) => !this.holds(judgement));
    if (fresh.length === 0) return this.revised([]);
    this.steps.push(fresh);
    return this.keep(fresh.flatMap(momentsOf));
  }

  async undo(): Promise<Revised> {
    const last = this.steps.pop() ?? [];
    return { ...this.keep(last.flatMap(momentsOf)), undone: last[0]?.moment ?? null };
  }

  /** Every link that a judgement changed. */
  revised(moments: number[] = this.judgements.flatMap(momentsOf)): Revised {
    const links = moments.map((moment): [number, PageLink] => {
      const last = this.lastOf(moment);
      const link = this.payload.links[moment];
      return [moment, last ? judgedLink(link, last, moment) : link];
    });
    return { revision: this.steps.length, judgements: this.judgements, links };
  }

  private holds(judgement: Judgement): boolean {
    const known = momentsOf(judgement).map((moment) => this.lastOf(moment));
    return known.every((other) => other && isSameJudgement(other, judgement));
  }

  private lastOf(moment: number): Judgement | undefined {
    return this.judgements.findLast((judgement) => momentsOf(judgement).includes(moment));
  }

  private keep(moments: number[]): Revised {
    // A step of one judgement as that alone, as older pages know it.
    if (!writeItem(this.key, this.steps.map((step) => (step.length === 1 ? step[0] : step)))) {
      throw new JudgeError("The browser keeps nothing for this page: save the judgements as a file.", this.revised(moments));
    }
    return this.revised(moments);
  }
}
