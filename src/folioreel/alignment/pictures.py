"""What the pictures of silent shots are worth in a film: learned from the film itself.

The embeddings say which sentences describe a shot better than others do. They cannot say whether
any sentence does: cosines are lower in a drawn film than in photographs, and some films show what
their book tells, others do not. So each shot is compared with the sentences of this very book, and
two things are left open: how sharply its pictures tell sentences apart, and how many of its silent
shots are in the book.

Dialogue alone says where the film is at each silent shot. Where pictures are worth something, they
tend to agree with that, and they do so in as many shots as are in the book. Each hypothesis
(sharpness s, share π) is weighed by its likelihood over all silent shots,

    ∏ᵢ (1 - π + π · Σⱼ P(film is at j) · ratioᵢⱼ),    ratioᵢⱼ = exp(s · xᵢⱼ) / meanⱼ exp(s · xᵢⱼ),

and a score is the average over all of them. If the pictures of a film say nothing, s = 0 prevails,
and silent shots are linked as if nobody had looked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.messages import Floats
from folioreel.alignment.positions import follow_book
from folioreel.config import StepsConfig

_SHARP = (0.5, 1.0)
"""Sharpness if pictures tell anything: as in the photographs that the weights were fitted to, or
half of that. With less, the share could no longer be told from the rest."""
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_BLIND = 0.5  # before they are looked at: the probability that pictures tell nothing
_BLIND_SHARE = 1 / 11
"""The share of silent shots in the book where pictures tell nothing. A guess that only has to be
low: then no silent shot is claimed to be in the book."""


def weigh_pictures(
    scores: Floats,
    looked_at: NDArray[np.bool_],
    times: Floats,
    steps: StepsConfig,
) -> None:
    """Fit the scores of silent moments to their film, in place.

    Args:
        scores: (I, J), as `follow_book` takes them; the rows that were looked at hold the weighted
            sum of the picture measures.
        looked_at: The silent moments of which something was seen: (I,).
        times: When each moment is, as `follow_book` takes it.
        steps: How the film moves through the book.
    """
    if not looked_at.any():
        return
    sums = scores[looked_at]  # (N, J)
    scores[looked_at] = -np.inf
    place = follow_book(scores, times, steps).position[looked_at]  # (N, J), by dialogue alone
    scores[looked_at] = average_hypotheses(sums, place)


def average_hypotheses(sums: Floats, place: Floats) -> Floats:
    """The logit that a shot renders a sentence, if the film is there: (N, J).

    Args:
        sums: What pictures say of each shot and sentence: (N, J).
        place: The probability that the film is at a sentence; rows sum to 1: (N, J).
    """
    ratios = [_compare(np.float32(sharpness) * sums) for sharpness in _SHARP]
    agreement = np.array([np.einsum("ij,ij->i", place, ratio) for ratio in ratios])  # (2, N)
    shares = np.array(_SHARES)
    mixed = 1 + shares[:, None, None] * (agreement.astype(np.float64) - 1)  # (shares, 2, N)
    evidence = np.log(mixed).sum(axis=2)  # (shares, 2); 0 for the blind hypothesis
    largest = max(0.0, float(evidence.max()))
    weights = np.exp(evidence - largest) * (1 - _BLIND) / evidence.size
    blind = np.exp(-largest) * _BLIND
    total = weights.sum() + blind
    weights, blind = weights / total, blind / total
    rendered = np.full_like(sums, blind * _BLIND_SHARE)
    for ratio, weight in zip(ratios, shares @ weights, strict=True):
        rendered += np.float32(weight) * ratio
    absent = blind * (1 - _BLIND_SHARE) + float(((1 - shares) @ weights).sum())
    logits: Floats = np.log(rendered) - np.float32(np.log(absent))
    return logits


def _compare(values: Floats) -> Floats:
    """How much better a sentence describes a shot than the book's sentences on average: (N, J)."""
    odds = np.exp(values - values.max(axis=1, keepdims=True))
    ratio: Floats = odds / odds.mean(axis=1, keepdims=True)
    return ratio
