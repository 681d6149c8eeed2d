"""Where in the book the film is, moment by moment: a hidden position that moves by learned steps.

Beyond the paper's chain (section 4.4) in three ways. A moment that is not in the book still has a
position, its scene's, so that neighbours on both sides of it stay connected: a moment at position j
is either a rendering of sentence j, with odds exp(score), or it is not, and says nothing. Films are
faithful for a while and then free of their book: in free passages those odds are lower. And steps
between positions follow a mixture that is learned from judged films: stay, go on, go on farther,
go back, or go anywhere. Sums over such steps are running sums, so that all posteriors are exact
and cost a few operations a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.config import STEPS, StepsConfig
from folioreel.types import Film

_FORWARD = (0.5, 0.85, 0.975)
"""How the chance of a step of n sentences falls with n, ahead: to one half, …"""
_BACKWARD = (0.7, 0.95)
_SUREST = 40.0
"""Log odds beyond this are as good as certain, and floats end not much farther."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Positions:
    """The posterior of every cell."""

    position: NDArray[np.float32]
    """The film is at sentence j at moment i, whether in the book or not: (I, J); rows sum to 1."""
    rendered: NDArray[np.float32]
    """Moment i renders sentence j: (I, J); a row sums to the chance that it is in the book."""
    log_partition: float
    steps: NDArray[np.float64]
    """How many steps of each kind are expected, in the order of `STEPS`."""
    passages: NDArray[np.float64]
    """How many times the film goes from faithful or free to faithful or free: (2, 2)."""
    rendered_freely: float
    """How many moments are rendered in free passages."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fixed:
    """What a judge says of one moment."""

    sentences: NDArray[np.bool_] | None
    """Where the film is: (J,); None where that is not known."""
    rendered: bool | None
    """Whether the moment is in the book; None where that is not known."""


def follow_book(
    scores: NDArray[np.float32],
    times: NDArray[np.float32],
    steps: StepsConfig,
    fixed: Mapping[int, Fixed] | None = None,
) -> Positions:
    """Exact posteriors of a film's positions.

    Args:
        scores: The log odds that moment i renders sentence j, were the film at j: (I, J); minus
            infinity where nothing is said. They stay as they are.
        times: When each moment is, from 0 at the first to 1 at the last: (I,).
        steps: How likely each kind of step is, and how strong the timeline.
        fixed: What is known of some moments; all paths obey it.
    """
    odds, absent, scales = weigh_cells(scores, times, steps, fixed)
    counts, turns = np.zeros(len(STEPS)), np.zeros((2, 2))
    log_partition, rendered_freely = _forward_backward(
        odds, absent, *step_weights(steps), counts, turns
    )
    return Positions(
        position=absent,  # both are filled in place
        rendered=odds,
        log_partition=log_partition + float(scales.sum(dtype=np.float64)),
        steps=counts,
        passages=turns,
        rendered_freely=rendered_freely,
    )


def weigh_cells(
    scores: NDArray[np.float32],
    times: NDArray[np.float32],
    steps: StepsConfig,
    fixed: Mapping[int, Fixed] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """What each cell weighs as a rendering and without one, and the log of each row's scale.

    The weight of position j is absent + odds · factor of the passage. Arguments as `follow_book`
    takes them, of any run of moments.
    """
    bounded = np.clip(scores, -_SUREST, _SUREST)
    scales = np.maximum(bounded.max(axis=1), 0)
    odds = np.exp(bounded - scales[:, None])  # (I, J)
    odds[np.isneginf(scores)] = 0
    absent = np.repeat(np.exp(-scales)[:, None], scores.shape[1], axis=1)
    if steps.timeline:
        pull = np.exp(-np.float32(steps.timeline) * timeline_distance(times, scores.shape[1]))
        odds *= pull
        absent *= pull
    for moment, known in (fixed or {}).items():
        if known.rendered is not None:
            (absent if known.rendered else odds)[moment] = 0
        if known.sentences is not None:
            odds[moment, ~known.sentences] = 0
            absent[moment, ~known.sentences] = 0
    largest = np.maximum(odds.max(axis=1), absent.max(axis=1))[:, None]
    odds /= largest
    absent /= largest
    scales += np.log(largest[:, 0])
    return odds, absent, scales


def step_weights(
    steps: StepsConfig,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The factor on odds in faithful and free passages, the shares of steps, and the turns."""
    factors = np.array([1.0, np.exp(steps.free)], dtype=np.float32)
    mixture = np.array([getattr(steps, name) for name in STEPS], dtype=np.float32)
    passages = np.array(
        [[1 - steps.leave, steps.leave], [steps.come_back, 1 - steps.come_back]], dtype=np.float32
    )
    return factors, mixture / mixture.sum(), passages


def timeline_distance(times: NDArray[np.float32], sentences: int) -> NDArray[np.float32]:
    """How far each sentence is from where a moment would be, did all go at one pace: (I, J)."""
    places = np.linspace(0, 1, sentences, dtype=np.float32)
    distance: NDArray[np.float32] = np.abs(times[:, None] - places)
    return distance


