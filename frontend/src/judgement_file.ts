// Judgements of the one-file page as a file, which `folioreel view --judgements` takes over.

import { element } from "./dom.ts";
import type { Judgement, Payload } from "./payload.ts";

/** The judgements that hold, and of which book and film they speak. */
export function judgementFile({ book, film }: Payload, judged: Map<number, Judgement>): string {
  const file = {
    format: "folioreel-judgements",
    version: 1,
    book: book.title,
    film: film.title,
    judgements: spansOf(judged),
  };
  return `${JSON.stringify(file, null, 1)}\n`;
}

/** The judgements that hold, each once, in the film's order; one that lost moments to a later one in pieces. */
export function spansOf(judged: Map<number, Judgement>): Judgement[] {
  const found: Judgement[] = [];
  let open: Judgement | null = null;
  for (const [moment, judgement] of [...judged].sort(([a], [b]) => a - b)) {
    const last = found.at(-1);
    if (last && open === judgement) last.moment_to = moment;
    else {
      const { moment_to: _, ...one } = judgement;
      found.push({ ...one, moment });
    }
    open = judgement;
  }
  return found;
}

/** Gives a text to the reader as a file. */
export function saveFile(text: string, name: string): void {
  saveBlob(new Blob([text], { type: "application/json" }), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
