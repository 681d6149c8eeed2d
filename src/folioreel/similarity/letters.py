"""What two texts share in letters: beyond the paper, for languages that no encoder knows.

Runs of four letters inside words are compared, rare ones counting more. In languages that change
their words much, such as Finnish, two forms share most of their runs where no stemmer joins them.

letters                  the cosine of the runs of a moment and a sentence (tf-idf)
letters_long             its z-score over the book times the logarithm of the moment's length, and
letters_in_film          the pair against all other lines of the film, as in sentence.py
letters_window_in_film   the same between windows: a line, or a sentence, with `WINDOW` neighbours
                         on each side
"""

from __future__ import annotations

import unicodedata

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.config import WINDOW
from folioreel.similarity.base import TokenPair, Tokens

_RUN = 4
_LEAST_DEVIATION = 1e-3
"""Moments without a run that the book has have the cosine 0 throughout."""
_UNIT, _SPREAD = 3.0, 6.0  # as in sentence.py, so that all measures are of about one size
_TEMPERATURE = 0.08  # higher than for encoders, as these cosines differ more among sentences
_ROWS = 256  # lines whose cosines are held at once


class LettersMeasure:
    """Runs of letters of one film and book."""

    names: tuple[str, ...] = (
        "letters",
        "letters_long",
        "letters_in_film",
        "letters_window_in_film",
    )

    def __init__(self, tokens: TokenPair) -> None:
        """Weigh the runs of both sides."""
        runs = _runs_of_words(tokens.vocabulary)  # (words, runs)
        held, said = (_sets(side, runs) for side in (tokens.sentences, tokens.moments))
        frequency = np.bincount(held.indices, minlength=runs.shape[1])
        worth = np.log((held.shape[0] + 1) / (frequency + 0.5))
        worth = np.maximum(worth, 0).astype(np.float32)
        lengths = tokens.moments.lengths
        self._lengths = np.log1p(lengths.astype(np.float32))[:, None] / _UNIT  # (I, 1)
        spoken = np.flatnonzero(lengths)  # moments
        self._moments, sentences = (_unit_rows(side.multiply(worth)) for side in (said, held))
        self._sentences = sentences.T.tocsr()  # (runs, J)
        windows = _unit_rows(_with_neighbours(self._moments[spoken]))
        self._windows = _spread(windows, spoken, len(lengths))
        self._passages = _unit_rows(_with_neighbours(sentences)).T.tocsr()
        self._in_film = _log_mean_exp(self._moments[spoken], self._sentences)  # (J,)
        self._windows_in_film = _log_mean_exp(windows, self._passages)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (4, last - first, J); 0 where nobody speaks."""
        cosines = (self._moments[first:last] @ self._sentences).toarray()
        deviation = np.maximum(cosines.std(axis=1, keepdims=True), _LEAST_DEVIATION)
        scores = (cosines - cosines.mean(axis=1, keepdims=True)) / (_UNIT * deviation)
        out[0] = cosines
        out[1] = scores * self._lengths[first:last]
        out[2] = (cosines / _TEMPERATURE - self._in_film) / _SPREAD
        cosines = (self._windows[first:last] @ self._passages).toarray()
        out[3] = (cosines / _TEMPERATURE - self._windows_in_film) / _SPREAD
        out[:, self._lengths[first:last, 0] == 0] = 0


def word_runs(word: str) -> set[str]:
    """The runs of four letters in a word, without accents; a mark stands for its beginning."""
    letters = unicodedata.normalize("NFKD", word)
    plain = "^" + "".join(letter for letter in letters if not unicodedata.combining(letter))
    if len(plain) <= _RUN:
        return set()  # short words are mostly those that every sentence has
    return {plain[k : k + _RUN] for k in range(len(plain) - _RUN + 1)}


def _runs_of_words(vocabulary: tuple[str, ...]) -> sparse.csr_array:
    """1 where a word has a run: (words, runs)."""
    numbers: dict[str, int] = {}
    found = [
        (word, numbers.setdefault(run, len(numbers)))
        for word, text in enumerate(vocabulary)
        for run in sorted(word_runs(text))
    ]
    rows, columns = np.array(found, dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.csr_array((ones, (rows, columns)), shape=(len(vocabulary), max(1, len(numbers))))


def _sets(tokens: Tokens, runs: sparse.csr_array) -> sparse.csr_array:
    """1 where a text has a run: (texts, runs)."""
    found = (tokens.count_words(runs.shape[0]) @ runs).tocsr().astype(np.float32)
    found.data[:] = 1
    return found


def _unit_rows(texts: sparse.sparray) -> sparse.csr_array:
    rows = sparse.csr_array(texts)
    lengths = np.sqrt(rows.power(2).sum(axis=1))
    rows.data = rows.data / np.repeat(np.maximum(lengths, 1e-9), np.diff(rows.indptr))
    return rows.astype(np.float32)


def _with_neighbours(texts: sparse.csr_array) -> sparse.csr_array:
    """The sum of each text and `WINDOW` texts before and after it."""
    total = texts
    for shift in range(1, min(WINDOW + 1, texts.shape[0])):
        empty = sparse.csr_array((shift, texts.shape[1]), dtype=np.float32)
        total = (
            total + sparse.vstack([texts[shift:], empty]) + sparse.vstack([empty, texts[:-shift]])
        )
    return total


def _spread(texts: sparse.csr_array, places: NDArray[np.int64], count: int) -> sparse.csr_array:
    """The texts at their places among `count`; the others are empty."""
    rows = np.repeat(places, np.diff(texts.indptr))
    return sparse.csr_array((texts.data, (rows, texts.indices)), shape=(count, texts.shape[1]))


def _log_mean_exp(moments: sparse.csr_array, sentences: sparse.csr_array) -> NDArray[np.float32]:
    """For each sentence, log mean over the lines of exp(cosine / temperature): (J,)."""
    sums = np.zeros(sentences.shape[1])
    for first in range(0, moments.shape[0], _ROWS):
        cosines = (moments[first : first + _ROWS] @ sentences).toarray()
        sums += np.exp(cosines / _TEMPERATURE).sum(axis=0)
    # Of a film without words nothing is asked.
    means: NDArray[np.float32] = np.log(np.maximum(sums, 1) / max(1, moments.shape[0]))
    return means.astype(np.float32)
