"""ONNX graphs: building one node by node, opening it, and running it over many texts.

A network is defined once, in PyTorch, and becomes a graph when it is saved (train/onnx.py); the
frame network becomes one on the user's machine (efficientnet.py). What users run is graphs. Rows of
vectors scaled to unit length, or stored as bytes, are here too, as both sides need them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel.engines.batch import count_cores
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.progress import Progress, ProgressCallback

if TYPE_CHECKING:
    from onnx import ModelProto

# The oldest operator set with layer normalisation, and the format of its time: graphs run on every
# ONNX Runtime that the package accepts.
_OPSET = 17
_IR_VERSION = 8

Batch = NDArray[np.int64]  # the numbers of the texts that are run together
Shape = Sequence[str | int]  # the size of each axis, or its name where it varies


class GraphBuilder:
    """Nodes and weights in the order they are added; every node has one named output."""

    def __init__(self) -> None:
        import onnx  # only where graphs are built: it takes 0.2 s to import

        self._onnx, self._helper = onnx, onnx.helper
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def constant(self, values: NDArray[Any]) -> str:
        """Numbers as they are."""
        name = f"constant{len(self._weights)}"
        self._weights.append(self._onnx.numpy_helper.from_array(values, name))
        return name

    def integers(self, values: int | Sequence[int]) -> str:
        """Whole numbers, for shapes, axes and places."""
        return self.constant(np.array(values, dtype=np.int64))

    def matrix(self, values: NDArray[np.float32]) -> str:
        """Weights stored as bytes with a scale for each row (the last axis).

        They are computed with in full precision: ONNX Runtime widens them once, when it loads the
        graph.
        """
        rows, scales = quantize_rows(values.reshape(-1, values.shape[-1]))
        stored = self.constant(rows.reshape(values.shape))
        scaling = self.constant(scales.reshape(*values.shape[:-1], 1))
        return self.node("Mul", self.cast(stored, "FLOAT"), scaling)

    def cast(self, value: str, kind: str) -> str:
        """A value as another number type, such as `FLOAT` or `INT64`."""
        return self.node("Cast", value, to=getattr(self._onnx.TensorProto, kind))

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add one operation; the name of its output."""
        output = output or f"value{len(self._nodes)}"
        self._nodes.append(self._helper.make_node(kind, inputs, [output], **attributes))
        return output

    def last_state(self, *inputs: str, kind: str = "GRU", **attributes: Any) -> str:
        """A recurrent layer's state after the last word of each sentence: (directions, B, H)."""
        output = f"value{len(self._nodes)}"
        outputs = ["", output]  # the first would be the states after all words
        self._nodes.append(self._helper.make_node(kind, inputs, outputs, **attributes))
        return output

    def model(
        self, name: str, inputs: Mapping[str, tuple[str, Shape]], outputs: Mapping[str, Shape]
    ) -> ModelProto:
        """The whole graph; inputs by name with type and shape, outputs (float32) with shape."""
        helper, types = self._helper, self._onnx.TensorProto
        describe = helper.make_tensor_value_info
        given = [
            describe(key, getattr(types, kind), [*size]) for key, (kind, size) in inputs.items()
        ]
        found = [describe(key, types.FLOAT, [*size]) for key, size in outputs.items()]
        graph = helper.make_graph(self._nodes, name, given, found, self._weights)
        operators = [helper.make_opsetid("", _OPSET)]
        proto: ModelProto = helper.make_model(graph, opset_imports=operators)
        proto.ir_version = _IR_VERSION
        self._onnx.checker.check_model(proto)
        return proto

    def sentence_encoder(self, name: str, word_units: int, units: int) -> ModelProto:
        """The graph from `words` and `lengths` to `vectors`, which the last node must give.

        words: (T, B, word_units) float32, the vectors of the words, padded at the end;
        lengths: (B,) int32, the number of words of each sentence; vectors: (B, units) float32.
        """
        inputs = {"words": ("FLOAT", ("T", "B", word_units)), "lengths": ("INT32", ("B",))}
        return self.model(name, inputs, {"vectors": ("B", units)})


def open_session(graph: bytes | Path) -> onnxruntime.InferenceSession:
    """A session that runs on the thread that calls it, and reports to nobody."""
    onnxruntime.disable_telemetry_events()  # for Windows; elsewhere see folioreel/__init__.py
    options = onnxruntime.SessionOptions()
    # Each core runs whole batches by itself. Threads that share one matrix product wait for each
    # other at every word, which takes up to three times as long when another program uses a core.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: warnings would land on the user's screen
    source = str(graph) if isinstance(graph, Path) else graph
    providers = _providers()
    try:
        return onnxruntime.InferenceSession(source, options, providers=providers)
    except Exception as error:  # ONNX Runtime's errors share no other root
        reason = str(error).splitlines()[0]
        raise ModelFolderError(f"ONNX Runtime cannot read a graph: {reason}") from error


def _providers() -> list[str]:
    """What runs the graphs: the processor, or what FOLIOREEL_PROVIDERS names, with commas."""
    chosen = os.environ.get("FOLIOREEL_PROVIDERS", "CPUExecutionProvider")
    names = [name for part in chosen.split(",") if (name := part.strip())]
    available = onnxruntime.get_available_providers()
    unknown = [name for name in names if name not in available]
    if unknown or not names:
        raise ConfigError(
            f"FOLIOREEL_PROVIDERS names {', '.join(unknown) or 'nothing'}; this ONNX Runtime has "
            f"{', '.join(available)}"
        )
    return names


def encode_in_batches(
    encode: Callable[[Batch], NDArray[np.float32]],
    lengths: Sequence[int],
    vectors: NDArray[np.float32],
    batch_size: int,
    progress: ProgressCallback,
) -> None:
    """Fill the rows of `vectors` (texts, units) whose text has words; the others stay as they are.

    Several threads call `encode` at the same time. Texts of like length, in words, share a batch,
    so that there is little padding. `progress` is told how many words are done.
    """
    words = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-words, kind="stable")  # the longest first, so that all cores end together
    order = order[: np.count_nonzero(words)]
    batches = [order[first : first + batch_size] for first in range(0, len(order), batch_size)]
    done, total = 0, int(words.sum())
    with ThreadPoolExecutor(count_cores()) as pool:
        try:
            for numbers, found in zip(batches, pool.map(encode, batches), strict=True):
                vectors[numbers] = found
                done += int(words[numbers].sum())
                progress(Progress(stage="reading sentences", done=done, total=total))
        finally:
            pool.shutdown(cancel_futures=True)  # a run that is stopped need not finish them


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length; zeros stay zeros."""
    lengths = np.sqrt(np.einsum("nu,nu->n", vectors, vectors))
    lengths[lengths == 0] = 1
    units: NDArray[np.float32] = vectors / lengths[:, None]
    return units


def quantize_rows(
    values: NDArray[np.floating[Any]],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row as bytes from -127 to 127, and the scale that they are multiplied by."""
    scales = np.abs(values).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)
