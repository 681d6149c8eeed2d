"""EfficientNet-Lite (Tan and Le 2019) as an ONNX graph, from its published checkpoint alone.

The network is a stem, seven stages of inverted bottlenecks and a head; all of its settings but the
strides can be read off the weights. Batch normalisation is folded into the convolutions. Pictures
go in as bytes, and both kinds of features come out of one run.

The checkpoint is of PyTorch's older format, read here without PyTorch and without running code of
the file: four pickles (a magic number, a version, the machine, the tensors by name), then the names
of the storages, then each storage, a count and its numbers.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from folioreel.models.onnx_graphs import GraphBuilder

if TYPE_CHECKING:
    from onnx import ModelProto

Weights = Mapping[str, NDArray[Any]]

# As it was trained, in TensorFlow: the epsilon of the batch normalisation, the mean and the scale
# of the pixels, and the stride of the first block of each stage. Others give other features.
_EPSILON = 1e-3
_MEAN, _SCALE = 127.0, 128.0
_STRIDES = (1, 2, 2, 2, 1, 2, 1)

# How a file of PyTorch's older format begins: a magic number and a version.
_HEAD = [0x1950A86A20F9469CFC6C, 1001]


def efficientnet_graph(weights: Weights) -> ModelProto:
    """The network from `frames` (N, height, width, 3), uint8, to its features.

    `visual`: (N, 1280), the last features, by which the network tells objects apart. `scene`:
    (N, C), the input of the last bottleneck's filter: of the layers and layouts that were tried, it
    added most to `visual` (docs/explanation/visual.md). Both are means over the picture.
    """
    layers = _Layers(weights)
    state = layers.clip(layers.convolution(layers.pixels(), "_conv_stem", "_bn0", stride=2))
    stage = -1
    blocks = {int(name.split(".")[1]) for name in weights if name.startswith("_blocks.")}
    for number in sorted(blocks):
        block = f"_blocks.{number}"
        starts_stage = not _keeps_channels(weights, block)
        stage += starts_stage
        widened = layers.widen(state, block)
        state = layers.narrow(state, widened, block, _STRIDES[stage] if starts_stage else 1)
    state = layers.clip(layers.convolution(state, "_conv_head", "_bn1"))  # (N, 1280, H/32, W/32)
    for name, values in (("scene", widened), ("visual", state)):
        layers.graph.node("ReduceMean", values, output=name, axes=[2, 3], keepdims=0)
    return layers.graph.model(
        "efficientnet-lite",
        {"frames": ("UINT8", ("N", "height", "width", 3))},
        {name: ("N", f"{name}_units") for name in ("scene", "visual")},
    )


class _Layers:
    """The layers of the network, added to a graph."""

    def __init__(self, weights: Weights) -> None:
        self.graph = GraphBuilder()
        self._weights = weights
        self._bounds = [self._number(bound) for bound in (0, 6)]

    def pixels(self) -> str:
        """The input, scaled: (N, 3, H, W)."""
        centred = self.graph.node("Sub", self.graph.cast("frames", "FLOAT"), self._number(_MEAN))
        scaled = self.graph.node("Div", centred, self._number(_SCALE))
        return self.graph.node("Transpose", scaled, perm=[0, 3, 1, 2])

    def clip(self, state: str) -> str:
        """ReLU6."""
        return self.graph.node("Clip", state, *self._bounds)

    def widen(self, state: str, block: str) -> str:
        """The first half of a bottleneck: more channels; the first stage has enough."""
        if f"{block}._expand_conv.weight" not in self._weights:
            return state
        return self.clip(self.convolution(state, f"{block}._expand_conv", f"{block}._bn0"))

    def narrow(self, state: str, widened: str, block: str, stride: int) -> str:
        """The second half: filter each channel by itself, mix; the input is added where it fits."""
        depthwise = (f"{block}._depthwise_conv", f"{block}._bn1")
        filtered = self.clip(self.convolution(widened, *depthwise, stride=stride))
        narrowed = self.convolution(filtered, f"{block}._project_conv", f"{block}._bn2")
        if _keeps_channels(self._weights, block):
            return self.graph.node("Add", narrowed, state)
        return narrowed

    def convolution(self, state: str, name: str, norm: str, stride: int = 1) -> str:
        """A convolution with its normalisation, in float64 until both are one."""
        weights = self._weights
        kernel = weights[f"{name}.weight"].astype(np.float64)  # (out, in / groups, K, K)
        gain, bias, mean, variance = (
            weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        gain /= np.sqrt(variance + _EPSILON)
        return self.graph.node(
            "Conv",
            state,
            self.graph.constant((kernel * gain[:, None, None, None]).astype(np.float32)),
            self.graph.constant((bias - mean * gain).astype(np.float32)),
            strides=[stride, stride],
            auto_pad="SAME_UPPER",  # as TensorFlow pads
            group=len(kernel) if kernel.shape[1] == 1 else 1,
        )

    def _number(self, value: float) -> str:
        return self.graph.constant(np.array(value, dtype=np.float32))


def _keeps_channels(weights: Weights, block: str) -> bool:
    """Whether a block has as many channels at its end as at its start; else it begins a stage."""
    widen = weights.get(f"{block}._expand_conv.weight")
    depthwise = weights[f"{block}._depthwise_conv.weight"]
    taken = len(depthwise) if widen is None else widen.shape[1]
    return bool(taken == len(weights[f"{block}._project_conv.weight"]))


def read_checkpoint(data: bytes) -> dict[str, NDArray[Any]]:
    """The tensors of a checkpoint by name."""
    stream = io.BytesIO(data)
    try:
        head = [_Unpickler(stream).load() for _ in range(3)]
        if head[:2] != _HEAD:
            raise ValueError("is not a checkpoint of PyTorch's older format")
        reader = _Unpickler(stream)
        tensors = reader.load()
        keys = _Unpickler(stream).load()
        storages = {key: _read_storage(stream, reader.kinds[key]) for key in keys}
        return {name: tensor.values(storages) for name, tensor in tensors.items()}
    except (pickle.UnpicklingError, EOFError, KeyError, AttributeError, struct.error) as error:
        raise ValueError(f"is a damaged checkpoint ({error})") from error


class _Tensor:
    """A tensor whose numbers come later in the file."""

    def __init__(self, storage: str, offset: int, shape: Any, strides: Any, *_: object) -> None:
        self._storage, self._offset = storage, offset
        self._shape, self._strides = tuple(shape), tuple(strides)

    def values(self, storages: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The numbers, in the tensor's shape."""
        numbers, shape, strides = storages[self._storage], self._shape, self._strides
        last = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        is_negative = min((self._offset, *strides, *shape)) < 0
        # `as_strided` checks nothing: it would read whatever lies in memory behind the numbers.
        if is_negative or self._offset + last >= len(numbers):
            raise ValueError("holds a tensor that reaches beyond its numbers")
        steps = [step * numbers.itemsize for step in strides]
        return np.lib.stride_tricks.as_strided(numbers[self._offset :], shape, steps).copy()


# What a pickle may call: a `_rebuild_tensor_v2` gets a storage's key, and then as `_Tensor` does.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor_v2"): _Tensor,
    ("torch", "FloatStorage"): "<f4",
    ("torch", "LongStorage"): "<i8",
}


class _Unpickler(pickle.Unpickler):
    """Knows tensors and ordered dictionaries, and nothing else: a pickle can run any code."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.kinds: dict[str, str] = {}  # the number type of each storage

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle may call."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return _ALLOWED[module, name]

    def persistent_load(self, pid: Any) -> str:
        """A storage: its key."""
        _, kind, key, _, _, _ = pid
        self.kinds[key] = kind
        return str(key)


def _read_storage(stream: io.BytesIO, kind: str) -> NDArray[Any]:
    """The count of numbers, and the numbers."""
    (count,) = struct.unpack("<q", stream.read(8))
    data = stream.read(count * np.dtype(kind).itemsize)
    if count < 0 or len(data) != count * np.dtype(kind).itemsize:
        raise EOFError("it breaks off")
    return np.frombuffer(data, dtype=kind)
