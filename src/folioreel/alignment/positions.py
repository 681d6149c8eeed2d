"""Where in the book the film is, moment by moment: a hidden position that moves by learned steps.

Goes beyond the paper's chain (section 4.4) in four ways. A moment that is not in the book still
has a position, that of its scene, so that its neighbours on both sides stay connected: a moment at
position j either renders sentence j, with odds exp(score), or it does not, and says nothing. Films
are faithful for a while and then free: in free passages those odds are lower. Wherever the film
is, a moment may also quote a sentence from elsewhere in the book, at a small rate; the film stays
where it is, so that a line taken from another chapter does not tear its scene apart. And steps
between positions follow a mixture that is learned from judged films: stay, go on, go on farther, go
back, or go anywhere. Sums over such steps are running sums, so all posteriors are exact and cost a
few operations per cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.messages import Counts, Floats, go_ahead, go_back, step_weights
from folioreel.config import STEPS, StepsConfig
from folioreel.types import Film

_SUREST = 40.0
"""Scores are cut off at ± this logit. It is as good as certain, and two scores of a row are then
at most e^80 apart: float32 ends near e^87, beyond which the less likely one would vanish."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Positions:
    """The posterior of every cell, and expected counts for training."""

    position: Floats
    """The film is at sentence j at moment i, whether in the book or not: (I, J); rows sum to 1."""
    rendered: Floats
    """Moment i renders sentence j, there or from elsewhere: (I, J); a row sums to the probability
    of being in the book."""
    log_partition: float
    steps: Counts  # the expected number of steps of each kind, in the order of `STEPS`: (8,)
    passages: Counts
    """The expected number of turns from faithful or free to faithful or free: (2, 2)."""
    rendered_freely: float
    """The expected number of moments in free passages that render the sentence they are at."""
    quoted: Floats  # the probability that moment i quotes from elsewhere: (I,)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fixed:
    """What a judge says of one moment."""

    sentences: NDArray[np.bool_] | None  # where the film is: (J,); None if unknown
    rendered: bool | None  # whether the moment is in the book; None if unknown


class Cells(NamedTuple):
    """What each cell weighs: position j weighs absent + odds · factor of the passage."""

    odds: Floats  # as a rendering of sentence j: (I, J)
    absent: Floats  # otherwise: as no rendering at all, or as a quote from elsewhere: (I, J)
    quoting: Floats  # the share of the quote in `absent`, alike for all of a row: (I,)
    scales: Floats  # the log of what each row was divided by: (I,)


def follow_book(
    scores: Floats,
    times: Floats,
    steps: StepsConfig,
    fixed: Mapping[int, Fixed] | None = None,
    silent: NDArray[np.bool_] | None = None,
) -> Positions:
    """Exact posteriors of a film's positions.

    Args:
        scores: The logit of P(moment i renders sentence j | the film is at j): (I, J); -inf where
            nothing is said. They are not changed.
        times: When each moment is, from 0 at the first to 1 at the last: (I,).
        steps: How likely each kind of step and a quote are, and how strong the timeline.
        fixed: What is known of some moments; all paths obey it.
        silent: Moments in which nobody speaks, and which therefore quote nothing: (I,).
    """
    odds, absent, quoting, scales = weigh_cells(scores, times, steps, fixed, silent)
    moments, sentences = scores.shape
    weights = step_weights(steps)
    forward = np.empty((moments, 2, sentences), np.float32)
    log_partition = go_ahead(odds, absent, weights, first_message(sentences), forward)
    counts, turns = np.zeros(len(STEPS)), np.zeros((2, 2))
    message = np.ones((2, sentences), np.float32)  # nothing is known of what follows the film
    rendered_freely = go_back(odds, absent, weights, forward, message, counts, turns)
    quoted = add_quotes(scores, fixed or {}, quoting, absent, odds)
    return Positions(
        position=absent,  # the kernel replaces the weights by the posteriors
        rendered=odds,
        log_partition=log_partition + float(scales.sum(dtype=np.float64)),
        steps=counts,
        passages=turns,
        rendered_freely=rendered_freely,
        quoted=quoted,
    )


def first_message(sentences: int) -> Floats:
    """What arrives at a film's first moment: any sentence, faithful or free, alike: (2, J)."""
    return np.full((2, sentences), 0.5 / sentences, np.float32)


