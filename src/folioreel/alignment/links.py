"""From posteriors to links: which sentence, and how probable it is (paper, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.blocks import SolvedRows
from folioreel.alignment.positions import Fixed, Positions
from folioreel.models.chain import ABSENT
from folioreel.types import Book, Link

_MARGIN = 1e-6  # probabilities are kept this far from 0 and 1, so that their logits stay finite
_REACH = 3
"""A link is right if the truth lies at most this many paragraphs away, as the paper counts it."""
_POSITION_WEIGHT = 1e-3
"""How much the mere position counts beside what is rendered: just enough to give a moment that
renders nothing the place of its scene as the best guess."""
_ROWS = 128  # moments that are looked at together: with all at once, memory would double
_NEIGHBOUR_WEIGHT = 0.5  # of all that lies within `_REACH`, itself included, beside its own mass


def choose_sentences(
    positions: Positions | SolvedRows, book: Book
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best sentence of the best paragraph, and P(the truth lies within `_REACH` of it).

    A paragraph counts by what is rendered in it and, less, in those within `_REACH`: of two equally
    likely paragraphs, the one among likely neighbours is chosen.
    """
    starts = [paragraph.sentences.start for paragraph in book.paragraphs]
    sentences = np.empty(len(positions.rendered), dtype=np.int64)
    for first in range(0, len(sentences), _ROWS):
        rows = slice(first, first + _ROWS)
        weights = positions.rendered[rows] + _POSITION_WEIGHT * positions.position[rows]
        masses = np.add.reduceat(weights, starts, axis=1)  # (rows, paragraphs)
        best = (masses + _NEIGHBOUR_WEIGHT * _sums_around(masses, _REACH)).argmax(axis=1)
        for i, paragraph in enumerate(best):
            inside = book.paragraphs[paragraph].sentences
            place = weights[i, inside.start : inside.stop].argmax()
            sentences[first + i] = inside.start + place
    return sentences, passage_probability(positions.rendered, sentences, book, reach=_REACH)


def _sums_around(values: NDArray[np.float32], reach: int) -> NDArray[np.float64]:
    """For each column, the sum over those at most `reach` away from it."""
    count = values.shape[1]
    sums = np.zeros((values.shape[0], count + 1))
    np.cumsum(values, axis=1, dtype=np.float64, out=sums[:, 1:])
    columns = np.arange(count)
    first, last = np.maximum(columns - reach, 0), np.minimum(columns + reach + 1, count)
    found: NDArray[np.float64] = sums[:, last] - sums[:, first]
    return found


def passage_probability(
    probability: NDArray[np.float32], sentences: NDArray[np.int64], book: Book, reach: int
) -> NDArray[np.float64]:
    """The probability that the truth lies at most `reach` paragraphs from the link: (I,)."""
    found = np.empty(len(sentences))
    for i, sentence in enumerate(sentences):
        paragraph = book.paragraph_of[sentence]
        first = book.paragraphs[max(0, paragraph - reach)].sentences.start
        last = book.paragraphs[min(len(book.paragraphs) - 1, paragraph + reach)].sentences.stop
        found[i] = probability[i, first:last].sum(dtype=np.float64)
    return np.clip(found, 0.0, 1.0)


def calibrate(
    probabilities: NDArray[np.float64], slope_offset: tuple[float, float]
) -> NDArray[np.float64]:
    """Platt scaling: a linear map of the logits, which keeps their order."""
    slope, offset = slope_offset
    return 1 / (1 + np.exp(-(slope * logit(probabilities) + offset)))


def logit(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of p / (1 - p), kept finite."""
    kept = np.clip(probabilities, _MARGIN, 1 - _MARGIN)
    return np.log(kept) - np.log1p(-kept)


def make_links(
    first: int,
    sentences: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    judged: Mapping[int, int],
    in_book_from: float,
) -> tuple[Link, ...]:
    """The links of consecutive moments from `first` on; a judged one is certain."""
    links = []
    for i, (sentence, score) in enumerate(zip(sentences, probabilities, strict=True), first):
        in_book = bool(score >= in_book_from)
        if i in judged:
            in_book = judged[i] != ABSENT
            sentence = judged[i] if in_book else sentence
            score = float(in_book)
        links.append(Link(moment=i, sentence=int(sentence), score=float(score), in_book=in_book))
    return tuple(links)


def fix_positions(scores: NDArray[np.float32], judged: Mapping[int, int]) -> dict[int, Fixed]:
    """What a reader's judgements say about the positions of their moments."""
    return {moment: fix_position(scores[moment], sentence) for moment, sentence in judged.items()}


def fix_position(scores: NDArray[np.float32], sentence: int) -> Fixed:
    """What one judgement says, given the scores of its row."""
    if sentence == ABSENT:
        return Fixed(sentences=None, rendered=False)
    # A silent moment without pictures has no score that could make it a rendering, but its
    # position is known all the same.
    return Fixed(
        sentences=np.arange(len(scores)) == sentence, rendered=not np.isneginf(scores[sentence])
    )
