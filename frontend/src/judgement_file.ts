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
    judgements: [...judged.values()].sort((a, b) => a.moment - b.moment),
  };
  return `${JSON.stringify(file, null, 1)}\n`;
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
