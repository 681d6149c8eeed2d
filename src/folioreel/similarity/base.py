"""What a measure is: it compares every moment with every sentence, a block of rows at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Measure(Protocol):
    """One way, or a family of ways, to compare moments with sentences.

    A measure is built for one film and one book, and is then asked for rows.
    """

    names: tuple[str, ...]
    """The measures that it yields: `("tfidf",)`, `("bleu1", …, "bleu5")`."""

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (names, last - first, J) with the rows of moments first … last - 1."""
        ...
