"""How probable each cell is: exact marginals and the partition function of the chain (section 4.4).

Forward and backward messages are convolutions with exp(-cost), done by FFT. An FFT's error is
relative to its largest value, so entries that come out small are summed again directly, leaving
out only blocks of sources that could not change them in the last digits that count. Both
directions run at once, on two cores.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from folioreel.alignment.decode import BLOCK, block_minima
from folioreel.compiled import njit
from folioreel.errors import AlignmentError
from folioreel.models.chain import Chain

Floats: TypeAlias = NDArray[np.float64]

_TRUSTED = 1e-7
"""An FFT's result is kept where it is at least this share of the largest possible one. Doubles
have 16 digits and an FFT loses one or two, so 7 or 8 correct digits are left: what the float32
probabilities can hold. Lower, and small probabilities would be noise."""
_TAIL = 1e4
"""Kernel values up to this multiple of the least one are its far tail. Within four orders of
magnitude an FFT is precise throughout."""
_NEGLIGIBLE = 1e-12
"""Sources that together add less than this share are left out of a direct sum: well below what
float32 can hold."""
_WIDEST = 600.0
"""How far weighted scores and costs may spread, as powers of e. Doubles end near e^709."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals:
    """The posterior of every cell, and the log of the sum over all paths."""

    probability: NDArray[np.float32]  # (I, J); each row sums to 1
    log_partition: float


def chain_marginals(chain: Chain) -> Marginals:
    """Exact posteriors of p(y) ∝ exp(-energy(y)), by forward and backward sums.

    Raises:
        AlignmentError: No path is allowed, or the weights are too large for doubles.
    """
    _check_range(chain)
    with ThreadPoolExecutor(max_workers=2) as pool:
        ahead = pool.submit(chain_messages, chain, 1)
        back = pool.submit(chain_messages, chain, -1)
        (forward, log_scale), (backward, _) = ahead.result(), back.result()
    probability = join_messages(chain, forward, backward)
    weights, peak = _weights(chain, chain.shape[0] - 1)
    log_partition = log_scale + peak + float(np.log((forward[-1] * weights).sum()))
    return Marginals(probability=probability, log_partition=log_partition)


def join_messages(chain: Chain, forward: Floats, backward: Floats) -> NDArray[np.float32]:
    """The posteriors, from the messages of both sides: (I, J)."""
    probability = np.empty(chain.shape, dtype=np.float32)
    for i in range(chain.shape[0]):
        weights, _ = _weights(chain, i)
        joint = forward[i] * backward[i] * weights  # (J,)
        probability[i] = joint / joint.sum()
    return probability


def _check_range(chain: Chain) -> None:
    """Refuse weights under which a path that counts would vanish in double precision."""
    config = chain.config
    best = chain.unary.max(axis=1)  # (I,)
    if np.isneginf(best).any():
        raise AlignmentError("the fixed links leave no path through the book; undo some of them")
    # The worst score that is allowed at all.
    least = np.where(np.isneginf(chain.unary), np.inf, chain.unary).min(axis=1)
    if config.unary * float((best - least).max()) + config.pace + config.stay > _WIDEST:
        raise AlignmentError(
            f"the chain's weights are too large for probabilities (they span e^{_WIDEST:.0f}); "
            "divide all of them by the same number"
        )


def _weights(chain: Chain, i: int) -> tuple[Floats, float]:
    """Exp of a moment's weighted scores relative to its best one: (J,); and that best score."""
    scores = chain.unary[i].astype(np.float64)
    scores *= chain.config.unary
    peak = float(scores.max())
    return np.exp(scores - peak), peak


def chain_messages(
    chain: Chain, direction: int, first: Floats | float = 1.0
) -> tuple[Floats, float]:
    """The message into every moment (I, J), scaled to a maximum of 1, and the log of all scales.

    Args:
        chain: The chain, or a run of its moments.
        direction: 1 from the first moment on, -1 from the last one back.
        first: The message into that moment, where the chain has others before it: (J,).
    """
    moments, sentences = chain.shape
    messages = np.empty((moments, sentences))
    # What wraps around in a cyclic convolution of this size falls outside the part that is read.
    size = scipy.fft.next_fast_len(2 * sentences - 1, real=True)
    log_scale = 0.0
    start = 0 if direction > 0 else moments - 1
    messages[start] = first
    for count in range(1, moments):
        i = start + direction * count
        before = i - direction
        weights, peak = _weights(chain, before)
        kernel = np.exp(-chain.costs(max(i, before))[::direction])  # (2 J - 1,)
        messages[i] = _convolve(messages[before] * weights, kernel, size)
        largest = messages[i].max()
        messages[i] /= largest
        log_scale += peak + float(np.log(largest))
    return messages, log_scale


def _convolve(sources: Floats, kernel: Floats, size: int) -> Floats:
    """Σ_k sources(k) · kernel(j - k) for every j, precise in its small values too: (J,)."""
    sentences = len(sources)
    spectrum = scipy.fft.rfft(sources, size)

    def by_fft(part: Floats) -> Floats:
        cyclic: Floats = scipy.fft.irfft(spectrum * scipy.fft.rfft(part, size), size)
        return cyclic[sentences - 1 : 2 * sentences - 1]

    result = by_fft(kernel)
    trusted = _TRUSTED * sources.sum() * kernel.max()
    if result.min() < trusted:
        # The kernel's far tail is all of one magnitude, so an FFT of its own is precise; what is
        # left is narrow, and few blocks of it need to be summed.
        far = np.where(kernel <= _TAIL * kernel.min(), kernel, 0.0)
        _sum_directly(sources, kernel - far, np.maximum(by_fft(far), 0.0), trusted, result)
    return result


@njit(nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _sum_directly(
    sources: Floats, kernel: Floats, tail: Floats, trusted: float, result: Floats
) -> None:
    """Compute again, block by block, the entries of `result` below `trusted`."""
    sentences = sources.shape[0]
    blocks = (sentences + BLOCK - 1) // BLOCK
    masses = np.empty(blocks)
    for block in range(blocks):
        masses[block] = sources[block * BLOCK : (block + 1) * BLOCK].sum()
    highs = -block_minima(-kernel)  # largest kernel value between two blocks
    sums = np.empty(BLOCK)
    bounds = np.empty(blocks)
    for target in range(blocks):
        first = target * BLOCK
        last = min(first + BLOCK, sentences)
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
            for k in range(source * BLOCK, min((source + 1) * BLOCK, sentences)):
                value = sources[k]
                base = first - k + sentences - 1
                for j in range(last - first):
                    sums[j] += value * kernel[base + j]
        for j in range(first, last):
            if result[j] < trusted:
                result[j] = sums[j - first]
