"""Opening a corpus: its books, their sentences in order, and the passage around any sentence.

`books/<id>.tsv.gz` is UTF-8 text, compressed with gzip. The first line is a JSON list of chapter
titles; each following line is one sentence: chapter, paragraph (both counted from 0, paragraphs
through the whole book) and text, separated by tabs.

Why gzip at level 6, measured on 20 novels: 38 % of the plain size, decompressed at 280 MB/s; any
passage is 5 ms away. xz gets to 32 % but takes 3.6 times as long to decompress, bz2 to 29 % and
7.5 times as long.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from folioreel.corpus.manifest import BookRecord, Manifest, read_manifest, text_path
from folioreel.errors import InputError
from folioreel.ingest.source import read_bytes
from folioreel.json_input import parse_json
from folioreel.text import sentence_joint, squeeze
from folioreel.types import Book

_GZIP_LEVEL = 6
# Books kept in memory between passages: neighbouring results often come from the same book, and a
# long novel takes a few megabytes.
_CACHED_BOOKS = 8
_REBUILD = "build the corpus again to repair it"


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusSentence:
    """One sentence and its place in the book; everything is counted from 0."""

    index: int
    chapter: int
    paragraph: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CorpusPassage:
    """Consecutive sentences of a book around one of them."""

    chapter_title: str  # of the chapter that holds the middle sentence
    centre: int  # the index of the middle sentence in the book
    sentences: tuple[CorpusSentence, ...]

    @property
    def sentence(self) -> CorpusSentence:
        """The middle sentence."""
        return self.sentences[self._middle]

    @property
    def text(self) -> str:
        """The passage as running text; each paragraph starts a new line."""
        return "".join(self._pieces)

    @property
    def before(self) -> str:
        """The text that precedes the middle sentence, with what stands between them."""
        return "".join(self._pieces[: 2 * self._middle])

    @property
    def after(self) -> str:
        """The text that follows the middle sentence, with what stands between them."""
        return "".join(self._pieces[2 * self._middle + 1 :])

    @property
    def _middle(self) -> int:
        return self.centre - self.sentences[0].index

    @property
    def _pieces(self) -> list[str]:
        """Sentences and the gaps between them, in turn."""
        pieces = [self.sentences[0].text]
        for before, after in zip(self.sentences, self.sentences[1:], strict=False):
            joint = sentence_joint(before.text, after.text)
            pieces += [joint if before.paragraph == after.paragraph else "\n", after.text]
        return pieces

    def excerpt(self, longest: int) -> str:
        """As many whole sentences around the middle one as fit into `longest` characters."""
        first, last = self._middle, self._middle + 1
        room = longest - len(self.sentence.text)
        grown = True
        while grown:
            grown = False
            for place in (last, first - 1):  # what follows tells more than what precedes
                inside = 0 <= place < len(self.sentences)
                if inside and len(self.sentences[place].text) < room:
                    room -= len(self.sentences[place].text) + 1
                    first, last = min(first, place), max(last, place + 1)
                    grown = True
        text = replace(self, sentences=self.sentences[first:last]).text
        before = "… " if first > 0 else ""
        return before + text + (" …" if last < len(self.sentences) else "")


@dataclass(frozen=True, kw_only=True)
class BookText:
    """The text of a book as flat tuples with one entry per sentence."""

    chapter_titles: tuple[str, ...]
    chapters: tuple[int, ...]
    paragraphs: tuple[int, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, book: Book) -> BookText:
        """A book as the corpus keeps it: each sentence on one line."""
        return cls(
            chapter_titles=tuple(squeeze(chapter.title) for chapter in book.chapters),
            chapters=tuple(book.chapter_of[paragraph] for paragraph in book.paragraph_of),
            paragraphs=book.paragraph_of,
            texts=tuple(squeeze(sentence.text) for sentence in book.sentences),
        )

    def sentence(self, index: int) -> CorpusSentence:
        """One sentence with its place."""
        return CorpusSentence(
            index=index,
            chapter=self.chapters[index],
            paragraph=self.paragraphs[index],
            text=self.texts[index],
        )

    def sentences(self) -> Iterator[CorpusSentence]:
        """All sentences in order."""
        return map(self.sentence, range(len(self.texts)))

    def passage(self, index: int, around: int = 2) -> CorpusPassage:
        """A sentence with up to `around` sentences on either side (the paper gives two)."""
        count = len(self.texts)
        if not 0 <= index < count:
            raise ValueError(f"there is no sentence {index}; the book has {count}")
        places = range(max(0, index - around), min(count, index + around + 1))
        return CorpusPassage(
            chapter_title=self.chapter_titles[self.chapters[index]],
            centre=index,
            sentences=tuple(map(self.sentence, places)),
        )


@dataclass(frozen=True, kw_only=True)
class CorpusBook:
    """A book of a corpus with its text."""

    record: BookRecord
    text: BookText


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A corpus on disk. Texts are read when they are asked for, one book at a time."""

    folder: Path
    manifest: Manifest
    _cache: dict[str, CorpusBook] = field(default_factory=dict, repr=False, compare=False)

    @property
    def books(self) -> tuple[BookRecord, ...]:
        """The books it keeps, sorted by path."""
        return self.manifest.kept

    @property
    def sentence_count(self) -> int:
        """The number of sentences in all its books."""
        return sum(book.sentences for book in self.books)

    @cached_property
    def _by_id(self) -> dict[str, BookRecord]:
        return {book.id: book for book in self.books}

    def read(self, record: BookRecord) -> CorpusBook:
        """Read a book's text from disk."""
        text = read_text(text_path(self.folder, record.id), record.sentences)
        return CorpusBook(record=record, text=text)

    def read_books(self) -> Iterator[CorpusBook]:
        """All books with their texts in order, one in memory at a time."""
        return map(self.read, self.books)

    def passage(self, book_id: str, index: int, around: int = 2) -> CorpusPassage:
        """The passage around a sentence; search results name both (`book_id`, `sentence`)."""
        book = self._cache.pop(book_id, None)
        if book is None:
            if book_id not in self._by_id:
                raise InputError(f"has no book {book_id}; was it built again?", self.folder)
            book = self.read(self._by_id[book_id])
        self._cache[book_id] = book  # to the end of the queue: the longest unused goes first
        if len(self._cache) > _CACHED_BOOKS:
            del self._cache[next(iter(self._cache))]
        return book.text.passage(index, around)


