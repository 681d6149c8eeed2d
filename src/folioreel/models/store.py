"""A sentence encoder as a folder on disk, whole or refused (STYLE: the model folder).

`config.json` names the parts and holds the sha256 of every other file: `<part>.onnx` the graph of
each part, `words.safetensors` their word vectors, `vocabulary.txt`, and `README.md`, the card.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
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
    builtin_of_format,
    folder_format,
    read_config,
    read_file,
    write_folder,
)
from folioreel.models.inference import open_session
from folioreel.models.vocabulary import Vocabulary

FORMAT = "folioreel-sentence-encoder"
VERSION = 1
WORDS, VOCABULARY, CARD = "words.safetensors", "vocabulary.txt", "README.md"

_PART_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True, eq=False)
class EncoderPart:
    """One graph from word vectors to sentence vectors, with its table of word vectors."""

    name: str
    graph: bytes
    """ONNX: `words` (T, B, word_units) and `lengths` (B,) give `vectors` (B, units)."""
    words: NDArray[np.int8]
    """(V, word_units); a row times its scale is the vector of a word."""
    scales: NDArray[np.float32]
    """(V,)."""

    def __post_init__(self) -> None:
        """Refuse tables that do not fit together."""
        if not _PART_NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} should be lower-case letters, digits and hyphens")
        if self.words.dtype != np.int8 or self.words.ndim != 2:
            raise ValueError(f"the words of {self.name} should be a table of bytes")
        if self.scales.dtype != np.float32 or self.scales.shape != self.words.shape[:1]:
            raise ValueError(f"{self.name} needs one float32 scale for each word")

    @property
    def word_units(self) -> int:
        """The length of a word vector."""
        return int(self.words.shape[1])


@dataclass(frozen=True, kw_only=True, eq=False)
class EncoderModel:
    """All that is needed to turn sentences into vectors; the parts' vectors are joined."""

    name: str
    vocabulary: Vocabulary
    parts: tuple[EncoderPart, ...]
    longest: int
    """Words of a sentence that are read; the rest is cut."""
    normalize: bool
    """Whether each part's vector is brought to length 1 before they are joined."""
    back_off: bool = False
    """Whether an unknown word is read as a known one that is nearly the same (unknown_words.py)."""
    training: dict[str, Any]
    """How it was fitted: settings, data, figures."""
    card: str
    """What it is, on what it was trained and how well it does, in Markdown."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit the vocabulary or each other."""
        names = [part.name for part in self.parts]
        if not names or len(set(names)) < len(names) or self.longest < 1:
            raise ValueError("an encoder needs parts with names of their own, and longest above 0")
        for part in self.parts:
            if len(part.words) != len(self.vocabulary):
                raise ValueError(
                    f"{part.name} has {len(part.words)} words, its vocabulary"
                    f" {len(self.vocabulary)}"
                )


def builtin_names() -> tuple[str, ...]:
    """The sentence encoders that come with the package."""
    return builtin_of_format(FORMAT)


def save_encoder(model: EncoderModel, folder: Path, *, replace: bool = False) -> None:
    """Write a model folder, whole or not at all.

    Args:
        model: What to write.
        folder: A name that is free.
        replace: Take the place of an encoder that lies there; nothing else is ever replaced.

    Raises:
        ModelFolderError: The name is taken, or the disk cannot be written.
    """
    write_folder(
        folder, lambda new: _write_files(model, new), FORMAT, "sentence encoder", replace=replace
    )


def load_encoder_model(folder: Path) -> EncoderModel:
    """Read a model folder.

    Raises:
        ModelFolderError: It is missing, damaged, of a newer version, or something else.
    """
    config = read_config(folder, FORMAT, VERSION, "sentence encoder")
    try:
        names = [str(part["name"]) for part in config["parts"]]
        hashes = dict(config["sha256"])
        graphs = {name: f"{name}.onnx" for name in names if _PART_NAME.fullmatch(name)}
        wanted = (*(graphs[name] for name in names), WORDS, VOCABULARY, CARD)
        files = {name: read_file(folder, name, hashes[name]) for name in wanted}
        tables = safetensors.numpy.load(files[WORDS])
        return EncoderModel(
            name=str(config["name"]),
            vocabulary=Vocabulary.load(folder / VOCABULARY),
            parts=tuple(
                EncoderPart(
                    name=name,
                    graph=files[graphs[name]],
                    words=tables[f"{name}.words"],
                    scales=tables[f"{name}.scales"],
                )
                for name in names
            ),
            longest=int(config["longest"]),
            normalize=bool(config["normalize"]),
            back_off=bool(config["back_off"]),
            training=dict(config["training"]),
            card=files[CARD].decode("utf-8"),
        )
    except (KeyError, TypeError, ValueError, InputError, SafetensorError) as error:
        raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {advice(folder)}") from error


def is_encoder_folder(folder: Path) -> bool:
    """Whether a folder says that it holds one of our encoders."""
    return folder_format(folder) == FORMAT


def _write_files(model: EncoderModel, folder: Path) -> None:
    tables: dict[str, NDArray[Any]] = {}
    for part in model.parts:
        (folder / f"{part.name}.onnx").write_bytes(part.graph)
        tables[f"{part.name}.words"] = np.ascontiguousarray(part.words)
        tables[f"{part.name}.scales"] = np.ascontiguousarray(part.scales)
    (folder / WORDS).write_bytes(safetensors.numpy.save(tables))
    model.vocabulary.save(folder / VOCABULARY)
    (folder / CARD).write_bytes(model.card.encode("utf-8"))
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }
    config = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "package_version": __version__,
        "longest": model.longest,
        "normalize": model.normalize,
        "back_off": model.back_off,
        "parts": [
            {"name": part.name, "units": part_units(part), "word_units": part.word_units}
            for part in model.parts
        ],
        "training": model.training,
        "sha256": hashes,
    }
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / CONFIG).write_bytes(f"{text}\n".encode())


def part_units(part: EncoderPart) -> int:
    """The length of the vectors that a part gives, by its graph."""
    return int(open_session(part.graph).get_outputs()[0].shape[1])
