"""Sentences as vectors, as users run them: NumPy and ONNX Runtime (paper, section 4.1).

A skip-thought encoder reads word vectors with a recurrent network; the state at the end is the
vector of the sentence. The uni- and the bi-directional one, joined, are the paper's combine-skip.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.cache import cached_array
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models.folders import builtin_folder
from folioreel.models.inference import encode_in_batches, open_session, unit_rows
from folioreel.models.store import EncoderModel, EncoderPart, is_encoder_folder, load_encoder_model
from folioreel.models.unknown_words import known_tokens
from folioreel.models.vocabulary import PADDING, UNKNOWN, training_tokens
from folioreel.progress import ProgressCallback, ignore_progress

BUILT_IN = {
    "skip-thought": "skip-thought",
    "uni-skip": "skip-thought",
    "bi-skip": "skip-thought",
    "student": "student",
}
"""Encoder → the folder that it comes from. `uni-skip` and `bi-skip` are parts of theirs."""
PRETRAINED = "minilm"
"""The encoder whose files come with another package."""

_BATCH = 16  # 8 to 32 are as fast; larger ones are slower


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


class WordEncoder:
    """An encoder over word vectors: skip-thoughts, or a student."""

    def __init__(self, model: EncoderModel) -> None:
        """Open the graphs of a model that `load_encoder_model` read."""
        self.name = model.name
        self._model = model
        self._parts = [_Part(part) for part in model.parts]
        self.units = sum(part.units for part in self._parts)
        self.fingerprint = _fingerprint(model)

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for one without words: (N, units)."""
        sentences = [self.word_ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)

        def encode_batch(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
            ids, lengths = _pad([sentences[number] for number in numbers])
            found = [part.run(ids, lengths) for part in self._parts]
            if self._model.normalize:
                found = [unit_rows(part) for part in found]
            return np.concatenate(found, axis=1)

        lengths = [len(ids) for ids in sentences]
        encode_in_batches(encode_batch, lengths, vectors, _BATCH, progress)
        return vectors

    def word_ids(self, text: str) -> list[int]:
        """The numbers of the words that are read."""
        vocabulary = self._model.vocabulary
        tokens = training_tokens(text)
        if self._model.back_off:
            tokens = known_tokens(tokens, vocabulary)
        ids = vocabulary.ids
        return [ids.get(token, UNKNOWN) for token in tokens[: self._model.longest]]


class _Part:
    """A part with its graph opened."""

    def __init__(self, part: EncoderPart) -> None:
        self._words = part.words
        self._scales = part.scales
        self._session = open_session(part.graph)
        given = {value.name: value.shape for value in self._session.get_inputs()}
        if set(given) != {"words", "lengths"} or given["words"][2] != part.word_units:
            raise ModelFolderError(f"the graph of {part.name} does not fit its word vectors")
        self.units = int(self._session.get_outputs()[0].shape[1])

    def run(self, ids: NDArray[np.int64], lengths: NDArray[np.int32]) -> NDArray[np.float32]:
        """The vectors of sentences as numbers: (T, B) → (B, units)."""
        scales = np.where(ids == PADDING, np.float32(0), self._scales[ids])  # (T, B)
        words = self._words[ids] * scales[..., None]  # (T, B, word_units)
        found: NDArray[np.float32] = self._session.run(
            ["vectors"], {"words": words, "lengths": lengths}
        )[0]
        return found


def load_encoder(name_or_path: str) -> SentenceEncoder:
    """An encoder by name or by folder.

    Args:
        name_or_path: `skip-thought`, `uni-skip`, `bi-skip` or `student`, which come with the
            package; `minilm`; a folder that `save_encoder` wrote; a folder with an ONNX export of
            a sentence-transformers model; or the name of such a model, where that package is
            installed.

    Raises:
        ConfigError: There is no such encoder, or a package that it needs is missing.
        ModelFolderError: Its folder is missing or damaged.
    """
    # Not needed by those who use our own encoders alone.
    from folioreel.models import transformer_encoder as transformers

    if name_or_path in BUILT_IN:
        return WordEncoder(_builtin_model(name_or_path))
    if name_or_path == PRETRAINED:
        return transformers.load_minilm()
    folder = Path(os.path.expanduser(name_or_path))
    if is_encoder_folder(folder):
        return WordEncoder(load_encoder_model(folder))
    if folder.is_dir():
        return transformers.load_export(folder)
    if folder.is_absolute() or name_or_path.startswith((".", "~")):
        raise ModelFolderError(f"{folder}: there is no such folder; give one that holds an encoder")
    known = (*BUILT_IN, PRETRAINED)
    if not transformers.has_sentence_transformers():
        raise ConfigError(
            f"unknown sentence encoder {name_or_path!r}; choose from {', '.join(known)}, give a"
            " folder, or, for models by that name on a hub, run: pip install sentence-transformers"
        )
    return transformers.SentenceTransformersEncoder(name_or_path)


def encode_cached(
    encoder: SentenceEncoder, texts: Sequence[str], progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The vector of each text, from the cache where it has them; equal texts are encoded once."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    key = _hash([encoder.fingerprint.encode(), *map(_text_bytes, numbers)])
    # Half precision in any case, so that a first run and a later one give the same alignment.
    half = cached_array(key, lambda: encoder.encode(list(numbers), progress).astype(np.float16))
    rows = np.array([numbers[text] for text in texts], dtype=np.int64)
    return half[rows].astype(np.float32)


def _builtin_model(name: str) -> EncoderModel:
    model = load_encoder_model(builtin_folder(BUILT_IN[name]))
    if name == BUILT_IN[name]:
        return model
    parts = tuple(part for part in model.parts if part.name == name)
    if not parts:
        raise ModelFolderError(f"{model.name} has no part {name}; upgrade folioreel")
    return replace(model, name=name, parts=parts)


def _pad(sentences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Numbers with padding at the end, (T, B), and the lengths, (B,)."""
    lengths = np.array([len(ids) for ids in sentences], dtype=np.int32)
    padded = np.full((int(lengths.max()), len(sentences)), PADDING, dtype=np.int64)
    for column, ids in enumerate(sentences):
        padded[: len(ids), column] = ids
    return padded, lengths


def _fingerprint(model: EncoderModel) -> str:
    settings = (__version__, model.longest, model.normalize, model.back_off)
    pieces = [repr(settings).encode(), *map(_text_bytes, model.vocabulary.words)]
    for part in model.parts:
        pieces += [part.graph, part.words.tobytes(), part.scales.tobytes()]
    return _hash(pieces)


def _hash(pieces: Iterable[bytes]) -> str:
    """One hash of all pieces and of where each ends."""
    total = hashlib.sha256()
    for piece in pieces:
        total.update(len(piece).to_bytes(8, "little"))
        total.update(piece)
    return total.hexdigest()


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
