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

The kernels work on a run of moments, given the message that arrives from either side: the whole
film here, one block of it in blocks.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from folioreel.compiled import njit
from folioreel.config import STEPS, StepsConfig
from folioreel.types import Film

Floats: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.float64]

_STAY, _NEXT, _NEAR, _FAR, _FARTHER, _BACK, _FAR_BACK, _ANYWHERE = range(len(STEPS))
"""Where each kind of step stands in `STEPS`; numba compiles these as constants."""
# A step of n sentences is d times as likely as one of n - 1; its mean length is 1 / (1 - d).
_NEAR_DECAY, _FAR_DECAY, _FARTHER_DECAY = 0.5, 0.85, 0.975  # ahead by 2, 7 and 40 on average
_BACK_DECAY, _FAR_BACK_DECAY = 0.7, 0.95  # back by 3 and 20 on average
_FAITHFUL, _FREE = 0, 1  # the two kinds of passages, the first axis of every message
_SUREST = 40.0
"""Scores are cut off at ± this logit. It is as good as certain, and two scores of a row are then
at most e^80 apart: float32 ends near e^87, beyond which the less likely one would vanish."""
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered, so that they use SIMD; infinities and NaNs keep their meaning."""


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


class StepWeights(NamedTuple):
    """A `StepsConfig` as the kernels read it."""

    factors: Floats  # what odds are multiplied by in faithful and in free passages: (2,)
    mixture: Floats  # the share of each kind of step, in the order of `STEPS`; sums to 1: (8,)
    passages: Floats  # the probability of each turn, from row to column: (2, 2)


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


def step_weights(steps: StepsConfig) -> StepWeights:
    """The config as arrays of float32; the shares of steps are scaled to a sum of 1."""
    mixture = np.array([getattr(steps, name) for name in STEPS], dtype=np.float32)
    turns = [[1 - steps.leave, steps.leave], [steps.come_back, 1 - steps.come_back]]
    return StepWeights(
        factors=np.array([1.0, np.exp(steps.free)], dtype=np.float32),
        mixture=mixture / mixture.sum(),
        passages=np.array(turns, dtype=np.float32),
    )


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


@njit(nogil=True, fastmath=_FASTMATH)
def go_ahead(
    odds: Floats, absent: Floats, weights: StepWeights, message: Floats, forward: Floats
) -> float:
    """The forward pass: fill `forward` (I, 2, J) and return the log of what its rows summed to.

    `message` (2, J) is what arrives at the first moment; it is replaced by what arrives at the
    moment after the last.
    """
    moments, sentences = odds.shape
    spread = message.copy()
    log_partition = 0.0
    for i in range(moments):
        total = 0.0
        for r in range(2):
            stay, turn = weights.passages[r, r], weights.passages[1 - r, r]
            if i == 0:
                stay, turn = 1.0, 0.0  # the first message has turned already
            for j in range(sentences):
                arrived = stay * spread[r, j] + turn * spread[1 - r, j]
                value = arrived * (absent[i, j] + weights.factors[r] * odds[i, j])
                forward[i, r, j] = value
                total += value
        # Scaled to a sum of 1: the product over a film's moments would leave float32's range.
        for r in range(2):
            for j in range(sentences):
                forward[i, r, j] /= total
            _spread(forward[i, r], weights.mixture, spread[r])
        log_partition += np.log(total)
    for r in range(2):
        stay, turn = weights.passages[r, r], weights.passages[1 - r, r]
        for j in range(sentences):
            message[r, j] = stay * spread[r, j] + turn * spread[1 - r, j]
    return log_partition


@njit(nogil=True, fastmath=_FASTMATH)
def go_back(
    odds: Floats,
    absent: Floats,
    weights: StepWeights,
    forward: Floats,
    message: Floats,
    counts: Counts | None = None,
    turns: Counts | None = None,
) -> float:
    """The backward pass: leaves the posteriors in `odds` (rendered) and `absent` (position).

    `message` (2, J) is what arrives at the last moment from the future. Expected numbers of steps
    and turns are added to `counts` and `turns`, if given; returns that of moments rendered freely.
    """
    moments, sentences = odds.shape
    arriving = np.empty((2, sentences), np.float32)
    spread = np.empty((2, sentences), np.float32)
    rendered_freely = 0.0
    for i in range(moments - 1, -1, -1):
        # Before this moment's weights are overwritten by its posteriors.
        _weigh_message(odds[i], absent[i], weights.factors, message, arriving)
        rendered_freely += _join(odds[i], absent[i], weights.factors, forward[i], message)
        if i == 0:
            break
        _spread_back(arriving, weights.mixture, spread)
        if counts is not None and turns is not None:
            _count_steps(forward[i - 1], arriving, weights, counts)
            _count_turns(forward[i - 1], spread, weights.passages, turns)
        _turn_back(spread, weights.passages, message)
    return rendered_freely


@njit(nogil=True, fastmath=_FASTMATH)
def send_back(odds: Floats, absent: Floats, weights: StepWeights, message: Floats) -> None:
    """Replace the message to the last moment by the one to the moment before the first: (2, J)."""
    arriving = np.empty_like(message)
    spread = np.empty_like(message)
    for i in range(odds.shape[0] - 1, -1, -1):
        _weigh_message(odds[i], absent[i], weights.factors, message, arriving)
        _spread_back(arriving, weights.mixture, spread)
        _turn_back(spread, weights.passages, message)


@njit(nogil=True, fastmath=_FASTMATH)
def _weigh_message(
    odds: Floats, absent: Floats, factors: Floats, message: Floats, out: Floats
) -> None:
    """A message to one moment times the weights of its cells, scaled to a maximum of 1: (2, J)."""
    sentences = len(odds)
    largest = 0.0
    for r in range(2):
        for j in range(sentences):
            out[r, j] = (absent[j] + factors[r] * odds[j]) * message[r, j]
            largest = max(largest, out[r, j])
    # Any scale will do, as posteriors are normalised; this one stays within float32's range.
    for r in range(2):
        for j in range(sentences):
            out[r, j] /= largest


@njit(nogil=True, fastmath=_FASTMATH)
def _join(odds: Floats, absent: Floats, factors: Floats, forward: Floats, message: Floats) -> float:
    """Replace one moment's weights by its posteriors; returns P(rendered in a free passage)."""
    sentences = len(odds)
    total = 0.0
    for r in range(2):
        for j in range(sentences):
            total += forward[r, j] * message[r, j]
    freely = 0.0
    for j in range(sentences):
        faithful = forward[_FAITHFUL, j] * message[_FAITHFUL, j] / total
        free = forward[_FREE, j] * message[_FREE, j] / total
        rendering, rendering_free = 0.0, 0.0
        if odds[j] > 0:
            rendering = faithful * odds[j] / (absent[j] + odds[j])
            lower = factors[_FREE] * odds[j]
            rendering_free = free * lower / (absent[j] + lower)
        odds[j] = rendering + rendering_free
        absent[j] = faithful + free
        freely += rendering_free
    return freely


