"""The words of moments and sentences as numbers, shared by the text measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from folioreel.text import tokenize
from folioreel.types import Book, Film


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """A list of texts as one flat array of word numbers."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each text begins in `ids`, and at the end their number: (texts + 1,)."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words in each text."""
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The text that each word stands in."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenPair:
    """A film's moments and a book's sentences over one vocabulary."""

    moments: Tokens
    sentences: Tokens
    vocabulary: tuple[str, ...]
    """The words by number: those of the book first, then those that only the film has."""


def number_tokens(film: Film, book: Book) -> TokenPair:
    """Number the words of both; silent moments have none."""
    numbers: dict[str, int] = {}
    sentences = _number(numbers, (sentence.text for sentence in book.sentences))
    moments = _number(numbers, (moment.text for moment in film.moments))
    return TokenPair(moments=moments, sentences=sentences, vocabulary=tuple(numbers))


def _number(numbers: dict[str, int], texts: Iterable[str]) -> Tokens:
    ids: list[int] = []
    starts = [0]
    for text in texts:
        ids.extend(numbers.setdefault(word, len(numbers)) for word in tokenize(text))
        starts.append(len(ids))
    return Tokens(ids=np.array(ids, dtype=np.int64), starts=np.array(starts, dtype=np.int64))
