"""A transformer's network out of its ONNX graph: the way back from `transformer_graph` in onnx.py.

The graph is what ships, so training can go on from it without another file of weights. Its numbers
are bytes with scales; the network gets exactly what they stand for, and the bounds of activations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import nn

from folioreel.errors import ModelFolderError
from folioreel.train.transformer import (
    ByteLinear,
    Transformer,
    TransformerConfig,
    TransformerLayer,
)

_LARGEST = 255  # of a byte


def network_from_graph(model: onnx.ModelProto) -> Transformer:
    """The network of a graph that `transformer_graph` made.

    Raises:
        ModelFolderError: It is another kind of graph.
    """
    try:
        return _Reader(model).network()
    except (LookupError, ValueError, TypeError, RuntimeError) as error:
        raise ModelFolderError(
            "this graph cannot be trained, as it is not a transformer that folioreel wrote; give"
            " paraphrase or the result of `folioreel train encoder`"
        ) from error


class _Reader:
    """The nodes and weights of a graph, in the order in which they were added."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.nodes: list[Any] = list(model.graph.node)
        self.weights: dict[str, NDArray[Any]] = {
            weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer
        }

    def network(self) -> Transformer:
        """The network with all of its weights."""
        places, rows, scales = self._tables()
        products = [k for k, node in enumerate(self.nodes) if node.op_type == "MatMulInteger"]
        norms = [node for node in self.nodes if node.op_type == "LayerNormalization"]
        layers, left = divmod(len(products), 4)
        if left or not layers or len(norms) != 2 * layers + 1:
            raise ValueError("the layers are not as expected")
        config = TransformerConfig(
            vocabulary=len(rows),
            units=rows.shape[1],
            layers=layers,
            heads=self._heads(),
            inner_units=self._weight(self.nodes[products[2]], 1).shape[1],
            longest=len(places),
        )
        network = Transformer(config)
        with torch.no_grad():
            network.pieces.weight.copy_(torch.from_numpy(rows * scales))
            network.places.copy_(torch.from_numpy(places.copy()))
        self._fill_norm(network.norm, norms[0])
        for k, layer in enumerate(network.layers):
            assert isinstance(layer, TransformerLayer)
            linears = (layer.queries_keys_values, layer.mix, layer.widen, layer.narrow)
            for linear, place in zip(linears, products[4 * k : 4 * k + 4], strict=True):
                self._fill_linear(linear, place)
            self._fill_norm(layer.attention_norm, norms[2 * k + 1])
            self._fill_norm(layer.inner_norm, norms[2 * k + 2])
        return network

    def _tables(self) -> list[NDArray[Any]]:
        """Vectors of places (T, units), and of pieces: bytes (V, units) with scales (V, 1)."""
        gathers = (node.input[0] for node in self.nodes if node.op_type == "Gather")
        tables = [self.weights[name] for name in gathers if name in self.weights]
        if [table.ndim for table in tables] != [2, 2, 2] or tables[1].dtype != np.int8:
            raise ValueError("the tables are not as expected")
        return tables

    def _heads(self) -> int:
        shapes = (self._weight(node, 1) for node in self.nodes if node.op_type == "Reshape")
        return int(next(shape[3] for shape in shapes if len(shape) == 5))

    def _fill_linear(self, linear: ByteLinear, place: int) -> None:
        """The layer whose product of bytes is at this place among the nodes."""
        given, product, _, scaled, added = self.nodes[place - 1 : place + 4]
        scale = np.float64(self._weight(given, 1))
        zero = int(self._weight(product, 2))
        scales = self._weight(scaled, 1).astype(np.float64) / scale  # (outputs,)
        weight = self._weight(product, 1).T * scales[:, None]  # (outputs, inputs)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight))
            linear.bias.copy_(torch.from_numpy(self._weight(added, 1).copy()))
            linear.low.fill_(float(-zero * scale))
            linear.high.fill_(float((_LARGEST - zero) * scale))

    def _fill_norm(self, norm: nn.LayerNorm, node: Any) -> None:
        with torch.no_grad():
            norm.weight.copy_(torch.from_numpy(self._weight(node, 1).copy()))
            norm.bias.copy_(torch.from_numpy(self._weight(node, 2).copy()))

    def _weight(self, node: Any, number: int) -> NDArray[Any]:
        """The weight that a node has as one of its inputs."""
        return self.weights[node.input[number]]
