"""How sure each cell is: exact marginals and the partition function of the chain (section 4.4).

Forward and backward messages are convolutions with exp(-cost), done by FFT. An FFT's error is
relative to its largest value, so entries that come out small are summed again directly, leaving
out only blocks of sources that could not change them in the last digits that count. Both
directions run at once, on two cores.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from folioreel.errors import AlignmentError
from folioreel.models.chain import Chain

_BLOCK = 64
_TRUSTED = 1e-7
"""An FFT's result is kept where it is at least this share of the largest possible one."""
_TAIL = 1e4
"""Kernel values up to this multiple of the least one are its far tail."""
_NEGLIGIBLE = 1e-12
"""Sources that together add less than this share are left out of a direct sum."""
_WIDEST = 600.0
"""How far scores and costs may spread, in powers of e; doubles end at some 700."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals:
    """The posterior of every cell, and the log of the sum over all paths."""

    probability: NDArray[np.float32]
    """(I, J); with `absent`, each row sums to 1."""
    absent: NDArray[np.float32]
    """The posterior of "not in the book": (I,)."""
    log_partition: float


def chain_marginals(chain: Chain) -> Marginals:
    """Exact posteriors of p(y) ∝ exp(-energy(y)), by forward and backward sums.

    Raises:
        AlignmentError: No path is allowed, or the weights are larger than floats can follow.
    """
    _check_range(chain)
    with ThreadPoolExecutor(max_workers=2) as pool:
        ahead = pool.submit(chain_messages, chain, 1)
        back = pool.submit(chain_messages, chain, -1)
        (forward, log_scale), (backward, _) = ahead.result(), back.result()
    probability, absent = join_messages(chain, forward, backward)
    weights, peak = _weights(chain, chain.shape[0] - 1)
    log_partition = log_scale + peak + float(np.log((forward[-1] * weights).sum()))
    return Marginals(probability=probability, absent=absent, log_partition=log_partition)


def join_messages(
    chain: Chain, forward: NDArray[np.float64], backward: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The posteriors of sentences (I, J) and of absence (I,), from the messages of both sides."""
    moments, sentences = chain.shape
    probability = np.empty((moments, sentences), dtype=np.float32)
    absent = np.empty(moments, dtype=np.float32)
    for i in range(moments):
        weights, _ = _weights(chain, i)
        joint = forward[i] * backward[i] * weights
        joint /= joint.sum()
        probability[i], absent[i] = joint[:-1], joint[-1]
    return probability, absent


def _check_range(chain: Chain) -> None:
    """Refuse weights under which some path that counts would vanish in double precision."""
    config = chain.config
    best = np.maximum(chain.unary.max(axis=1), chain.absent)  # (I,)
    if np.isneginf(best).any():
        raise AlignmentError("the fixed links allow no path at all; take some of them back")
    # The worst score that is allowed at all.
    least = np.where(np.isneginf(chain.unary), np.inf, chain.unary).min(axis=1)
    least = np.minimum(least, np.where(np.isneginf(chain.absent), np.inf, chain.absent))
    spread = best - least
    costs = config.pace + config.stay + (config.enter + config.leave) * config.absent
    if config.unary * float(spread.max()) + costs > _WIDEST:
        raise AlignmentError(
            f"the chain's weights are too large for probabilities (they span e^{_WIDEST:.0f}); "
            "divide all of them by the same number"
        )


def _weights(chain: Chain, i: int) -> tuple[NDArray[np.float64], float]:
    """Exp of a moment's weighted scores against its best, absent last: (J + 1,); and that best."""
    scores = np.append(chain.unary[i].astype(np.float64), chain.absent[i])
    scores *= chain.config.unary
    peak = float(scores.max())
    return np.exp(scores - peak), peak


