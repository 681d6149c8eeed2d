"""Trained networks → encoders as they are saved for users."""

from __future__ import annotations

from typing import Any

import onnx
from torch import Tensor

from folioreel.models.store import EncoderModel, EncoderPart
from folioreel.models.vocabulary import Vocabulary
from folioreel.train.onnx import quantize_rows, skip_thought_graph, to_numpy
from folioreel.train.skip_thought import SkipThought


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
