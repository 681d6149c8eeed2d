"""How far a film's book stands out from wrong ones, and so how sure it is that it was found.

The scores of wrong books for one film scatter, on a logarithmic scale, around a level of that
film's own. Level and scatter are estimated from the wrong books at hand, and from those of the
films that benchmarks/retrieval.py looks for, which count as much as a few books more: so even a
folder of one book gets an answer. The estimate's own doubt makes the tails those of Student's t.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

_LEVEL = -4.3
"""The logarithm of a wrong book's score, …"""
_LEVEL_BOOKS = 2.0
"""… which counts as much as so many wrong books at hand."""
_SCATTER = 0.45
"""Its standard deviation; books with the same people in them, such as sequels, make it wide."""
_SCATTER_BOOKS = 10.0
SURE = 0.001
"""A book that a wrong one equals less often than this is no wrong one."""


def wrong_book_chances(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each book the chance that the best of as many wrong ones has its score or more.

    Books are taken for wrong from the lowest score upwards, until one stands out: that one and all
    above it, such as other editions, say nothing of how wrong books are.

    Args:
        scores: Logarithms of the books' scores, descending.
    """
    tried = len(scores)
    wrong = 0
    for wrong in range(tried + 1):
        rest = scores[tried - wrong :]
        if wrong == tried or _chance(scores[tried - wrong - 1], rest, tried) < SURE:
            break
    rest = scores[tried - wrong :]
    chances = [
        _chance(scores[k], rest if k < tried - wrong else scores[k + 1 :], tried)
        for k in range(tried)
    ]
    return np.array(chances)


def _chance(value: float, wrong: NDArray[np.float64], tried: int) -> float:
    """That one of `tried` further wrong books scores at least this."""
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
