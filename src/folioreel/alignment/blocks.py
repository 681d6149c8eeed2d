"""Solve again only what a reader's judgement changes, for positions and for the paper's chain.

The film is cut into blocks of moments. For each block we keep the message that arrives at it from
the past and the one from the future; with these two its posteriors are exact, whatever lies
outside. After a judgement, new messages run from its block in both directions and stop where they
are what they were: where no two entries have changed by a factor of more than 1 + `_SAME` against
each other. Steps and scores never enlarge that factor, so no probability is farther than it from
that of the whole film solved again.

At 2,604 × 12,603 cells and on two cores a judgement takes about 0.1 s with positions and 0.3 s
with the chain, where solving the whole takes 2 s and 4 s (benchmarks/bench_judging.py, bench.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment import messages, positions
from folioreel.alignment.decode import Values, follow_back, path_values
from folioreel.alignment.marginals import chain_messages, join_messages
from folioreel.config import StepsConfig
from folioreel.models.chain import Chain, judge_chain

_ROWS = 16
"""Moments in a block. Larger blocks solve more than a judgement changes; smaller ones keep more
messages in memory, two per block. At least twice `links.AROUND`: see `PositionBlocks.fix`."""
_SAME = 1e-3  # how far from exact a probability may be, as a factor: too little for a reader to see
_EQUAL = 1e-7
"""How far from exact the value of a path may be: less than float32 scores can tell apart."""
_THREADS = 2  # one for each direction of the messages

_Message: TypeAlias = NDArray[Any]


def _update_messages(
    blocks: range,
    ahead: _Message,
    back: _Message,
    send_ahead: Callable[[int], _Message],
    send_back: Callable[[int], _Message],
) -> range:
    """Send anew what some blocks say, both ways at once; the blocks whose posteriors change.

    `ahead` and `back` are what arrives at each block from the past and from the future,
    `send_ahead` and `send_back` compute what a block sends on to its neighbours.
    """
    onward, backward = range(blocks[0], len(ahead)), range(blocks[-1], -1, -1)
    with ThreadPoolExecutor(_THREADS) as pool:
        last = pool.submit(_sweep, onward, send_ahead, ahead, _are_proportional)
        first = pool.submit(_sweep, backward, send_back, back, _are_proportional)
        return range(first.result(), last.result() + 1)


def _sweep(
    order: range,
    send: Callable[[int], _Message],
    kept: _Message,
    are_same: Callable[[_Message, _Message], bool],
) -> int:
    """Pass messages from block to block until one is what it was; the last block reached."""
    for current, following in pairwise(order):
        message = send(current)
        if are_same(message, kept[following]):
            return current
        kept[following] = message
    return order[-1]


def _are_proportional(new: _Message, old: _Message) -> bool:
    """Whether two messages differ by hardly more than a common factor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = new / old  # an entry that is 0 in just one of them makes them different
    return bool(ratio.max() <= (1 + _SAME) * ratio.min())


def _differ_by_constant(new: Values, old: Values) -> bool:
    """Whether all values have moved alike, and the same cells are forbidden."""
    allowed = np.isfinite(new)
    if not np.array_equal(allowed, np.isfinite(old)):
        return False
    return bool(np.ptp(new[allowed] - old[allowed]) <= _EQUAL)


class SolvedRows(NamedTuple):
    """The posteriors of a run of moments."""

    first: int
    rendered: NDArray[np.float32]  # as in `Positions`: (rows, J)
    position: NDArray[np.float32]


