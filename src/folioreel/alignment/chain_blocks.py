"""The paper's chain, solved again around what changes: best path and marginals, block by block.

Blocks of moments as in position_blocks.py. Messages stop where they are what they were, up to a
factor of 1 + `_SAME` between any two of their entries. The best path is exact to `_EQUAL` in its
energy: its values run ahead until they differ from the old ones by a constant, after which the
path is the old one, and back from there until it meets the old one again.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.decode import PathValues, follow_back, path_values
from folioreel.alignment.marginals import chain_messages, join_messages
from folioreel.models.chain import ABSENT, Chain, judge_chain

_ROWS = 16
_SAME = 1e-3
_EQUAL = 1e-7

Messages = dict[int, NDArray[np.float64]]
"""Of some blocks, the messages into their moments from one side."""


class ChainRows(NamedTuple):
    """A run of moments, solved again."""

    first: int
    path: NDArray[np.int64]
    """The best path: a sentence, or ABSENT: (rows,)."""
    probability: NDArray[np.float32]
    """As in `Marginals`: (rows, J)."""


class ChainBlocks:
    """A chain, ready to be solved again around a moment."""

    def __init__(self, chain: Chain, judged: Mapping[int, int]) -> None:
        """Solve the whole of an unjudged chain with what is judged."""
        self._chain, self._judged = chain, dict(judged)
        moments, sentences = chain.shape
        self._blocks = -(-moments // _ROWS)
        # Unknown yet, and so unlike any message: the first sweeps go through all blocks.
        self._ahead = np.full((self._blocks, sentences + 1), np.nan)
        self._back = np.full((self._blocks, sentences + 1), np.nan)
        self._ahead[0] = self._back[-1] = 1.0
        # The values of paths into the last moment before each block, absence last.
        self._values = np.full((self._blocks, sentences + 1), np.nan)
        self._path = np.full(moments, ABSENT)
        with ThreadPoolExecutor(2) as pool:
            ahead = pool.submit(self._go_ahead, 0)
            back = pool.submit(self._go_back, self._blocks - 1)
            ahead.result(), back.result()
        self._trace_back(0, self._value_ahead(0))

    def fix(self, moment: int, sentence: int | None) -> list[ChainRows]:
        """A moment is judged, or (None) open again; the rows that follow."""
        if sentence is None:
            self._judged.pop(moment, None)
        else:
            self._judged[moment] = sentence
        block = moment // _ROWS
        with ThreadPoolExecutor(2) as pool:
            ahead = pool.submit(self._go_ahead, block)
            back = pool.submit(self._go_back, block)
            forward, backward = ahead.result(), back.result()
        changed = {*forward, *backward, *self._trace_back(block, self._value_ahead(block))}
        return [
            self._join(current, forward, backward)
            for current in range(min(changed), max(changed) + 1)
        ]

    def _part(self, first: int, last: int) -> Chain:
        """The moments from first to last as a chain of their own."""
        chain = self._chain
        part = Chain(
            unary=chain.unary[first:last],
            steps=chain.steps[first : last - 1],
            config=chain.config,
            absent=chain.absent[first:last],
        )
        inside = {m - first: s for m, s in self._judged.items() if first <= m < last}
        return judge_chain(part, inside)

    def _span(self, block: int) -> tuple[int, int]:
        return block * _ROWS, min((block + 1) * _ROWS, self._chain.shape[0])

    def _forward(self, block: int) -> NDArray[np.float64]:
        """The messages into a block's moments and into the one behind it."""
        first, last = self._span(block)
        behind = min(last + 1, self._chain.shape[0])
        return chain_messages(self._part(first, behind), 1, self._ahead[block])[0]

    def _backward(self, block: int) -> NDArray[np.float64]:
        """The messages into the moment before a block and into the block's own."""
        first, last = self._span(block)
        return chain_messages(self._part(max(first - 1, 0), last), -1, self._back[block])[0]

    def _go_ahead(self, block: int) -> Messages:
        """New messages from a block on, until they are what they were."""
        found = {}
        for current in range(block, self._blocks):
            found[current] = self._forward(current)
            following = current + 1
            if following == self._blocks or _are_same(found[current][-1], self._ahead[following]):
                break
            self._ahead[following] = found[current][-1]
        return found

    def _go_back(self, block: int) -> Messages:
        """The same towards the beginning."""
        found = {}
        for current in range(block, -1, -1):
            found[current] = self._backward(current)
            if current == 0 or _are_same(found[current][0], self._back[current - 1]):
                break
            self._back[current - 1] = found[current][0]
        return found

    def _join(self, block: int, forward: Messages, backward: Messages) -> ChainRows:
        """A block's posteriors, of messages that are at hand or sent again."""
        first, last = self._span(block)
        ahead = forward[block] if block in forward else self._forward(block)
        back = backward[block] if block in backward else self._backward(block)
        part = self._part(first, last)
        probability, _ = join_messages(part, ahead[: last - first], back[-(last - first) :])
        return ChainRows(first=first, path=self._path[first:last].copy(), probability=probability)

    def _path_values(self, block: int) -> tuple[Chain, PathValues]:
        """A block with the moments before and behind it, and the values of paths into them."""
        first, last = self._span(block)
        part = self._part(max(first - 1, 0), min(last + 1, self._chain.shape[0]))
        before = (self._values[block, :-1], float(self._values[block, -1])) if block else None
        return part, path_values(part, before)

    def _value_ahead(self, block: int) -> int:
        """New values of paths from a block on, until they are what they were; the last block."""
        for current in range(block, self._blocks - 1):
            _, values = self._path_values(current)
            leaving = np.append(values.sentences[-2], values.absent[-2])  # behind it is one more
            if _differ_by_constant(leaving, self._values[current + 1]):
                return current
            self._values[current + 1] = leaving
        return self._blocks - 1

    def _trace_back(self, block: int, last: int) -> list[int]:
        """The best path from the last block back until it meets the old one; the blocks passed."""
        passed = []
        for current in range(last, -1, -1):
            first, end = self._span(current)
            part, values = self._path_values(current)
            state = int(self._path[end]) if end < len(self._path) else None
            path = follow_back(part, values, state)
            passed.append(current)
            before = min(first, 1)
            self._path[first:end] = path[before : before + end - first]
            if first == 0 or (current <= block and path[0] == self._path[first - 1]):
                break
        return passed


def _are_same(new: NDArray[np.float64], old: NDArray[np.float64]) -> bool:
    """Whether two messages differ by hardly more than a common factor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = new / old  # what has vanished in one of them makes them different
    return bool(ratio.max() <= (1 + _SAME) * ratio.min())


def _differ_by_constant(new: NDArray[np.float64], old: NDArray[np.float64]) -> bool:
    """Whether all values have moved alike; cells that are forbidden are forbidden in both."""
    allowed = np.isfinite(new)
    if not np.array_equal(allowed, np.isfinite(old)):
        return False
    moved = new[allowed] - old[allowed]
    return bool(np.ptp(moved) <= _EQUAL)
