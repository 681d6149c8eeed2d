"""A tensor and a context model of one convolution, both made."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folioreel.models.context_cnn import ContextModel
from folioreel.similarity.tensor import SimilarityTensor


class MadeRows:
    """A whole tensor (M, I, J) given block by block, with zeros beyond the film's ends."""

    def __init__(self, planes, measures):
        self.planes, self.measures, self.shape = planes, measures, planes.shape[1:]

    def block(self, first, last, halo=0):
        padded = np.pad(self.planes, ((0, 0), (halo, halo), (0, 0)))
        values = np.moveaxis(padded[:, first : last + 2 * halo], 0, -1)
        return SimilarityTensor(values=values, measures=self.measures, first=first, halo=halo)

    def blocks(self, rows=128, halo=0):
        for first in range(0, self.shape[0], rows):
            yield self.block(first, min(first + rows, self.shape[0]), halo)


def made_model(weights: np.ndarray) -> ContextModel:
    """One convolution: (1, M, rows, columns)."""
    nodes = [helper.make_node("Conv", ["planes", "weights"], ["log_odds"])]
    given = helper.make_tensor_value_info(
        "planes", TensorProto.FLOAT, ["N", weights.shape[1], 0, 0]
    )
    given.type.tensor_type.shape.dim[2].dim_param = "R"
    given.type.tensor_type.shape.dim[3].dim_param = "C"
    found = helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, ["N", 1, "S", "D"])
    graph = helper.make_graph(
        nodes, "made", [given], [found], [numpy_helper.from_array(weights, "weights")]
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    proto.ir_version = 8
    onnx.checker.check_model(proto)
    return ContextModel(
        name="made",
        measures=("tfidf", "prior")[: weights.shape[1]],
        halo=(weights.shape[2] // 2, weights.shape[3] // 2),
        graph=proto.SerializeToString(),
        training={"seed": 3},
        card="# made\n",
    )
