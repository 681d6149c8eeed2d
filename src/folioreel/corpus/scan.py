"""The sentences nearest to a query by the signs of their vectors: a plain scan over all of them.

Of two vectors, the share of numbers whose signs differ grows with the angle between them. A scan
over one bit a number reads 48 bytes a sentence where the vectors have 384 to 1,536; it needs no
training, no graph and no tuning, and what was added last is found as surely as the rest.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


def nearest_by_signs(
    signs: NDArray[np.uint64], query: NDArray[np.uint64], count: int
) -> NDArray[np.int64]:
    """The rows in which the fewest signs differ from the query's, in order of their numbers.

    Args:
        signs: (N, W).
        query: (W,).
        count: How many; more where several share the last place, since nothing tells them apart,
            but never more than twice as many.
    """
    distances = np.empty(len(signs), dtype=np.uint16)
    tally = np.zeros(64 * signs.shape[1] + 1, dtype=np.int64)
    _count_differences(signs, query, distances, tally)
    furthest = int(np.searchsorted(np.cumsum(tally), min(count, len(signs))))
    found = np.flatnonzero(distances <= furthest)
    if len(found) > 2 * count:
        # Long ties are of texts that are all alike, or of none: the first ones stand for them.
        nearer = found[distances[found] < furthest]
        tied = found[distances[found] == furthest]
        found = np.sort(np.concatenate([nearer, tied[: 2 * count - len(nearer)]]))
    return found


@numba.njit(cache=True, nogil=True)
def _count_differences(
    signs: NDArray[np.uint64],
    query: NDArray[np.uint64],
    distances: NDArray[np.uint16],
    tally: NDArray[np.int64],
) -> None:
    """The number of signs that differ in each row, and how many rows have each number."""
    for row in range(signs.shape[0]):
        total = np.uint64(0)
        for word in range(signs.shape[1]):
            total += _count_ones(signs[row, word] ^ query[word])
        distances[row] = total
        tally[total] += 1


@numba.njit(inline="always")
def _count_ones(bits: np.uint64) -> np.uint64:
    """The bits that are set; compilers know this pattern and make one instruction of it."""
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)