def chain_messages(
    chain: Chain, direction: int, first: NDArray[np.float64] | float = 1.0
) -> tuple[NDArray[np.float64], float]:
    """The message into every moment, scaled to a largest value of 1, and the log of all scales.

    Args:
        chain: The chain, or a run of its moments.
        direction: 1 from the first moment on, -1 from the last one back.
        first: The message into that moment, where the chain has others before it: (J + 1,).
    """
    moments, sentences = chain.shape
    config = chain.config
    messages = np.empty((moments, sentences + 1))
    # What wraps around in a cyclic convolution of this size falls outside the part that is read.
    size = scipy.fft.next_fast_len(2 * sentences - 1, real=True)
    # A step ahead into the absent state enters it; a step back into it came from leaving it.
    enter, leave = np.exp(-config.enter), np.exp(-config.leave)
    into, out_of = (enter, leave) if direction > 0 else (leave, enter)
    log_scale = 0.0
    start = 0 if direction > 0 else moments - 1
    messages[start] = first
    for count in range(1, moments):
        i = start + direction * count
        before = i - direction
        weights, peak = _weights(chain, before)
        sources = messages[before] * weights
        kernel = np.exp(-chain.costs(max(i, before))[::direction])
        messages[i, :-1] = _convolve(sources[:-1], kernel, size) + sources[-1] * out_of
        messages[i, -1] = sources[:-1].sum() * into + sources[-1]
        largest = messages[i].max()
        messages[i] /= largest
        log_scale += peak + float(np.log(largest))
    return messages, log_scale


def _convolve(
    sources: NDArray[np.float64], kernel: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    """Σ_k sources(k) · kernel(j - k) for every j, precise in its small values too."""
    sentences = len(sources)
    spectrum = scipy.fft.rfft(sources, size)

    def by_fft(part: NDArray[np.float64]) -> NDArray[np.float64]:
        cyclic: NDArray[np.float64] = scipy.fft.irfft(spectrum * scipy.fft.rfft(part, size), size)
        return cyclic[sentences - 1 : 2 * sentences - 1]

    result = by_fft(kernel)
    trusted = _TRUSTED * sources.sum() * kernel.max()
    if result.min() < trusted:
        # The kernel's far tail is all of one magnitude, so an FFT of its own is precise; what is
        # left is narrow, and few blocks of it need to be summed.
        far = np.where(kernel <= _TAIL * kernel.min(), kernel, 0.0)
        _sum_directly(sources, kernel - far, np.maximum(by_fft(far), 0.0), trusted, result)
    return result


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _sum_directly(
    sources: NDArray[np.float64],
    kernel: NDArray[np.float64],
    tail: NDArray[np.float64],
    trusted: float,
    result: NDArray[np.float64],
) -> None:
    """Compute again, block by block, the entries of `result` below `trusted`."""
    sentences = sources.shape[0]
    blocks = (sentences + _BLOCK - 1) // _BLOCK
    masses = np.empty(blocks)
    for block in range(blocks):
        masses[block] = sources[block * _BLOCK : (block + 1) * _BLOCK].sum()
    highs = np.zeros(2 * blocks - 1)  # largest kernel value between two blocks
    for offset in range(2 * blocks - 1):
        middle = (offset - blocks + 1) * _BLOCK + sentences - 1
        start = max(0, middle - _BLOCK + 1)
        stop = min(kernel.shape[0], middle + _BLOCK)
        if start < stop:
            highs[offset] = kernel[start:stop].max()
    sums = np.empty(_BLOCK)
    bounds = np.empty(blocks)
    for target in range(blocks):
        first = target * _BLOCK
        last = min(first + _BLOCK, sentences)
        if result[first:last].min() >= trusted:
            continue
        for block in range(blocks):
            bounds[block] = masses[block] * highs[target - block + blocks - 1]
        sums[: last - first] = tail[first:last]
        for _ in range(blocks):
            if bounds.sum() <= _NEGLIGIBLE * sums[: last - first].min():
                break
            source = np.argmax(bounds)
            bounds[source] = 0.0
            for k in range(source * _BLOCK, min((source + 1) * _BLOCK, sentences)):
                value = sources[k]
                base = first - k + sentences - 1
                for j in range(last - first):
                    sums[j] += value * kernel[base + j]
        for j in range(first, last):
            if result[j] < trusted:
                result[j] = sums[j - first]
