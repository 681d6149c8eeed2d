// People and places of a passage: words with a capital that the book uses again and again, and never without it.

const WORD = /\p{L}[\p{L}\p{M}’'-]*/gu;
/** Words with capitals in a row; a stop among them may be that of a title. */
const RUN = /\p{Lu}[\p{L}\p{M}’'-]*(?:(?:\.(?=\s+\p{Lu}))?\s+\p{Lu}[\p{L}\p{M}’'-]*)*/gu;
/** After a quotation mark, a dash or a stop, any word may have a capital; not after these. */
const FREE = /(?:[\p{L}\p{N},;]|\b(?:Mr|Mrs|Ms|Dr|St|M|Mme)\.)\s+$/u;
/** How often a word must come with a capital where nothing else asks for one. */
const LEAST = 3;
/** The most that it may come without. */
const SMALL_SHARE = 0.1;
/** Where more words have such capitals, as in German, they do not mean names. */
const CAPITAL_SHARE = 0.12;
const TITLES = new Set("Mr Mrs Ms Miss Dr Sir Lady Lord Madame Madam Monsieur Herr Frau Captain Colonel Doctor Professor Uncle Aunt Father Mother Brother Sister".split(" "));
const NO_NAMES = new Set(
  "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December English French German Christmas God Oh I".split(" "),
);

const bare = (word: string): string => word.replace(/[’']s?$/, "").replace(/[’'-]+$/, "");

/** The words of a book that are names. */
export function findNameWords(sentences: string[]): Set<string> {
  const capital = new Map<string, number>();
  const small = new Map<string, number>();
  let [all, raised] = [0, 0];
  for (const sentence of sentences) {
    for (const found of sentence.matchAll(WORD)) {
      const word = bare(found[0]);
      all += 1;
      if (!/^\p{Lu}\p{Ll}/u.test(word)) small.set(word, (small.get(word) ?? 0) + 1);
      else if (FREE.test(sentence.slice(Math.max(0, found.index - 6), found.index))) {
        capital.set(word, (capital.get(word) ?? 0) + 1);
        raised += 1;
      }
    }
  }
  if (raised > CAPITAL_SHARE * all) return new Set();
  const isName = ([word, count]: [string, number]) =>
    count >= LEAST && !NO_NAMES.has(word) && !TITLES.has(word) && (small.get(word.toLowerCase()) ?? 0) <= SMALL_SHARE * count;
  return new Set([...capital].filter(isName).map(([word]) => word));
}

/** The names in a passage, each once, in order. */
export function namesIn(passage: string, words: Set<string>): string[] {
  const names = new Set<string>();
  for (const found of passage.matchAll(RUN)) {
    // A sentence's first word may stand before a name: “But Petra” is Petra.
    let run: string[] = [];
    const end = () => {
      if (run.some((one) => !TITLES.has(one))) names.add(run.join(" "));
      run = [];
    };
    for (const part of found[0].split(/\s+/)) {
      const word = bare(part.replace(/\.$/, ""));
      if (!words.has(word) && !TITLES.has(word)) end();
      else run.push(word);
      if (part.endsWith(".") && !TITLES.has(word)) end();
    }
    end();
  }
  // “Lunn” says no more than “Miss Lunn”.
  const all = [...names];
  return all.filter((name) => !all.some((other) => other !== name && ` ${other} `.includes(` ${name} `)));
}
