"""Clips and sentences in one space, as users run it: NumPy and ONNX Runtime (paper, section 4.2).

An embedding has one or more parts, each a sentence reader with a linear map of clips. A vector is
the parts' unit vectors, concatenated and scaled to unit length, so that the product of two vectors
is the mean of the parts' scores. The networks and their training are in train/visual_semantic.py.

The folder: `<part>.onnx`, the readers; `clips.safetensors`, the maps. The word vectors are those of
a shipped sentence encoder, whose name is given, or lie here too (`words.safetensors` and
`vocabulary.txt`).
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
from folioreel.models.folders import Content, ModelFormat, load_once
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.word_encoder import EncoderPart, WordEncoder, read_encoder
from folioreel.progress import ProgressCallback, ignore_progress

FORMAT = ModelFormat(name="folioreel-visual-semantic", version=1, what="visual-semantic embedding")
CLIPS = "clips.safetensors"
_ARRAYS = ("weight", "scales", "bias")  # of a ClipMap, as they are stored


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClipMap:
    """A linear map from a clip's features into the common space."""

    weight: NDArray[np.int8]  # (units, D); a row times its scale
    scales: NDArray[np.float32]  # (units,)
    bias: NDArray[np.float32]  # (units,)
    root: bool  # whether it takes the square roots of the features

    def __call__(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) → (N, units), of unit length."""
        # The default network has none below 0 (means of ReLU6); those of others may.
        values = np.sqrt(np.maximum(features, 0)) if self.root else features
        return unit_rows(values @ self._matrix + self.bias)

    @cached_property
    def _matrix(self) -> NDArray[np.float32]:
        return np.ascontiguousarray((self.weight * self.scales[:, None]).T)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VisualSemantic:
    """An embedding of clips and sentences."""

    name: str
    features: str  # the kind of frame features that it was trained on, such as `visual` or `scene`
    sentences: WordEncoder  # the sentence readers, one part each; their vectors are of unit length
    clips: tuple[ClipMap, ...]  # the map that belongs to each part
    words_of: str | None  # the shipped encoder whose word vectors it reads with; None: its own

    def __post_init__(self) -> None:
        if len(self.clips) != len(self.sentences.parts) or not self.sentences.normalize:
            raise ValueError("each reader needs its map of clips, and unit vectors")
        if len({clip_map.weight.shape[1] for clip_map in self.clips}) != 1:
            raise ValueError("all maps must take the same features")

    @classmethod
    def load(cls, name_or_folder: str | Path = "visual") -> VisualSemantic:
        """The shipped embedding of this name, or the one in a folder (`ModelFormat.open`)."""
        return _load_embedding(FORMAT.find(name_or_folder))

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder; `ModelFormat.save` says what is refused."""
        sentences = self.sentences
        pairs = list(zip(sentences.parts, self.clips, strict=True))
        clips: dict[str, NDArray[Any]] = {
            f"{part.name}.{field}": getattr(clip_map, field)
            for part, clip_map in pairs
            for field in _ARRAYS
        }
        own_words = sentences.word_files() if self.words_of is None else {}
        files: dict[str, Content] = {**sentences.files(), CLIPS: clips, **own_words}
        config = {
            "name": self.name,
            "features": self.features,
            "parts": [{"name": part.name, "root": clip_map.root} for part, clip_map in pairs],
            "words_of": self.words_of,
            "words_sha256": _words_hash(sentences.parts[0]) if self.words_of else None,
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
        return self.sentences.units

    @property
    def fingerprint(self) -> str:
        """A hash of all that the vectors of sentences depend on besides the text."""
        return self.sentences.fingerprint

    def embed_clips(self, features: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """The vectors of clips by their features: (N, D) → (N, units), of unit length."""
        if features.ndim != 2 or features.shape[1] != self.feature_units:
            raise ValueError(f"{self.name} takes {self.feature_units} features per clip")
        values = features.astype(np.float32, copy=False)
        joined: NDArray[np.float32] = np.concatenate([to(values) for to in self.clips], axis=1)
        joined /= self._length
        return joined

    def embed_sentences(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vectors of sentences: (N, units), of unit length; zeros for one without words."""
        return self.sentences.encode(texts, progress) / self._length

    @property
    def _length(self) -> np.float32:
        # Of as many unit vectors as there are parts, concatenated.
        return np.float32(np.sqrt(len(self.clips)))


@load_once
def _load_embedding(path: Path) -> VisualSemantic:
    with FORMAT.open(path) as folder:
        config, clips = folder.config, folder.arrays(CLIPS)
        words_of = config["words_of"]
        encoder = None if words_of is None else WordEncoder.load(str(words_of))
        if encoder is not None and _words_hash(encoder.parts[0]) != config["words_sha256"]:
            raise ModelFolderError(
                f"{path}: was trained with other word vectors than {words_of} has in this"
                " folioreel; train it again"
            )
        maps = []
        for part in config["parts"]:
            arrays = {field: clips[f"{part['name']}.{field}"] for field in _ARRAYS}
            maps.append(ClipMap(**arrays, root=bool(part["root"])))
        return VisualSemantic(
            name=str(config["name"]),
            features=str(config["features"]),
            sentences=read_encoder(folder, normalize=True, words_of=encoder),
            clips=tuple(maps),
            words_of=words_of,
        )


def _words_hash(part: EncoderPart) -> str:
    """A hash of word vectors, so that others of the same name are not mistaken for them."""
    return hashlib.sha256(part.words.tobytes() + part.scales.tobytes()).hexdigest()
