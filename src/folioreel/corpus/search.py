"""Finding any sentence, or the answer to a question, in a corpus: by meaning and by words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from folioreel.corpus.reader import Corpus, CorpusSentence, Passage, open_corpus
from folioreel.corpus.records import BookRecord
from folioreel.corpus.scan import nearest_by_signs
from folioreel.corpus.store import (
    IndexedBook,
    StoreRecord,
    passage_file,
    read_record,
    store_folder,
    vector_file,
    words_folder,
)
from folioreel.corpus.vectors import count_words, pack_signs, scale_rows
from folioreel.corpus.words import WordIndex
from folioreel.errors import ConfigError, InputError
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.text import dominant_script, tokenize

By = Literal["both", "meaning", "words"]

_SHORTLIST = 2_000
"""Sentences whose signs are nearest, among which the vectors themselves decide."""
_DEPTH = 100
"""How far down both lists count when they are joined."""
_MEAN_OVER = 20_000
"""Sentences at least, where there are so many, whose vectors make up the mean."""
_RANK_OFFSET = 60
"""Of reciprocal rank fusion: how little the first places differ (Cormack et al., 2009)."""

Place = tuple[str, int]
"""A book's id, and a sentence's index in it."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How well a sentence answers a query."""

    score: float
    """1 where a sentence is the first by all that was asked for, by meaning and by words."""
    meaning: float | None
    """The cosine of its vector and the query's; None if it is not among the nearest."""
    words: float | None
    """BM25; None if it is not among the first by words."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sentence that answers a query, in its paragraph."""

    book: BookRecord
    passage: Passage
    """The whole paragraph; its centre is the sentence."""
    scores: Scores

    @property
    def sentence(self) -> CorpusSentence:
        """The sentence itself."""
        return self.passage.sentences[self.passage.centre - self.passage.sentences[0].index]

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values, for JSON; chapter, paragraph and sentence count from 0."""
        sentence = self.sentence
        scores = asdict(self.scores)
        return {
            **{name: None if value is None else round(value, 6) for name, value in scores.items()},
            "book": self.book.title,
            "book_id": self.book.id,
            "path": self.book.path,
            "chapter": sentence.chapter,
            "chapter_title": self.passage.chapter_title,
            "paragraph": sentence.paragraph,
            "sentence": sentence.index,
            "text": sentence.text,
            "passage": self.passage.text,
        }


class SearchStore:
    """The store of a corpus, open for searching; the signs of all vectors are in memory."""

    def __init__(self, corpus: Corpus, record: StoreRecord, encoder: SentenceEncoder) -> None:
        """Read the signs of all books that the corpus still holds.

        Raises:
            InputError: A part of the store is missing or damaged.
        """
        held = {book.id: book for book in corpus.books}
        self._folder = corpus.folder
        self._records = held
        self._units = record.units
        self.encoder = encoder
        self._books = [book for book in record.books if _is_held(book, held)]
        self._numbers = {book.id: number for number, book in enumerate(self._books)}
        self._files = [
            vector_file(corpus.folder, book, record.fingerprint, record.units)
            for book in self._books
        ]
        self._starts = np.cumsum([0, *(book.sentences for book in self._books)])
        self._signs = np.empty((self._starts[-1], count_words(record.units)), dtype=np.uint64)
        for file, start in zip(self._files, self._starts, strict=False):
            file.read_signs(self._signs[start : start + file.sentences])
        self._words = WordIndex(words_folder(corpus.folder))
        self.waiting = len(held) - len(self._books)
        """Books of the corpus that cannot be found before it is indexed again."""

    @classmethod
    def open(cls, folder: Path | str) -> SearchStore:
        """Open the store of a corpus that `index_corpus` made searchable.

        Raises:
            InputError: There is none, or one of another version, or it is damaged.
        """
        corpus = open_corpus(folder)
        record = read_record(corpus.folder)
        encoder = load_encoder(record.encoder)
        if encoder.fingerprint != record.fingerprint:
            raise InputError(
                f"was made by folioreel {record.package_version} with another {record.encoder}; "
                f"run: folioreel corpus index {corpus.folder}",
                store_folder(corpus.folder),
            )
        return cls(corpus, record, encoder)

    @property
    def sentences(self) -> int:
        """The number of sentences that can be found."""
        return len(self._signs)

    def search(self, query: str, count: int = 10, by: By = "both") -> tuple[Found, ...]:
        """The sentences that answer a query, best first.

        Raises:
            InputError: The query has no words, or is in another script than all books; or the
                store is damaged.
            ConfigError: `count` is below 1.
        """
        ranked = self.rank(query, count, by)
        return tuple(self._describe(place, scores) for place, scores in ranked[:count])

    def rank(self, query: str, count: int, by: By = "both") -> list[tuple[Place, Scores]]:
        """The places that answer a query with their scores, at least `count`, best first.

        Raises:
            InputError: As `search`.
            ConfigError: As `search`.
        """
        if count < 1:
            raise ConfigError(f"count must be at least 1, not {count}")
        if by not in get_args(By):
            raise ConfigError(f"by must be one of {', '.join(get_args(By))}, not {by!r}")
        self.check_query(query)
        depth = max(_DEPTH, count)
        meaning = self.nearest(query, depth) if by != "words" else {}
        words = self.find_words(query, depth) if by != "meaning" else {}
        joined = join_ranks([ranks for ranks in (meaning, words) if ranks])
        return [
            (place, Scores(score=score, meaning=meaning.get(place), words=words.get(place)))
            for place, score in joined
        ]

    def _describe(self, place: Place, scores: Scores) -> Found:
        book_id, sentence = place
        book = self._records[book_id]
        file = passage_file(self._folder, self._books[self._numbers[book_id]])
        return Found(book=book, passage=file.read(book, sentence), scores=scores)

    def missing_words(self, query: str) -> list[str]:
        """The words of a query that no sentence has: misspelt, or of another language."""
        return [
            word
            for word in dict.fromkeys(tokenize(query))
            if not any(map(self._words.count_sentences, self._words.split(word)))
        ]

    def nearest(self, query: str, count: int) -> dict[Place, float]:
        """The sentences nearest to a query by meaning with their cosines, best first."""
        return self.nearest_to(self.encoder.encode([query])[0], count)

    def nearest_to(self, vector: NDArray[np.float32], count: int) -> dict[Place, float]:
        """The sentences whose vectors are nearest to one with their cosines, best first."""
        vector = scale_rows(vector[None])[0]
        if not vector.any():
            return {}
        rows = nearest_by_signs(
            self._signs, pack_signs(vector[None])[0], max(_SHORTLIST, 2 * count)
        )
        cosines = self._cosines(rows, vector)
        best = np.lexsort((rows, -cosines))[:count]
        return {self._place(int(rows[each])): float(cosines[each]) for each in best}

    def mean_vector(self) -> NDArray[np.float32]:
        """The mean of the vectors, each scaled to length 1, over sentences evenly spread."""
        rows = np.arange(0, self.sentences, max(1, self.sentences // _MEAN_OVER))
        mean: NDArray[np.float32] = self._read_rows(rows).mean(axis=0)
        return mean

    def find_words(self, query: str, count: int) -> dict[Place, float]:
        """The sentences that share the rarest words with a query, with their BM25, best first."""
        hits = self._words.search(query, count)
        return {
            (hit.book_id, hit.sentence): hit.score for hit in hits if hit.book_id in self._numbers
        }

    def _cosines(self, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of some rows, which are in order, with a vector of length 1."""
        cosines: NDArray[np.float32] = self._read_rows(rows) @ vector
        return cosines

    def _read_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some rows, which are in order, scaled to length 1."""
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        pieces: list[bytes] = []
        for number, group in groupby(range(len(rows)), key=lambda each: int(numbers[each])):
            inside = [int(rows[each] - self._starts[number]) for each in group]
            pieces += self._files[number].read_rows(inside)
        stored = np.frombuffer(b"".join(pieces), dtype=np.int8).reshape(len(rows), self._units)
        return scale_rows(stored.astype(np.float32))

    def _place(self, row: int) -> Place:
        number = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._books[number].id, row - int(self._starts[number])

    def check_query(self, query: str) -> None:
        """Refuse a query that no book can answer.

        Raises:
            InputError: It has no words, or is in another script than all books.
        """
        check_query(query, {book.script for book in self._books if book.script})


def check_query(query: str, scripts: Collection[str]) -> None:
    """Refuse a query that books in some scripts cannot answer.

    Raises:
        InputError: It has no words, or is in another script than all books.
    """
    if not tokenize(query):
        raise InputError(f"the query {query!r} has no words; give a sentence or a question")
    script = dominant_script(query)
    if script and scripts and script not in scripts:
        names = " and ".join(sorted(name.capitalize() for name in scripts))
        raise InputError(
            f"the query is in {script.capitalize()} script and the books are in {names} "
            "script; ask in the language of the books"
        )


def join_ranks(lists: Sequence[Iterable[Place]]) -> list[tuple[Place, float]]:
    """Several lists, best first each, as one: by the sum of the reciprocals of ranks.

    The score is 1 for what is first in all lists.
    """
    scores: dict[Place, float] = {}
    for ranks in lists:
        for rank, place in enumerate(ranks):
            share = (_RANK_OFFSET + 1) / (_RANK_OFFSET + 1 + rank) / len(lists)
            scores[place] = scores.get(place, 0.0) + share
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _is_held(book: IndexedBook, held: dict[str, BookRecord]) -> bool:
    """Whether the corpus holds a book as it was indexed."""
    return book.id in held and held[book.id].sentences == book.sentences
