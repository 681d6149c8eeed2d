"""BLEU-1 … BLEU-5 between every moment and every sentence, exactly (paper, section 4.3).

The moment's words are the hypothesis, the sentence's words the reference. Precisions are modified
(clipped) n-gram precisions. Without smoothing nearly all cells would be zero, so orders above one
get one added to count and total (Lin and Och, 2004: sacrebleu's `add-k`, NLTK's `method2`). A
moment shorter than n words is scored by the orders that it has: BLEU-5 of two words is their
BLEU-2. (The two libraries disagree here: sacrebleu counts a missing order as 1/1, NLTK as 1/2.)

Only n-grams that both sides have can be clipped to more than zero, so an inverted index of the
book's n-grams visits exactly the cells that count.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.compiled import njit
from folioreel.similarity.base import TokenPair

ORDERS = 5  # the paper takes BLEU-1 … BLEU-5
_Ints = NDArray[np.int64]


class _Counts(NamedTuple):
    """For each text its distinct n-grams with how often they occur, one order after the other."""

    ngrams: _Ints
    counts: _Ints
    starts: _Ints  # where text t's n-grams of order n begin: (ORDERS, texts + 1)


class _Index(NamedTuple):
    """For each n-gram of the book the sentences that have it, and how often."""

    sentences: _Ints
    counts: _Ints
    starts: _Ints


class BleuMeasure:
    """BLEU-1 … BLEU-5 of one film and book."""

    names: tuple[str, ...] = tuple(f"bleu{n}" for n in range(1, ORDERS + 1))

    def __init__(self, tokens: TokenPair) -> None:
        """Number the n-grams and index the book by them."""
        self._moment_lengths = tokens.moments.lengths
        self._sentence_lengths = tokens.sentences.lengths
        moments, sentences, size = _number_ngrams(tokens)
        self._moments = _count_ngrams(moments, len(self._moment_lengths))
        self._index = _index_ngrams(sentences, size)
        longest = int(self._moment_lengths.max(initial=0))
        self._logs = np.log(np.maximum(np.arange(longest + 3), 1).astype(np.float64))

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (5, last - first, J)."""
        lengths = self._moment_lengths[first:last], self._sentence_lengths
        _bleu_rows(first, self._moments, self._index, *lengths, self._logs, out)


_Grams = list[tuple[_Ints, _Ints]]
"""For each order: (number of each n-gram in text order, text it stands in)."""


def _number_ngrams(tokens: TokenPair) -> tuple[_Grams, _Grams, int]:
    """Give each n-gram of the book a number of its own; those of the film get the same, or go."""
    words = len(tokens.vocabulary)
    film_ids, film_owners = tokens.moments.ids, tokens.moments.owners
    book_ids, book_owners = tokens.sentences.ids, tokens.sentences.owners
    # The number of an n-gram's first n - 1 words, at each position; -1 where the text ends first.
    film_heads, book_heads = np.zeros_like(film_ids), np.zeros_like(book_ids)
    film_grams: _Grams = []
    book_grams: _Grams = []
    size = 0
    for n in range(1, ORDERS + 1):
        book_keys, book_at = _keys(book_ids, book_owners, book_heads, n, words)
        film_keys, film_at = _keys(film_ids, film_owners, film_heads, n, words)
        known, book_numbers = np.unique(book_keys, return_inverse=True)
        found = np.searchsorted(known, film_keys)
        found[found == len(known)] = 0
        shared = known[found] == film_keys if len(known) else np.zeros(len(film_keys), dtype=bool)
        book_heads = _spread(book_numbers, book_at, len(book_ids))
        film_heads = _spread(found[shared], film_at[shared], len(film_ids))
        book_grams.append((size + book_numbers, book_owners[book_at]))
        film_grams.append((size + found[shared], film_owners[film_at[shared]]))
        size += len(known)
    return film_grams, book_grams, size


def _keys(
    ids: _Ints,
    owners: _Ints,
    heads: _Ints,
    n: int,
    words: int,
) -> tuple[_Ints, _Ints]:
    """One integer for each n-gram inside a text (head × words + last word), and where it begins."""
    starts = np.arange(max(len(ids) - n + 1, 0))
    ends = starts + n - 1
    whole = (owners[starts] == owners[ends]) & (heads[starts] >= 0)
    at = starts[whole]
    return heads[at] * words + ids[at + n - 1], at


def _spread(numbers: _Ints, at: _Ints, length: int) -> _Ints:
    heads = np.full(length, -1, dtype=np.int64)
    heads[at] = numbers
    return heads


def _count_ngrams(grams: _Grams, texts: int) -> _Counts:
    """Distinct n-grams of each text with their counts."""
    all_ngrams, all_counts = [], []
    starts = np.zeros((ORDERS, texts + 1), dtype=np.int64)
    base = 0
    for n, (numbers, owners) in enumerate(grams):
        pairs, counts = np.unique(np.stack([owners, numbers]), axis=1, return_counts=True)
        starts[n] = base + np.searchsorted(pairs[0], np.arange(texts + 1))
        all_ngrams.append(pairs[1])
        all_counts.append(counts.astype(np.int64))
        base += pairs.shape[1]
    return _Counts(
        ngrams=np.concatenate(all_ngrams), counts=np.concatenate(all_counts), starts=starts
    )


def _index_ngrams(grams: _Grams, size: int) -> _Index:
    """The sentences of each n-gram, in order, with how often they hold it."""
    numbers = np.concatenate([gram[0] for gram in grams])
    owners = np.concatenate([gram[1] for gram in grams])
    pairs, counts = np.unique(np.stack([numbers, owners]), axis=1, return_counts=True)
    starts = np.searchsorted(pairs[0], np.arange(size + 1))
    return _Index(sentences=pairs[1].copy(), counts=counts.astype(np.int64), starts=starts)


@njit(parallel=True, nogil=True)
def _bleu_rows(
    first: int,
    moments: _Counts,
    index: _Index,
    moment_lengths: _Ints,  # (rows,)
    sentence_lengths: _Ints,  # (J,)
    logs: NDArray[np.float64],  # logs[k] = log k
    out: NDArray[np.float32],  # (ORDERS, rows, J)
) -> None:
    ngrams, ngram_counts, ngram_starts = moments
    postings, posting_counts, posting_starts = index
    sentences = sentence_lengths.shape[0]
    for row in numba.prange(moment_lengths.shape[0]):
        i = first + row
        out[:, row, :] = 0.0
        length = moment_lengths[row]
        if length == 0:
            continue
        matches = np.zeros((sentences, ORDERS), dtype=np.int32)
        # Clipped matches: a word said twice counts once if the sentence has it once.
        for n in range(min(ORDERS, length)):
            for a in range(ngram_starts[n, i], ngram_starts[n, i + 1]):
                gram = ngrams[a]
                count = ngram_counts[a]
                for p in range(posting_starts[gram], posting_starts[gram + 1]):
                    matches[postings[p], n] += min(count, posting_counts[p])
        for j in range(sentences):
            if matches[j, 0] == 0:
                continue
            # The brevity penalty, and the logarithms of the precisions, summed order by order.
            penalty = min(0.0, 1.0 - sentence_lengths[j] / length)
            total = logs[matches[j, 0]] - logs[length]
            out[0, row, j] = np.exp(total + penalty)
            for n in range(1, ORDERS):
                if n < length:
                    total += logs[matches[j, n] + 1] - logs[length - n + 1]
                    out[n, row, j] = np.exp(total / (n + 1) + penalty)
                else:
                    out[n, row, j] = out[n - 1, row, j]
