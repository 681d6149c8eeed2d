"""Trained networks → encoders as they are saved for users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import onnx
import torch
from torch import Tensor

from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.visual_semantic import ClipMap
from folioreel.models.visual_semantic import VisualSemantic as Embedding
from folioreel.models.vocabulary import PADDING, Vocabulary
from folioreel.models.word_encoder import EncoderModel, EncoderPart
from folioreel.train.onnx import (
    lstm_graph,
    skip_thought_graph,
    student_graph,
    to_numpy,
)
from folioreel.train.skip_thought import SkipThought
from folioreel.train.student import Student
from folioreel.train.visual_semantic import LstmReader, VisualSemantic, load_student_layers


def skip_thought_encoder(
    model: SkipThought, vocabulary: Vocabulary, longest: int, report: dict[str, Any]
) -> EncoderModel:
    """The encoder of a skip-thought model, with a card that says what was measured."""
    name = "bi-skip" if model.config.bidirectional else "uni-skip"
    last = report["log"][-1] if report["log"] else {}
    figures = [f"- {key.replace('_', ' ')}: {value:.4g}" for key, value in last.items()]
    card = [
        f"# {name}",
        "",
        "A skip-thought sentence encoder, trained with `folioreel train sentences`.",
        "",
        f"- books: {report['corpus']['books']:,}, sentences: {report['corpus']['sentences']:,}",
        f"- words: {len(vocabulary):,}, vectors of {model.config.units:,}",
        *figures,
    ]
    return EncoderModel(
        name=name,
        vocabulary=vocabulary,
        parts=(encoder_part(name, skip_thought_graph(model), model.words.weight),),
        longest=longest,
        normalize=True,
        training=report,
        card="\n".join(card) + "\n",
    )


def encoder_part(name: str, graph: onnx.ModelProto, words: Tensor) -> EncoderPart:
    """A part with its word vectors as bytes."""
    rows, scales = quantize_rows(to_numpy(words))
    return EncoderPart(name=name, graph=graph.SerializeToString(), words=rows, scales=scales)


def begin_with_student(network: VisualSemantic, student: EncoderModel) -> None:
    """Give a network the word vectors of a student, and its layers where it has such."""
    (part,) = student.parts
    words = torch.from_numpy(part.words * part.scales[:, None])
    words[PADDING] = 0
    network.use_words(words)
    if isinstance(network.reader, Student):
        load_student_layers(network.reader, part.graph)
    network.to(network.centre.device)


def embedding_part(name: str, network: VisualSemantic) -> tuple[EncoderPart, ClipMap]:
    """One network as a part of an embedding: its reader and its map of clips, as bytes."""
    reader = network.reader
    graph = lstm_graph(reader) if isinstance(reader, LstmReader) else student_graph(reader)
    weight, bias = network.folded_map()
    rows, scales = quantize_rows(weight)
    clip_map = ClipMap(weight=rows, scales=scales, bias=bias, root=network.config.root)
    return encoder_part(name, graph, reader.words.weight), clip_map


def embedding_model(
    name: str,
    features: str,
    networks: Mapping[str, VisualSemantic],
    student: EncoderModel,
    report: dict[str, Any],
    card: str,
) -> Embedding:
    """Networks that read with a student's word vectors, as one embedding.

    Args:
        name: What the embedding is called.
        features: The kind of frame features that it takes.
        networks: By the name of their part.
        student: Comes with the package; its word vectors are not stored once more.
        report: How they were fitted.
        card: What the embedding is, in Markdown.
    """
    parts = {part: embedding_part(part, network) for part, network in networks.items()}
    (words,) = student.parts
    first = next(iter(networks.values()))
    sentences = EncoderModel(
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
    return Embedding(
        name=name, features=features, sentences=sentences, clips=clips, words_of=student.name
    )
