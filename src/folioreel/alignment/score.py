"""One score per cell from the similarity tensor, by itself: what the chain or the positions smooth.

The paper's is a convolutional network over the tensor (section 4.3). Beyond it, the preset
`default` has a weighted sum of the measures, fitted as a logit. There a moment without dialogue is
scored by its pictures alone: a weighted sum of `visual` and `scene`, the logit of P(the sentence
describes the shot) for photographs. pictures.py fits it to the film.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from folioreel.config import AlignConfig, PicturesConfig
from folioreel.engines.batch import count_cores
from folioreel.models.context_cnn import ContextModel
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import PICTURE_MEASURES, SimilarityRows, SimilarityTensor

_CONTEXT_ROWS = 64
"""Moments that the network reads at once: each core holds such a block of all measures. With fewer,
rows of the halo would be computed more often; with more, memory grows."""


def score_cells(
    rows: SimilarityRows, config: AlignConfig, progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The weighted sum of the measures for every moment and sentence: (I, J).

    With positions, silent moments are scored by their pictures; -inf where there are none.
    """
    moments, sentences = rows.shape
    weights = np.array([config.weights[name] for name in config.measures], dtype=np.float32)
    scores = np.empty((moments, sentences), dtype=np.float32)
    for block in rows.blocks():
        part = slice(block.first, block.first + block.values.shape[0])
        # Measures that are there for the pictures alone come last: see `tensor_measures`.
        scores[part] = block.values[..., : len(weights)] @ weights + np.float32(config.bias)
        if config.steps is not None:
            scores[part][rows.silent[part]] = -np.inf
            looked_at = rows.silent[part] & rows.seen[part]
            if config.pictures is not None and looked_at.any():
                scores[part][looked_at] = _picture_scores(block, config.pictures)[looked_at]
        progress(Progress(stage="comparing", done=part.stop, total=moments))
    return scores


def _picture_scores(block: SimilarityTensor, weights: PicturesConfig) -> NDArray[np.float32]:
    """The weighted sum of what the pictures say: (rows, J)."""
    total = np.full(block.values.shape[:2], weights.bias, dtype=np.float32)
    for name in PICTURE_MEASURES:
        total += np.float32(getattr(weights, name)) * block[name]
    return total


def context_scores(
    rows: SimilarityRows,
    model: ContextModel,
    progress: ProgressCallback = ignore_progress,
    moments: range | None = None,
) -> NDArray[np.float32]:
    """The logit of every moment and sentence, by the paper's network (section 4.3): (I, J).

    `moments` are those to score, if not all: the result has a row for each of them.

    The paper's chain takes the sigmoid of it, which hardly tells two unlikely sentences apart;
    with logits the judged lines are far more probable.

    Raises:
        ValueError: The tensor lacks a measure that the model reads.
    """
    missing = sorted(set(model.measures) - set(rows.measures))
    if missing:
        raise ValueError(f"the context model reads {', '.join(missing)}, which is not computed")
    chosen = range(rows.shape[0]) if moments is None else moments
    scores = np.empty((len(chosen), rows.shape[1]), dtype=np.float32)
    cores = count_cores()
    waiting: deque[tuple[int, Future[NDArray[np.float32]]]] = deque()

    def finish() -> None:
        first, future = waiting.popleft()
        found = future.result()
        scores[first : first + len(found)] = found
        progress(Progress(stage="comparing", done=first + len(found), total=len(chosen)))

    # The measures are computed here while other cores convolve the blocks before.
    with ThreadPoolExecutor(cores) as pool:
        for first in range(0, len(chosen), _CONTEXT_ROWS):
            some = chosen[first : first + _CONTEXT_ROWS]
            block = rows.block(some.start, some.stop, model.halo[0])
            planes = np.stack([block[name] for name in model.measures])  # (M, rows + 2 halo, J)
            waiting.append((first, pool.submit(model.log_odds, planes)))
            # Each waiting block is tens of megabytes: never more of them than cores.
            if len(waiting) > cores:
                finish()
        while waiting:
            finish()
    return scores
