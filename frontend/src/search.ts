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

const plain: Record<string, string> = {
  "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u00a0": " ",
};

function foldCharacter(character: string): string {
  const folded = plain[character] ?? character.normalize("NFD")[0].toLowerCase();
  return folded.length === 1 ? folded : character;
}

/** Text without case, accents and curly quotes, each character in its old place. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  // Most text is plain: lower case keeps every place, and there is nothing else to fold.
  if (lower.length === text.length && /^[\x00-\x7f]*$/.test(lower)) return lower;
  return Array.from({ length: text.length }, (_, k) => foldCharacter(text[k])).join("");
}

function rangesOf(folded: string, words: string[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      ranges.push([at, at + word.length]);
    }
  }
  ranges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  return ranges.filter(([start], k) => k === 0 || start >= Math.max(...ranges.slice(0, k).map((r) => r[1])));
}

/** The texts of one kind, folded once, when first searched. */
export class SearchIndex {
  private folded: string[] | null = null;

  constructor(private readonly texts: string[]) {}

  /** Texts with the phrase, then those with all words; only where `allowed`. */
  find(query: string, limit: number, allowed: (index: number) => boolean): Found {
    const phrase = fold(query).trim().replace(/\s+/g, " ");
    if (phrase === "") return { matches: [], total: 0 };
    this.folded ??= this.texts.map(fold);
    const words = phrase.split(" ");
    const exact: Match[] = [];
    const loose: Match[] = [];
    let total = 0;
    this.folded.forEach((text, index) => {
      const isExact = text.includes(phrase);
      if (!isExact && !(words.length > 1 && words.every((word) => text.includes(word)))) return;
      if (!allowed(index)) return;
      total += 1;
      const group = isExact ? exact : loose;
      if (group.length < limit) {
        group.push({ index, ranges: rangesOf(text, isExact ? [phrase] : words) });
      }
    });
    return { matches: [...exact, ...loose].slice(0, limit), total };
  }
}
