"""One score a cell: a weighted sum of the measures; the paper has context.py (section 4.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.config import AlignConfig
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityRows


def score_cells(
    rows: SimilarityRows, config: AlignConfig, progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The unary score of every moment and sentence: (I, J)."""
    moments, sentences = rows.shape
    weights = np.array([config.weights[name] for name in rows.measures], dtype=np.float32)
    unary = np.empty((moments, sentences), dtype=np.float32)
    for block in rows.blocks():
        last = block.first + block.values.shape[0]
        unary[block.first : last] = block.values @ weights + np.float32(config.bias)
        progress(Progress(stage="comparing", done=last, total=moments))
    return unary
