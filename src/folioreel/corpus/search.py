"""Searching a corpus for a sentence, or for the answer to a question: by meaning and by words.

By meaning, a plain scan over all sentences finds the ones whose vectors agree with the query's in
the most signs: of two vectors, the share of dimensions that differ in sign grows with the angle
between them. One bit per dimension means reading 48 bytes per sentence where the vectors have 384
to 1,536. There is nothing to train or to tune, and what was added last is found as surely as the
rest. The vectors themselves then rank that shortlist. By words, BM25 ranks (words.py). The two
rankings are joined by reciprocal rank fusion.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.compiled import njit
from folioreel.corpus import store
from folioreel.corpus.manifest import BookRecord
from folioreel.corpus.reader import Corpus, CorpusPassage, CorpusSentence, open_corpus
from folioreel.corpus.store import IndexedBook, StoreRecord
from folioreel.corpus.words import Place, WordIndex
from folioreel.errors import ConfigError, InputError
from folioreel.language import detect_language
from folioreel.models.multilingual_encoder import reads_language, reads_script
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import MULTILINGUAL, SentenceEncoder, load_encoder
from folioreel.text import dominant_script, tokenize

By = Literal["both", "meaning", "words"]

# Sentences with the nearest signs, which the vectors then rank. Signs are a coarse measure: a
# shorter list loses true neighbours (recall: docs/explanation/search.md), a longer one costs reads.
_SHORTLIST = 2_000
# How many places of both rankings count when they are joined. What is lower in both scores less
# than 0.38, and the first ten of either at least 0.43: it could not be among ten results.
_DEPTH = 100
# Sentences, evenly spread, whose vectors give the mean: the standard error of such a mean is
# 1/141 of the spread, and reading all of a large corpus would take minutes.
_MEAN_SAMPLE = 20_000
# A query is mostly too short for more certainty; a wrong guess costs one of the two rankings.
_LIKELY = 0.5
_UNSPACED = ("CJK", "THAI")
# The constant of reciprocal rank fusion, as published (Cormack et al., 2009): the larger it is,
# the less the first places differ.
_RANK_OFFSET = 60


@dataclass(frozen=True, kw_only=True)
class SearchScores:
    """How well a sentence answers a query."""

    score: float  # 1 for a sentence that comes first in every ranking that was asked for
    meaning: float | None
    """The cosine of its vector and the query's; None if it is not among the nearest."""
    words: float | None  # BM25; None if it is not among the best by words


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sentence that answers a query, in its paragraph."""

    book: BookRecord
    passage: CorpusPassage  # the whole paragraph; its middle sentence is the one that was found
    scores: SearchScores

    @property
    def sentence(self) -> CorpusSentence:
        """The sentence itself."""
        return self.passage.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; chapter, paragraph and sentence are counted from 0."""
        scores = asdict(self.scores)
        return {
            **{name: None if value is None else round(value, 6) for name, value in scores.items()},
            "book": self.book.title,
            "book_id": self.book.id,
            "path": self.book.path,
            "chapter": self.sentence.chapter,
            "chapter_title": self.passage.chapter_title,
            "paragraph": self.sentence.paragraph,
            "sentence": self.sentence.index,
            "text": self.sentence.text,
            "passage": self.passage.text,
        }


