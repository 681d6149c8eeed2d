"""Networks as ONNX graphs: what training leaves for users, who have no PyTorch.

Weights are stored small and computed with in full precision: word vectors as one byte a number with
a scale a row, recurrent weights as half-precision floats that ONNX Runtime widens when it loads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

from folioreel.train.skip_thought import SkipThought

_OPSET = 17


def encoder_graph(model: SkipThought) -> onnx.ModelProto:
    """The encoder of a skip-thought model: (ids, lengths) → vectors.

    ids: (T, B) int64, padded below; lengths: (B,) int32; vectors: (B, units) float32.
    """
    directions = 2 if model.config.bidirectional else 1
    bytes_, scales = quantize_rows(_numpy(model.words.weight))
    weights: dict[str, NDArray[Any]] = {"words": bytes_, "scales": scales[:, None]}
    weights |= _gru_weights(model, directions)
    halves = ("W", "R", "B")
    nodes = [
        helper.make_node("Gather", ["words", "ids"], ["gathered"]),  # (T, B, word_units) int8
        helper.make_node("Cast", ["gathered"], ["widened"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scales", "ids"], ["scaling"]),  # (T, B, 1)
        helper.make_node("Mul", ["widened", "scaling"], ["inputs"]),
        *(helper.make_node("Cast", [f"{k}_half"], [k], to=TensorProto.FLOAT) for k in halves),
        helper.make_node(
            "GRU",
            ["inputs", "W", "R", "B", "lengths"],
            ["", "last"],  # (directions, B, hidden)
            hidden_size=model.config.units // directions,
            direction="bidirectional" if directions == 2 else "forward",
            linear_before_reset=1,  # where PyTorch applies the reset gate
        ),
        helper.make_node("Transpose", ["last"], ["turned"], perm=[1, 0, 2]),
        helper.make_node("Flatten", ["turned"], ["vectors"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "skip-thought encoder",
        [
            helper.make_tensor_value_info("ids", TensorProto.INT64, ["words_", "sentences"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["sentences"]),
        ],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["sentences", "units"])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
    proto.ir_version = 8
    onnx.checker.check_model(proto)
    return proto


def quantize_rows(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Each row as bytes from -127 to 127 and the number they are multiplied by."""
    scales = np.abs(values).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def _gru_weights(model: SkipThought, directions: int) -> dict[str, NDArray[np.float16]]:
    """PyTorch's gates (reset, update, new) in ONNX's order (update, reset, hidden), halved."""
    suffixes = ("", "_reverse")[:directions]

    def stacked(name: str) -> NDArray[np.float32]:
        parts = (_numpy(getattr(model.encoder, f"{name}_l0{suffix}")) for suffix in suffixes)
        return np.stack([_reorder(part) for part in parts])

    biases = np.concatenate([stacked("bias_ih"), stacked("bias_hh")], axis=1)
    return {
        "W_half": stacked("weight_ih").astype(np.float16),
        "R_half": stacked("weight_hh").astype(np.float16),
        "B_half": biases.astype(np.float16),
    }


def _reorder(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    reset, update, new = np.split(gates, 3)
    return np.concatenate([update, reset, new])


def _numpy(parameter: Tensor) -> NDArray[np.float32]:
    values: NDArray[np.float32] = parameter.detach().float().cpu().numpy()
    return values
