"""Posteriors of a film's positions, solved again around what changes (see positions.py).

The film is cut into blocks of moments. Of each are kept the message that arrives at its first
moment from the past and the one that arrives at its last from the future; with these two a block's
posteriors are exact, whatever lies outside it. When something becomes known of a moment, new
messages run from its block into both directions, and stop where they are what they were: where no
two of a message's entries have changed by a factor of more than 1 + `_SAME` against each other.
Steps and scores never enlarge that factor, so that no probability is farther than it from that
of the whole film solved again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.positions import (
    Fixed,
    spread_step,
    step_weights,
    weigh_cells,
)
from folioreel.config import StepsConfig

_ROWS = 16
_SAME = 1e-3


class SolvedRows(NamedTuple):
    """The posteriors of a run of moments."""

    first: int
    rendered: NDArray[np.float32]
    """As in `Positions`: (rows, J)."""
    position: NDArray[np.float32]


class PositionBlocks:
    """A film's positions, ready to be solved again around a moment."""

    def __init__(
        self,
        scores: NDArray[np.float32],
        times: NDArray[np.float32],
        steps: StepsConfig,
        fixed: Mapping[int, Fixed] | None = None,
    ) -> None:
        """Solve the whole; arguments as `follow_book` takes them."""
        self._scores, self._times, self._steps = scores, times, steps
        self._fixed = dict(fixed or {})
        moments, sentences = scores.shape
        self._blocks = -(-moments // _ROWS)
        self._ahead = np.full((self._blocks, 2, sentences), 0.5 / sentences, np.float32)
        self._back = np.ones((self._blocks, 2, sentences), np.float32)
        for block in range(self._blocks - 1):
            self._ahead[block + 1] = self._arriving(block)
        for block in range(self._blocks - 1, 0, -1):
            self._back[block - 1] = self._solve(block)[1]

    def fix(self, moment: int, known: Fixed | None) -> list[SolvedRows]:
        """What is known of a moment changes (None: nothing any more); the rows that follow."""
        if known is None:
            self._fixed.pop(moment, None)
        else:
            self._fixed[moment] = known
        last = block = moment // _ROWS
        while last < self._blocks - 1:
            arriving = self._arriving(last)
            if _are_same(arriving, self._ahead[last + 1]):
                break
            last += 1
            self._ahead[last] = arriving
        solved = []
        for current in range(last, -1, -1):
            rows, leaving = self._solve(current)
            solved.append(rows)
            if current == 0 or (current <= block and _are_same(leaving, self._back[current - 1])):
                break
            self._back[current - 1] = leaving
        return solved[::-1]

    def _weights(self, block: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        rows = slice(block * _ROWS, (block + 1) * _ROWS)
        scores = self._scores[rows]
        fixed = {
            moment - rows.start: known
            for moment, known in self._fixed.items()
            if moment // _ROWS == block
        }
        odds, absent, _ = weigh_cells(scores, self._times[rows], self._steps, fixed)
        return odds, absent

    def _arriving(self, block: int) -> NDArray[np.float32]:
        """What arrives at the next block from the past: (2, J)."""
        odds, absent = self._weights(block)
        message: NDArray[np.float32] = self._ahead[block].copy()
        forward = np.empty((len(odds), *message.shape), np.float32)
        _go_ahead(odds, absent, *step_weights(self._steps), message, forward)
        return message

    def _solve(self, block: int) -> tuple[SolvedRows, NDArray[np.float32]]:
        """A block's posteriors, and what arrives at the block before from the future: (2, J)."""
        odds, absent = self._weights(block)
        forward = np.empty((len(odds), *self._ahead[block].shape), np.float32)
        weights = step_weights(self._steps)
        _go_ahead(odds, absent, *weights, self._ahead[block].copy(), forward)
        message = self._back[block].copy()
        _go_back(odds, absent, *weights, forward, message)
        return SolvedRows(first=block * _ROWS, rendered=odds, position=absent), message


def _are_same(new: NDArray[np.float32], old: NDArray[np.float32]) -> bool:
    """Whether two messages differ by hardly more than a common factor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = new / old  # what has vanished in one of them makes them different
    return bool(ratio.max() <= (1 + _SAME) * ratio.min())


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _go_ahead(odds, absent, factors, mixture, passages, message, forward):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sums over all paths up to each moment; `message` goes from the first moment to the next."""
    moments, sentences = odds.shape
    spread = np.empty((2, sentences), np.float32)
    for i in range(moments):
        total = 0.0
        for r in range(2):
            for j in range(sentences):
                value = message[r, j] * (absent[i, j] + factors[r] * odds[i, j])
                forward[i, r, j] = value
                total += value
        for r in range(2):
            for j in range(sentences):
                forward[i, r, j] /= total
            spread_step(forward[i, r], mixture, spread[r])
        for r in range(2):
            for j in range(sentences):
                message[r, j] = (
                    passages[r, r] * spread[r, j] + passages[1 - r, r] * spread[1 - r, j]
                )


@numba.njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "arcp", "nsz"})
def _go_back(odds, absent, factors, mixture, passages, forward, message):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sums over all paths after each moment; posteriors take the place of the weights."""
    moments, sentences = odds.shape
    arriving = np.empty((2, sentences), np.float32)
    spread = np.empty((2, sentences), np.float32)
    for i in range(moments - 1, -1, -1):
        largest, total = 0.0, 0.0
        for r in range(2):
            for j in range(sentences):
                arriving[r, j] = (absent[i, j] + factors[r] * odds[i, j]) * message[r, j]
                largest = max(largest, arriving[r, j])
                total += forward[i, r, j] * message[r, j]
        for j in range(sentences):
            rendered, position = 0.0, 0.0
            for r in range(2):
                here = forward[i, r, j] * message[r, j] / total
                odd = factors[r] * odds[i, j]
                position += here
                if odd > 0:
                    rendered += here * odd / (absent[i, j] + odd)
            odds[i, j] = rendered
            absent[i, j] = position
        for r in range(2):
            for j in range(sentences):
                arriving[r, j] /= largest
            # A step from j to k is a step back from k to j.
            spread_step(arriving[r, ::-1], mixture, spread[r, ::-1])
        for r in range(2):
            for j in range(sentences):
                message[r, j] = passages[r, 0] * spread[0, j] + passages[r, 1] * spread[1, j]
