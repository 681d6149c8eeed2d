"""Where fitting begins, for each kind of preset: its measures, its encoder, and rough weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from folioreel.config import SEMANTIC, AlignConfig, StepsConfig
from folioreel.models.sentence_encoder import MULTILINGUAL
from folioreel.similarity.cognates import CognatesMeasure
from folioreel.similarity.letters import LettersMeasure
from folioreel.similarity.rare_words import RareWordsMeasure

START = AlignConfig(
    weights={
        **{"rare": 1.0, "covered": 0.0, "covers": 0.0, "phrase": 2.0, "phrase3": 0.0},
        **{"nearby": 0.0, "nearby_covered": 2.0},
        **{"semantic": 1.0, "semantic_long": 2.0},
        **{"semantic_in_book": 0.0, "semantic_in_film": 1.0},
        **{"window": 0.0, "window_in_book": 0.0, "window_in_film": 1.0},
    },
    bias=-2.0,
    steps=StepsConfig(elsewhere=0.01),
    semantic_encoder="paraphrase",
)
"""Where fitting begins: round numbers of the right size, so that it takes few iterations."""


def _start(measures: tuple[str, ...], **settings: Any) -> AlignConfig:
    weights = {name: START.weights.get(name, 0.0) for name in measures}
    return replace(START, weights=weights, **settings)


_MEANING = tuple(name for name in START.weights if name in SEMANTIC)
_BRIDGE: dict[str, Any] = {"semantic_encoder": MULTILINGUAL, "whitened": True}
STARTS = {
    "default": START,
    "multilingual": _start(START.measures, **_BRIDGE),
    "words": _start((*RareWordsMeasure.names, *LettersMeasure.names)),
    "across": _start((*CognatesMeasure.names, *_MEANING), **_BRIDGE),
}
"""The same for each kind of preset that is fitted here."""
