"""Links that follow a reader's judgements, at once: only what a judgement reaches is solved again.

With positions (preset `default`) that is a window around the judged moment, see
position_blocks.py; the paper's chain is solved whole.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from folioreel.align.aligner import Aligner, fixed_position, fixed_positions
from folioreel.align.position_blocks import PositionBlocks
from folioreel.align.positions import film_times
from folioreel.types import Book, Film, Link


class Reviser:
    """A film and a book with the scores of all cells and what a reader has judged."""

    def __init__(
        self,
        aligner: Aligner,
        film: Film,
        book: Book,
        scores: NDArray[np.float32],
        judged: Mapping[int, int] | None = None,
    ) -> None:
        """Solve the whole; arguments as `Aligner.link` takes them."""
        self._aligner, self._film, self._book, self._scores = aligner, film, book, scores
        self._judged = dict(judged or {})
        steps = aligner.config.steps
        self._blocks = None
        if steps is not None:
            fixed = fixed_positions(film, len(book.sentences), self._judged)
            self._blocks = PositionBlocks(scores, film_times(film), steps, fixed)

    def judge(self, moment: int, sentence: int | None) -> tuple[Link, ...]:
        """The links that were solved again, now that a moment is judged.

        Args:
            moment: The moment.
            sentence: The sentence that it renders, `ABSENT`, or None where that is open again.
        """
        if sentence is None:
            self._judged.pop(moment, None)
        else:
            self._judged[moment] = sentence
        if self._blocks is None:
            return self._aligner.link(self._film, self._book, self._scores, self._judged)[0]
        known = fixed_position(self._film, len(self._book.sentences), moment, sentence)
        links: list[Link] = []
        for rows in self._blocks.fix(moment, known):
            placed = self._aligner.place_links(rows, self._book)
            links += self._aligner.make_links(rows.first, *placed, self._judged)
        return tuple(links)
