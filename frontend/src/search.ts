// Search in sentences and subtitles together: a phrase first, then all of its words in any order.

export interface Match {
  /** Which text, and the stretches of it that match. */
  index: number;
  ranges: [number, number][];
}

export interface Found {
  matches: Match[];
  /** All matches, also those beyond the limit. */
  total: number;
}

const PLAIN: Record<string, string> = {
  "’": "'", "‘": "'", "׳": "'", "“": '"', "”": '"', "״": '"', "–": "-", "—": "-", "־": "-", "\u00a0": " ", "\u202f": " ",
  "\u00ad": "", "ـ": "", ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i",
};
// French sets spaces before these marks and inside its quotation marks, and hardly anybody types them.
const SPACED_BEFORE = /\s+(?=[?!:;»])/g;
const SPACED_BEHIND = /(?<=«)\s+/g;

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  // Marks that stand apart from their letter go, and so do those that are part of it.
  return PLAIN[character] ?? PLAIN[lower] ?? lower.normalize("NFD").replace(/\p{M}/gu, "");
}

/** Where spaces stand that do not count, by the place of each. */
function idleSpaces(text: string): Set<number> {
  const idle = new Set<number>();
  for (const pattern of [SPACED_BEFORE, SPACED_BEHIND]) {
    for (const { index, 0: spaces } of text.matchAll(pattern)) {
      for (let k = 0; k < spaces.length; k++) idle.add(index + k);
    }
  }
  return idle;
}

/** Text without case, accents, curly quotes and the spaces that French sets before marks, and where each character of it comes from. */
export interface Folded {
  text: string;
  /** Null where every character is in its old place. */
  places: number[] | null;
  /** Spaces that were left out: where something ends, they do not belong to it. */
  idle: Set<number>;
}

export function fold(text: string): Folded {
  const lower = text.toLowerCase();
  // Most text is plain: lower case keeps every place, and there is nothing else to fold.
  const idle = idleSpaces(text);
  if (idle.size === 0 && lower.length === text.length && /^[\x00-\x7f]*$/.test(lower)) return { text: lower, places: null, idle };
  let folded = "";
  const places: number[] = [];
  for (let k = 0; k < text.length; k++) {
    const part = idle.has(k) ? "" : foldCharacter(text[k]);
    for (let n = 0; n < part.length; n++) places.push(k);
    folded += part;
  }
  places.push(text.length);
  return { text: folded, places, idle };
}

function rangesOf({ text, places, idle }: Folded, words: string[]): [number, number][] {
  const ranges: [number, number][] = [];
  const place = (k: number) => (places ? places[k] : k);
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      // To the start of the next character: an accent that stands apart is marked with its letter.
      let end = place(at + word.length);
      while (idle.has(end - 1)) end -= 1;
      ranges.push([place(at), end]);
    }
  }
  ranges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  return ranges.filter(([start], k) => k === 0 || start >= Math.max(...ranges.slice(0, k).map((r) => r[1])));
}

/** The texts of one kind, folded once, when first searched. */
export class SearchIndex {
  private folded: Folded[] | null = null;

  constructor(private readonly texts: string[]) {}

  /** Texts with the phrase, then those with all words; only where `allowed`. */
  find(query: string, limit: number, allowed: (index: number) => boolean): Found {
    const phrase = fold(query).text.trim().replace(/\s+/g, " ");
    if (phrase === "") return { matches: [], total: 0 };
    this.folded ??= this.texts.map(fold);
    const words = phrase.split(" ");
    const exact: Match[] = [];
    const loose: Match[] = [];
    let total = 0;
    this.folded.forEach((folded, index) => {
      const { text } = folded;
      const isExact = text.includes(phrase);
      if (!isExact && !(words.length > 1 && words.every((word) => text.includes(word)))) return;
      if (!allowed(index)) return;
      total += 1;
      const group = isExact ? exact : loose;
      if (group.length < limit) {
        group.push({ index, ranges: rangesOf(folded, isExact ? [phrase] : words) });
      }
    });
    return { matches: [...exact, ...loose].slice(0, limit), total };
  }
}
