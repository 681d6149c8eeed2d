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
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from folioreel import __version__
from folioreel.errors import InputError, ModelFolderError
from folioreel.models.folders import (
    CONFIG,
    advice,
    builtin_folder,
    find_folder,
    read_config,
    read_file,
    write_folder,
)
from folioreel.models.inference import unit_rows
from folioreel.models.sentence_encoder import WordEncoder
from folioreel.models.store import EncoderModel, EncoderPart, load_encoder_model
from folioreel.models.vocabulary import Vocabulary
from folioreel.progress import ProgressCallback, ignore_progress

FORMAT = "folioreel-visual-semantic"
VERSION = 1
CLIPS, WORDS, VOCABULARY, CARD = (
    *("clips.safetensors", "words.safetensors", "vocabulary.txt"),
    "README.md",
)


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
        """The embedding that comes with the package by this name, or lies in a folder.

        Raises:
            ModelFolderError: It is missing, damaged, of a newer version, or something else.
        """
        folder = find_folder(name_or_folder)
        config = read_config(folder, FORMAT, VERSION, "visual-semantic embedding")
        try:
            return _read(cls, folder, config)
        except (KeyError, TypeError, ValueError, InputError, SafetensorError) as error:
            raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {advice(folder)}") from error

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder, whole or not at all.

        Raises:
            ModelFolderError: The name is taken, or the disk cannot be written.
        """
        what = "visual-semantic embedding"
        write_folder(folder, lambda new: _write(self, new), FORMAT, what, replace=replace)

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


def _read(cls: type[VisualSemantic], folder: Path, config: dict[str, Any]) -> VisualSemantic:
    names = [str(part["name"]) for part in config["parts"]]
    hashes = dict(config["sha256"])
    files = {name: read_file(folder, name, digest) for name, digest in hashes.items()}
    clips = safetensors.numpy.load(files[CLIPS])
    words_of = config["words_of"]
    vocabulary, tables = _words(folder, names, words_of, files)
    if words_of is not None and words_hash(tables[0]) != config["words_sha256"]:
        raise ModelFolderError(
            f"{folder}: was trained with other word vectors than {words_of} has in this folioreel;"
            " train it again"
        )
    sentences = EncoderModel(
        name=str(config["name"]),
        vocabulary=vocabulary,
        parts=tuple(
            EncoderPart(name=name, graph=files[f"{name}.onnx"], words=words, scales=scales)
            for name, (words, scales) in zip(names, tables, strict=True)
        ),
        longest=int(config["longest"]),
        normalize=True,
        back_off=bool(config["back_off"]),
        training=dict(config["training"]),
        card=files[CARD].decode("utf-8"),
    )
    maps = tuple(
        ClipMap(
            weight=clips[f"{part['name']}.weight"],
            scales=clips[f"{part['name']}.scales"],
            bias=clips[f"{part['name']}.bias"],
            root=bool(part["root"]),
        )
        for part in config["parts"]
    )
    features = str(config["features"])
    return cls(
        name=sentences.name, features=features, sentences=sentences, clips=maps, words_of=words_of
    )


WordTable = tuple[NDArray[np.int8], NDArray[np.float32]]


def _words(
    folder: Path, names: list[str], words_of: str | None, files: dict[str, bytes]
) -> tuple[Vocabulary, list[WordTable]]:
    """The vocabulary, and for each part a table of words with its scales."""
    if words_of is not None:
        encoder = load_encoder_model(builtin_folder(words_of))
        return encoder.vocabulary, [(encoder.parts[0].words, encoder.parts[0].scales)] * len(names)
    tables = safetensors.numpy.load(files[WORDS])
    pairs = [(tables[f"{name}.words"], tables[f"{name}.scales"]) for name in names]
    return Vocabulary.load(folder / VOCABULARY), pairs


def words_hash(table: WordTable) -> str:
    """A hash of word vectors, so that others by the same name are not taken for them."""
    return hashlib.sha256(table[0].tobytes() + table[1].tobytes()).hexdigest()


def _write(model: VisualSemantic, folder: Path) -> None:
    sentences = model.sentences
    clips: dict[str, NDArray[Any]] = {}
    words: dict[str, NDArray[Any]] = {}
    for part, clip_map in zip(sentences.parts, model.clips, strict=True):
        (folder / f"{part.name}.onnx").write_bytes(part.graph)
        clips[f"{part.name}.weight"] = np.ascontiguousarray(clip_map.weight)
        clips[f"{part.name}.scales"] = clip_map.scales
        clips[f"{part.name}.bias"] = clip_map.bias
        words[f"{part.name}.words"] = np.ascontiguousarray(part.words)
        words[f"{part.name}.scales"] = part.scales
    (folder / CLIPS).write_bytes(safetensors.numpy.save(clips))
    if model.words_of is None:
        (folder / WORDS).write_bytes(safetensors.numpy.save(words))
        sentences.vocabulary.save(folder / VOCABULARY)
    (folder / CARD).write_bytes(sentences.card.encode("utf-8"))
    first = sentences.parts[0]
    config = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "package_version": __version__,
        "features": model.features,
        "parts": [
            {"name": part.name, "root": clip_map.root}
            for part, clip_map in zip(sentences.parts, model.clips, strict=True)
        ],
        "words_of": model.words_of,
        "words_sha256": words_hash((first.words, first.scales)) if model.words_of else None,
        "longest": sentences.longest,
        "back_off": sentences.back_off,
        "training": sentences.training,
        "sha256": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
        },
    }
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / CONFIG).write_bytes(f"{text}\n".encode())
