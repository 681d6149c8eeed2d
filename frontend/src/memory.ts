// What the page keeps over a reload. Where the browser keeps nothing, the page still works.

export type Theme = "system" | "light" | "dark";

export interface Kept {
  time_s: number;
  /** Only links at least this sure are shown; below one half, guesses are, too. */
  threshold: number;
  hidesSpoilers: boolean;
  seen_s: number;
  /** The block at the top of the book, where the reader had scrolled away. */
  awayAt: number | null;
  hasLetterKeys: boolean;
  rate: number;
}

const FRESH: Kept = {
  time_s: 0,
  threshold: 0.5,
  hidesSpoilers: false,
  seen_s: 0,
  awayAt: null,
  hasLetterKeys: true,
  rate: 1,
};

export function readItem(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Whether the browser kept it. */
export function writeItem(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The kept values of one page, each of the right type or as in a fresh page. */
export function readKept(key: string): Kept {
  const kept = { ...FRESH };
  const found = readItem(key);
  if (typeof found !== "object" || found === null) return kept;
  for (const [name, fresh] of Object.entries(FRESH)) {
    const value = (found as Record<string, unknown>)[name];
    const isNumber = typeof value === "number" && Number.isFinite(value) && value >= 0;
    const fits = fresh === null || typeof fresh === "number" ? isNumber : typeof value === typeof fresh;
    if (fits) Object.assign(kept, { [name]: value });
  }
  return kept;
}

export function readTheme(): Theme {
  const theme = readItem("folioreel:theme");
  return theme === "light" || theme === "dark" ? theme : "system";
}
