"""Sentences as vectors: what an encoder is, how one is loaded by name, and vectors kept on disk.

The measures `sentence` and `semantic`, the corpus index and the captions all get their vectors
here. Where the name of an encoder is asked for, an encoder object of your own will do too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models.folders import builtin_folder
from folioreel.models.word_encoder import (
    FORMAT,
    EncoderModel,
    WordEncoder,
    hash_pieces,
    text_bytes,
)
from folioreel.progress import ProgressCallback, ignore_progress

BUILT_IN = {
    "skip-thought": "skip-thought",
    "uni-skip": "skip-thought",
    "bi-skip": "skip-thought",
    "student": "student",
}
"""Encoder → the shipped folder it is in. `uni-skip` and `bi-skip` are the parts of theirs."""
PRETRAINED = "minilm"
"""The encoder whose files come with another package."""


class SentenceEncoder(Protocol):
    """Anything that turns sentences into vectors."""

    name: str
    units: int
    """The length of a vector."""
    fingerprint: str
    """A hash of all that the vectors depend on, beside the text."""

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for one without words: (N, units)."""
        ...


def load_encoder(name_or_path: str) -> SentenceEncoder:
    """An encoder by name or by folder.

    Args:
        name_or_path: `skip-thought`, `uni-skip`, `bi-skip` or `student`, which ship with the
            package; `minilm`; a folder that `EncoderModel.save` wrote; a folder with an ONNX export
            of a sentence-transformers model; or the name of such a model, where that package is
            installed.

    Raises:
        ConfigError: There is no such encoder, or a package that it needs is missing.
        ModelFolderError: Its folder is missing or damaged.
    """
    # Not needed by those who use our own encoders alone.
    from folioreel.models import transformer_encoder as transformers

    if name_or_path in BUILT_IN:
        return WordEncoder(_load_builtin(name_or_path))
    if name_or_path == PRETRAINED:
        return transformers.load_minilm()
    folder = Path(os.path.expanduser(name_or_path))
    if FORMAT.is_in(folder):
        return WordEncoder(EncoderModel.load(folder))
    if folder.is_dir():
        return transformers.load_export(folder)
    if folder.is_absolute() or name_or_path.startswith((".", "~")):
        raise ModelFolderError(f"{folder}: no such folder; give one that holds an encoder")
    known = (*BUILT_IN, PRETRAINED)
    if not transformers.has_sentence_transformers():
        raise ConfigError(
            f"unknown sentence encoder {name_or_path!r}; choose from {', '.join(known)}, give a"
            " folder, or, for models by that name on a hub, run: pip install sentence-transformers"
        )
    return transformers.SentenceTransformersEncoder(name_or_path)


def open_encoder_model(name_or_folder: str) -> EncoderModel:
    """The word vectors and graphs of a shipped encoder, or of one in a folder.

    Raises:
        ConfigError: There is no such encoder, or it has no word vectors.
        ModelFolderError: Its folder is damaged.
    """
    known = ", ".join(BUILT_IN)
    if name_or_folder in BUILT_IN:
        return _load_builtin(name_or_folder)
    folder = Path(os.path.expanduser(name_or_folder))
    is_export = (folder / "tokenizer.json").is_file() and not FORMAT.is_in(folder)
    if name_or_folder == PRETRAINED or is_export:
        raise ConfigError(
            f"{name_or_folder} reads pieces of words and has no word vectors; give one of {known},"
            " or a folder of their kind"
        )
    if not folder.is_dir():
        raise ConfigError(
            f"unknown sentence encoder {name_or_folder!r}; choose from {known}, or give a folder"
        )
    if not FORMAT.is_in(folder) and FORMAT.is_in(folder / "encoder"):
        raise ConfigError(
            f"{name_or_folder} is a training run, not an encoder; give {folder / 'encoder'}"
        )
    return EncoderModel.load(folder)


def encode_cached(
    encoder: SentenceEncoder, texts: Sequence[str], progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The vector of each text, from the cache where it has them; equal texts are encoded once."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    key = hash_pieces([encoder.fingerprint.encode(), *map(text_bytes, numbers)])
    # Half precision in any case, so that a first run and a later one give the same alignment.
    half = cached_array(key, lambda: encoder.encode(list(numbers), progress).astype(np.float16))
    rows = np.array([numbers[text] for text in texts], dtype=np.int64)
    return half[rows].astype(np.float32)


def _load_builtin(name: str) -> EncoderModel:
    """The model of a shipped encoder; for `uni-skip` or `bi-skip`, with that part alone."""
    model = EncoderModel.load(builtin_folder(BUILT_IN[name]))
    if name == BUILT_IN[name]:
        return model
    return replace(model, name=name, parts=tuple(p for p in model.parts if p.name == name))
