"""Trained networks → ONNX graphs, and the models around them, which users run without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.models.onnx_graphs import GraphBuilder, quantize_rows
from folioreel.models.visual_semantic import ClipMap, VisualSemantic
from folioreel.models.word_encoder import EncoderPart, WordEncoder
from folioreel.train.context_cnn import ContextNetwork
from folioreel.train.skip_thought import SkipThought
from folioreel.train.student import AttentionLayer, Student, StudentConfig
from folioreel.train.transformer import (
    ByteLinear,
    Transformer,
    TransformerConfig,
    TransformerLayer,
)
from folioreel.train.visual_semantic import LstmReader, VisualSemanticNetwork


def skip_thought_graph(model: SkipThought) -> onnx.ModelProto:
    """The encoder of a skip-thought model."""
    config = model.config
    directions = 2 if config.bidirectional else 1
    graph = GraphBuilder()
    last = graph.last_state(
        "words",
        graph.matrix(_gates(model, "weight_ih")[:, :, : config.word_units]),
        graph.matrix(_gates(model, "weight_hh")),
        graph.constant(np.concatenate([_gates(model, "bias_ih"), _gates(model, "bias_hh")], 1)),
        "lengths",
        hidden_size=config.units // directions,
        direction="bidirectional" if directions == 2 else "forward",
        linear_before_reset=1,  # where PyTorch applies the reset gate
    )
    graph.node("Flatten", graph.node("Transpose", last, perm=[1, 0, 2]), output="vectors", axis=1)
    return graph.sentence_encoder("skip-thought encoder", config.word_units, config.units)


def student_graph(student: Student) -> onnx.ModelProto:
    """A student without its table of word vectors."""
    graph = GraphBuilder()
    config = student.config
    words = graph.node("Transpose", "words", perm=[1, 0, 2])  # (B, T, word_units)
    length = graph.node("Gather", graph.node("Shape", words), graph.constant(np.array(1)), axis=0)
    zero, one = graph.constant(np.array(0)), graph.constant(np.array(1))
    steps = graph.node("Range", zero, length, one)  # (T,)
    places = graph.node("Gather", graph.constant(to_numpy(student.places)), steps, axis=0)
    lengths = graph.cast("lengths", "INT64")
    column = graph.node("Unsqueeze", lengths, graph.constant(np.array([1])))
    real = graph.cast(graph.node("Less", steps, column), "FLOAT")  # (B, T)
    # Padding gets a score so low that its softmax is 0.
    absent = graph.node("Sub", real, graph.constant(np.array(1, dtype=np.float32)))
    mask = graph.node("Mul", absent, graph.constant(np.array(1e9, dtype=np.float32)))
    mask = graph.node("Unsqueeze", mask, graph.constant(np.array([1, 2])))  # (B, 1, 1, T)
    words = graph.node("Add", words, places)
    for layer in student.layers:
        words = _attention(graph, cast(AttentionLayer, layer), words, mask, config)
    words = _norm(graph, student.norm, words)
    weights = graph.node("Unsqueeze", real, graph.constant(np.array([1])))  # (B, 1, T)
    total = graph.node("MatMul", weights, words)  # (B, 1, word_units)
    total = graph.node("Squeeze", total, graph.constant(np.array([1])))
    count = graph.cast(column, "FLOAT")
    mapped = _linear(graph, student.map, graph.node("Div", total, count))
    size = graph.node("ReduceL2", mapped, axes=[1], keepdims=1)
    graph.node("Div", mapped, size, output="vectors")
    return graph.sentence_encoder("student", config.word_units, config.units)


def transformer_graph(network: Transformer) -> onnx.ModelProto:
    """A transformer whose linear layers multiply bytes: texts as piece numbers → piece vectors."""
    graph = GraphBuilder()
    config = network.config
    length = graph.node("Gather", graph.node("Shape", "input_ids"), graph.integers(1), axis=0)
    steps = graph.node("Range", graph.integers(0), length, graph.integers(1))
    places = graph.node("Gather", graph.constant(to_numpy(network.places)), steps, axis=0)
    rows, scales = quantize_rows(to_numpy(network.pieces.weight))
    stored = graph.node("Gather", graph.constant(rows), "input_ids", axis=0)  # (B, T, units)
    scaling = graph.node("Gather", graph.constant(scales[:, None]), "input_ids", axis=0)
    pieces = graph.node("Mul", graph.cast(stored, "FLOAT"), scaling)
    pieces = _norm(graph, network.norm, graph.node("Add", pieces, places))
    real = graph.cast("attention_mask", "FLOAT")
    absent = graph.node("Sub", real, graph.constant(np.array(1, dtype=np.float32)))
    mask = graph.node("Mul", absent, graph.constant(np.array(1e9, dtype=np.float32)))
    mask = graph.node("Unsqueeze", mask, graph.integers([1, 2]))  # (B, 1, 1, T)
    for layer in network.layers:
        pieces = _byte_layer(graph, cast(TransformerLayer, layer), pieces, mask, config)
    graph.node("Identity", pieces, output="last_hidden_state")
    shape = ("B", "T")
    inputs = {"input_ids": ("INT64", shape), "attention_mask": ("INT64", shape)}
    return graph.model("transformer", inputs, {"last_hidden_state": (*shape, config.units)})


def _byte_layer(
    graph: GraphBuilder, layer: TransformerLayer, pieces: str, mask: str, config: TransformerConfig
) -> str:
    """One layer: (B, T, units) → the same."""
    size = config.units // config.heads
    joined = _byte_linear(graph, layer.queries_keys_values, pieces)
    split = graph.node("Reshape", joined, graph.integers([0, 0, 3, config.heads, size]))
    turned = graph.node("Transpose", split, perm=[2, 0, 3, 1, 4])  # (3, B, heads, T, size)
    queries, keys, values = (
        graph.node("Gather", turned, graph.integers(third), axis=0) for third in range(3)
    )
    keys = graph.node("Transpose", keys, perm=[0, 1, 3, 2])
    scale = graph.constant(np.array(size**-0.5, dtype=np.float32))
    scores = graph.node("Mul", graph.node("MatMul", queries, keys), scale)
    shares = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)  # (B, heads, T, T)
    seen = graph.node("Transpose", graph.node("MatMul", shares, values), perm=[0, 2, 1, 3])
    seen = graph.node("Reshape", seen, graph.integers([0, 0, config.units]))
    pieces = graph.node("Add", pieces, _byte_linear(graph, layer.mix, seen))
    pieces = _norm(graph, layer.attention_norm, pieces)
    inner = _byte_linear(graph, layer.widen, pieces)
    half, one, root = (graph.constant(np.array(v, dtype=np.float32)) for v in (0.5, 1, 2**0.5))
    # ONNX Runtime knows these five operations as one: GELU.
    error = graph.node("Erf", graph.node("Div", inner, root))
    inner = graph.node("Mul", graph.node("Mul", inner, graph.node("Add", error, one)), half)
    narrowed = _byte_linear(graph, layer.narrow, inner)
    return _norm(graph, layer.inner_norm, graph.node("Add", pieces, narrowed))


def _byte_linear(graph: GraphBuilder, linear: ByteLinear, values: str) -> str:
    """A linear layer as a product of bytes, scaled back."""
    scale = to_numpy(linear.input_scale).reshape(())
    zero = graph.constant(to_numpy(linear.input_zero).astype(np.uint8).reshape(()))
    scales = to_numpy(linear.weight_scales)  # (outputs, 1)
    weight = np.rint(to_numpy(linear.weight) / scales).astype(np.int8).T  # (inputs, outputs)
    given = graph.node("QuantizeLinear", values, graph.constant(scale), zero)
    none = graph.constant(np.array(0, dtype=np.int8))
    product = graph.node("MatMulInteger", given, graph.constant(weight.copy()), zero, none)
    scaled = graph.node("Mul", graph.cast(product, "FLOAT"), graph.constant(scales[:, 0] * scale))
    return graph.node("Add", scaled, graph.constant(to_numpy(linear.bias)))


def lstm_graph(reader: LstmReader) -> onnx.ModelProto:
    """The paper's LSTM without its table of word vectors."""
    graph = GraphBuilder()
    units, lstm = reader.lstm.units, reader.lstm
    order = (0, 3, 1, 2)  # in, forget, cell, out → in, out, forget, cell
    bias = _reorder(lstm.inputs.bias, order)
    into, keep, out = to_numpy(lstm.peepholes)
    last = graph.last_state(
        "words",
        graph.matrix(_reorder(lstm.inputs.weight, order)[None]),
        graph.matrix(_reorder(lstm.states.weight, order)[None]),
        graph.constant(np.concatenate([bias, np.zeros_like(bias)])[None]),
        "lengths",
        "",  # the initial state and cell are zeros
        "",
        graph.constant(np.concatenate([into, out, keep])[None]),
        kind="LSTM",
        hidden_size=units,
    )
    state = graph.node("Squeeze", last, graph.constant(np.array([0])))
    size = graph.node("ReduceL2", state, axes=[1], keepdims=1)
    graph.node("Div", state, size, output="vectors")
    return graph.sentence_encoder("LSTM with peepholes", reader.config.word_units, units)