class PositionBlocks:
    """A film's positions, ready to be solved again around a moment."""

    def __init__(
        self,
        scores: NDArray[np.float32],
        times: NDArray[np.float32],
        steps: StepsConfig,
        fixed: Mapping[int, positions.Fixed] | None = None,
        silent: NDArray[np.bool_] | None = None,
    ) -> None:
        """Solve the whole film; arguments as `follow_book` takes them."""
        self._scores, self._times, self._steps = scores, times, steps
        self._silent = np.zeros(len(scores), dtype=np.bool_) if silent is None else silent
        self._weights = messages.step_weights(steps)
        self._fixed = dict(fixed or {})
        moments, sentences = scores.shape
        count = -(-moments // _ROWS)
        # NaN is unlike any message, so the first sweeps run through all blocks.
        self._ahead = np.full((count, 2, sentences), np.nan, np.float32)
        self._back = self._ahead.copy()
        self._ahead[0], self._back[-1] = positions.first_message(sentences), 1.0
        self._update(range(count))

    def fix(self, moment: int, known: positions.Fixed | None) -> list[SolvedRows]:
        """Change what is known of a moment (None: nothing any more); the rows that change.

        They come with one more block on each side: scores also depend on what is around them.
        """
        if known is None:
            self._fixed.pop(moment, None)
        else:
            self._fixed[moment] = known
        block = moment // _ROWS
        with ThreadPoolExecutor(_THREADS) as pool:
            changed = self._update(range(block, block + 1))
            more = range(max(0, changed.start - 1), min(len(self._ahead), changed.stop + 1))
            return list(pool.map(self._solve, more))

    def _update(self, blocks: range) -> range:
        return _update_messages(blocks, self._ahead, self._back, self._send_ahead, self._send_back)

    def _fixed_rows(self, block: int) -> dict[int, positions.Fixed]:
        start = block * _ROWS
        return {m - start: known for m, known in self._fixed.items() if m // _ROWS == block}

    def _weigh(self, block: int) -> positions.Cells:
        rows = slice(block * _ROWS, (block + 1) * _ROWS)
        cells = self._scores[rows], self._times[rows]
        fixed = self._fixed_rows(block)
        return positions.weigh_cells(*cells, self._steps, fixed, self._silent[rows])

    def _send_ahead(self, block: int) -> _Message:
        odds, absent, *_ = self._weigh(block)
        message: _Message = self._ahead[block].copy()
        forward = np.empty((len(odds), *message.shape), np.float32)
        messages.go_ahead(odds, absent, self._weights, message, forward)
        return message

    def _send_back(self, block: int) -> _Message:
        odds, absent, *_ = self._weigh(block)
        message: _Message = self._back[block].copy()
        messages.send_back(odds, absent, self._weights, message)
        return message

    def _solve(self, block: int) -> SolvedRows:
        odds, absent, quoting, _ = self._weigh(block)
        forward = np.empty((len(odds), *self._ahead[block].shape), np.float32)
        messages.go_ahead(odds, absent, self._weights, self._ahead[block].copy(), forward)
        messages.go_back(odds, absent, self._weights, forward, self._back[block].copy())
        first = block * _ROWS
        scores = self._scores[first : first + _ROWS]
        positions.add_quotes(scores, self._fixed_rows(block), quoting, absent, odds)
        return SolvedRows(first=first, rendered=odds, position=absent)


class ChainRows(NamedTuple):
    """The best path and the posteriors of a run of moments."""

    first: int
    path: NDArray[np.int64]  # (rows,)
    probability: NDArray[np.float32]  # as in `Marginals`: (rows, J)


class ChainBlocks:
    """The paper's chain, ready to be solved again around a moment.

    The best path is found again too: its values run ahead until they differ from the old ones by
    a constant, from where on the path is the old one, and it is traced back from there until it
    meets the old one again.
    """

    def __init__(self, chain: Chain, judged: Mapping[int, int]) -> None:
        """Solve the whole of an unjudged chain with what is judged."""
        self._chain, self._judged = chain, dict(judged)
        moments, sentences = chain.shape
        count = -(-moments // _ROWS)
        # NaN is unlike any message, so the first sweeps run through all blocks.
        self._ahead = np.full((count, sentences), np.nan)
        self._back, self._values = self._ahead.copy(), self._ahead.copy()
        self._ahead[0] = self._back[-1] = 1.0
        self._path = np.full(moments, -1)
        self._update(range(count))

    def fix(self, moment: int, sentence: int | None) -> list[ChainRows]:
        """A moment is judged, or (None) open again; the rows that follow."""
        if sentence is None:
            self._judged.pop(moment, None)
        else:
            self._judged[moment] = sentence
        block = moment // _ROWS
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(self._solve, self._update(range(block, block + 1))))

    def _update(self, blocks: range) -> range:
        changed = _update_messages(
            blocks, self._ahead, self._back, self._send_ahead, self._send_back
        )
        order = range(blocks[0], len(self._values))
        last = _sweep(order, self._send_values, self._values, _differ_by_constant)
        first = self._trace_back(blocks[0], last)
        return range(min(first, changed.start), max(last + 1, changed.stop))

    def _rows(self, first: int, last: int) -> Chain:
        """Moments first … last - 1 of the film, as judged; what is outside the film is left out."""
        first, last = max(first, 0), min(last, self._chain.shape[0])
        inside = {m - first: s for m, s in self._judged.items() if first <= m < last}
        return judge_chain(self._chain.rows(first, last), inside)

    def _send_ahead(self, block: int) -> Values:
        rows = self._rows(block * _ROWS, (block + 1) * _ROWS + 1)
        message: Values = chain_messages(rows, 1, self._ahead[block])[0][-1]
        return message

    def _send_back(self, block: int) -> Values:
        rows = self._rows(block * _ROWS - 1, (block + 1) * _ROWS)
        message: Values = chain_messages(rows, -1, self._back[block])[0][0]
        return message

    def _solve(self, block: int) -> ChainRows:
        first = block * _ROWS
        rows = self._rows(first, first + _ROWS)
        forward, _ = chain_messages(rows, 1, self._ahead[block])
        backward, _ = chain_messages(rows, -1, self._back[block])
        probability = join_messages(rows, forward, backward)
        path = self._path[first : first + _ROWS].copy()
        return ChainRows(first=first, path=path, probability=probability)

    def _path_values(self, block: int) -> tuple[Chain, Values]:
        """A block with the moments before and after it, and the values of paths into them.

        The values kept for a block are those of the last moment before it.
        """
        rows = self._rows(block * _ROWS - 1, (block + 1) * _ROWS + 1)
        return rows, path_values(rows, self._values[block] if block else None)

    def _send_values(self, block: int) -> Values:
        values: Values = self._path_values(block)[1][-2]  # the last row is the next block's
        return values

    def _trace_back(self, changed: int, last: int) -> int:
        """Trace the best path from the last block back to where it meets the old one; that block.

        Before the first block that changed the values are the old ones, so there the old path
        holds as soon as the new one meets it.
        """
        for block in range(last, -1, -1):
            first, end = block * _ROWS, min((block + 1) * _ROWS, len(self._path))
            rows, values = self._path_values(block)
            following = int(self._path[end]) if end < len(self._path) else None
            path = follow_back(rows, values, following)
            before = min(first, 1)  # the row of the moment before the block, if there is one
            self._path[first:end] = path[before : before + end - first]
            if first > 0 and block <= changed and path[0] == self._path[first - 1]:
                return block
        return 0
