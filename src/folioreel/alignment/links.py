"""From posteriors to links: which sentence, and how probable it is (paper, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from folioreel.alignment.alternatives import list_passages
from folioreel.alignment.blocks import SolvedRows
from folioreel.alignment.positions import Fixed, Positions
from folioreel.config import CalibrationConfig
from folioreel.models.chain import ABSENT
from folioreel.types import Book, Link

_MARGIN = 1e-6  # probabilities are kept this far from 0 and 1, so that their logits stay finite
_REACH = 3
"""A link is right if the truth lies at most this many paragraphs away, as the paper counts it."""
_POSITION_WEIGHT = 1e-3
"""How much the mere position counts beside what is rendered: just enough to give a moment that
renders nothing the place of its scene as the best guess."""
_SILENT_POSITION_WEIGHT = 1.0
"""The same for silent moments. With `_POSITION_WEIGHT`, a film whose pictures say nothing would be
placed a little worse than by its dialogue alone (tests/alignment/test_picture_trust.py)."""
_ROWS = 128  # moments that are looked at together: with all at once, memory would double
_NEIGHBOUR_WEIGHT = 0.5  # of all that lies within `_REACH`, itself included, beside its own mass
AROUND = 8
"""Moments on each side that tell how much of the film is in the book there: films leave their books
for whole scenes."""


def choose_sentences(
    positions: Positions | SolvedRows, book: Book, silent: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """The best sentence of the best paragraph for each moment, silent or not: (I,).

    A paragraph counts by what is rendered in it and, less, in those within `_REACH`: of two equally
    likely paragraphs, the one among likely neighbours is chosen.
    """
    shares = np.full(len(positions.rendered), _POSITION_WEIGHT, dtype=np.float32)
    if silent is not None:
        shares[silent] = _SILENT_POSITION_WEIGHT
    starts = [paragraph.sentences.start for paragraph in book.paragraphs]
    sentences = np.empty(len(positions.rendered), dtype=np.int64)
    for first in range(0, len(sentences), _ROWS):
        rows = slice(first, first + _ROWS)
        weights = positions.rendered[rows] + shares[rows, None] * positions.position[rows]
        masses = np.add.reduceat(weights, starts, axis=1)  # (rows, paragraphs)
        best = (masses + _NEIGHBOUR_WEIGHT * _sums_around(masses, _REACH)).argmax(axis=1)
        for i, paragraph in enumerate(best):
            inside = book.paragraphs[paragraph].sentences
            place = weights[i, inside.start : inside.stop].argmax()
            sentences[first + i] = inside.start + place
    return sentences


def link_evidence(
    positions: Positions | SolvedRows,
    scores: NDArray[np.float32],
    sentences: NDArray[np.int64],
    book: Book,
) -> NDArray[np.float64]:
    """What each moment says of its link: (I, 3).

    The logit of P(the truth lies within `_REACH` of the link), the best score within `_REACH`, and
    P(the moment is in the book, wherever that is).
    """
    near = passage_probability(positions.rendered, sentences, book, reach=_REACH)
    in_book = positions.rendered.sum(axis=1, dtype=np.float64)
    best = [
        row[slice(*_passage(book, sentence, _REACH))].max()
        for row, sentence in zip(scores, sentences, strict=True)
    ]
    return np.column_stack([logit(near), best, in_book])


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
        first, last = _passage(book, sentence, reach)
        found[i] = probability[i, first:last].sum(dtype=np.float64)
    return np.clip(found, 0.0, 1.0)


def _passage(book: Book, sentence: int, reach: int) -> tuple[int, int]:
    """The sentences of all paragraphs at most `reach` from that of a sentence: first, last + 1."""
    paragraph = book.paragraph_of[sentence]
    first, last = max(0, paragraph - reach), min(len(book.paragraphs) - 1, paragraph + reach)
    return book.paragraphs[first].sentences.start, book.paragraphs[last].sentences.stop


def calibrate(
    evidence: NDArray[np.float64], silent: NDArray[np.bool_], config: CalibrationConfig
) -> NDArray[np.float64]:
    """The scores of consecutive moments by what `link_evidence` says of them: (I,).

    The calibration was fitted to spoken lines; silent moments keep their posterior.
    """
    weights = np.array([config.link, config.evidence, config.around])
    logits = evidence[:, 0].copy()
    logits[~silent] = look_around(evidence, silent)[~silent] @ weights + config.bias
    scores: NDArray[np.float64] = expit(logits)
    return scores


def calibrate_passages(
    evidence: NDArray[np.float64], silent: NDArray[np.bool_], config: CalibrationConfig
) -> NDArray[np.float64]:
    """The scores of several passages of each moment, from their evidence (P, I, 3): (I, P).

    What was fitted to links holds for the others as well (docs/explanation/results.md,
    “Alternatives”). None is surer than the link, the first.
    """
    scores = np.column_stack([calibrate(one, silent, config) for one in evidence])
    return np.minimum(scores, scores[:, :1])


def look_around(evidence: NDArray[np.float64], silent: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What `CalibrationConfig` weighs: (I, 3).

    The last column of `link_evidence` becomes the logit of its mean over the spoken moments around
    each, without itself. Half a moment in the book and half a one that is not are added: few
    moments tell little.
    """
    window = np.ones(2 * AROUND + 1)
    window[AROUND] = 0
    total = np.convolve(np.where(silent, 0, evidence[:, 2]), window)[AROUND:-AROUND]
    count = np.convolve(~silent, window)[AROUND:-AROUND]
    return np.column_stack([evidence[:, :2], logit((total + 0.5) / (count + 1))])


def logit(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of p / (1 - p), kept finite."""
    kept = np.clip(probabilities, _MARGIN, 1 - _MARGIN)
    return np.log(kept) - np.log1p(-kept)


def make_links(
    first: int,
    passages: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    judged: Mapping[int, int],
    in_book_from: float,
) -> tuple[Link, ...]:
    """The links of consecutive moments from `first` on; a judged one is certain.

    `passages` and `probabilities` are the link's and those of its alternatives: (I, P).
    """
    links = []
    for i, (sentences, scores) in enumerate(zip(passages, probabilities, strict=True), first):
        sentence, score = sentences[0], scores[0]
        if i in judged:
            in_book = judged[i] != ABSENT
            sentence = judged[i] if in_book else sentence
            link = Link(moment=i, sentence=int(sentence), score=float(in_book), in_book=in_book)
        else:
            in_book = bool(score >= in_book_from)
            link = Link(moment=i, sentence=int(sentence), score=float(score), in_book=in_book)
            link = replace(link, alternatives=list_passages(sentences, scores))
        links.append(link)
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
