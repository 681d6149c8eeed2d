"""Simple systems that an alignment has to beat (paper, section 5.1: UNI, and its measures alone).

uniform           the sentence at the same place of the book, counted in lines
tfidf             the sentence of highest tf-idf cosine with what is said
bm25              the same by BM25, the ranking function of search engines
encoder           the same by the cosine of a sentence encoder's vectors
…-monotone        the same, but the book is never walked backwards: the path of the highest sum

The score of a link is its similarity in 0 … 1: tf-idf's cosine as it is; BM25 as a share of what
the spoken line scores against itself, at most 1; an encoder's cosine, below 0 counted as 0; and 1
for `uniform`, which has no opinion. None of them is calibrated. A moment that is like no sentence
at all (a silent one, say) has the score 0 and is taken to be not in the book.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.similarity.base import Measure
from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.similarity.tokens import Tokens, number_tokens
from folioreel.types import Alignment, Book, Film, Link

MONOTONE = "-monotone"
BASELINES = (
    "uniform",
    *(name + ending for name in ("tfidf", "bm25", "encoder") for ending in ("", MONOTONE)),
)
"""Every baseline's name; those of `encoder` need one."""

BM25_K1 = 1.5
BM25_B = 0.75
_ROWS = 128


class TextEncoder(Protocol):
    """What turns sentences into vectors."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text: (texts, units)."""
        ...


def baseline_alignment(
    name: str, film: Film, book: Book, encoder: TextEncoder | None = None
) -> Alignment:
    """The alignment that a baseline gives."""
    return Alignment(
        book=book,
        film=film,
        links=baseline_links(name, film, book, encoder),
        signature={"baseline": name},
    )


def baseline_links(
    name: str, film: Film, book: Book, encoder: TextEncoder | None = None
) -> tuple[Link, ...]:
    """A link for every moment of the film.

    Raises:
        ValueError: There is no such baseline, or it needs an encoder.
    """
    moments, sentences = len(film.moments), len(book.sentences)
    if name == "uniform":
        return _links(uniform_sentences(film, book), np.ones(moments))
    measure = _measure(name.removesuffix(MONOTONE), film, book, encoder)
    if name.endswith(MONOTONE):
        return _links(*_best_path(measure, moments, sentences))
    return _links(*_nearest(measure, moments, sentences))


def uniform_sentences(film: Film, book: Book) -> NDArray[np.int64]:
    """The uniform timeline: the sentence at the moment's share of the book, in lines: (I,)."""
    middles = np.array([(moment.start_s + moment.end_s) / 2 for moment in film.moments])
    shares = np.clip(middles / film.duration_s, 0.0, 1.0)
    lines = [sentence.line for sentence in book.sentences]
    last = book.sentences[-1].line_end
    if last is None or any(line is None for line in lines):
        # A book without lines is measured in sentences.
        return np.minimum((shares * len(lines)).astype(np.int64), len(lines) - 1)
    starts = np.array(lines, dtype=np.float64)
    wanted = 1 + shares * last
    return np.maximum(np.searchsorted(starts, wanted, side="right") - 1, 0).astype(np.int64)


class Bm25Measure:
    """BM25 of one film and book, as a share of a line's score against itself.

    The words' weights are Lucene's, ln(1 + (J - df + ½) / (df + ½)), which are never negative.
    """

    names: tuple[str, ...] = ("bm25",)

    def __init__(self, film: Film, book: Book) -> None:
        """Weigh the words of both sides."""
        tokens = number_tokens(film, book)
        words = len(tokens.vocabulary)
        sentences, moments = _bags(tokens.sentences, words), _bags(tokens.moments, words)
        frequency = np.bincount(sentences.indices, minlength=words)
        count = sentences.shape[0]
        idf = np.log1p((count - frequency + 0.5) / (frequency + 0.5))  # (words,)
        mean_length = max(1.0, float(tokens.sentences.lengths.mean()))
        weighed = _saturated(sentences, idf, tokens.sentences.lengths / mean_length)
        own = _saturated(moments, idf, tokens.moments.lengths / mean_length)
        highest = np.asarray(own.multiply(moments).sum(axis=1)).ravel()  # (I,)
        highest[highest == 0] = 1.0
        moments.data /= np.repeat(highest, np.diff(moments.indptr))
        self._moments = moments
        self._sentences = weighed.T.tocsr()  # (words, J)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J); repeated words can bring it above 1."""
        out[0] = (self._moments[first:last] @ self._sentences).toarray()


