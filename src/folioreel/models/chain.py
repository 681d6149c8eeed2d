"""The chain: its nodes, its weights and its pairwise potentials ψ_p and ψ_q (paper, section 4.4).

The cost of a step from sentence k to sentence j depends on the displacement j - k alone:

    ω_p · (d_s - d_b)² / ((d_s - d_b)² + σ²)  +  ω_q · d_b² / (d_b² + σ²)

where d_s is the time between the two moments as a share of the film, and d_b the signed
displacement as a share of the book. Each pair of neighbours is counted once; the paper's sum over
both neighbours of every node counts it twice, which only doubles the weights.

Beyond the paper there may be one more state, "not in the book": it has a score of its own, and
costs of its own to enter and to leave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from folioreel.config import ChainConfig
from folioreel.types import Film

Costs: TypeAlias = NDArray[np.float64]
"""Cost of a displacement d = j - k at index d + J - 1: (2 J - 1,)."""

ABSENT = -1
"""Stands for a sentence where a path says "not in the book"."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Everything that a path through one film and book is judged by."""

    unary: NDArray[np.float32]
    """The score of each moment and sentence, higher is better; -inf forbids a cell: (I, J)."""
    steps: NDArray[np.float64]
    """Time between neighbouring moments as a share of the film: (I - 1,)."""
    config: ChainConfig
    absent: NDArray[np.float64]
    """The score of "not in the book" at each moment; -inf where that is not allowed: (I,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Moments and sentences."""
        moments, sentences = self.unary.shape
        return moments, sentences

    def costs(self, i: int) -> Costs:
        """What each displacement costs between moments i - 1 and i."""
        costs = np.empty(2 * self.unary.shape[1] - 1)
        fill_costs(self.steps[i - 1], self.config.pace, self.config.stay, self.config.sigma, costs)
        return costs


def make_chain(
    unary: NDArray[np.float32],
    steps: NDArray[np.float64],
    config: ChainConfig,
    absent: NDArray[np.float64] | float = 0.0,
) -> Chain:
    """A chain over given scores.

    Args:
        unary: Score of each moment and sentence: (I, J).
        steps: Time between neighbouring moments as a share of the film: (I - 1,).
        config: The weights.
        absent: Score of "not in the book", for all moments or for each; it counts only where the
            config allows that state.
    """
    moments, sentences = unary.shape
    if moments == 0 or sentences == 0 or len(steps) != moments - 1:
        raise ValueError(f"{unary.shape} scores and {len(steps)} steps make no chain")
    scores = np.full(moments, -np.inf)
    if config.absent:
        scores[:] = absent
    return Chain(unary=unary, steps=steps, config=config, absent=scores)


def time_steps(film: Film) -> NDArray[np.float64]:
    """The time between neighbouring moments as a share of the film: (I - 1,)."""
    starts = np.array([moment.start_s for moment in film.moments])
    return np.diff(starts) / film.duration_s


def fix_links(chain: Chain, fixed: Mapping[int, int]) -> Chain:
    """The chain in which some moments are tied to a sentence, or to `ABSENT`."""
    moments, sentences = chain.shape
    unary, absent = chain.unary.copy(), chain.absent.copy()
    for moment, sentence in fixed.items():
        if not (0 <= moment < moments and ABSENT <= sentence < sentences):
            raise ValueError(f"no cell ({moment}, {sentence}) in a chain of {chain.shape}")
        if sentence == ABSENT:
            unary[moment] = -np.inf
            absent[moment] = max(absent[moment], 0.0)
        else:
            score = chain.unary[moment, sentence]
            unary[moment] = -np.inf
            unary[moment, sentence] = score if score > -np.inf else 0.0
            absent[moment] = -np.inf
    return Chain(unary=unary, steps=chain.steps, config=chain.config, absent=absent)


def judge_chain(chain: Chain, judged: Mapping[int, int]) -> Chain:
    """The chain in which judged moments are tied to their sentence, or say nothing.

    Where there is no state for "not in the book", a moment that is not tells nothing of its place.
    """
    if not judged:
        return chain
    absent = [moment for moment, sentence in judged.items() if sentence == ABSENT]
    if chain.config.absent:
        return fix_links(chain, judged)
    tied = fix_links(chain, {m: s for m, s in judged.items() if s != ABSENT})
    tied.unary[absent] = 0.0
    return tied


def prune_far(chain: Chain, film: Film, share: float = 1 / 3) -> Chain:
    """The paper's pruning: forbid sentences further than a third of the book from the timeline."""
    _, sentences = chain.shape
    unary = chain.unary.copy()
    places = (np.arange(sentences) + 0.5) / sentences
    for moment in film.moments:
        time = (moment.start_s + moment.end_s) / 2 / film.duration_s
        unary[moment.index, np.abs(places - time) > share] = -np.inf
    return Chain(unary=unary, steps=chain.steps, config=chain.config, absent=chain.absent)


@numba.njit(cache=True, nogil=True)
def fill_costs(step: float, pace: float, stay: float, sigma: float, costs: Costs) -> None:
    """Write the cost of every displacement into `costs` (2 J - 1,)."""
    sentences = (costs.shape[0] + 1) // 2
    variance = sigma * sigma
    for d in range(costs.shape[0]):
        jump = (d - sentences + 1) / sentences
        lag = (step - jump) * (step - jump)
        jump *= jump
        costs[d] = pace * (lag / (lag + variance)) + stay * (jump / (jump + variance))
