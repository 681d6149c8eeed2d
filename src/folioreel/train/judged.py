"""Judged pairs as training examples: which cells of the matrix the judges found right.

A judged line stands for the moment that it shares most time with, as in evaluate/metrics.py.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Literal

import numpy as np

from folioreel.alignment.positions import Fixed
from folioreel.errors import InputError
from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.judged_tables import Judgement
from folioreel.similarity.tensor import SimilarityRows
from folioreel.types import Book, Film

Verdict = Literal["match", "scene", "none"]

# Sentences before and after a judged passage that still count as the same scene.
_SCENE_MARGIN = 6


@dataclass(frozen=True, kw_only=True)
class JudgedMoment:
    """A moment that somebody looked up in the book."""

    moment: int
    verdict: Verdict
    """`match`: it is in the book; `scene`: it is new, but part of a scene of the book; `none`: it
    is not in the book."""
    sentences: tuple[int, ...]  # every sentence that counts as right, ascending; empty for `none`

    def __post_init__(self) -> None:
        if (self.verdict == "none") == bool(self.sentences):
            raise ValueError(f"moment {self.moment}: a {self.verdict} with {self.sentences}")


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingPair:
    """A film and a book as measures, and what was judged of them."""

    film: Film
    rows: SimilarityRows
    judged: tuple[JudgedMoment, ...]

    @property
    def matches(self) -> int:
        """Moments that were found in the book."""
        return sum(moment.verdict == "match" for moment in self.judged)

    @property
    def watched(self) -> bool:
        """Whether its measures know the film's pictures."""
        return self.film.features is not None


def judged_moments(
    pair: Pair, film: Film, book: Book, *, shots: bool = False
) -> tuple[JudgedMoment, ...]:
    """Each judged moment once, in time order; lines that share a moment have their matches joined.

    Lines that share time with no moment, and passages without a sentence, are skipped. With
    `shots`, judged silent shots are among them, if the film has any shots.
    """
    found: dict[int, JudgedMoment] = {}
    ranks = ("match", "scene", "none")
    for judgement in (*pair.judgements, *(pair.shots if shots and film.shots else ())):
        moment = _moment_of(pair, judgement, film)
        sentences = _sentences_of(judgement, book)
        if moment is None or (not sentences and judgement.verdict != "none"):
            continue
        new = JudgedMoment(moment=moment, verdict=judgement.verdict, sentences=sentences)
        old = found.get(moment)
        if old is not None and old.verdict == new.verdict == "match":
            joined = tuple(sorted({*old.sentences, *new.sentences}))
            found[moment] = JudgedMoment(moment=moment, verdict="match", sentences=joined)
        elif old is None or ranks.index(new.verdict) < ranks.index(old.verdict):
            found[moment] = new
    return tuple(found[moment] for moment in sorted(found))


def fixed_moments(pair: Pair, film: Film, book: Book) -> dict[int, Fixed]:
    """What judges say about moments: rendered here, not in the book, or somewhere in a scene."""
    fixed: dict[int, Fixed] = {}
    for judged in judged_moments(pair, film, book):
        if judged.verdict == "none":
            fixed[judged.moment] = Fixed(sentences=None, rendered=False)
            continue
        sentences = np.zeros(len(book.sentences), dtype=bool)
        margin = _SCENE_MARGIN if judged.verdict == "scene" else 0
        for sentence in judged.sentences:
            sentences[max(0, sentence - margin) : sentence + margin + 1] = True
        # A silent moment has no score that could confirm a match, but its position is known.
        spoken = film.moments[judged.moment].text != ""
        rendered = True if judged.verdict == "match" and spoken else None
        fixed[judged.moment] = Fixed(sentences=sentences, rendered=rendered)
    return fixed


def _moment_of(pair: Pair, judgement: Judgement, film: Film) -> int | None:
    if judgement.times_s is not None:  # annotated by time: there may be no spoken line at all
        start_s, end_s = judgement.times_s
    else:
        line = pair.spoken[judgement.line]
        start_s, end_s = line.start_s, line.end_s
    starts, ends = np.array([(moment.start_s, moment.end_s) for moment in film.moments]).T
    shared = np.minimum(end_s, ends) - np.maximum(start_s, starts)
    # The first of equals; times are rounded to milliseconds, so that 1e-6 s is no difference.
    best = int(np.argmax(shared > shared.max() - 1e-6))
    # An annotated time means the nearest moment even where it shares nothing.
    return best if shared[best] > 0 or judgement.times_s is not None else None


def _sentences_of(judgement: Judgement, book: Book) -> tuple[int, ...]:
    """The sentences that touch the lines of a passage."""
    if any(sentence.line is None for sentence in book.sentences):
        raise InputError("judged pairs need a plain-text book, because judgements name its lines")
    lines = [sentence.line or 0 for sentence in book.sentences]
    ends = [sentence.line_end or sentence.line or 0 for sentence in book.sentences]
    found: set[int] = set()
    for first, last in judgement.passages:
        # Sentences are in order, so their first and their last lines both ascend.
        found.update(range(bisect.bisect_left(ends, first), bisect.bisect_right(lines, last)))
    return tuple(sorted(found))
