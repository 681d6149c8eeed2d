"""What two languages share in writing: names, numbers and cognates.

A word of five letters or more is known by its first five, without accents and in Latin letters:
`philosophie` and `philosophy`, `Strogoff` and `Строгов` are alike. Shorter words count only if they
are names (capitalised inside a sentence) or numbers. What is shared is worth as much as it is rare
in the book, as in rare_words.py.

cognates          what a moment and a sentence share
cognates_nearby   the same with the sentence's two neighbours
cognates_window   the same between windows: a line, or a sentence, with `WINDOW` neighbours on each
                  side. It finds the scene by the people who are in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse
from anyascii import anyascii
from numpy.typing import NDArray

from folioreel.config import WINDOW
from folioreel.similarity.rare_words import text_sets, weigh
from folioreel.text import find_words
from folioreel.types import Book, Film

_PREFIX = 5
"""Letters that cognates share at least. With four, words that only look alike are taken for
cognates; with six, `family` and `famille` are not."""
_SHORTEST_NAME = 3
_UNIT, _WINDOW_UNIT = 10.0, 30.0
"""What the worth is divided by, so that all measures are of about one size and one weight decay
fits all; a window has several times as many words."""


class CognatesMeasure:
    """Names, numbers and cognates of one film and book."""

    names: tuple[str, ...] = ("cognates", "cognates_nearby", "cognates_window")

    def __init__(self, film: Film, book: Book) -> None:
        """Weigh what either side has."""
        numbers: dict[str, int] = {}
        written = [_number(numbers, sentence.text) for sentence in book.sentences]
        spoken = [_number(numbers, moment.text) for moment in film.moments]
        held, said = (_sets(side, len(numbers)) for side in (written, spoken))
        frequency = np.bincount(held.indices, minlength=len(numbers))
        worth = np.maximum(np.log((len(written) + 1) / (frequency + 0.5)), 0).astype(np.float32)
        around = _join(said, np.array([bool(moment.text) for moment in film.moments]))
        self._products = [
            (weigh(said, worth / _UNIT), held.T.tocsr()),
            (weigh(said, worth / _UNIT), _with_neighbours(held, 1).T.tocsr()),
            (weigh(around, worth / _WINDOW_UNIT), _with_neighbours(held, WINDOW).T.tocsr()),
        ]

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (3, last - first, J); 0 where nobody speaks."""
        for plane, (said, held) in zip(out, self._products, strict=True):
            plane[:] = (said[first:last] @ held).toarray()


def word_keys(text: str) -> set[str]:
    """What a text can share with one in another language."""
    keys = set()
    for place, word in enumerate(find_words(text)):
        longest = max(word.split("'"), key=len)  # of `l'émir` and `Scrooge's`
        plain = anyascii(longest).lower()
        is_name = place > 0 and longest[0].isupper() and len(plain) >= _SHORTEST_NAME
        if plain.isdecimal():
            keys.add(plain)
        elif is_name or len(plain) >= _PREFIX:
            keys.add(plain[:_PREFIX])
    return keys


def _number(numbers: dict[str, int], text: str) -> list[int]:
    return [numbers.setdefault(key, len(numbers)) for key in sorted(word_keys(text))]


def _sets(texts: Sequence[Sequence[int]], keys: int) -> sparse.csr_array:
    """1 where a text has a key: (texts, keys)."""
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    ids = np.array([key for text in texts for key in text], dtype=np.int64)
    return text_sets(ids, owners, (len(texts), keys))


def _with_neighbours(texts: sparse.csr_array, reach: int) -> sparse.csr_array:
    """The keys of each text and of `reach` texts before and after it."""
    count = texts.shape[0]
    owners = np.repeat(np.arange(count), np.diff(texts.indptr))
    shifts = range(-reach, reach + 1)
    rows = np.concatenate([owners + shift for shift in shifts])
    inside = (rows >= 0) & (rows < count)
    return text_sets(np.tile(texts.indices, len(shifts))[inside], rows[inside], texts.shape)


def _join(said: sparse.csr_array, spoken: NDArray[np.bool_]) -> sparse.csr_array:
    """The windows of the moments in which somebody speaks; the others stay empty: (I, keys)."""
    places = np.flatnonzero(spoken)
    windows = _with_neighbours(said[places], WINDOW)
    rows = np.repeat(places, np.diff(windows.indptr))
    return text_sets(windows.indices, rows, said.shape)