@njit(nogil=True, fastmath=_FASTMATH)
def _spread(source: Floats, mixture: Floats, out: Floats) -> None:
    """One step ahead: out[k] = Σ_j source[j] · p(k - j), by running sums."""
    sentences = len(source)
    total = 0.0
    for j in range(sentences):
        total += source[j]
    anywhere = mixture[_ANYWHERE] * total / sentences
    # near = Σ_n (1 - d) dⁿ⁻¹ source[j - n], n ≥ 1; far and farther likewise.
    near, far, farther, last = 0.0, 0.0, 0.0, 0.0
    for j in range(sentences):
        near = _NEAR_DECAY * near + (1 - _NEAR_DECAY) * last
        far = _FAR_DECAY * far + (1 - _FAR_DECAY) * last
        farther = _FARTHER_DECAY * farther + (1 - _FARTHER_DECAY) * last
        ahead = mixture[_NEXT] * last + mixture[_NEAR] * near
        ahead += mixture[_FAR] * far + mixture[_FARTHER] * farther
        out[j] = mixture[_STAY] * source[j] + ahead + anywhere
        last = source[j]
    near, far, last = 0.0, 0.0, 0.0
    for j in range(sentences - 1, -1, -1):
        near = _BACK_DECAY * near + (1 - _BACK_DECAY) * last
        far = _FAR_BACK_DECAY * far + (1 - _FAR_BACK_DECAY) * last
        out[j] += mixture[_BACK] * near + mixture[_FAR_BACK] * far
        last = source[j]


