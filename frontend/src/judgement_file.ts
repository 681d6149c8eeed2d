// Judgements as a file: saved from the one-file page, loaded into the page that folioreel serves.

import type { App } from "./app.ts";
import { element } from "./dom.ts";
import { isJudgement, type Judgement, type Payload } from "./payload.ts";
import { counted } from "./words.ts";

const FORMAT = "folioreel-page-judgements";

/** The judgements that hold, and of which book and film they speak. */
export function judgementFile(payload: Payload, judged: Map<number, Judgement>): string {
  const { book, film, moments } = payload;
  const file = {
    format: FORMAT,
    version: 1,
    book: { title: book.title, sentences: book.sentences.length },
    film: { title: film.title, moments: moments.length },
    judgements: [...judged.values()].sort((a, b) => a.moment - b.moment),
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}

/** The judgements of a file; null where it is none, or of another book or film. */
export function readJudgementFile(text: string, payload: Payload): Judgement[] | null {
  try {
    const file = JSON.parse(text);
    const isOurs =
      file.format === FORMAT &&
      file.version === 1 &&
      file.book.sentences === payload.book.sentences.length &&
      file.film.moments === payload.moments.length &&
      file.judgements.every((judgement: Judgement) => isJudgement(judgement, payload));
    return isOurs ? file.judgements : null;
  } catch {
    return null;
  }
}

/** Gives the reader's judgements out as a file. */
export function saveJudgements(app: App): void {
  const blob = new Blob([judgementFile(app.payload, app.judged)], { type: "application/json" });
  const link = element("a", { href: URL.createObjectURL(blob), download: "judgements.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Asks for a file of judgements and makes each of them here. */
export function loadJudgements(app: App): void {
  const input = element("input", { type: "file", accept: ".json,application/json" });
  input.addEventListener("change", async () => {
    const judgements = readJudgementFile((await input.files?.[0]?.text()) ?? "", app.payload);
    if (!judgements) return app.say("This is no file of judgements of this book and film.");
    const count = counted(judgements.length, "judgement", "judgements");
    return app.judgeAll(judgements, `${count} loaded.`);
  });
  input.click();
}
