"""Opening a corpus: its books, its sentences in order, and the passage around any of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from folioreel.corpus.book_file import BookText, read_text
from folioreel.corpus.readings import text_path
from folioreel.corpus.records import BookRecord, Manifest, read_manifest
from folioreel.errors import InputError

_BOOKS_AT_HAND = 8
"""Books that stay in memory between passages: a search often finds several in one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusSentence:
    """One sentence and where it stands."""

    book: BookRecord
    index: int
    """Its place in the book, counted from 0."""
    chapter: int
    paragraph: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CorpusBook:
    """A book with its text."""

    record: BookRecord
    text: BookText

    def sentence(self, index: int) -> CorpusSentence:
        """One of its sentences."""
        return CorpusSentence(
            book=self.record,
            index=index,
            chapter=self.text.chapters[index],
            paragraph=self.text.paragraphs[index],
            text=self.text.texts[index],
        )

    def sentences(self) -> Iterator[CorpusSentence]:
        """Its sentences in order."""
        return map(self.sentence, range(len(self.text.texts)))

    def passage(self, index: int, around: int = 2) -> Passage:
        """The sentences from `around` before to `around` after one of them.

        Raises:
            ValueError: The book has no such sentence.
        """
        count = len(self.text.texts)
        if not 0 <= index < count:
            raise ValueError(f"sentence {index} of a book that has {count}")
        places = range(max(0, index - around), min(count, index + around + 1))
        return Passage(
            book=self.record,
            chapter_title=self.text.chapter_titles[self.text.chapters[index]],
            centre=index,
            sentences=tuple(self.sentence(place) for place in places),
        )


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Sentences around one of them (the paper gives two before and two after)."""

    book: BookRecord
    chapter_title: str
    """The title of the chapter in which the middle sentence stands."""
    centre: int
    """The index of that sentence in the book."""
    sentences: tuple[CorpusSentence, ...]

    @property
    def text(self) -> str:
        """The passage as it is read; a new paragraph begins on a new line."""
        pieces = [self.sentences[0].text] if self.sentences else []
        for before, after in zip(self.sentences, self.sentences[1:], strict=False):
            pieces.append(" " if before.paragraph == after.paragraph else "\n")
            pieces.append(after.text)
        return "".join(pieces)

    def excerpt(self, longest: int) -> str:
        """Whole sentences around the middle one, as many as fit into so many characters."""
        middle = self.centre - self.sentences[0].index
        first, last = middle, middle + 1
        room = longest - len(self.sentences[middle].text)
        grown = True
        while grown:
            grown = False
            for place in (last, first - 1):  # what comes after tells more than what came before
                inside = 0 <= place < len(self.sentences)
                if inside and len(self.sentences[place].text) < room:
                    room -= len(self.sentences[place].text) + 1
                    first, last = min(first, place), max(last, place + 1)
                    grown = True
        text = replace(self, sentences=self.sentences[first:last]).text
        before = "… " if first > 0 else ""
        return before + text + (" …" if last < len(self.sentences) else "")


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A corpus on disk. Texts are read when they are asked for, a book at a time."""

    folder: Path
    manifest: Manifest
    _at_hand: dict[str, CorpusBook] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def books(self) -> tuple[BookRecord, ...]:
        """The books that it holds, in path order."""
        return tuple(book for book in self.manifest.books if book.status == "kept")

    @cached_property
    def left_out(self) -> tuple[BookRecord, ...]:
        """The books that were left out, each with its reason."""
        return tuple(book for book in self.manifest.books if book.status != "kept")

    @property
    def sentence_count(self) -> int:
        """The number of sentences in all its books."""
        return sum(book.sentences for book in self.books)

    @property
    def word_count(self) -> int:
        """The number of words in all its books."""
        return sum(book.words for book in self.books)

    @cached_property
    def _by_id(self) -> dict[str, BookRecord]:
        return {book.id: book for book in self.books}

    def read(self, record: BookRecord) -> CorpusBook:
        """A book with its text, from disk.

        Raises:
            InputError: Its file is missing or damaged.
        """
        text = read_text(text_path(self.folder, record.id), record.sentences)
        return CorpusBook(record=record, text=text)

    def read_books(self) -> Iterator[CorpusBook]:
        """All books with their texts in order, one in memory at a time."""
        return map(self.read, self.books)

    def sentences(self) -> Iterator[CorpusSentence]:
        """All sentences of all books in order."""
        for book in self.read_books():
            yield from book.sentences()

    def passage(self, book_id: str, index: int, around: int = 2) -> Passage:
        """The passage around a sentence of a book.

        Raises:
            InputError: There is no such book, or its file is damaged.
            ValueError: The book has no such sentence.
        """
        book = self._at_hand.pop(book_id, None)
        if book is None:
            if book_id not in self._by_id:
                raise InputError(f"holds no book {book_id}; was it built again?", self.folder)
            book = self.read(self._by_id[book_id])
        self._at_hand[book_id] = book  # the last one asked for is the last to go
        if len(self._at_hand) > _BOOKS_AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        return book.passage(index, around)


def open_corpus(folder: Path | str) -> Corpus:
    """Open a corpus that `build_corpus` wrote.

    Raises:
        InputError: The folder is no corpus, or one of another version, or it is damaged.
    """
    folder = Path(folder)
    return Corpus(folder=folder, manifest=read_manifest(folder))