@njit(nogil=True, fastmath=_FASTMATH)
def _spread_back(arriving: Floats, mixture: Floats, out: Floats) -> None:
    """The same against time: a step from j to k is a step back from k to j."""
    for r in range(2):
        _spread(arriving[r, ::-1], mixture, out[r, ::-1])


@njit(nogil=True, fastmath=_FASTMATH)
def _turn_back(spread: Floats, passages: Floats, message: Floats) -> None:
    """What the moment before hears, whichever kind of passage it is in: (2, J)."""
    for r in range(2):
        for j in range(spread.shape[1]):
            message[r, j] = passages[r, 0] * spread[0, j] + passages[r, 1] * spread[1, j]


@njit(nogil=True, fastmath=_FASTMATH)
def _count_turns(before: Floats, spread: Floats, passages: Floats, turns: Counts) -> None:
    """Add the expected turns between two moments, which sum to 1."""
    turned = np.zeros((2, 2))
    for r in range(2):
        for q in range(2):
            for j in range(before.shape[1]):
                turned[r, q] += before[r, j] * spread[q, j]
            turned[r, q] *= passages[r, q]
    turns += turned / turned.sum()


@njit(nogil=True, fastmath=_FASTMATH)
def _count_steps(before: Floats, arriving: Floats, weights: StepWeights, counts: Counts) -> None:
    """Add the expected steps of each kind between two moments, which sum to 1."""
    sentences = before.shape[1]
    source = np.empty(sentences, np.float32)
    found = np.zeros(len(STEPS))
    for r in range(2):
        for j in range(sentences):
            source[j] = (
                weights.passages[r, r] * before[r, j]
                + weights.passages[1 - r, r] * before[1 - r, j]
            )
        found += _step_mass(source, arriving[r]) * weights.mixture
    counts += found / found.sum()


@njit(nogil=True, fastmath=_FASTMATH)
def _step_mass(source: Floats, arriving: Floats) -> Counts:
    """What each kind of step carries from source to arriving, before its share: (8,)."""
    # The same running sums as in `_spread`, which needs their mixture and not each by itself.
    sentences = len(source)
    found = np.zeros(len(STEPS))
    total, target = 0.0, 0.0
    near, far, farther, last = 0.0, 0.0, 0.0, 0.0
    for j in range(sentences):
        near = _NEAR_DECAY * near + (1 - _NEAR_DECAY) * last
        far = _FAR_DECAY * far + (1 - _FAR_DECAY) * last
        farther = _FARTHER_DECAY * farther + (1 - _FARTHER_DECAY) * last
        found[_STAY] += source[j] * arriving[j]
        found[_NEXT] += last * arriving[j]
        found[_NEAR] += near * arriving[j]
        found[_FAR] += far * arriving[j]
        found[_FARTHER] += farther * arriving[j]
        total += source[j]
        target += arriving[j]
        last = source[j]
    near, far, last = 0.0, 0.0, 0.0
    for j in range(sentences - 1, -1, -1):
        near = _BACK_DECAY * near + (1 - _BACK_DECAY) * last
        far = _FAR_BACK_DECAY * far + (1 - _FAR_BACK_DECAY) * last
        found[_BACK] += near * arriving[j]
        found[_FAR_BACK] += far * arriving[j]
        last = source[j]
    found[_ANYWHERE] = total * target / sentences
    return found
