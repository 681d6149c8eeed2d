// A film in several files: which of them plays at a time, and the time in it.

import { countUpTo } from "./order.ts";
import type { FilmPart, Payload } from "./payload.ts";
import { clock } from "./words.ts";

type Film = Payload["film"];

/** Letters of a name that fit the margin of the book beside a time. */
const BRIEF = 4;

/** The film's parts; a film of one file is a single part from beginning to end. */
export function filesOf(film: Film): FilmPart[] {
  return film.parts ?? [{ title: film.title, file_name: film.file_name, start_s: 0, duration_s: film.duration_s }];
}

/** The part that plays at a time. */
export function partAt(parts: { start_s: number }[], time_s: number): number {
  return Math.max(0, countUpTo(parts.length, (k) => parts[k].start_s, time_s) - 1);
}

/** The part that plays at a time, and the time in it. */
export function locate(parts: FilmPart[], time_s: number): [FilmPart, number] {
  const part = parts[partAt(parts, time_s)];
  // To the microsecond: 112.1 - 100.1 must be 12, not a little less.
  return [part, Math.round((time_s - part.start_s) * 1e6) / 1e6];
}

/** A time as a reader finds it: in a film of several parts, the part's name and the time in it. */
export function when(film: Film, time_s: number): string {
  if (!film.parts) return clock(time_s);
  const [part, local_s] = locate(film.parts, time_s);
  return `${part.title} ${clock(local_s)}`;
}

/** The same for a narrow margin: a part with a long name by its number, as in 2 · 7:26. */
export function whenBriefly(film: Film, time_s: number): string {
  if (!film.parts) return clock(time_s);
  const [part, local_s] = locate(film.parts, time_s);
  const name = part.title.length <= BRIEF ? part.title : `${film.parts.indexOf(part) + 1} ·`;
  return `${name} ${clock(local_s)}`;
}

/** The chosen files in the order of the parts: by their names, else in natural order; null where some are missing. */
export function matchFiles<Named extends { name: string }>(parts: FilmPart[], chosen: Named[]): Named[] | null {
  const byName = parts.map((part) => chosen.find((file) => file.name === part.file_name));
  if (byName.every((file) => file !== undefined)) return byName as Named[];
  if (chosen.length !== parts.length) return null;
  const order = new Intl.Collator("en", { numeric: true });
  return [...chosen].sort((a, b) => order.compare(a.name, b.name));
}
