"""Fitting the paper's chain: ω_u, ω_p, ω_q and σ, with hidden nodes (paper, section 4.4).

Few moments are judged. The likelihood of the judgements is the sum over all paths that agree with
them divided by the sum over all paths, Z_clamped / Z. The gradient of its logarithm is the expected
value of each potential in the clamped chain minus that in the free chain. Both are exact.

A potential between neighbours depends on the displacement in the book alone. So all that is needed
of a pair of neighbours is the distribution of displacements: the correlation of the message from
the left with the message from the right, computed by FFT.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.optimize
from numpy.typing import NDArray

from folioreel.config import ChainConfig
from folioreel.models.chain import Chain
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.train.judged import JudgedMoment

_log = logging.getLogger(__name__)

WEIGHTS = ("unary", "pace", "stay", "sigma")
"""The fields of `ChainConfig` that are fitted, in the order of every gradient."""
# Where the search for the chain's weights begins: no potential counts more than another, and σ is
# a fiftieth of the book, about a scene.
CHAIN_START = ChainConfig(unary=1.0, pace=1.0, stay=1.0, sigma=0.02)
# The same for the paper's chain to the letter: probabilities, of which the largest is 1, and
# sentences pruned that are more than a third of the book from the uniform timeline.
LITERAL_START = replace(CHAIN_START, unary=10.0, sigmoid=True, reach=1 / 3)

# Bounds of the search: logarithms of the weights are searched, so none may be 0. Probabilities, of
# which the largest is 1, need a larger weight than logits.
_LEAST, _MOST, _MOST_OF_SIGMOID = 1e-4, 8.0, 50.0
# σ is in units of the whole book; beyond 1 every displacement would cost the same.
_LEAST_SIGMA, _MOST_SIGMA = 1e-4, 1.0
# The largest ω_p + ω_q. A displacement has probability exp(-25) = 1e-11 then; with more, the
# rounding errors of an FFT, some 1e-16 of the largest value, would drown the least probable ones.
_STEEPEST = 25.0


class ClampedChain(NamedTuple):
    """A chain over one pair's scores, and the same with its matches clamped."""

    free: Chain
    clamped: Chain


class FittedChain(NamedTuple):
    """The weights that were found, and how well they explain the judgements."""

    config: ChainConfig
    log_likelihood: float  # of all matches together
    start_log_likelihood: float


def clamp_chain(chain: Chain, judged: Sequence[JudgedMoment]) -> ClampedChain:
    """Clamp every match to its sentences; all other moments stay hidden.

    So do matches whose sentences are all pruned: no weights could explain them.
    """
    unary = chain.unary.copy()
    for moment in judged:
        kept = list(moment.sentences)
        if moment.verdict == "match" and chain.unary[moment.moment, kept].max() > -np.inf:
            unary[moment.moment] = -np.inf
            unary[moment.moment, kept] = chain.unary[moment.moment, kept]
    return ClampedChain(chain, replace(chain, unary=unary))


