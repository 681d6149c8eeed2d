// The book as the page asks about it: which sentences a paragraph has, in which chapter it stands.

import { countUpTo } from "./order.ts";
import type { Payload } from "./payload.ts";
import { cutRuns, keepMarks, type Run } from "./typesetting.ts";

/** A paragraph of more sentences is shown in pieces, so that a book without any stays quick. */
const LONGEST = 100;

export class Book {
  readonly title: string;
  readonly sentences: string[];
  readonly paragraphs: number[];
  readonly chapters: { title: string; paragraph: number }[];
  private readonly verse: Record<string, number[]>;
  private readonly italics: Record<string, number[]>;
  /** Words of each paragraph. */
  readonly words: number[];
  /** First sentence of each block: a paragraph, or a piece of an endless one. */
  readonly blocks: number[];

  constructor(book: Payload["book"]) {
    this.title = book.title;
    this.sentences = book.sentences.map((text) => keepMarks(text, book.language));
    this.paragraphs = book.paragraphs;
    this.chapters = book.chapters;
    this.verse = book.verse ?? {};
    this.italics = book.italics ?? {};
    this.words = book.words ?? book.paragraphs.map((_, p) => book.sentences.slice(...this.sentencesOf(p)).join(" ").split(/\s+/).length);
    this.blocks = book.paragraphs.flatMap((first, p) => {
      const length = (book.paragraphs[p + 1] ?? book.sentences.length) - first;
      return Array.from({ length: Math.ceil(length / LONGEST) }, (_, k) => first + k * LONGEST);
    });
  }

  /** A sentence in its lines of verse, with its italics; in prose it is one line. */
  linesOf(sentence: number): { isVerse: boolean; startsLine: boolean; lines: Run[][] } {
    const starts = this.verse[sentence];
    const lines = cutRuns(this.sentences[sentence], starts ?? [], this.italics[sentence] ?? []);
    return { isVerse: starts !== undefined, startsLine: starts?.[0] === 0, lines };
  }

  blockOf(sentence: number): number {
    return countUpTo(this.blocks.length, (b) => this.blocks[b], sentence) - 1;
  }

  /** First sentence of a block and the first of the next. */
  sentencesOfBlock(block: number): [number, number] {
    return [this.blocks[block], this.blocks[block + 1] ?? this.sentences.length];
  }

  /** First sentence of a paragraph and the first of the next. */
  sentencesOf(paragraph: number): [number, number] {
    const end = this.paragraphs[paragraph + 1] ?? this.sentences.length;
    return [this.paragraphs[paragraph], end];
  }

  paragraphOf(sentence: number): number {
    return countUpTo(this.paragraphs.length, (p) => this.paragraphs[p], sentence) - 1;
  }

  /** The chapter of a paragraph; null for what stands before the first. */
  chapterOf(paragraph: number): number | null {
    const begun = countUpTo(this.chapters.length, (c) => this.chapters[c].paragraph, paragraph);
    return begun === 0 ? null : begun - 1;
  }

  /** First sentence of a chapter and the first of the next. */
  sentencesOfChapter(chapter: number): [number, number] {
    const next = this.chapters[chapter + 1];
    const end = next ? this.paragraphs[next.paragraph] : this.sentences.length;
    return [this.paragraphs[this.chapters[chapter].paragraph], end];
  }

  /** The chapter's name, or its number where it has none. */
  chapterTitle(chapter: number | null): string {
    if (chapter === null) return "Before the first chapter";
    return this.chapters[chapter].title.trim() || `Chapter ${chapter + 1}`;
  }

  chapterTitleOf(sentence: number): string {
    return this.chapterTitle(this.chapterOf(this.paragraphOf(sentence)));
  }
}
