"""The messages between moments, forwards and backwards, of the model in positions.py.

The kernels work on a run of moments, given the message that arrives from either side: the whole
film in positions.py, one block of it in blocks.py.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from folioreel.compiled import njit
from folioreel.config import STEPS, StepsConfig

Floats: TypeAlias = NDArray[np.float32]
Counts: TypeAlias = NDArray[np.float64]

_STAY, _NEXT, _NEAR, _FAR, _FARTHER, _BACK, _FAR_BACK, _ANYWHERE = range(len(STEPS))
"""Where each kind of step stands in `STEPS`; numba compiles these as constants."""
# A step of n sentences is d times as likely as one of n - 1; its mean length is 1 / (1 - d).
_NEAR_DECAY, _FAR_DECAY, _FARTHER_DECAY = 0.5, 0.85, 0.975  # ahead by 2, 7 and 40 on average
_BACK_DECAY, _FAR_BACK_DECAY = 0.7, 0.95  # back by 3 and 20 on average
_FAITHFUL, _FREE = 0, 1  # the two kinds of passages, the first axis of every message
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered, so that they use SIMD; infinities and NaNs keep their meaning."""


class StepWeights(NamedTuple):
    """A `StepsConfig` as the kernels read it."""

    factors: Floats  # what odds are multiplied by in faithful and in free passages: (2,)
    mixture: Floats  # the share of each kind of step, in the order of `STEPS`; sums to 1: (8,)
    passages: Floats  # the probability of each turn, from row to column: (2, 2)


def step_weights(steps: StepsConfig) -> StepWeights:
    """The config as arrays of float32; the shares of steps are scaled to a sum of 1."""
    mixture = np.array([getattr(steps, name) for name in STEPS], dtype=np.float32)
    turns = [[1 - steps.leave, steps.leave], [steps.come_back, 1 - steps.come_back]]
    return StepWeights(
        factors=np.array([1.0, np.exp(steps.free)], dtype=np.float32),
        mixture=mixture / mixture.sum(),
        passages=np.array(turns, dtype=np.float32),
    )


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
