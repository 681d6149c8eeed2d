"""The context model over the similarity tensor, a block of rows at a time (paper, section 4.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.engines.batch import count_cores
from folioreel.models.context_cnn import ContextModel
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityTensor

_ROWS = 64


class RowSource(Protocol):
    """What gives the similarity tensor block by block, such as `SimilarityRows`."""

    measures: tuple[str, ...]
    shape: tuple[int, int]

    def blocks(self, rows: int = 128, halo: int = 0) -> Iterator[SimilarityTensor]:
        """All rows in order, `rows` at a time, each block with its halo."""
        ...


def context_scores(
    rows: RowSource, model: ContextModel, progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The log-odds of every moment and sentence, the unary score that the chain takes: (I, J).

    The paper's chain takes the sigmoid of them, which hardly tells two unlikely sentences apart;
    with log-odds the judged lines are far more probable.

    Raises:
        ValueError: The tensor lacks a measure that the model reads.
    """
    missing = sorted(set(model.measures) - set(rows.measures))
    if missing:
        raise ValueError(f"the context model reads {', '.join(missing)}, which is not computed")
    scores = np.empty(rows.shape, dtype=np.float32)
    cores = count_cores()
    waiting: deque[tuple[int, Future[NDArray[np.float32]]]] = deque()

    def finish() -> None:
        first, future = waiting.popleft()
        found = future.result()
        scores[first : first + len(found)] = found
        progress(Progress(stage="comparing", done=first + len(found), total=rows.shape[0]))

    # The measures are computed here while other cores convolve the blocks before.
    with ThreadPoolExecutor(cores) as pool:
        for block in rows.blocks(_ROWS, model.halo[0]):
            planes = np.stack([block[name] for name in model.measures])  # (M, rows, J)
            waiting.append((block.first, pool.submit(model.log_odds, planes)))
            if len(waiting) > cores:
                finish()
        while waiting:
            finish()
    return scores