def film_times(film: Film) -> NDArray[np.float32]:
    """When each moment begins, from 0 at the first to 1 at the last: (I,)."""
    starts = np.array([moment.start_s for moment in film.moments])
    times: NDArray[np.float32] = (starts - starts[0]).astype(np.float32)
    return times / np.float32(max(times[-1], 1e-9))


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _forward_backward(odds, absent, factors, mixture, passages, counts, turns):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sums over all paths; leaves the posteriors in `odds` (rendered) and `absent` (position)."""
    moments, sentences = odds.shape
    forward = np.empty((moments, 2, sentences), np.float32)
    spread = np.full((2, sentences), np.float32(0.5 / sentences), np.float32)
    log_partition = 0.0
    for i in range(moments):
        if i > 0:
            for r in range(2):
                spread_step(forward[i - 1, r], mixture, spread[r])
        total = 0.0
        for r in range(2):
            stay, turn = passages[r, r], passages[1 - r, r]
            if i == 0:
                stay, turn = 1.0, 0.0
            for j in range(sentences):
                arrived = stay * spread[r, j] + turn * spread[1 - r, j]
                value = arrived * (absent[i, j] + factors[r] * odds[i, j])
                forward[i, r, j] = value
                total += value
        for r in range(2):
            for j in range(sentences):
                forward[i, r, j] /= total
        log_partition += np.log(total)
    backward = np.ones((2, sentences), np.float32)
    arriving = np.empty((2, sentences), np.float32)
    source = np.empty(sentences, np.float32)
    rendered_freely = 0.0
    for i in range(moments - 1, -1, -1):
        # What arrives at this moment from the future, before its own row is overwritten.
        largest = 0.0
        for r in range(2):
            for j in range(sentences):
                arriving[r, j] = (absent[i, j] + factors[r] * odds[i, j]) * backward[r, j]
                largest = max(largest, arriving[r, j])
        for r in range(2):
            for j in range(sentences):
                arriving[r, j] /= largest
        total = 0.0
        for r in range(2):
            for j in range(sentences):
                total += forward[i, r, j] * backward[r, j]
        freely = 0.0
        for j in range(sentences):
            faithful = forward[i, 0, j] * backward[0, j] / total
            free = forward[i, 1, j] * backward[1, j] / total
            rendering, rendering_free = 0.0, 0.0
            if odds[i, j] > 0:
                rendering = faithful * odds[i, j] / (absent[i, j] + odds[i, j])
                lower = factors[1] * odds[i, j]
                rendering_free = free * lower / (absent[i, j] + lower)
            odds[i, j] = rendering + rendering_free
            absent[i, j] = faithful + free
            freely += rendering_free
        rendered_freely += freely
        if i == 0:
            break
        found = np.zeros(8)
        for r in range(2):
            for j in range(sentences):
                source[j] = (
                    passages[r, r] * forward[i - 1, r, j]
                    + passages[1 - r, r] * forward[i - 1, 1 - r, j]
                )
            _count(source, arriving[r], mixture, found)
            # A step from j to k is a step back from k to j.
            spread_step(arriving[r, ::-1], mixture, spread[r, ::-1])
        counts += found / found.sum()
        turned = np.zeros((2, 2))
        for r in range(2):
            for q in range(2):
                for j in range(sentences):
                    turned[r, q] += forward[i - 1, r, j] * spread[q, j]
                turned[r, q] *= passages[r, q]
        turns += turned / turned.sum()
        for r in range(2):
            for j in range(sentences):
                backward[r, j] = passages[r, 0] * spread[0, j] + passages[r, 1] * spread[1, j]
    return log_partition, rendered_freely


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def spread_step(source, mixture, out) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """One step: out[k] = Σ_j source[j] · p(k - j)."""
    sentences = len(source)
    total = 0.0
    for j in range(sentences):
        total += source[j]
    anywhere = mixture[7] * total / sentences
    near, far, farther, last = 0.0, 0.0, 0.0, 0.0
    for j in range(sentences):
        near = _FORWARD[0] * near + (1 - _FORWARD[0]) * last
        far = _FORWARD[1] * far + (1 - _FORWARD[1]) * last
        farther = _FORWARD[2] * farther + (1 - _FORWARD[2]) * last
        ahead = mixture[1] * last + mixture[2] * near + mixture[3] * far + mixture[4] * farther
        out[j] = mixture[0] * source[j] + ahead + anywhere
        last = source[j]
    near, far, last = 0.0, 0.0, 0.0
    for j in range(sentences - 1, -1, -1):
        near = _BACKWARD[0] * near + (1 - _BACKWARD[0]) * last
        far = _BACKWARD[1] * far + (1 - _BACKWARD[1]) * last
        out[j] += mixture[5] * near + mixture[6] * far
        last = source[j]


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _count(source, arriving, mixture, counts):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Add the weight of each kind of step between two moments."""
    sentences = len(source)
    found = np.zeros(8)
    total, target = 0.0, 0.0
    near, far, farther, last = 0.0, 0.0, 0.0, 0.0
    for j in range(sentences):
        near = _FORWARD[0] * near + (1 - _FORWARD[0]) * last
        far = _FORWARD[1] * far + (1 - _FORWARD[1]) * last
        farther = _FORWARD[2] * farther + (1 - _FORWARD[2]) * last
        found[0] += source[j] * arriving[j]
        found[1] += last * arriving[j]
        found[2] += near * arriving[j]
        found[3] += far * arriving[j]
        found[4] += farther * arriving[j]
        total += source[j]
        target += arriving[j]
        last = source[j]
    near, far, last = 0.0, 0.0, 0.0
    for j in range(sentences - 1, -1, -1):
        near = _BACKWARD[0] * near + (1 - _BACKWARD[0]) * last
        far = _BACKWARD[1] * far + (1 - _BACKWARD[1]) * last
        found[5] += near * arriving[j]
        found[6] += far * arriving[j]
        last = source[j]
    found[7] = total * target / sentences
    counts += found * mixture
