// What Python gives to the page, and the check that it is whole: the contract of both sides.

export interface Payload {
  version: 1;
  /** Names the alignment, whatever was judged of it. */
  id: string;
  book: {
    title: string;
    sentences: string[];
    /** First sentence of each paragraph. */
    paragraphs: number[];
    /** Title and first paragraph of each chapter. */
    chapters: { title: string; paragraph: number }[];
    /** Words of each paragraph; absent in older pages. */
    words?: number[];
    /** ISO 639-1, as in “fr”; absent where it is not known. */
    language?: string;
    /** Where lines of verse begin in a sentence, in characters; absent in prose. */
    verse?: Record<string, number[]>;
    /** Where italics begin and end in a sentence, by turns; absent in older pages. */
    italics?: Record<string, number[]>;
  };
  film: {
    title: string;
    duration_s: number;
    /** The video's name; null where there are subtitles alone. */
    file_name: string | null;
    /** Start and end in seconds. */
    shots: [number, number][];
    /** Of what is said: ISO 639-1; absent where it is not known. */
    language?: string;
    /** The files of a film in several parts, in order; missing in a film of one file. */
    parts?: FilmPart[];
  };
  /** In time order; an empty text is a silent shot. */
  moments: Moment[];
  /** One a moment, in the same order. */
  links: PageLink[];
  /** What makes the whole doubtful, such as the wrong book; absent in older pages. */
  warnings?: string[];
  /** One a shot, or none at all: a data: address, or one of the server. */
  thumbnails: (string | null)[];
  judgements: Judgement[];
  /** The links of judged moments before these were judged; absent in the one-file page. */
  found?: [number, PageLink][];
  /** Grows with every judgement and undo. */
  revision: number;
  /** Null in the one-file page. */
  server: Server | null;
}

export interface FilmPart {
  title: string;
  /** The video's name; null where there are subtitles alone. */
  file_name: string | null;
  /** Where it begins in the film. */
  start_s: number;
  duration_s: number;
}

export interface Server {
  /** Where the film is; of a film in several parts, where they are, by number: `video/0`. */
  video: string | null;
  judge: string;
  undo: string;
}

export interface Moment {
  start_s: number;
  end_s: number;
  text: string;
  shot: number | null;
}

export interface PageLink {
  sentence: number;
  score: number;
  in_book: boolean;
  /** The best passages as sentence and probability, the link's own first; absent in older alignments. */
  alternatives?: [number, number][];
}

/** How the film renders a passage: by what is said, shown, or heard otherwise. */
export type Kind = "dialogue" | "visual" | "audio";

export interface Judgement {
  moment: number;
  verdict: "match" | "none";
  sentence: number | null;
  /** The last moment and the last sentence, where there are several. */
  moment_to?: number;
  sentence_to?: number;
  /** Missing where it is as usual: dialogue where anybody speaks, else visual. */
  kind?: Kind;
  note?: string;
}

/** The server's answer to a judgement or an undo. */
export interface Revised {
  revision: number;
  judgements: Judgement[];
  /** Each link that changed, by moment. */
  links: [number, PageLink][];
  /** The moment whose judgement was taken back, in the answer to an undo. */
  undone?: number | null;
  /** Why the files that follow from the judgements could not be written, though these are safe. */
  trouble?: string;
}

export class PayloadError extends Error {}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new PayloadError(what);
}

