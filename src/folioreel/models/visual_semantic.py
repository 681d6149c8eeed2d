"""Clips and sentences in one space, as users run it: NumPy and ONNX Runtime (paper, section 4.2).

An embedding has one or more parts, each a reader of sentences with a linear map of clips. A vector
is the parts' unit vectors one after the other, scaled to unit length, so that the product of two
vectors is the mean of the parts' scores.

The folder: `config.json`; `<part>.onnx`, the readers; `clips.safetensors`, the maps; `README.md`.
Word vectors are those of a sentence encoder of the package, which is named, or else lie here too
as `words.safetensors` and `vocabulary.txt`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ModelFolderError
from folioreel.models.folders import CARD, VOCABULARY, Content, ModelFolder, ModelFormat, load_once
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.word_encoder import (
    WORDS,
    EncoderModel,
    EncoderPart,
    WordEncoder,
    word_tables,
)
from folioreel.progress import ProgressCallback, ignore_progress

FORMAT = ModelFormat(name="folioreel-visual-semantic", version=1, what="visual-semantic embedding")
CLIPS = "clips.safetensors"


@dataclass(frozen=True, kw_only=True, eq=False)
class ClipMap:
    """A linear map from a clip's features into the common space."""

    weight: NDArray[np.int8]
    """(units, D); a row times its scale."""
    scales: NDArray[np.float32]
    """(units,)."""
    bias: NDArray[np.float32]
    """(units,)."""
    root: bool
    """Whether it takes the square roots of the features."""

    def __call__(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) → (N, units), of unit length."""
        values = np.sqrt(np.maximum(features, 0)) if self.root else features
        return unit_rows(values @ self._matrix + self.bias)

    @cached_property
    def _matrix(self) -> NDArray[np.float32]:
        return np.ascontiguousarray((self.weight * self.scales[:, None]).T)


@dataclass(frozen=True, kw_only=True, eq=False)
class VisualSemantic:
    """An embedding of clips and sentences."""

    name: str
    features: str
    """The kind of frame features that it was fitted to, such as `visual` or `scene`."""
    sentences: EncoderModel
    """The readers, one part each; their vectors are brought to length 1 and joined."""
    clips: tuple[ClipMap, ...]
    """The map that belongs to each part."""
    words_of: str | None
    """The encoder of the package whose word vectors it reads with; None: its own."""

    def __post_init__(self) -> None:
        """Refuse parts without a map."""
        if len(self.clips) != len(self.sentences.parts) or not self.sentences.normalize:
            raise ValueError("each reader needs its map of clips, and unit vectors")
        if len({clip_map.weight.shape[1] for clip_map in self.clips}) != 1:
            raise ValueError("all maps must take the same features")

    @classmethod
    def load(cls, name_or_folder: str | Path = "visual") -> VisualSemantic:
        """The shipped embedding of this name, or the one in a folder.

        Raises:
            ModelFolderError: It is missing, damaged, of a newer version, or something else.
        """
        return _load_embedding(FORMAT.find(name_or_folder))

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder.

        Raises:
            ModelFolderError: The path is taken, or cannot be written.
        """
        sentences, words_of = self.sentences, self.words_of
        pairs = list(zip(sentences.parts, self.clips, strict=True))
        clips: dict[str, NDArray[Any]] = {}
        for part, clip_map in pairs:
            for field in ("weight", "scales", "bias"):
                clips[f"{part.name}.{field}"] = getattr(clip_map, field)
        files: dict[str, Content] = {f"{part.name}.onnx": part.graph for part in sentences.parts}
        files |= {CLIPS: clips, CARD: sentences.card}
        if words_of is None:
            files |= {WORDS: word_tables(sentences.parts), VOCABULARY: sentences.vocabulary}
        config = {
            "name": self.name,
            "features": self.features,
            "parts": [{"name": part.name, "root": clip_map.root} for part, clip_map in pairs],
            "words_of": words_of,
            "words_sha256": _words_hash(sentences.parts[0]) if words_of else None,
            "longest": sentences.longest,
            "back_off": sentences.back_off,
            "training": sentences.training,
        }
        FORMAT.save(folder, config, files, replace=replace)

    @property
    def feature_units(self) -> int:
        """The length of a clip's features."""
        return int(self.clips[0].weight.shape[1])

    @property
    def units(self) -> int:
        """The length of a vector in the common space."""
        return self._reader.units

    @property
    def fingerprint(self) -> str:
        """A hash of all that the vectors of sentences depend on, beside the text."""
        return self._reader.fingerprint

    def embed_clips(self, features: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """The vectors of clips by their features: (N, D) → (N, units), of unit length.

        Raises:
            ValueError: The features are of another length than those it was fitted to.
        """
        if features.ndim != 2 or features.shape[1] != self.feature_units:
            raise ValueError(f"{self.name} takes {self.feature_units} features a clip")
        values = features.astype(np.float32, copy=False)
        return self._joined([clip_map(values) for clip_map in self.clips])

    def embed_sentences(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vectors of sentences: (N, units), of unit length; zeros for one without words."""
        found: NDArray[np.float32] = self._reader.encode(texts, progress)
        found /= np.float32(np.sqrt(len(self.clips)))
        return found

    @cached_property
    def _reader(self) -> WordEncoder:
        return WordEncoder(self.sentences)

    def _joined(self, parts: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.concatenate(parts, axis=1) / np.float32(np.sqrt(len(parts)))


@load_once
def _load_embedding(path: Path) -> VisualSemantic:
    with FORMAT.open(path) as folder:
        config = folder.config
        clips = folder.arrays(CLIPS)
        maps = tuple(
            ClipMap(
                weight=clips[f"{part['name']}.weight"],
                scales=clips[f"{part['name']}.scales"],
                bias=clips[f"{part['name']}.bias"],
                root=bool(part["root"]),
            )
            for part in config["parts"]
        )
        return VisualSemantic(
            name=str(config["name"]),
            features=str(config["features"]),
            sentences=_read_sentences(folder),
            clips=maps,
            words_of=config["words_of"],
        )


def _read_sentences(folder: ModelFolder) -> EncoderModel:
    """The sentence readers, with word vectors of their own or those of a shipped encoder."""
    config = folder.config
    names = [str(part["name"]) for part in config["parts"]]
    words_of = config["words_of"]
    if words_of is None:
        vocabulary, tables = folder.vocabulary(), folder.arrays(WORDS)
        words = [(tables[f"{name}.words"], tables[f"{name}.scales"]) for name in names]
    else:
        encoder = EncoderModel.load(str(words_of))
        if _words_hash(encoder.parts[0]) != config["words_sha256"]:
            raise ModelFolderError(
                f"{folder.path}: was trained with other word vectors than {words_of} has in this"
                " folioreel; train it again"
            )
        vocabulary = encoder.vocabulary
        words = [(encoder.parts[0].words, encoder.parts[0].scales)] * len(names)
    return EncoderModel(
        name=str(config["name"]),
        vocabulary=vocabulary,
        parts=tuple(
            EncoderPart(name=name, graph=folder.read(f"{name}.onnx"), words=table, scales=scales)
            for name, (table, scales) in zip(names, words, strict=True)
        ),
        longest=int(config["longest"]),
        normalize=True,
        back_off=bool(config["back_off"]),
        training=dict(config["training"]),
        card=folder.card,
    )


def _words_hash(part: EncoderPart) -> str:
    """A hash of word vectors, so that others of the same name are not mistaken for them."""
    return hashlib.sha256(part.words.tobytes() + part.scales.tobytes()).hexdigest()