def context_graph(network: ContextNetwork) -> bytes:
    """A context CNN: `planes` (N, M, R, C) → `log_odds` (N, 1, R', C')."""
    graph = GraphBuilder()
    values = "planes"
    last = len(network.layers) - 1
    for k, layer in enumerate(network.layers):
        weight, bias = (to_numpy(parameter) for parameter in layer.parameters())
        if k == 0:
            weight = weight * to_numpy(network.scale)  # so that users need not scale the measures
        inputs = values, graph.constant(weight), graph.constant(bias)
        if k == last:
            graph.node("Conv", *inputs, output="log_odds")
        else:
            values = graph.node("Relu", graph.node("Conv", *inputs))
    planes = ("FLOAT", ("N", len(network.config.measures), "R", "C"))
    proto = graph.model("context model", {"planes": planes}, {"log_odds": ("N", 1, "S", "D")})
    return bytes(proto.SerializeToString())


def _reorder(parameter: Tensor, order: tuple[int, ...]) -> NDArray[np.float32]:
    """The weights of a recurrent layer with its gates in ONNX's order."""
    gates = np.split(to_numpy(parameter), len(order))
    return np.concatenate([gates[k] for k in order])


def _attention(
    graph: GraphBuilder, layer: AttentionLayer, words: str, mask: str, config: StudentConfig
) -> str:
    """One layer: (B, T, word_units) → the same."""
    size = config.word_units // config.heads
    scale = np.array(size**-0.5, dtype=np.float32)
    split = graph.constant(np.array([0, 0, config.heads, size]))
    normed = _norm(graph, layer.attention_norm, words)
    queries, keys, values = (
        graph.node(
            "Transpose",
            graph.node("Reshape", _linear(graph, layer.queries_keys_values, normed, third), split),
            perm=perm,
        )
        for third, perm in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    )
    scores = graph.node("Mul", graph.node("MatMul", queries, keys), graph.constant(scale))
    shares = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)  # (B, heads, T, T)
    seen = graph.node("Transpose", graph.node("MatMul", shares, values), perm=[0, 2, 1, 3])
    joined = graph.node("Reshape", seen, graph.constant(np.array([0, 0, config.word_units])))
    words = graph.node("Add", words, _linear(graph, layer.mix, joined))
    inner = _linear(graph, layer.widen, _norm(graph, layer.inner_norm, words))
    return graph.node("Add", words, _linear(graph, layer.narrow, graph.node("Relu", inner)))


