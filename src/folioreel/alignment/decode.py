"""The best path through the chain, exactly, by dynamic programming (paper, section 4.4).

V_i(j) = u_i(j) + max_k [V_{i-1}(k) - c_i(j - k)] over all sentences k. Costs lie between 0 and
ω_p + ω_q and depend on the displacement alone, so for a block of targets T and a block of sources
K no k in K can give more than max V(K) - min c(T - K). Blocks, and single sources, that cannot
beat what T has already are skipped; what is left is a plain maximum, so the answer is exact. The
predecessor is found again on the way back, for the path alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeAlias

# The threads meet once a moment. Where something else uses a core, threads that spin while they
# wait take its time from the very thread they wait for; this must be said before they start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.errors import AlignmentError
from folioreel.models.chain import ABSENT, Chain, fill_costs

Scores: TypeAlias = NDArray[np.float32]
Values: TypeAlias = NDArray[np.float64]

_BLOCK = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """One sentence (or `ABSENT`) for each moment, and what the whole costs."""

    sentences: NDArray[np.int64]
    energy: float
    """Minus the sum of weighted scores, plus all costs: lower is better, as in the paper."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PathValues:
    """The best score of any path that ends in a cell: what every decoder works back from."""

    sentences: NDArray[np.float64]
    """(I, J)"""
    absent: NDArray[np.float64]
    """Of paths that end in "not in the book": (I,)."""


def decode_chain(chain: Chain) -> Path:
    """The path of least energy.

    Raises:
        AlignmentError: No path is allowed.
    """
    values = path_values(chain)
    best = max(float(values.sentences[-1].max()), float(values.absent[-1]))
    if best == -np.inf:
        raise AlignmentError("the fixed links allow no path at all; take some of them back")
    return Path(sentences=follow_back(chain, values), energy=-best)


def path_values(chain: Chain, first: tuple[Values, float] | None = None) -> PathValues:
    """The forward pass: the best score of a path into every cell.

    Args:
        chain: The chain, or a run of its moments.
        first: The scores of paths into the first moment's sentences and into its absence, where
            the chain has moments before it.
    """
    config = chain.config
    values, absent = np.empty(chain.shape), np.empty(chain.shape[0])
    if first is None:
        first = config.unary * chain.unary[0].astype(np.float64), config.unary * chain.absent[0]
    values[0], absent[0] = first
    costs = (config.unary, config.pace, config.stay, config.sigma, config.enter, config.leave)
    _forward(chain.unary, chain.absent, chain.steps, *costs, values, absent)
    return PathValues(sentences=values, absent=absent)


def follow_back(chain: Chain, values: PathValues, last: int | None = None) -> NDArray[np.int64]:
    """The best path, given the scores of all cells; to the last state, or to the best one."""
    config = chain.config
    path = np.empty(chain.shape[0], dtype=np.int64)
    if last is None:
        last = int(values.sentences[-1].argmax())
        if values.absent[-1] > values.sentences[-1, last]:
            last = ABSENT
    path[-1] = last
    costs = (config.pace, config.stay, config.sigma, config.enter, config.leave)
    _follow_back(chain.steps, *costs, values.sentences, values.absent, path)
    return path


@numba.njit(cache=True, parallel=True, nogil=True, fastmath={"nnan", "nsz"})
def _forward(
    unary: Scores,
    absent_unary: Values,
    steps: Values,
    weight: float,
    pace: float,
    stay: float,
    sigma: float,
    enter: float,
    leave: float,
    values: Values,
    absent: Values,
) -> None:
    """Fill `values` (I, J) and `absent` (I,), whose first entries are given."""
    moments, sentences = unary.shape
    blocks = (sentences + _BLOCK - 1) // _BLOCK
    costs = np.empty(2 * sentences - 1)
    peaks = np.empty(blocks)  # best value in each block of sources
    lows = np.empty(2 * blocks - 1)  # least cost between blocks T and K, at T - K + blocks - 1
    for i in range(1, moments):
        fill_costs(steps[i - 1], pace, stay, sigma, costs)
        _block_peaks(values[i - 1], peaks)
        _block_lows(costs, sentences, lows)
        absent[i] = weight * absent_unary[i] + max(absent[i - 1], peaks.max() - enter)
        for target in numba.prange(blocks):
            first = target * _BLOCK
            last = min(first + _BLOCK, sentences)
            floor = absent[i - 1] - leave
            best = _best_sources(values[i - 1], costs, peaks, lows, target, first, last, floor)
            for j in range(first, last):
                values[i, j] = weight * np.float64(unary[i, j]) + best[j - first]


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _best_sources(
    values: Values,
    costs: Values,
    peaks: Values,
    lows: Values,
    target: int,
    first: int,
    last: int,
    floor: float,
) -> Values:
    """For each target of one block the best value less cost over all sources, `floor` at least."""
    sentences = values.shape[0]
    blocks = peaks.shape[0]
    best = np.full(last - first, floor)
    bounds = np.empty(blocks)
    for block in range(blocks):
        bounds[block] = peaks[block] - lows[target - block + blocks - 1]
    for _ in range(blocks):
        source = np.argmax(bounds)
        worst = best.min()
        if bounds[source] <= worst:
            break
        bounds[source] = -np.inf
        low = lows[target - source + blocks - 1]
        for k in range(source * _BLOCK, min((source + 1) * _BLOCK, sentences)):
            value = values[k]
            if value - low <= worst:
                continue
            base = first - k + sentences - 1
            for j in range(last - first):
                best[j] = max(best[j], value - costs[base + j])
    return best


@numba.njit(cache=True, nogil=True)
def _block_peaks(values: Values, peaks: Values) -> None:
    for block in range(peaks.shape[0]):
        peaks[block] = values[block * _BLOCK : (block + 1) * _BLOCK].max()


@numba.njit(cache=True, nogil=True)
def _block_lows(costs: Values, sentences: int, lows: Values) -> None:
    """The least cost of any displacement between two blocks."""
    blocks = (lows.shape[0] + 1) // 2
    for offset in range(lows.shape[0]):
        middle = (offset - blocks + 1) * _BLOCK + sentences - 1
        start = max(0, middle - _BLOCK + 1)
        stop = min(costs.shape[0], middle + _BLOCK)
        lows[offset] = costs[start:stop].min() if start < stop else np.inf


@numba.njit(cache=True, nogil=True)
def _follow_back(
    steps: Values,
    pace: float,
    stay: float,
    sigma: float,
    enter: float,
    leave: float,
    values: Values,
    absent: Values,
    path: NDArray[np.int64],
) -> None:
    """Follow the best predecessors; of equals the first sentence, and a sentence before absence."""
    moments, sentences = values.shape
    costs = np.empty(2 * sentences - 1)
    for i in range(moments - 1, 0, -1):
        j = path[i]
        if j == ABSENT:
            found = int(np.argmax(values[i - 1]))
            if absent[i - 1] > values[i - 1, found] - enter:
                found = ABSENT
        else:
            fill_costs(steps[i - 1], pace, stay, sigma, costs)
            best, found = -np.inf, 0
            for k in range(sentences):
                value = values[i - 1, k] - costs[j - k + sentences - 1]
                if value > best:
                    best, found = value, k
            if absent[i - 1] - leave > best:
                found = ABSENT
        path[i - 1] = found