class EncoderMeasure:
    """The cosine between an encoder's vectors; silent moments are like nothing."""

    names: tuple[str, ...] = ("encoder",)

    def __init__(self, film: Film, book: Book, encoder: TextEncoder) -> None:
        """Encode what is said and what is written."""
        self._sentences = _unit_vectors(
            encoder.encode([sentence.text for sentence in book.sentences])
        )
        self._moments = np.zeros((len(film.moments), self._sentences.shape[1]), dtype=np.float32)
        spoken = [k for k, moment in enumerate(film.moments) if moment.text]
        if spoken:
            texts = [film.moments[k].text for k in spoken]
            self._moments[spoken] = _unit_vectors(encoder.encode(texts))

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        np.matmul(self._moments[first:last], self._sentences.T, out=out[0])


def _measure(name: str, film: Film, book: Book, encoder: TextEncoder | None) -> Measure:
    match name:
        case "tfidf":
            return TfidfMeasure(number_tokens(film, book))
        case "bm25":
            return Bm25Measure(film, book)
        case "encoder" if encoder is not None:
            return EncoderMeasure(film, book, encoder)
        case "encoder":
            raise ValueError("the baseline needs an encoder")
    raise ValueError(f"no baseline is called {name!r}; there are {', '.join(BASELINES)}")


def _nearest(
    measure: Measure, moments: int, sentences: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each moment's best sentence, the first of equals, and its similarity."""
    chosen = np.zeros(moments, dtype=np.int64)
    similarity = np.zeros(moments)
    for first in range(0, moments, _ROWS):
        block = _block(measure, first, min(first + _ROWS, moments), sentences)
        best = block.argmax(axis=1)
        chosen[first : first + len(block)] = best
        similarity[first : first + len(block)] = block[np.arange(len(block)), best]
    return chosen, similarity


def _best_path(
    measure: Measure, moments: int, sentences: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The sentences that never go backwards and have the highest sum of similarities.

    best[j] is the highest sum of a path that has come no further than sentence j; `improves` says
    in which cells it ends in j itself, which is all that is needed to walk back.
    """
    best = np.zeros(sentences)
    improves = np.zeros((moments, sentences), dtype=np.bool_)
    for first in range(0, moments, _ROWS):
        block = _block(measure, first, min(first + _ROWS, moments), sentences)
        for i, row in enumerate(block, first):
            ending = row + best
            best = np.maximum.accumulate(ending)
            improves[i, 0] = True
            improves[i, 1:] = ending[1:] > best[:-1]
    chosen = np.empty(moments, dtype=np.int64)
    j = sentences - 1
    for i in range(moments - 1, -1, -1):
        while not improves[i, j]:
            j -= 1
        chosen[i] = j
    similarity = np.empty(moments)
    for first in range(0, moments, _ROWS):
        block = _block(measure, first, min(first + _ROWS, moments), sentences)
        columns = chosen[first : first + len(block)]
        similarity[first : first + len(block)] = block[np.arange(len(block)), columns]
    return chosen, similarity


def _block(measure: Measure, first: int, last: int, sentences: int) -> NDArray[np.float32]:
    out = np.empty((1, last - first, sentences), dtype=np.float32)
    measure.rows(first, last, out)
    return out.reshape(last - first, sentences)


def _links(sentences: NDArray[np.int64], similarity: NDArray[np.float64]) -> tuple[Link, ...]:
    scores = np.clip(similarity, 0.0, 1.0)
    return tuple(
        Link(moment=i, sentence=int(j), score=float(score), in_book=bool(score > 0))
        for i, (j, score) in enumerate(zip(sentences, scores, strict=True))
    )


def _bags(tokens: Tokens, words: int) -> sparse.csr_array:
    """Word counts of each text: (texts, words)."""
    bags = sparse.csr_array(
        (np.ones(len(tokens.ids)), tokens.ids.copy(), tokens.starts.copy()),
        shape=(len(tokens.starts) - 1, words),
    )
    bags.sum_duplicates()
    return bags


def _saturated(
    bags: sparse.csr_array, idf: NDArray[np.float64], lengths: NDArray[np.float64]
) -> sparse.csr_array:
    """BM25's weight of each word in each text; `lengths` relative to the mean: (texts, words)."""
    weighed = bags.copy()
    damping = BM25_K1 * (1 - BM25_B + BM25_B * lengths)
    counts = weighed.data
    damped = counts + np.repeat(damping, np.diff(weighed.indptr))
    weighed.data = idf[weighed.indices] * counts * (BM25_K1 + 1) / damped
    return weighed


def _unit_vectors(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
