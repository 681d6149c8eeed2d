"""What the measures share: their interface, and the words of film and book as numbers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.stems import common_language, find_terms
from folioreel.types import Book, Film

_log = logging.getLogger(__name__)


class Measure(Protocol):
    """One way, or a family of ways, to compare moments with sentences.

    A measure is built for one film and one book, and then asked for blocks of rows.
    """

    names: tuple[str, ...]  # the measures that it yields: `("tfidf",)`, `("bleu1", …, "bleu5")`

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (names, last - first, J) with the rows of moments first … last - 1."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """A list of texts as one flat array of word numbers."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each text begins in `ids`, and the length of `ids` at the end: (texts + 1,)."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words in each text."""
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The text that each word belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def count_words(self, words: int) -> sparse.csr_array:
        """How often each text has each word: (texts, words)."""
        # Copies, as summing duplicates sorts in place.
        counts = sparse.csr_array(
            (np.ones(len(self.ids)), self.ids.copy(), self.starts.copy()),
            shape=(len(self.starts) - 1, words),
        )
        counts.sum_duplicates()
        return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenPair:
    """A film's moments and a book's sentences over one vocabulary."""

    moments: Tokens
    sentences: Tokens
    vocabulary: tuple[str, ...]
    """The words by number: those of the book first, then those that only the film has."""
    language: str | None = None
    """The language of both; None if they differ or it is unknown."""


def number_tokens(film: Film, book: Book) -> TokenPair:
    """Number the words of both; silent moments have none."""
    numbers: dict[str, int] = {}
    language = common_language(film.language, book.language)
    sentences = _number(numbers, (sentence.text for sentence in book.sentences), language)
    moments = _number(numbers, (moment.text for moment in film.moments), language)
    return TokenPair(
        moments=moments, sentences=sentences, vocabulary=tuple(numbers), language=language
    )


def _number(numbers: dict[str, int], texts: Iterable[str], language: str | None) -> Tokens:
    ids: list[int] = []
    starts = [0]
    for text in texts:
        ids.extend(numbers.setdefault(word, len(numbers)) for word in find_terms(text, language))
        starts.append(len(ids))
    return Tokens(ids=np.array(ids, dtype=np.int64), starts=np.array(starts, dtype=np.int64))


def source_name(source: Book | Film) -> str:
    """What a progress bar or a note calls a book or film; the titles of the two are often equal."""
    return source.path.name if source.path else source.title


def log_notes(source: Book | Film, name: str | None = None) -> None:
    """Report what the readers noticed and chose, such as what they skipped."""
    for note in source.notes:
        _log.info("%s: %s", name or source_name(source), note)