def open_corpus(folder: Path | str) -> Corpus:
    """Open a corpus that `build_corpus` wrote."""
    folder = Path(folder)
    return Corpus(folder=folder, manifest=read_manifest(folder))


def encode_text(text: BookText) -> bytes:
    """The bytes of a book's file; the same text always gives the same bytes."""
    rows = zip(text.chapters, text.paragraphs, text.texts, strict=True)
    lines = [json.dumps(text.chapter_titles, ensure_ascii=False)]
    lines += [f"{chapter}\t{paragraph}\t{sentence}" for chapter, paragraph, sentence in rows]
    # Broken markup may hold half a surrogate pair, which UTF-8 cannot express.
    plain = ("\n".join(lines) + "\n").encode("utf-8", errors="replace")
    return gzip.compress(plain, compresslevel=_GZIP_LEVEL, mtime=0)


def read_text(path: Path, sentences: int) -> BookText:
    """Read a book's file, which must have as many sentences as `corpus.json` says."""
    try:
        # Not splitlines(): sentences may hold other characters that it splits at.
        lines = gzip.decompress(read_bytes(path)).decode("utf-8").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"is damaged; {_REBUILD}", path) from error
    if len(lines) != sentences + 2 or lines[-1]:
        found = max(0, len(lines) - 2)
        raise InputError(f"has {found} sentences instead of {sentences}; {_REBUILD}", path)
    try:
        titles = parse_json(lines[0], tuple[str, ...])
        rows = [line.split("\t", 2) for line in lines[1:-1]]
        chapters = tuple(int(row[0]) for row in rows)
        paragraphs = tuple(int(row[1]) for row in rows)
        texts = tuple(row[2] for row in rows)
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(f"is damaged; {_REBUILD}", path) from error
    if chapters and not 0 <= min(chapters) <= max(chapters) < len(titles):
        raise InputError(f"refers to a chapter that it does not list; {_REBUILD}", path)
    return BookText(chapter_titles=titles, chapters=chapters, paragraphs=paragraphs, texts=texts)
