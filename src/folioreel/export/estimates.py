"""Figures with their uncertainty: shares of a film or a book, from the probabilities of links.

The probability of a link says that a line has a counterpart in the book, at most three paragraphs
from the sentence shown. The sum of the probabilities is therefore the number of lines to expect.
It is uncertain for two reasons: each line may turn out either way, and the probabilities of a whole
film may all be too high or too low. The second is larger. It was measured on judged films, and a
line that a reader has judged is free of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from folioreel.text import find_words
from folioreel.types import Alignment, Book

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FILM_ERROR = 0.8
"""How far the log odds of all lines of a film are off together: the root mean square of the shift
that would make the expected share of lines with a counterpart that of the judges, over the fourteen
judged films of the benchmark (benchmarks/adaptations.py: 0.83, a part of which is chance, as 110
lines of a film were judged). The intervals of all fourteen then hold what judges found."""
_SUREST = 0.01  # no chance that a reader has not confirmed is taken to be nearer to 0 or 1
_SIGMAS = 1.96  # 95 % of a normal distribution


def spaced_percent(share: float, digits: int = 0) -> str:
    """A share as `72 %`."""
    return f"{100 * share:.{digits}f} %"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit."""
        return Estimate(value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def percent(self) -> str:
        """A share with its interval, as `72 % (58–86 %)`."""
        low = f"{100 * self.low:.0f}"
        return f"{spaced_percent(self.value)} ({low}–{spaced_percent(self.high)})"


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Things that count by weight, each with the probability that it is so."""

    weights: tuple[float, ...]
    chances: tuple[float, ...]
    judged: tuple[bool, ...]
    """Whether a reader has decided it, so that its chance is 0 or 1."""

    def share(self) -> Estimate | None:
        """The expected share of the weight; None if there is nothing to weigh."""
        return estimate_share(self.weights, self.chances, self.judged)

    def total(self) -> Estimate:
        """The expected weight itself."""
        share = self.share()
        nothing = Estimate(value=0.0, low=0.0, high=0.0)
        return nothing if share is None else share.scaled(sum(self.weights))

    def only(self, chosen: Sequence[int]) -> Chances:
        """Some of the things."""
        return Chances(
            weights=tuple(self.weights[k] for k in chosen),
            chances=tuple(self.chances[k] for k in chosen),
            judged=tuple(self.judged[k] for k in chosen),
        )


def spoken_lines(alignment: Alignment) -> Chances:
    """The spoken lines of a film, in time order, and the probability that each is in the book."""
    links = [
        alignment.links[moment.index]
        for moment in alignment.film.moments
        if moment.kind == "dialogue"
    ]
    return Chances(
        weights=(1.0,) * len(links),
        chances=tuple(k.score if k.judged is None else float(k.in_book) for k in links),
        judged=tuple(k.judged is not None for k in links),
    )


def describe_share(alignment: Alignment) -> str:
    """How much of the film is in the book, in words.

    Silent shots are seldom found, so the share is that of the lines, unless nobody speaks.
    """
    lines = spoken_lines(alignment)
    share = lines.share()
    if share is None:
        in_book = sum(link.in_book for link in alignment.links)
        return f"{in_book} of {len(alignment.links)} silent shots are in the book"
    return f"{share.percent()} of {len(lines.weights):,} spoken lines are in the book"


def paragraph_words(book: Book) -> list[int]:
    """The words of each paragraph."""
    lengths = [len(find_words(sentence.text)) for sentence in book.sentences]
    return [sum(lengths[j] for j in paragraph.sentences) for paragraph in book.paragraphs]


def estimate_share(weights: ArrayLike, chances: ArrayLike, judged: ArrayLike) -> Estimate | None:
    """The expected share of some weights, and its interval; None if they sum to 0."""
    w, p = np.asarray(weights, dtype=np.float64), np.asarray(chances, dtype=np.float64)
    decided = np.asarray(judged, dtype=bool)
    whole = w.sum()
    if whole <= 0:
        return None
    value = float((w * p).sum() / whole)
    by_line = _SIGMAS**2 * np.where(decided, 0.0, w * w * p * (1 - p)).sum() / whole**2
    safe = np.clip(p, _SUREST, 1 - _SUREST)
    odds = np.log(safe / (1 - safe))
    ends = []
    for shift in (-_SIGMAS * FILM_ERROR, _SIGMAS * FILM_ERROR):
        shifted = np.where(decided, p, 1 / (1 + np.exp(-odds - shift)))
        by_film = (w * shifted).sum() / whole - value
        away = by_film * shift > 0  # chances of 0 and 1 can move one way only
        ends.append(value + np.sign(shift) * np.sqrt(by_line + by_film**2 * away))
    least = w[decided & (p == 1)].sum() / whole
    most = 1 - w[decided & (p == 0)].sum() / whole
    return Estimate(value=value, low=float(max(least, ends[0])), high=float(min(most, ends[1])))