def _norm(graph: GraphBuilder, norm: nn.LayerNorm, values: str) -> str:
    weight, bias = graph.constant(to_numpy(norm.weight)), graph.constant(to_numpy(norm.bias))
    return graph.node("LayerNormalization", values, weight, bias, axis=-1, epsilon=norm.eps)


def _linear(graph: GraphBuilder, linear: nn.Linear, values: str, third: int | None = None) -> str:
    """A linear layer, or one third of its outputs."""
    weight, bias = to_numpy(linear.weight), to_numpy(linear.bias)
    if third is not None:
        weight, bias = np.split(weight, 3)[third], np.split(bias, 3)[third]
    turned = graph.node("Transpose", graph.matrix(weight), perm=[1, 0])
    return graph.node("Add", graph.node("MatMul", values, turned), graph.constant(bias))


def _gates(model: SkipThought, name: str) -> NDArray[np.float32]:
    """PyTorch's gates (reset, update, new) in ONNX's order: update, reset, new; per direction."""
    suffixes = ("", "_reverse") if model.config.bidirectional else ("",)
    parameters = [getattr(model.encoder, f"{name}_l0{suffix}") for suffix in suffixes]
    return np.stack([_reorder(parameter, (1, 0, 2)) for parameter in parameters])


def to_numpy(parameter: Tensor) -> NDArray[np.float32]:
    """A parameter's values."""
    values: NDArray[np.float32] = parameter.detach().float().cpu().numpy()
    return values


def encoder_part(name: str, graph: onnx.ModelProto, words: Tensor) -> EncoderPart:
    """A part of an encoder, with its word vectors as bytes."""
    rows, scales = quantize_rows(to_numpy(words))
    return EncoderPart(name=name, graph=graph.SerializeToString(), words=rows, scales=scales)


def embedding_part(name: str, network: VisualSemanticNetwork) -> tuple[EncoderPart, ClipMap]:
    """One network as a part of an embedding: its sentence reader and its map of clips."""
    reader = network.reader
    graph = lstm_graph(reader) if isinstance(reader, LstmReader) else student_graph(reader)
    weight, bias = network.fold(network.clips)
    rows, scales = quantize_rows(weight)
    clip_map = ClipMap(weight=rows, scales=scales, bias=bias, root=network.config.root)
    return encoder_part(name, graph, reader.words.weight), clip_map


def embedding_model(
    name: str,
    features: str,
    networks: Mapping[str, VisualSemanticNetwork],
    student: WordEncoder,
    report: dict[str, Any],
    card: str,
) -> VisualSemantic:
    """Networks, by the name of their part, as one embedding of some kind of frame features.

    They read with the word vectors of a student that comes with the package, so that these need
    not be stored again.
    """
    parts = {part: embedding_part(part, network) for part, network in networks.items()}
    (words,) = student.parts
    first = next(iter(networks.values()))
    sentences = WordEncoder(
        name=name,
        vocabulary=student.vocabulary,
        parts=tuple(
            replace(part, words=words.words, scales=words.scales) for part, _ in parts.values()
        ),
        longest=first.config.longest,
        normalize=True,
        back_off=student.back_off,
        training=report,
        card=card,
    )
    clips = tuple(clip_map for _, clip_map in parts.values())
    return VisualSemantic(
        name=name, features=features, sentences=sentences, clips=clips, words_of=student.name
    )
