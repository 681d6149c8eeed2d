"""What the film tells in another order than the book: Kendall's τ, and the stretches it moved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from folioreel.apps.rendering import spoken_in_book
from folioreel.export.estimates import Estimate
from folioreel.types import Alignment, Link

_NEAR = 6  # paragraphs: a line and those around it may each be three off and still be right
_LEAP = 30  # paragraphs between two lines of one stretch, at most
_DRAWS = 400  # enough for the first two digits of an interval


@dataclass(frozen=True, kw_only=True)
class MovedStretch:
    """Consecutive lines that stand elsewhere in the book than the lines around them."""

    links: tuple[Link, ...]
    paragraphs: int
    """How far: back if it is negative, from where the book is around it."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """How the order of the film agrees with that of the book."""

    tau: Estimate | None  # Kendall's τ-b: 1 is the book's order, 0 is none, -1 the reverse
    inversions: float | None
    """The share of all pairs of lines that come in the other order."""
    moved: tuple[MovedStretch, ...]


def measure_order(alignment: Alignment) -> Order:
    """The order of the lines that are in the book."""
    links = spoken_in_book(alignment)
    places = [link.sentence for link in links]
    return Order(
        tau=_estimate_tau(links),
        inversions=_inversions(places),
        moved=tuple(_find_moved(alignment, links)),
    )


def _estimate_tau(links: Sequence[Link]) -> Estimate | None:
    """τ over the links that are right, where each is with its probability."""
    times, places = np.arange(len(links)), np.array([link.sentence for link in links])
    chances = np.array([1.0 if link.judged else link.score for link in links])
    if len(set(places.tolist())) < 2:
        return None
    generator, drawn = np.random.default_rng(0), []
    for _ in range(_DRAWS):
        kept = generator.random(len(links)) < chances
        if len(set(places[kept].tolist())) > 1:
            drawn.append(kendalltau(times[kept], places[kept]).statistic)
    if not drawn:
        return None
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Estimate(value=float(np.mean(drawn)), low=float(low), high=float(high))


def _inversions(places: Sequence[int]) -> float | None:
    """The share of pairs that are out of order, of those in two places."""
    values = np.array(places)
    backward = different = 0
    for k in range(len(values)):  # (n²) in NumPy: 2,000 lines take a few milliseconds
        later = values[k + 1 :]
        backward += int((later < values[k]).sum())
        different += int((later != values[k]).sum())
    return backward / different if different else None


def _find_moved(alignment: Alignment, links: Sequence[Link]) -> list[MovedStretch]:
    """The links off the longest run in the book's order, and far from it; consecutive as one."""
    paragraphs = [alignment.book.paragraph_of[link.sentence] for link in links]
    backbone = longest_rising(paragraphs)
    stretches: list[MovedStretch] = []
    run: list[Link] = []
    steps: list[int] = []

    def finish() -> None:
        if run:
            far = max(steps, key=abs)
            stretches.append(MovedStretch(links=tuple(run), paragraphs=far))
            run.clear()
            steps.clear()

    for k, link in enumerate(links):
        after = bisect_right(backbone, k)
        low = paragraphs[backbone[after - 1]] if after else 0
        high = paragraphs[backbone[after]] if after < len(backbone) else low
        step = min(0, paragraphs[k] - low) or max(0, paragraphs[k] - high)
        # A line on the backbone ends a stretch, and so does a leap inside it.
        if abs(step) <= _NEAR:
            finish()
            continue
        if run and abs(paragraphs[k] - alignment.book.paragraph_of[run[-1].sentence]) > _LEAP:
            finish()
        run.append(link)
        steps.append(step)
    finish()
    return stretches


def longest_rising(values: Sequence[int]) -> list[int]:
    """The indices of a longest subsequence that never falls."""
    tails: list[int] = []  # the smallest last value of a run of each length …
    ends: list[int] = []  # … and its index
    before = [-1] * len(values)
    for k, value in enumerate(values):
        length = bisect_right(tails, value)
        if length:
            before[k] = ends[length - 1]
        if length == len(tails):
            tails.append(value)
            ends.append(k)
        else:
            tails[length], ends[length] = value, k
    found = []
    k = ends[-1] if ends else -1
    while k >= 0:
        found.append(k)
        k = before[k]
    return found[::-1]
