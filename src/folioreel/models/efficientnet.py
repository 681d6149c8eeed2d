"""EfficientNet-Lite (Tan and Le 2019) as an ONNX graph, made from its weights alone.

The network is a stem, seven stages of inverted bottlenecks and a head; all of its settings but the
strides can be read off the weights. Normalisation is folded into the convolutions. Pictures go in
as bytes, and both kinds of features come out of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[Any]]

_EPSILON = 1e-3  # of the normalisation
_MEAN, _SCALE = 127.0, 128.0
_STRIDES = (1, 2, 2, 2, 1, 2, 1)  # of the first block of each stage
_OPSET = 17


def efficientnet_graph(weights: Weights) -> onnx.ModelProto:
    """The network from `frames` (N, height, width, 3), uint8, to its features.

    `visual`: (N, 1280), the last features, which the network tells objects by. `scene`: (N, C),
    what the last bottleneck filters: of the layers and layouts that were tried, it told most
    beside `visual` (docs/visual.md). Both are means over the picture.
    """
    graph = _Graph(weights)
    centred = graph.node(
        "Sub",
        graph.node("Cast", "frames", to=TensorProto.FLOAT),
        graph.constant(np.array(_MEAN, dtype=np.float32)),
    )
    scaled = graph.node("Div", centred, graph.constant(np.array(_SCALE, dtype=np.float32)))
    state = graph.node("Transpose", scaled, perm=[0, 3, 1, 2])  # (N, 3, H, W)
    state = graph.clip(graph.convolution(state, "_conv_stem", "_bn0", stride=2))
    stage = -1
    for number in range(_count_blocks(weights)):
        block = f"_blocks.{number}"
        starts_stage = not _keeps_channels(weights, block)
        stage += starts_stage
        widened = _widen(graph, state, block)
        state = _narrow(graph, state, widened, block, _STRIDES[stage] if starts_stage else 1)
    graph.output("scene", widened)
    state = graph.clip(graph.convolution(state, "_conv_head", "_bn1"))  # (N, 1280, H/32, W/32)
    graph.output("visual", state)
    return graph.model()


def _widen(graph: _Graph, state: str, block: str) -> str:
    """The first half of a bottleneck: more channels; the first stage has enough."""
    if f"{block}._expand_conv.weight" not in graph.weights:
        return state
    return graph.clip(graph.convolution(state, f"{block}._expand_conv", f"{block}._bn0"))


def _narrow(graph: _Graph, state: str, widened: str, block: str, stride: int) -> str:
    """The second half: filter each channel by itself, mix; the input is added where it fits."""
    depthwise = (f"{block}._depthwise_conv", f"{block}._bn1")
    filtered = graph.clip(graph.convolution(widened, *depthwise, stride=stride))
    narrowed = graph.convolution(filtered, f"{block}._project_conv", f"{block}._bn2")
    if _keeps_channels(graph.weights, block):
        return graph.node("Add", narrowed, state)
    return narrowed


class _Graph:
    """Nodes and weights in the order they are added; every node gives one named output."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._outputs: list[str] = []
        self._bounds = [self.constant(np.array(bound, dtype=np.float32)) for bound in (0, 6)]

    def constant(self, values: NDArray[Any]) -> str:
        """Numbers as they are."""
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """One operation; the name of its output."""
        output = f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def clip(self, state: str) -> str:
        """ReLU6."""
        return self.node("Clip", state, *self._bounds)

    def convolution(self, state: str, name: str, norm: str, stride: int = 1) -> str:
        """A convolution with its normalisation, in float64 until both are one."""
        kernel = self.weights[f"{name}.weight"].astype(np.float64)  # (out, in / groups, K, K)
        gain, bias, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        gain /= np.sqrt(variance + _EPSILON)
        return self.node(
            "Conv",
            state,
            self.constant((kernel * gain[:, None, None, None]).astype(np.float32)),
            self.constant((bias - mean * gain).astype(np.float32)),
            strides=[stride, stride],
            auto_pad="SAME_UPPER",  # as TensorFlow pads, in which it was trained
            group=len(kernel) if kernel.shape[1] == 1 else 1,
        )

    def output(self, name: str, state: str) -> None:
        """Give the mean of a state over the picture to the caller, under a name."""
        mean = helper.make_node("ReduceMean", [state], [name], axes=[2, 3], keepdims=0)
        self._nodes.append(mean)
        self._outputs.append(name)

    def model(self) -> onnx.ModelProto:
        """The graph as a whole."""
        shape: list[str | int | None] = ["N", "height", "width", 3]
        frames = helper.make_tensor_value_info("frames", TensorProto.UINT8, shape)
        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", f"{name}_units"])
            for name in self._outputs
        ]
        graph = helper.make_graph(
            self._nodes, "efficientnet-lite", [frames], outputs, self._constants
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
        proto.ir_version = 8
        onnx.checker.check_model(proto)
        return proto


def _count_blocks(weights: Weights) -> int:
    return 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("_blocks."))


def _keeps_channels(weights: Weights, block: str) -> bool:
    """Whether a block gives as many channels as it takes; one that does not begins a stage."""
    widen = weights.get(f"{block}._expand_conv.weight")
    depthwise = weights[f"{block}._depthwise_conv.weight"]
    taken = len(depthwise) if widen is None else widen.shape[1]
    return bool(taken == len(weights[f"{block}._project_conv.weight"]))
