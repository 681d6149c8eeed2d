"""The best path through the chain, exactly, by dynamic programming (paper, section 4.4).

V_i(j) = u_i(j) + max_k [V_{i-1}(k) - c_i(j - k)] over all sentences k. Costs lie between 0 and
ω_p + ω_q and depend on the displacement alone, so for a block of targets T and a block of sources
K no k in K can give more than max V(K) - min c(T - K). Blocks, and single sources, that cannot
beat what T already has are skipped; the rest is a plain maximum, so the answer is exact. The
predecessor is not stored: it is recomputed on the way back, for the cells of the path alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeAlias

# The threads meet once a moment. If another process uses a core, threads that spin while they
# wait take time from the very thread they wait for. OpenMP reads this once, when numba starts it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.compiled import njit
from folioreel.errors import AlignmentError
from folioreel.models.chain import Chain, Costs, fill_costs

Values: TypeAlias = NDArray[np.float64]

BLOCK = 64
"""Sentences that share one bound. Smaller blocks mean more bounds to keep, larger ones looser
bounds, so that fewer blocks are skipped."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """One sentence for each moment, and the energy of the whole."""

    sentences: NDArray[np.int64]
    energy: float
    """Minus the sum of weighted scores, plus all costs: lower is better, as in the paper."""


def decode_chain(chain: Chain) -> Path:
    """The path of least energy.

    Raises:
        AlignmentError: No path is allowed.
    """
    values = path_values(chain)
    best = float(values[-1].max())
    if best == -np.inf:
        raise AlignmentError("the fixed links leave no path through the book; undo some of them")
    return Path(sentences=follow_back(chain, values), energy=-best)


def path_values(chain: Chain, first: Values | None = None) -> Values:
    """The forward pass: the best score of any path that ends in a cell, (I, J).

    Args:
        chain: The chain, or a run of its moments.
        first: The values of the first moment, where the chain has moments before it: (J,).
    """
    config = chain.config
    values = np.empty(chain.shape)
    values[0] = config.unary * chain.unary[0].astype(np.float64) if first is None else first
    weights = (config.unary, config.pace, config.stay, config.sigma)
    _forward(chain.unary, chain.steps, *weights, values)
    return values


def follow_back(chain: Chain, values: Values, last: int | None = None) -> NDArray[np.int64]:
    """The best path, given `path_values`; it ends in sentence `last`, or in the best one."""
    config = chain.config
    path = np.empty(chain.shape[0], dtype=np.int64)
    path[-1] = int(values[-1].argmax()) if last is None else last
    _follow_back(chain.steps, config.pace, config.stay, config.sigma, values, path)
    return path


@njit(parallel=True, nogil=True, fastmath={"nnan", "nsz"})
def _forward(
    unary: NDArray[np.float32],
    steps: Values,
    weight: float,
    pace: float,
    stay: float,
    sigma: float,
    values: Values,
) -> None:
    """Fill `values` (I, J), whose first row is given."""
    moments, sentences = unary.shape
    blocks = (sentences + BLOCK - 1) // BLOCK
    costs = np.empty(2 * sentences - 1)
    for i in range(1, moments):
        fill_costs(steps[i - 1], pace, stay, sigma, costs)
        # In functions of their own: here numba would run even a maximum over 64 values in parallel.
        peaks, lows = _block_maxima(values[i - 1]), block_minima(costs)
        for target in numba.prange(blocks):
            first = target * BLOCK
            last = min(first + BLOCK, sentences)
            best = _best_sources(values[i - 1], costs, peaks, lows, target)
            # In doubles: values add up over thousands of moments, and ties must stay ties.
            for j in range(first, last):
                values[i, j] = weight * np.float64(unary[i, j]) + best[j - first]


@njit(nogil=True, fastmath={"nnan", "nsz"})
def _best_sources(values: Values, costs: Costs, peaks: Values, lows: Values, target: int) -> Values:
    """For each target of one block the best value less cost over all sources."""
    sentences = values.shape[0]
    blocks = peaks.shape[0]
    first = target * BLOCK
    last = min(first + BLOCK, sentences)
    best = np.full(last - first, -np.inf)
    bounds = np.empty(blocks)
    for block in range(blocks):
        bounds[block] = peaks[block] - lows[target - block + blocks - 1]
    # The most promising block first: when its bound cannot win, no other block's can.
    for _ in range(blocks):
        source = np.argmax(bounds)
        worst = best.min()
        if bounds[source] <= worst:
            break
        bounds[source] = -np.inf
        low = lows[target - source + blocks - 1]
        for k in range(source * BLOCK, min((source + 1) * BLOCK, sentences)):
            value = values[k]
            if value - low <= worst:
                continue
            base = first - k + sentences - 1
            for j in range(last - first):
                best[j] = max(best[j], value - costs[base + j])
    return best


@njit(nogil=True)
def _block_maxima(values: Values) -> Values:
    """The best value in each block of sources: (blocks,)."""
    blocks = (values.shape[0] + BLOCK - 1) // BLOCK
    peaks = np.empty(blocks)
    for block in range(blocks):
        peaks[block] = values[block * BLOCK : (block + 1) * BLOCK].max()
    return peaks


@njit(nogil=True)
def block_minima(costs: Costs) -> Values:
    """The least cost of any displacement between blocks T and K, at index T - K + blocks - 1."""
    sentences = (costs.shape[0] + 1) // 2
    blocks = (sentences + BLOCK - 1) // BLOCK
    lows = np.empty(2 * blocks - 1)
    for offset in range(lows.shape[0]):
        middle = (offset - blocks + 1) * BLOCK + sentences - 1
        start = max(0, middle - BLOCK + 1)
        stop = min(costs.shape[0], middle + BLOCK)
        lows[offset] = costs[start:stop].min()
    return lows


@njit(nogil=True)
def _follow_back(
    steps: Values,
    pace: float,
    stay: float,
    sigma: float,
    values: Values,
    path: NDArray[np.int64],
) -> None:
    """Follow the best predecessors back from the last entry of `path`; the first of equals."""
    moments, sentences = values.shape
    costs = np.empty(2 * sentences - 1)
    for i in range(moments - 1, 0, -1):
        fill_costs(steps[i - 1], pace, stay, sigma, costs)
        best, found = -np.inf, 0
        for k in range(sentences):
            value = values[i - 1, k] - costs[path[i] - k + sentences - 1]
            if value > best:
                best, found = value, k
        path[i - 1] = found