class SearchStore:
    """The store of a corpus, open for searching; the signs of all vectors are in memory."""

    def __init__(self, corpus: Corpus, record: StoreRecord, encoder: SentenceEncoder) -> None:
        """Read the signs of all indexed books that the corpus still keeps."""
        self.encoder = encoder
        self._folder = corpus.folder
        self._records = {book.id: book for book in corpus.books}
        self._units = record.units
        self._books = [book for book in record.books if self._is_current(book)]
        self._numbers = {book.id: number for number, book in enumerate(self._books)}
        self._encoded = [
            book for book in self._books if reads_language(record.encoder, book.language)
        ]
        self._files = [
            store.vector_file(corpus.folder, book, record.fingerprint, record.units)
            for book in self._encoded
        ]
        self._starts = np.cumsum([0, *(book.sentences for book in self._encoded)])
        self._signs = np.empty((self._starts[-1], store.sign_words(record.units)), dtype=np.uint64)
        for file, start in zip(self._files, self._starts, strict=False):
            file.read_signs(self._signs[start : start + file.sentences])
        languages = (book.language for book in self._books)
        self._words = WordIndex(store.words_folder(corpus.folder), languages)
        self.waiting = len(self._records) - len(self._books)
        """The number of books that cannot be found until the corpus is indexed again."""

    @classmethod
    def open(cls, folder: Path | str) -> SearchStore:
        """Open the store that `index_corpus` added to a corpus."""
        corpus = open_corpus(folder)
        record = store.read_record(corpus.folder)
        encoder = load_encoder(record.encoder)
        if encoder.fingerprint != record.fingerprint:
            raise InputError(
                f"was indexed by folioreel {record.package_version} with another "
                f"{record.encoder}; run: folioreel corpus index {corpus.folder}",
                store.store_folder(corpus.folder),
            )
        return cls(corpus, record, encoder)

    @property
    def sentences(self) -> int:
        """The number of sentences that can be found."""
        return sum(book.sentences for book in self._books)

    @property
    def has_vectors(self) -> bool:
        """Whether anything can be found by meaning."""
        return len(self._signs) > 0

    @property
    def by_words(self) -> tuple[str, ...]:
        """The languages that the encoder does not know: found by words alone."""
        encoded = {book.id for book in self._encoded}
        return tuple(sorted({str(b.language) for b in self._books if b.id not in encoded}))

    def search(self, query: str, count: int = 10, by: By = "both") -> tuple[Found, ...]:
        """The sentences that answer a query, best first.

        By words alone if the encoder does not know the query's language (`understands`).

        Raises:
            InputError: The query has no words, or is in another script than all books; or the
                store is damaged.
            ConfigError: `count` is below 1.
        """
        found = []
        for (book_id, sentence), scores in self.rank(query, count, by)[:count]:
            path = store.passage_path(self._folder, self._books[self._numbers[book_id]])
            passage = store.read_passage(path, sentence)
            found.append(Found(book=self._records[book_id], passage=passage, scores=scores))
        return tuple(found)

    def rank(self, query: str, count: int, by: By = "both") -> list[tuple[Place, SearchScores]]:
        """The places that answer a query with their scores, at least `count`, best first."""
        if count < 1:
            raise ConfigError(f"count must be at least 1, not {count}")
        if by not in get_args(By):
            raise ConfigError(f"by must be one of {', '.join(get_args(By))}, not {by!r}")
        self.check_query(query, by)
        by = by if self.understands(query) else "words"
        # The rankings must be deep enough that `count` places are left when they agree.
        depth = max(_DEPTH, count)
        meaning = self.nearest(query, depth) if by != "words" else {}
        words = self.find_words(query, depth) if by != "meaning" else {}
        joined = join_ranks([ranks for ranks in (meaning, words) if ranks])
        return [
            (place, SearchScores(score=score, meaning=meaning.get(place), words=words.get(place)))
            for place, score in joined
        ]

    def understands(self, query: str) -> bool:
        """Whether the encoder can read a query, by its script and its likely language."""
        if not reads_script(self.encoder.name, _script(query)):
            return False
        if not self.by_words:  # most corpora: detection takes most of a second
            return True
        found = detect_language(query)
        return found is None or found.confidence < _LIKELY or found.code not in self.by_words

    def missing_words(self, query: str) -> list[str]:
        """The words of a query that occur in no sentence: misspelt, or from another language.

        Scripts without spaces are left out, as they are searched by pairs of characters.
        """
        words = [word for word in tokenize(query) if dominant_script(word) not in _UNSPACED]
        forms = {word: self._words.split(word) for word in words}
        return [word for word in forms if not any(map(self._words.count_sentences, forms[word]))]

    def nearest(self, query: str, count: int) -> dict[Place, float]:
        """The sentences nearest to a query by meaning with their cosines, best first."""
        return self.nearest_to(self.encoder.encode([query])[0], count)

    def nearest_to(self, vector: NDArray[np.float32], count: int) -> dict[Place, float]:
        """The sentences with the nearest vectors and their cosines, best first."""
        vector = unit_rows(vector[None])[0]
        # A query of unknown words has no direction, and some languages have no vectors.
        if not vector.any() or not len(self._signs):
            return {}
        rows = nearest_by_signs(
            self._signs, store.pack_signs(vector[None])[0], max(_SHORTLIST, 2 * count)
        )
        cosines = self._read_rows(rows) @ vector
        best = np.lexsort((rows, -cosines))[:count]  # equal ones in the order of the corpus
        return {self._place(int(rows[each])): float(cosines[each]) for each in best}

    def mean_vector(self) -> NDArray[np.float32]:
        """The mean of the unit vectors of sentences that are evenly spread over the corpus."""
        encoded = len(self._signs)
        rows = np.arange(0, encoded, max(1, encoded // _MEAN_SAMPLE))
        return np.asarray(self._read_rows(rows).mean(axis=0))

    def find_words(self, query: str, count: int) -> dict[Place, float]:
        """The sentences that share the rarest words with a query, with their BM25, best first."""
        found = self._words.search(query, count)
        return {place: score for place, score in found.items() if place[0] in self._numbers}

    def check_query(self, query: str, by: By = "both") -> None:
        """Stop at a query without words, or in a script in which nothing can be found."""
        # By meaning, the multilingual encoder finds what is written in other scripts.
        is_free = by != "words" and self.encoder.name == MULTILINGUAL
        is_free = is_free and reads_script(MULTILINGUAL, _script(query))
        check_query(query, {book.script for book in self._books if book.script and not is_free})

    def _is_current(self, book: IndexedBook) -> bool:
        """Whether the corpus still keeps a book as it was indexed."""
        record = self._records.get(book.id)
        return record is not None and record.sentences == book.sentences

    def _read_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of some rows, which must be sorted."""
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        pieces: list[bytes] = []
        # Rows are sorted, so that each file is opened once.
        for number, group in groupby(range(len(rows)), key=lambda each: int(numbers[each])):
            inside = [int(rows[each] - self._starts[number]) for each in group]
            pieces += self._files[number].read_rows(inside)
        stored = np.frombuffer(b"".join(pieces), dtype=np.int8).reshape(len(rows), self._units)
        return unit_rows(stored.astype(np.float32))

    def _place(self, row: int) -> Place:
        number = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._encoded[number].id, row - int(self._starts[number])


def check_query(query: str, scripts: Collection[str]) -> None:
    """Stop at a query without words, or in another script than those of the books."""
    if not tokenize(query):
        raise InputError(f"the query {query!r} has no words; give a sentence or a question")
    script = _script(query)
    if script and scripts and script not in scripts:
        names = " and ".join(sorted(name.capitalize() for name in scripts))
        raise InputError(
            f"the query is in {script.capitalize()} script and the books are in {names} "
            "script; ask in the language of the books"
        )


def _script(query: str) -> str | None:
    # Half-width and full-width letters have names of their own, and are those of the script.
    return dominant_script(unicodedata.normalize("NFKC", query))


def join_ranks(rankings: Sequence[Iterable[Place]]) -> list[tuple[Place, float]]:
    """Join several rankings, each best first, by reciprocal rank fusion.

    The score is scaled so that it is 1 for a place that comes first in all rankings.
    """
    scores: dict[Place, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking):
            share = (_RANK_OFFSET + 1) / (_RANK_OFFSET + 1 + rank) / len(rankings)
            scores[place] = scores.get(place, 0.0) + share
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def nearest_by_signs(
    signs: NDArray[np.uint64], query: NDArray[np.uint64], count: int
) -> NDArray[np.int64]:
    """The rows of (N, W) signs that differ least from the query's (W,), sorted by number.

    Ties for the last of `count` places are all included, up to twice as many rows.
    """
    distances = np.empty(len(signs), dtype=np.uint16)  # enough for 65,535 dimensions
    histogram = np.zeros(64 * signs.shape[1] + 1, dtype=np.int64)
    _count_differences(signs, query, distances, histogram)
    # From the histogram, the distance within which `count` rows lie: no sorting of millions.
    furthest = int(np.searchsorted(np.cumsum(histogram), min(count, len(signs))))
    found = np.flatnonzero(distances <= furthest)
    if len(found) > 2 * count:
        # Long ties come from texts that are all alike or all empty: the first ones will do.
        nearer = found[distances[found] < furthest]
        tied = found[distances[found] == furthest]
        found = np.sort(np.concatenate([nearer, tied[: 2 * count - len(nearer)]]))
    return found


@njit(nogil=True)
def _count_differences(
    signs: NDArray[np.uint64],
    query: NDArray[np.uint64],
    distances: NDArray[np.uint16],
    histogram: NDArray[np.int64],
) -> None:
    """The number of differing signs in each row, and how many rows have each number."""
    for row in range(signs.shape[0]):
        total = np.uint64(0)
        for word in range(signs.shape[1]):
            total += _count_ones(signs[row, word] ^ query[word])
        distances[row] = total
        histogram[total] += 1


@numba.njit(inline="always")
def _count_ones(bits: np.uint64) -> np.uint64:
    """The number of set bits; compilers turn this well-known pattern into one instruction."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)
