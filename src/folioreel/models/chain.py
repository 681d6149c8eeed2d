"""The paper's chain: its nodes, its weights and its pairwise potentials ψ_p and ψ_q (section 4.4).

The cost of a step from sentence k to sentence j depends on the displacement j - k alone:

    ω_p · (d_s - d_b)² / ((d_s - d_b)² + σ²)  +  ω_q · d_b² / (d_b² + σ²)

where d_s is the time between the two moments as a share of the film, and d_b the signed
displacement as a share of the book. Each pair of neighbours is counted once. The paper's sum over
both neighbours of every node counts it twice, so that these weights are twice the paper's.

The paper's scores are probabilities, and it prunes sentences that are more than a third of the book
away from the uniform timeline. Both are settings here (`ChainConfig.sigmoid`, `.reach`), which the
preset `paper-literal` uses; the preset `paper` takes logits, and solves the whole chain
(alignment/decode.py, marginals.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from folioreel.compiled import njit
from folioreel.config import ChainConfig
from folioreel.types import Film

Costs: TypeAlias = NDArray[np.float64]  # of a displacement d = j - k at index d + J - 1: (2 J - 1,)

ABSENT = -1  # takes the place of a sentence where a reader judged a moment to be "not in the book"


@dataclass(frozen=True, kw_only=True, eq=False)
class Chain:
    """Everything that determines the energy of a path through one film and book."""

    unary: NDArray[np.float32]  # (I, J): scores, higher is better; -inf forbids a cell
    steps: NDArray[np.float64]  # (I - 1,): d_s, time between moments as a share of the film
    config: ChainConfig

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

    def rows(self, first: int, last: int) -> Chain:
        """Moments first … last - 1 as a chain of their own."""
        return replace(self, unary=self.unary[first:last], steps=self.steps[first : last - 1])


def make_chain(
    unary: NDArray[np.float32], steps: NDArray[np.float64], config: ChainConfig
) -> Chain:
    """A chain over the scores (I, J), with the times between its moments (I - 1,)."""
    moments, sentences = unary.shape
    if moments == 0 or sentences == 0 or len(steps) != moments - 1:
        raise ValueError(f"scores of shape {unary.shape} do not fit {len(steps)} time steps")
    if config.sigmoid:
        unary = expit(unary)
    if config.reach is not None:
        unary = _prune(unary, steps, config.reach)
    return Chain(unary=unary, steps=steps, config=config)


def _prune(
    unary: NDArray[np.float32], steps: NDArray[np.float64], reach: float
) -> NDArray[np.float32]:
    """Forbid the sentences that are further than `reach` from the uniform timeline."""
    sentences = unary.shape[1]
    # From the first moment on: where the film's dialogue begins, its story does.
    times = np.concatenate([[0.0], np.cumsum(steps)])  # (I,)
    places = (np.arange(sentences) + 0.5) / sentences  # (J,)
    far = np.abs(times[:, None] - places[None, :]) > reach
    # A short reach may leave a moment none of a short book's sentences: it keeps all.
    far[far.all(axis=1)] = False
    return np.where(far, np.float32(-np.inf), unary)


def time_steps(film: Film) -> NDArray[np.float64]:
    """The time between neighbouring moments as a share of the film: (I - 1,)."""
    starts = np.array([moment.start_s for moment in film.moments])
    return np.diff(starts) / film.duration_s


def judge_chain(chain: Chain, judged: Mapping[int, int]) -> Chain:
    """The chain in which each judged moment keeps to its sentence.

    The paper's chain has no state for "not in the book", so a moment judged `ABSENT` scores all
    sentences alike: it passes on what its neighbours say and adds nothing of its own.
    """
    if not judged:
        return chain
    moments, sentences = chain.shape
    unary = chain.unary.copy()
    for moment, sentence in judged.items():
        if not (0 <= moment < moments and ABSENT <= sentence < sentences):
            raise ValueError(f"({moment}, {sentence}) is outside a chain of shape {chain.shape}")
        if sentence == ABSENT:
            unary[moment] = 0.0
            continue
        score = chain.unary[moment, sentence]
        unary[moment] = -np.inf
        # The reader overrules a score that forbids the cell; any finite one would do.
        unary[moment, sentence] = score if score > -np.inf else 0.0
    return replace(chain, unary=unary)


@njit(nogil=True)
def fill_costs(step: float, pace: float, stay: float, sigma: float, costs: Costs) -> None:
    """Write the cost of every displacement into `costs` (2 J - 1,)."""
    sentences = (costs.shape[0] + 1) // 2
    variance = sigma * sigma
    for d in range(costs.shape[0]):
        jump = (d - sentences + 1) / sentences  # d_b
        lag = (step - jump) * (step - jump)
        jump *= jump
        costs[d] = pace * (lag / (lag + variance)) + stay * (jump / (jump + variance))
