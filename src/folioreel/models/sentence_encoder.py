"""Sentences as vectors: what an encoder is, how one is loaded by name, and vectors kept on disk.

The measures `sentence` and `semantic`, the corpus index and the captions all get their vectors
here. Wherever an encoder is asked for by name, an object of your own will do too.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models.folders import builtin_folder, load_once
from folioreel.models.word_encoder import FORMAT, WordEncoder, hash_pieces, text_bytes
from folioreel.progress import Progress, ProgressCallback, ignore_progress

# Encoder → the shipped model it is in; `uni-skip` and `bi-skip` are the two parts of theirs.
BUILT_IN = dict.fromkeys(("skip-thought", "uni-skip", "bi-skip"), "skip-thought")
BUILT_IN["student"] = "student"
WORD_ENCODERS = tuple(BUILT_IN)  # those over word vectors; others are transformers
BUILT_IN["paraphrase"] = "paraphrase"
# The encoders whose files come with other packages.
PRETRAINED, MULTILINGUAL = "minilm", "use-multilingual"
_NAMES = (*BUILT_IN, PRETRAINED, MULTILINGUAL)

# Texts that a foreign encoder gets at a time: enough for its own batches, and progress is seen.
_CHUNK = 512


@runtime_checkable
class TextEncoder(Protocol):
    """The least that an encoder of your own needs; sentence-transformers' models have it.

    It may also have a `name`, and a `fingerprint`: a hash of all that its vectors depend on besides
    the text. Without a fingerprint its vectors are never kept on disk, as nothing would tell them
    from those of another model.
    """

    def encode(self, texts: Any, /) -> Any:
        """The vectors of a list of texts: (N, units)."""


class SentenceEncoder(Protocol):
    """An encoder as the rest of the package uses it; `load_encoder` gives one."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def units(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """A hash of all that the vectors depend on besides the text; empty if not known."""

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for one without words: (N, units)."""


