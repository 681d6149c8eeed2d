"""A network, its graph, and the network out of the graph again."""

import numpy as np
import onnx
import pytest
import torch
from made_encoders import made_networks
from made_transformer import PIECES, made_transformer
from onnx import numpy_helper

from folioreel.errors import ModelFolderError
from folioreel.models.onnx_graphs import open_session
from folioreel.train.onnx import skip_thought_graph, transformer_graph
from folioreel.train.transformer import Transformer


def weights(graph):
    return [numpy_helper.to_array(weight) for weight in graph.graph.initializer]


def test_there_and_back_gives_the_same_graph():
    graph = transformer_graph(made_transformer())
    network = Transformer.from_graph(graph)
    again = transformer_graph(network)
    assert [node.op_type for node in again.graph.node] == [
        node.op_type for node in graph.graph.node
    ]
    for found, expected in zip(weights(again), weights(graph), strict=True):
        assert found.dtype == expected.dtype
        if found.dtype == np.float32:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_array_equal(found, expected)
    assert network.config == made_transformer().config


def test_the_network_computes_what_the_graph_does():
    graph = transformer_graph(made_transformer())
    network = Transformer.from_graph(graph).eval()
    network.round_to_bytes()
    ids = torch.randint(4, len(PIECES), (5, 9))
    real = torch.ones_like(ids)
    real[2, 6:] = 0
    with torch.no_grad():
        found = network(ids, real.bool()).numpy()
    session = open_session(graph.SerializeToString())
    (states,) = session.run(None, {"input_ids": ids.numpy(), "attention_mask": real.numpy()})
    mean = (states * real.numpy()[:, :, None]).sum(axis=1)
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=0.02)


def test_kept_bounds_stay():
    network = made_transformer()
    layer = network.layers[0].widen
    network.keep_bounds()
    before = float(layer.low), float(layer.high)
    network.train()
    network(torch.full((2, 4), 5), torch.ones(2, 4, dtype=torch.bool))
    assert (float(layer.low), float(layer.high)) == before


def test_other_graphs_are_refused():
    for graph in (skip_thought_graph(made_networks()[0]), onnx.ModelProto()):
        with pytest.raises(ModelFolderError, match="cannot be trained"):
            Transformer.from_graph(graph)
