"""The judgements of a pair as cells of its matrix: what the context model and the chain learn from.

A judged line is the moment that it shares most time with, as in the figures (evaluate/metrics.py).
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Literal

import numpy as np

from folioreel.errors import InputError
from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.judged_tables import Judgement
from folioreel.types import Book, Film

Verdict = Literal["match", "scene", "none"]


@dataclass(frozen=True, kw_only=True)
class JudgedMoment:
    """A moment that somebody looked up in the book."""

    moment: int
    verdict: Verdict
    """`match`: it is there; `scene`: it is new, its place is known; `none`: it is not there."""
    sentences: tuple[int, ...]
    """Every sentence that counts as right, ascending; none for `none`."""

    def __post_init__(self) -> None:
        """Refuse a match without a place."""
        if (self.verdict == "none") == bool(self.sentences):
            raise ValueError(f"moment {self.moment}: a {self.verdict} with {self.sentences}")


def judged_moments(pair: Pair, film: Film, book: Book) -> tuple[JudgedMoment, ...]:
    """Each judged moment once, in time order; where two lines share a moment, the matches join.

    Lines that no moment shares time with, and passages in which no sentence lies, are left out.
    """
    found: dict[int, JudgedMoment] = {}
    ranks = ("match", "scene", "none")
    for judgement in pair.judgements:
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


def _moment_of(pair: Pair, judgement: Judgement, film: Film) -> int | None:
    if judgement.times_s is not None:  # then there may be no spoken line at all
        start_s, end_s = judgement.times_s
    else:
        line = pair.spoken[judgement.line]
        start_s, end_s = line.start_s, line.end_s
    starts = np.array([moment.start_s for moment in film.moments])
    ends = np.array([moment.end_s for moment in film.moments])
    shared = np.minimum(end_s, ends) - np.maximum(start_s, starts)
    best = int(np.argmax(shared > shared.max() - 1e-6))  # the first of equals
    # An annotated time means the nearest moment even where it shares nothing.
    return best if shared[best] > 0 or judgement.times_s is not None else None


def _sentences_of(judgement: Judgement, book: Book) -> tuple[int, ...]:
    """The sentences that touch the lines of a passage."""
    if any(sentence.line is None for sentence in book.sentences):
        raise InputError("judged pairs need a plain-text book, whose lines can be counted")
    lines = [sentence.line or 0 for sentence in book.sentences]
    ends = [sentence.line_end or sentence.line or 0 for sentence in book.sentences]
    found: set[int] = set()
    for first, last in judgement.passages:
        # Sentences are in order, so that both their first and their last lines ascend.
        found.update(range(bisect.bisect_left(ends, first), bisect.bisect_right(lines, last)))
    return tuple(sorted(found))