class ForeignEncoder:
    """Anybody's `encode(texts)` as a `SentenceEncoder`."""

    def __init__(
        self, name: str, encoder: TextEncoder, fingerprint: str = "", **options: Any
    ) -> None:
        """Wrap an encoder; `options` go to each call of its `encode`."""
        self.name, self.fingerprint = name, fingerprint
        self._encoder, self._options = encoder, options
        self.units = int(self._run(["A text."]).shape[1])

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for a blank one: (N, units)."""
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        filled = [number for number, text in enumerate(texts) if text.strip()]
        for first in range(0, len(filled), _CHUNK):
            numbers = filled[first : first + _CHUNK]
            vectors[numbers] = self._run([texts[number] for number in numbers])
            done = first + len(numbers)
            progress(Progress(stage="reading sentences", done=done, total=len(filled)))
        return vectors

    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        found = np.asarray(self._encoder.encode(texts, **self._options), dtype=np.float32)
        if found.ndim != 2 or len(found) != len(texts):
            raise ConfigError(
                f"the encoder {self.name} gave an array of shape {found.shape} for {len(texts)}"
                " texts; its `encode` should give one vector for each"
            )
        return found


def load_encoder(encoder: str | Path | TextEncoder) -> SentenceEncoder:
    """An encoder by name or by folder; each is loaded once until its files change.

    Args:
        encoder: `skip-thought`, `uni-skip`, `bi-skip`, `student` or `paraphrase`, which ship with
            the package; `minilm` or `use-multilingual`; a folder that `WordEncoder.save` or
            `save_transformer` wrote; a folder with an ONNX export of a sentence-transformers model;
            the name of such a model, where that package is installed; or an encoder object, which
            is used as it is.

    Raises:
        ConfigError: There is no such encoder, or a package that it needs is missing.
        ModelFolderError: Its folder is missing or damaged.
    """
    if not isinstance(encoder, str | Path):
        return _adapt(encoder)
    # Not needed by those who use our own encoders alone.
    from folioreel.models import transformer_encoder as transformers

    name = str(encoder)
    if name in WORD_ENCODERS:
        return _open_graphs(_load_part(builtin_folder(BUILT_IN[name]), name))
    if name in BUILT_IN:
        return transformers.load_transformer(builtin_folder(BUILT_IN[name]))
    if name == PRETRAINED:
        return transformers.load_minilm()
    if name == MULTILINGUAL:
        from folioreel.models.multilingual_encoder import load_multilingual

        return load_multilingual()
    folder = Path(os.path.expanduser(name))
    if FORMAT.is_in(folder):
        return _open_graphs(WordEncoder.load(folder))
    if transformers.FORMAT.is_in(folder):
        return transformers.load_transformer(folder)
    if folder.is_dir():
        return transformers.load_export(folder)
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ModelFolderError(f"{folder}: no such folder; give one that holds an encoder")
    if importlib.util.find_spec("sentence_transformers") is None:
        known = ", ".join(_NAMES)
        raise ConfigError(
            f"unknown sentence encoder {name!r}; choose from {known}, give a folder, or, for a"
            " model from a hub, run: pip install sentence-transformers"
        )
    return transformers.load_sentence_transformer(name)


def encoder_reference(encoder: str | Path) -> str:
    """How settings that are kept name an encoder: a folder by its whole path."""
    name = str(encoder)
    folder = Path(os.path.expanduser(name))
    if name not in _NAMES and folder.is_dir():
        return str(folder.resolve())
    return name


def open_word_encoder(name_or_folder: str) -> WordEncoder:
    """The word vectors and graphs of a shipped encoder, or of one in a folder."""
    name, known = name_or_folder, ", ".join(WORD_ENCODERS)
    if name in WORD_ENCODERS:
        return _load_part(builtin_folder(BUILT_IN[name]), name)
    folder, is_transformer = Path(os.path.expanduser(name)), name in _NAMES
    if not is_transformer and FORMAT.is_in(folder):
        return WordEncoder.load(folder)
    if is_transformer or (folder / "tokenizer.json").is_file():
        raise ConfigError(
            f"{name} reads pieces of words and has no word vectors; give one of {known}, or a"
            " folder of their kind"
        )
    if not folder.is_dir():
        raise ConfigError(
            f"unknown sentence encoder {name!r}; choose from {known}, or give a folder"
        )
    if FORMAT.is_in(folder / "encoder"):
        raise ConfigError(f"{name} is a training run, not an encoder; give {folder / 'encoder'}")
    return WordEncoder.load(folder)  # which says what is wrong with it


def encode_cached(
    encoder: SentenceEncoder, texts: Sequence[str], progress: ProgressCallback = ignore_progress
) -> NDArray[np.float32]:
    """The vector of each text, from the cache where it has them; equal texts are encoded once."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}

    def encode() -> NDArray[np.float16]:
        # Half precision in any case, so that a first run and a later one give the same alignment.
        half = encoder.encode(list(numbers), progress).astype(np.float16)
        if not np.isfinite(half).all():
            raise ConfigError(
                f"the encoder {encoder.name} gave numbers that are not finite, or above 65,504;"
                " let it return unit vectors"
            )
        return half

    key = hash_pieces([encoder.fingerprint.encode(), *map(text_bytes, numbers)])
    half = cached_array(key, encode) if encoder.fingerprint else encode()
    rows = np.array([numbers[text] for text in texts], dtype=np.int64)
    return half[rows].astype(np.float32)


def _adapt(encoder: TextEncoder) -> SentenceEncoder:
    if not isinstance(encoder, TextEncoder):
        raise ConfigError(
            f"{type(encoder).__name__} is not a sentence encoder; give a name, a folder, or an"
            " object with a method `encode(texts)`"
        )
    if all(hasattr(encoder, field) for field in ("name", "units", "fingerprint")):
        return encoder  # type: ignore[return-value]  # it says that it is one
    name = str(getattr(encoder, "name", type(encoder).__name__))
    return ForeignEncoder(name, encoder, str(getattr(encoder, "fingerprint", "")))


def _open_graphs(encoder: WordEncoder) -> WordEncoder:
    """Open the graphs now: a broken one is refused before anybody has read a film for it."""
    _ = encoder.units
    return encoder


@load_once
def _load_part(folder: Path, name: str) -> WordEncoder:
    """A shipped encoder; for `uni-skip` or `bi-skip`, with that part alone."""
    model = WordEncoder.load(folder)
    if name == BUILT_IN[name]:
        return model
    return replace(model, name=name, parts=tuple(p for p in model.parts if p.name == name))
