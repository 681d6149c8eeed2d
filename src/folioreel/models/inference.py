"""Running a graph over many texts: one ONNX Runtime session, batches of like length, all cores.

Each core runs whole batches by itself. Threads that share one product instead wait for each other
at every word, which costs up to three times as much where another program uses a core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel.engines.batch import count_cores
from folioreel.errors import ModelFolderError
from folioreel.progress import Progress, ProgressCallback

Batch = NDArray[np.int64]
"""The numbers of the texts that are run together."""

_STAGE = "reading sentences"


def open_session(graph: bytes | Path) -> onnxruntime.InferenceSession:
    """A session that runs on the thread that calls it.

    Raises:
        ModelFolderError: ONNX Runtime cannot read the graph.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors alone: the rest would land on the user's screen
    source = str(graph) if isinstance(graph, Path) else graph
    try:
        return onnxruntime.InferenceSession(
            source, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # ONNX Runtime's errors share no other root
        reason = str(error).splitlines()[0]
        raise ModelFolderError(f"ONNX Runtime cannot read a graph: {reason}") from error


def encode_in_batches(
    encode: Callable[[Batch], NDArray[np.float32]],
    lengths: Sequence[int],
    vectors: NDArray[np.float32],
    batch: int,
    progress: ProgressCallback,
) -> None:
    """Fill the rows of `vectors` whose text has words; the others stay as they are.

    Args:
        encode: The vectors of some texts; several threads call it at the same time.
        lengths: The number of words of each text: like ones share a batch, so little is padding.
        vectors: (texts, units).
        batch: Texts that are run together.
        progress: Told of the words that are done.
    """
    words = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-words, kind="stable")  # the longest first: the cores end together
    order = order[: np.count_nonzero(words)]
    batches = [order[first : first + batch] for first in range(0, len(order), batch)]
    done, total = 0, int(words.sum())
    with ThreadPoolExecutor(count_cores()) as pool:
        try:
            for numbers, found in zip(batches, pool.map(encode, batches), strict=True):
                vectors[numbers] = found
                done += int(words[numbers].sum())
                progress(Progress(stage=_STAGE, done=done, total=total))
        finally:
            pool.shutdown(cancel_futures=True)  # a run that is stopped need not finish them


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("nu,nu->n", vectors, vectors))
    lengths[lengths == 0] = 1
    units: NDArray[np.float32] = vectors / lengths[:, None]
    return units
