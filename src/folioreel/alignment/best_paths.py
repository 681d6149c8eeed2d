"""The k best paths through the chain, exactly.

The best path follows the best predecessor at every moment. Every other path leaves it first at some
moment (from the end) for a predecessor of lower rank, and is best from there on: so each path found
yields candidates that leave it at each earlier moment, and the best candidate of all is the next
path (Lawler's partition: no path is met twice).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.decode import Path, PathValues, path_values
from folioreel.models.chain import ABSENT, Chain


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A path that is fixed after a moment and takes the predecessor of some rank there."""

    tail: tuple[int, ...]
    """The states of the moments after `moment`."""
    tail_score: float
    """Scores and costs of the tail, without the step into it."""
    moment: int
    rank: int


_Queue = list[tuple[float, int, int, tuple[int, ...], _Candidate]]
"""Candidates by energy; the rest of the key settles ties the same way in every run."""


def decode_best(chain: Chain, count: int) -> list[Path]:
    """The `count` paths of least energy, best first; fewer if there are no more."""
    values = path_values(chain)
    last = chain.shape[0] - 1
    queue: _Queue = []
    _push(queue, chain, values, _Candidate(tail=(), tail_score=0.0, moment=last, rank=0))
    paths: list[Path] = []
    while queue and len(paths) < count:
        energy, *_, candidate = heapq.heappop(queue)
        states, scores = _complete(chain, values, candidate)
        paths.append(Path(sentences=np.array(states, dtype=np.int64), energy=energy))
        if len(paths) == count:
            break
        later = _Candidate(
            tail=candidate.tail,
            tail_score=candidate.tail_score,
            moment=candidate.moment,
            rank=candidate.rank + 1,
        )
        _push(queue, chain, values, later)
        for moment in range(candidate.moment - 1, -1, -1):
            tail = tuple(states[moment + 1 :])
            leaving = _Candidate(tail=tail, tail_score=scores[moment + 1], moment=moment, rank=1)
            _push(queue, chain, values, leaving)
    return paths


def _push(queue: _Queue, chain: Chain, values: PathValues, candidate: _Candidate) -> None:
    options = _options(chain, values, candidate.moment, candidate.tail[:1])
    if candidate.rank >= len(options):
        return
    # Only the score at one rank is needed: partition instead of sorting.
    score = -np.partition(-options, candidate.rank)[candidate.rank]
    if score > -np.inf:
        order = (-(score + candidate.tail_score), -candidate.moment, candidate.rank)
        heapq.heappush(queue, (*order, candidate.tail, candidate))


def _options(
    chain: Chain, values: PathValues, moment: int, following: tuple[int, ...]
) -> NDArray[np.float64]:
    """The value of every state of a moment less the step to what follows, absent last: (J + 1,)."""
    sentences = chain.shape[1]
    options = np.append(values.sentences[moment], values.absent[moment])
    if following:
        state = following[0]
        if state == ABSENT:
            options[:-1] -= chain.config.enter
        else:
            steps = chain.costs(moment + 1)
            options[:-1] -= steps[state : state + sentences][::-1]
            options[-1] -= chain.config.leave
    return options


def _complete(
    chain: Chain, values: PathValues, candidate: _Candidate
) -> tuple[list[int], list[float]]:
    """The whole path of a candidate, and at each moment up to its own the score from there on."""
    states = list(candidate.tail)
    scores = [candidate.tail_score]
    rank = candidate.rank
    for moment in range(candidate.moment, -1, -1):
        options = _options(chain, values, moment, tuple(states[:1]))
        order = np.argsort(-options, kind="stable") if rank else [int(options.argmax())]
        state = int(order[rank])
        rank = 0
        # What the step and the moment itself add to the tail: the option less its value.
        value = (
            values.absent[moment] if state == chain.shape[1] else values.sentences[moment, state]
        )
        unary = chain.absent[moment] if state == chain.shape[1] else chain.unary[moment, state]
        added = float(options[state] - value) + chain.config.unary * float(unary)
        scores.insert(0, scores[0] + added)
        states.insert(0, ABSENT if state == chain.shape[1] else state)
    return states, scores