def weigh_cells(
    scores: Floats,
    times: Floats,
    steps: StepsConfig,
    fixed: Mapping[int, Fixed] | None = None,
    silent: NDArray[np.bool_] | None = None,
) -> Cells:
    """The weights of all cells. Arguments as `follow_book` takes them, for any run of moments."""
    bounded = np.clip(scores, -_SUREST, _SUREST)
    scales = np.maximum(bounded.max(axis=1), 0)  # (I,)
    odds = np.exp(bounded - scales[:, None])  # (I, J)
    odds[np.isneginf(scores)] = 0
    root_mean_square = np.sqrt(_mean_squares(odds))  # over all sentences, judged or not: (I,)
    silence, quotes = np.exp(-scales), np.zeros_like(scales)  # (I,)
    placed = {}
    for moment, known in (fixed or {}).items():
        if known.rendered is not None:
            (silence if known.rendered else odds)[moment] = 0
        if known.sentences is not None:
            odds[moment, ~known.sentences] = 0
            if not known.rendered:  # a rendering may be a quote, wherever the film is
                placed[moment] = known.sentences
    if steps.elsewhere:
        squares = np.float32(steps.elsewhere) * _mean_squares(odds)  # of what a judge allows
        np.divide(squares, root_mean_square, out=quotes, where=root_mean_square > 0)
        quotes[list(placed)] = 0
        if silent is not None:
            quotes[silent] = 0
    both = silence + quotes  # 0 if a rendering can be no quote
    quoting = np.divide(quotes, both, out=np.zeros_like(both), where=both > 0)
    absent = np.repeat(both[:, None], scores.shape[1], axis=1)  # (I, J)
    for moment, sentences in placed.items():
        absent[moment, ~sentences] = 0
    if steps.timeline:
        pull = np.exp(-np.float32(steps.timeline) * timeline_distance(times, scores.shape[1]))
        odds *= pull
        absent *= pull
    largest = np.maximum(odds.max(axis=1), absent.max(axis=1))[:, None]
    odds /= largest
    absent /= largest
    scales += np.log(largest[:, 0])
    return Cells(odds=odds, absent=absent, quoting=quoting, scales=scales)


def add_quotes(
    scores: Floats, fixed: Mapping[int, Fixed], quoting: Floats, position: Floats, rendered: Floats
) -> Floats:
    """Add what is quoted from elsewhere to `rendered`; returns the probability of a quote: (I,).

    A quote is of any sentence that a judge allows, in proportion to the square of its odds. They
    are computed anew, row by row: the kernels leave none, and kept for a whole film they would take
    as much as `scores`.
    """
    # P(it renders no sentence where it is), of which a quote has its share.
    other = position.sum(axis=1) - rendered.sum(axis=1)
    quoted: Floats = quoting * np.maximum(0, other)
    for moment in np.flatnonzero(quoted).tolist():
        known = fixed.get(moment)
        allowed = None if known is None else known.sentences
        rendered[moment] += quoted[moment] * quote_shares(scores[moment], allowed)
    return quoted


def quote_shares(scores: Floats, allowed: NDArray[np.bool_] | None = None) -> Floats:
    """The probability of each sentence to be the one that a moment quotes, if it quotes: (J,).

    It is in proportion to the square of the odds: the neighbouring moments do not support a quote,
    so its sentence must stand out from the whole book.
    """
    possible = ~np.isneginf(scores)
    if allowed is not None:
        possible &= allowed
    shares = np.zeros_like(scores)
    if possible.any():
        bounded = np.clip(scores[possible], -_SUREST, _SUREST)
        squares = np.exp(2 * (bounded - bounded.max()))
        shares[possible] = squares / squares.sum(dtype=np.float64)
    return shares


def _mean_squares(odds: Floats) -> Floats:
    """The mean square of each row: (I,)."""
    sums: Floats = np.einsum("ij,ij->i", odds, odds)
    return sums / np.float32(odds.shape[1])


def timeline_distance(times: Floats, sentences: int) -> Floats:
    """How far each sentence is from a moment's place on the uniform timeline: (I, J)."""
    places = np.linspace(0, 1, sentences, dtype=np.float32)
    distance: Floats = np.abs(times[:, None] - places)
    return distance


def film_times(film: Film) -> Floats:
    """When each moment begins, from 0 at the first to 1 at the last: (I,)."""
    starts = np.array([moment.start_s for moment in film.moments])
    times: Floats = (starts - starts[0]).astype(np.float32)
    return times / np.float32(max(times[-1], 1e-9))  # one moment alone is at 0
