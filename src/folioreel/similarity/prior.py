"""The uniform timeline: a third into the film is about a third into the book (section 4.3).

The paper's uniform prior, as a soft band: a bell around the diagonal, 1 on it. Its width is a
standard deviation, as a share of the book.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.types import Film


class PriorMeasure:
    """Nearness to the diagonal of one film and book."""

    names: tuple[str, ...] = ("prior",)

    def __init__(self, film: Film, sentences: int, width: float) -> None:
        """Place moments by their middle, in seconds, and sentences by their number."""
        middles = np.array([(m.start_s + m.end_s) / 2 for m in film.moments])
        self._moments = middles / film.duration_s  # (I,)
        self._sentences = (np.arange(sentences) + 0.5) / sentences  # (J,)
        self._width = width

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        away = (self._moments[first:last, None] - self._sentences[None, :]) / self._width
        np.exp(-0.5 * away**2, out=out[0], casting="same_kind")
