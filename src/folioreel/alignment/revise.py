"""Links revised at once after a reader's judgement: only the part it affects is solved again.

That part is a window around the judged moment (blocks.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.blocks import ChainBlocks, PositionBlocks, SolvedRows
from folioreel.alignment.links import (
    AROUND,
    calibrate_passages,
    fix_position,
    fix_positions,
    make_links,
)
from folioreel.alignment.positions import film_times
from folioreel.models.chain import make_chain, time_steps
from folioreel.similarity.tensor import silent_moments
from folioreel.types import Book, Film, Link

PlacedRows = tuple[int, NDArray[np.int64], NDArray[np.float64]]
"""The first of a run of moments, their passages, and the probabilities of these."""


class Reviser:
    """Keeps the scores of all cells and a reader's judgements, and solves what they change."""

    def __init__(
        self,
        aligner: Aligner,
        film: Film,
        book: Book,
        scores: NDArray[np.float32],
        judged: Mapping[int, int] | None = None,
    ) -> None:
        """Solve the whole film once; arguments as for `Aligner.link`."""
        self._aligner, self._book, self._scores = aligner, book, scores
        self._silent = silent_moments(film)
        self._judged = dict(judged or {})
        config = aligner.config
        self._positions: PositionBlocks | None = None
        self._chain: ChainBlocks | None = None
        if config.steps is not None:
            fixed = fix_positions(scores, self._judged)
            times = film_times(film)
            self._positions = PositionBlocks(scores, times, config.steps, fixed, self._silent)
        else:
            chain = make_chain(scores, time_steps(film), config.chain)
            self._chain = ChainBlocks(chain, self._judged)

    def judge(self, moment: int, sentence: int | None) -> tuple[Link, ...]:
        """Record a judgement (None withdraws one); the links that were solved again."""
        if sentence is None:
            self._judged.pop(moment, None)
        else:
            self._judged[moment] = sentence
        links: list[Link] = []
        threshold = self._aligner.config.in_book_from
        for placed in self._solve(moment, sentence):
            links += make_links(*placed, self._judged, threshold)
        return tuple(links)

    def _solve(self, moment: int, sentence: int | None) -> Iterator[PlacedRows]:
        if self._positions is not None:
            known = None if sentence is None else fix_position(self._scores[moment], sentence)
            yield self._place(self._positions.fix(moment, known))
        if self._chain is not None:
            for run in self._chain.fix(moment, sentence):
                placed = self._aligner.place_path(run.path, run.probability, self._book)
                yield run.first, *placed

    def _place(self, solved: Sequence[SolvedRows]) -> PlacedRows:
        """The links of consecutive blocks, less those that need to know more of what is around."""
        first = solved[0].first
        last = solved[-1].first + len(solved[-1].rendered)
        found = []
        for rows in solved:
            part = slice(rows.first, rows.first + len(rows.rendered))
            silent = self._silent[part]
            found.append(self._aligner.find_links(rows, self._scores[part], self._book, silent))
        passages = np.concatenate([one[0] for one in found])
        evidence = np.concatenate([one[1] for one in found], axis=1)
        calibration = self._aligner.config.calibration
        scores = calibrate_passages(evidence, self._silent[first:last], calibration)
        inner = slice(
            AROUND if first else 0, len(scores) - (AROUND if last < len(self._silent) else 0)
        )
        return first + inner.start, passages[inner], scores[inner]