const isIndex = (value: unknown, size: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < size;

const isTime = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;

function rises(values: number[]): boolean {
  return values.every((value, k) => k === 0 || value > values[k - 1]);
}

function checkBook(book: Payload["book"]): void {
  check(typeof book?.title === "string", "the book has no title");
  check(Array.isArray(book.sentences) && book.sentences.length > 0, "the book has no sentences");
  check(book.sentences.every((s) => typeof s === "string"), "a sentence is not text");
  const { paragraphs, chapters, sentences } = book;
  check(Array.isArray(paragraphs) && paragraphs[0] === 0, "the paragraphs are missing");
  check(
    rises(paragraphs) && paragraphs.every((j) => isIndex(j, sentences.length)),
    "the paragraphs are out of order",
  );
  check(Array.isArray(chapters), "the chapters are missing");
  check(
    chapters.every((c) => typeof c.title === "string" && isIndex(c.paragraph, paragraphs.length)) &&
      rises(chapters.map((c) => c.paragraph)),
    "the chapters are out of order",
  );
  check(
    book.words === undefined || (book.words.length === paragraphs.length && book.words.every(isTime)),
    "words and paragraphs do not agree",
  );
  check(
    Object.entries(book.verse ?? {}).every(([j, starts]) => isIndex(Number(j), sentences.length) && starts.every(isTime)),
    "the lines of verse are wrong",
  );
  check(
    Object.entries(book.italics ?? {}).every(
      ([j, places]) => isIndex(Number(j), sentences.length) && places.every(isTime) && rises(places) && places.length % 2 === 0,
    ),
    "the italics are wrong",
  );
}

function checkFilm(payload: Payload): void {
  const { film, moments, links, thumbnails } = payload;
  check(typeof film?.title === "string" && isTime(film.duration_s), "the film is missing");
  check(
    Array.isArray(film.shots) && film.shots.every(([a, b]) => isTime(a) && b >= a),
    "the film's shots are wrong",
  );
  const { parts } = film;
  check(
    parts === undefined ||
      (Array.isArray(parts) &&
        parts.length > 0 &&
        parts[0].start_s === 0 &&
        rises(parts.map((part) => part.start_s)) &&
        parts.every((part) => typeof part.title === "string" && isTime(part.duration_s))),
    "the film's parts are wrong",
  );
  check(Array.isArray(moments), "the moments are missing");
  check(
    moments.every((m) => isTime(m.start_s) && m.end_s >= m.start_s && typeof m.text === "string"),
    "a moment has no time or text",
  );
  check(
    moments.every((m, i) => i === 0 || m.start_s >= moments[i - 1].start_s),
    "the moments are out of order",
  );
  check(
    moments.every((m) => m.shot === null || isIndex(m.shot, film.shots.length)),
    "a moment names a shot that is not there",
  );
  check((payload.warnings ?? []).every((w) => typeof w === "string"), "a warning is not text");
  check(Array.isArray(links) && links.length === moments.length, "links and moments do not agree");
  check(
    Array.isArray(thumbnails) && [0, film.shots.length].includes(thumbnails.length),
    "thumbnails and shots do not agree",
  );
}

export function isLink(link: PageLink, sentences: number): boolean {
  return (
    isIndex(link?.sentence, sentences) &&
    link.score >= 0 &&
    link.score <= 1 &&
    typeof link.in_book === "boolean" &&
    (link.alternatives ?? []).every(([sentence, score]) => isIndex(sentence, sentences) && score >= 0 && score <= 1)
  );
}

/** Whether a judgement speaks of this book and film. */
export function isJudgement(judgement: Judgement, payload: Payload): boolean {
  const { moment, verdict, sentence, moment_to = moment, sentence_to = sentence } = judgement ?? {};
  const isSpan = (first: unknown, last: unknown, size: number) => isIndex(first, size) && isIndex(last, size) && last >= first;
  if (!isSpan(moment, moment_to, payload.moments.length)) return false;
  if (typeof (judgement.note ?? "") !== "string") return false;
  if (verdict === "none") return true;
  const isKnown = judgement.kind === undefined || ["dialogue", "visual", "audio"].includes(judgement.kind);
  return verdict === "match" && isKnown && isSpan(sentence, sentence_to, payload.book.sentences.length);
}

/** The payload of a page, checked; a PayloadError says what is wrong with it. */
export function readPayload(text: string | null | undefined): Payload {
  check(Boolean(text?.trim()), "it holds no alignment");
  let payload: Payload;
  try {
    payload = JSON.parse(text as string);
  } catch {
    throw new PayloadError("its data is cut off or damaged");
  }
  check(typeof payload === "object" && payload !== null, "its data is damaged");
  check(payload.version === 1, "it was made by another version of folioreel");
  check(typeof payload.id === "string", "it has no name");
  checkBook(payload.book);
  checkFilm(payload);
  const count = payload.book.sentences.length;
  const found = (payload.found ?? []).map(([, link]) => link);
  check([...payload.links, ...found].every((link) => isLink(link, count)), "a link names a sentence that is not there");
  check(
    Array.isArray(payload.judgements) && payload.judgements.every((j) => isJudgement(j, payload)),
    "a judgement names a moment that is not there",
  );
  return payload;
}
