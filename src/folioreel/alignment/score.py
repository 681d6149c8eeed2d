"""One score a cell: a weighted sum of the measures; the paper has context.py (section 4.3).

Where nobody speaks, the pictures alone can tell: a weighted sum of the measures `visual` and
`scene`, fitted as the log odds that a sentence describes a shot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.config import AlignConfig
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityRows, visual_measures
from folioreel.types import Book, Film

_ROWS = 128


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


def score_silent(
    scores: NDArray[np.float32],
    film: Film,
    book: Book,
    config: AlignConfig,
    progress: ProgressCallback = ignore_progress,
) -> None:
    """Write the scores of silent moments: by their pictures, minus infinity without any."""
    silent = np.array([moment.text == "" for moment in film.moments])
    scores[silent] = -np.inf
    if config.pictures is None or film.features is None or not silent.any():
        return
    weights = {"visual": config.pictures.visual, "scene": config.pictures.scene}
    measures = visual_measures(film, book, config, tuple(weights), progress)
    seen = silent & np.all([measure.seen for measure in measures], axis=0)
    for first in range(0, len(silent), _ROWS):
        last = min(first + _ROWS, len(silent))
        total = np.full((last - first, scores.shape[1]), config.pictures.bias, dtype=np.float32)
        found = np.empty((1, *total.shape), dtype=np.float32)
        for measure in measures:
            measure.rows(first, last, found)
            total += np.float32(weights[measure.names[0]]) * found[0]
        scores[first:last][seen[first:last]] = total[seen[first:last]]
