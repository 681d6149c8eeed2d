"""How much evidence wrong books have, and so how sure it is that a film's book was found.

The evidence of wrong books for one film scatters closely around a level of that film's own. Level
and scatter are estimated from the wrong books at hand, and from what 38 films had with theirs
(benchmarks/retrieval.py), which counts as much as a few books more: so even a folder of one book
gets an answer. The estimate's own doubt makes the tails those of Student's t.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

_LEVEL = 0.19
"""The evidence of a wrong book, in nats a moment, …"""
_LEVEL_BOOKS = 1.0
"""… which counts as much as so many wrong books at hand."""
_SCATTER = 0.03
_SCATTER_BOOKS = 4.0
_SURE = 0.01


def wrong_book_chances(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each book the chance that the best of as many wrong ones has its evidence or more.

    Books are taken for wrong from the least evidence upwards, until one stands out: that one and
    all above it, such as other editions, say nothing of how wrong books are.

    Args:
        evidence: Nats a moment of each book, descending.
    """
    tried = len(evidence)
    wrong = 0
    for wrong in range(tried + 1):
        rest = evidence[tried - wrong :]
        if wrong == tried or _chance(evidence[tried - wrong - 1], rest, tried) < _SURE:
            break
    rest = evidence[tried - wrong :]
    chances = [
        _chance(evidence[k], rest if k < tried - wrong else evidence[k + 1 :], tried)
        for k in range(tried)
    ]
    return np.array(chances)


def _chance(value: float, wrong: NDArray[np.float64], tried: int) -> float:
    """That one of `tried` further wrong books has at least this evidence."""
    count = len(wrong)
    mean = float(wrong.mean()) if count else _LEVEL
    level = (_LEVEL_BOOKS * _LEVEL + count * mean) / (_LEVEL_BOOKS + count)
    shrink = _LEVEL_BOOKS * count / (_LEVEL_BOOKS + count)
    squares = _SCATTER_BOOKS * _SCATTER**2 + shrink * (mean - _LEVEL) ** 2
    squares += float(((wrong - mean) ** 2).sum())
    freedom = _SCATTER_BOOKS + count
    spread = np.sqrt(squares / freedom * (1 + 1 / (_LEVEL_BOOKS + count)))
    one = min(float(stats.t.sf((value - level) / spread, freedom)), 1 - 1e-12)
    return float(-np.expm1(tried * np.log1p(-one)))