def fit_chain(
    pairs: Sequence[ClampedChain],
    start: ChainConfig,
    *,
    evaluations: int = 40,
    progress: ProgressCallback = ignore_progress,
) -> FittedChain:
    """The weights under which the judged matches are most probable.

    The search begins at `start`, and computes the likelihood at most `evaluations` times; about 30
    are enough.
    """
    tried: list[tuple[float, ChainConfig]] = []

    def cost(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        config = replace(start, **dict(zip(WEIGHTS, np.exp(logs).tolist(), strict=True)))
        value, gradient = log_likelihood(pairs, config)
        tried.append((value, config))
        done = min(len(tried), evaluations)
        progress(Progress(stage="fitting the chain", done=done, total=evaluations))
        # Weights are positive, so the search is over their logarithms.
        return -value, -gradient * np.exp(logs)

    first = np.log([max(getattr(start, name), _LEAST) for name in WEIGHTS])
    most = _MOST_OF_SIGMOID if start.sigmoid else _MOST
    bounds = [(np.log(_LEAST), np.log(most))] + [(np.log(_LEAST), np.log(_STEEPEST / 2))] * 2
    bounds.append((np.log(_LEAST_SIGMA), np.log(_MOST_SIGMA)))
    options = {"maxfun": evaluations, "ftol": 1e-6}
    scipy.optimize.minimize(
        cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    progress(Progress(stage="fitting the chain", done=evaluations, total=evaluations))
    value, config = max(tried, key=lambda found: found[0])
    _warn_at_bounds(config, bounds)
    return FittedChain(config, value, start_log_likelihood=tried[0][0])


def _warn_at_bounds(config: ChainConfig, bounds: Sequence[tuple[float, float]]) -> None:
    """Say which weights the search would have taken further."""
    for name, (low, high) in zip(WEIGHTS, bounds, strict=True):
        weight = np.log(getattr(config, name))
        # The search ends on the bound itself, but for rounding.
        if weight < low + 1e-6 or weight > high - 1e-6:
            ignored = ", so the network's scores are ignored"
            _log.warning(
                "the chain's weight %s is at the bound of its search, %.4g%s",
                name,
                np.exp(weight),
                ignored if name == "unary" and weight < 0 else "",
            )


def log_likelihood(
    pairs: Sequence[ClampedChain], config: ChainConfig
) -> tuple[float, NDArray[np.float64]]:
    """The log of p(judged) under some weights, and its gradient by each of `WEIGHTS`."""
    chains = [replace(chain, config=config) for pair in pairs for chain in pair]
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = [np.array(values) for values in zip(*pool.map(log_partition, chains), strict=True)]
    # The free and the clamped chain of each pair by turns.
    value, gradient = ((values[1::2] - values[::2]).sum(axis=0) for values in found)
    return float(value), gradient


def log_partition(chain: Chain) -> tuple[float, NDArray[np.float64]]:
    """The log of Z of a chain, and its gradient by each of `WEIGHTS`."""
    moments, sentences = chain.shape
    size = scipy.fft.next_fast_len(2 * sentences - 1, real=True)
    weights = _node_weights(chain)  # (I, J)
    left = np.empty((moments, size // 2 + 1), dtype=np.complex128)  # spectra from the left
    messages = np.empty((moments, sentences))
    messages[0] = 1.0
    log_z = 0.0
    for i in range(1, moments):
        sources = messages[i - 1] * weights[i - 1]
        left[i] = scipy.fft.rfft(sources / sources.sum(), size)
        log_z += float(np.log(sources.sum()))
        kernel = scipy.fft.rfft(np.exp(-chain.costs(i)), size)
        # Displacement 0 is at index J - 1 of the costs. Rounding may give tiny negative values.
        cyclic = scipy.fft.irfft(left[i] * kernel, size)[sentences - 1 : 2 * sentences - 1]
        messages[i] = np.maximum(cyclic, 1e-300)
    log_z += float(np.log((messages[-1] * weights[-1]).sum()))
    log_z += chain.config.unary * float(chain.unary.max(axis=1).astype(np.float64).sum())
    return log_z, _backward(chain, weights, messages, left, size)


def _node_weights(chain: Chain) -> NDArray[np.float64]:
    """Exp of the weighted scores against each moment's best: (I, J)."""
    unary = chain.unary.astype(np.float64)
    unary -= unary.max(axis=1, keepdims=True)
    unary *= chain.config.unary
    return np.exp(unary, out=unary)


def _backward(
    chain: Chain,
    weights: NDArray[np.float64],
    messages: NDArray[np.float64],
    left: NDArray[np.complex128],
    size: int,
) -> NDArray[np.float64]:
    """The gradient of log Z: what each potential expects, from the last moment to the first."""
    moments, sentences = chain.shape
    gradient = np.zeros(len(WEIGHTS))
    back = np.ones(sentences)
    for i in range(moments - 1, -1, -1):
        right = back * weights[i]
        joint = messages[i] * right
        scores = np.where(joint > 0, chain.unary[i], 0.0)  # 0 · -inf would be nan
        gradient[0] += float(joint @ scores) / joint.sum()
        if i == 0:
            break
        costs = chain.costs(i)
        kernel = np.exp(-costs)
        spectrum = scipy.fft.rfft(right / right.sum(), size)
        gradient[1:] += _step_gradient(chain, i, kernel, left[i], spectrum, size)
        # Back against the displacement: the same kernel, turned round.
        turned = scipy.fft.rfft(kernel[::-1], size)
        cyclic = scipy.fft.irfft(spectrum * turned, size)[sentences - 1 : 2 * sentences - 1]
        back = np.maximum(cyclic, 1e-300)
    return gradient


def _step_gradient(
    chain: Chain,
    i: int,
    kernel: NDArray[np.float64],
    left: NDArray[np.complex128],
    right: NDArray[np.complex128],
    size: int,
) -> NDArray[np.float64]:
    """Minus the expected cost between moments i - 1 and i, by pace, stay and sigma: (3,)."""
    sentences = chain.shape[1]
    together = scipy.fft.irfft(np.conj(left) * right, size)
    # Displacements below 0 come at the end of a cyclic correlation.
    shares = np.concatenate([together[size - sentences + 1 :], together[:sentences]])
    shares = np.maximum(shares, 0.0) * kernel  # (2 J - 1,)
    shares /= shares.sum()
    config = chain.config
    jump = np.arange(1 - sentences, sentences) / sentences
    squares = np.stack([np.square(chain.steps[i - 1] - jump), np.square(jump)])  # (2, 2 J - 1)
    variance = config.sigma**2
    pace, stay = (squares / (squares + variance)) @ shares
    # d/dσ of x / (x + σ²) is - 2 σ x / (x + σ²)².
    slopes = (-2 * config.sigma * squares / np.square(squares + variance)) @ shares
    return -np.array([pace, stay, config.pace * slopes[0] + config.stay * slopes[1]])
