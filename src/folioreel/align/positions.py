"""Where in the book the film is, moment by moment: a hidden position that moves by learned steps.

Beyond the paper's chain (section 4.4) in two ways. A moment that is not in the book still has a
position, its scene's, so that neighbours on both sides of it stay connected: a moment at position j
is either a rendering of sentence j, with odds exp(score), or it is not, and says nothing. And the
steps between positions follow a mixture that is learned from judged films: stay, go on, go on
farther, go back, or go anywhere. Sums over such steps are running sums, so that all posteriors are
exact and cost a few operations a cell.
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
            infinity where nothing is said.
        times: When each moment is, from 0 at the first to 1 at the last: (I,).
        steps: How likely each kind of step is, and how strong the timeline.
        fixed: What is known of some moments; all paths obey it.
    """
    weights = np.logaddexp(0, scores)  # (I, J), log(1 + odds)
    shares = np.exp(scores - weights)  # of a position's weight, what is due to the rendering
    for moment, known in (fixed or {}).items():
        if known.rendered is not None:
            weights[moment] = scores[moment] if known.rendered else 0.0
            shares[moment] = 1.0 if known.rendered else 0.0
        if known.sentences is not None:
            weights[moment, ~known.sentences] = -np.inf
    if steps.timeline:
        weights -= np.float32(steps.timeline) * timeline_distance(times, scores.shape[1])
    scales = weights.max(axis=1)
    weights -= scales[:, None]
    np.exp(weights, out=weights)
    mixture = np.array([getattr(steps, name) for name in STEPS], dtype=np.float32)
    position = np.empty_like(weights)
    counts = np.zeros(len(STEPS))
    log_partition = _forward_backward(weights, mixture / mixture.sum(), position, counts)
    np.multiply(shares, position, out=shares)
    return Positions(
        position=position,
        rendered=shares,
        log_partition=log_partition + float(scales.sum(dtype=np.float64)),
        steps=counts,
    )


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
def _forward_backward(weights, mixture, position, counts):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    moments, sentences = weights.shape
    forward = np.empty((moments, sentences), np.float32)
    row = np.full(sentences, np.float32(1.0 / sentences), np.float32)
    log_partition = 0.0
    for i in range(moments):
        if i > 0:
            _spread(forward[i - 1], mixture, row)
        total = 0.0
        for j in range(sentences):
            forward[i, j] = row[j] * weights[i, j]
            total += forward[i, j]
        for j in range(sentences):
            forward[i, j] /= total
        log_partition += np.log(total)
    backward = np.ones(sentences, np.float32)
    arriving = np.empty(sentences, np.float32)
    for i in range(moments - 1, -1, -1):
        total = 0.0
        for j in range(sentences):
            position[i, j] = forward[i, j] * backward[j]
            total += position[i, j]
        for j in range(sentences):
            position[i, j] /= total
        if i == 0:
            break
        largest = 0.0
        for j in range(sentences):
            arriving[j] = weights[i, j] * backward[j]
            largest = max(largest, arriving[j])
        for j in range(sentences):
            arriving[j] /= largest
        _count(forward[i - 1], arriving, mixture, counts)
        # A step from j to k is a step back from k to j.
        _spread(arriving[::-1], mixture, backward[::-1])
    return log_partition


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _spread(source, mixture, out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
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
    """Add the share of each kind of step in one step between two moments."""
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
    found *= mixture
    counts += found / found.sum()
