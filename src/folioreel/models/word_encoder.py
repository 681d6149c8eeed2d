"""Sentence encoders over word vectors: skip-thoughts (paper, section 4.1) and the student.

A skip-thought encoder reads word vectors with a recurrent network; the state after the last word
is the vector of the sentence. A uni- and a bidirectional one side by side are the paper's
combine-skip. Users run them with NumPy and ONNX Runtime; the networks and their training are in
train/skip_thought.py and train/student.py.

The folder: `<part>.onnx`, the graph of each part; `words.safetensors`, their word vectors;
`vocabulary.txt`. The word vectors stay outside the graphs so that words can be added to them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models.folders import CARD, VOCABULARY, Content, ModelFolder, ModelFormat, load_once
from folioreel.models.onnx_graphs import encode_in_batches, open_session, unit_rows
from folioreel.models.vocabulary import PADDING, UNKNOWN, Vocabulary, known_tokens, training_tokens
from folioreel.progress import ProgressCallback, ignore_progress

FORMAT = ModelFormat(name="folioreel-sentence-encoder", version=1, what="sentence encoder")
WORDS = "words.safetensors"

# Part names are file names, and come from a config.json that anybody may have written.
_PART_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
# Sentences per run of the graph: 8 to 32 measured equally fast, larger batches slower.
_BATCH_SIZE = 16


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncoderPart:
    """One graph from word vectors to sentence vectors, with its table of word vectors."""

    name: str
    graph: bytes  # ONNX: `words` (T, B, word_units) and `lengths` (B,) give `vectors` (B, units)
    words: NDArray[np.int8]  # (V, word_units); a row times its scale is the vector of a word
    scales: NDArray[np.float32]  # (V,)

    def __post_init__(self) -> None:
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

    @property
    def units(self) -> int:
        """The length of a sentence vector, as the graph declares it."""
        return int(self._session.get_outputs()[0].shape[1])

    def run(self, ids: NDArray[np.int64], lengths: NDArray[np.int32]) -> NDArray[np.float32]:
        """The vectors of sentences given as word ids: (T, B) → (B, units)."""
        scales = np.where(ids == PADDING, np.float32(0), self.scales[ids])  # (T, B)
        words = self.words[ids] * scales[..., None]  # (T, B, word_units)
        found = self._session.run(["vectors"], {"words": words, "lengths": lengths})
        return np.asarray(found[0])

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        session = open_session(self.graph)
        given = {value.name: value.shape for value in session.get_inputs()}
        if set(given) != {"words", "lengths"} or given["words"][2] != self.word_units:
            raise ModelFolderError(f"the graph of {self.name} does not fit its word vectors")
        return session


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WordEncoder:
    """A sentence encoder over word vectors; its vectors are those of its parts, concatenated."""

    name: str
    vocabulary: Vocabulary
    parts: tuple[EncoderPart, ...]
    longest: int  # sentences are cut after this many words
    normalize: bool
    """Whether the vector of each part is scaled to unit length before they are concatenated."""
    back_off: bool = False
    """Whether an unknown word is replaced by a known variant of it (`known_tokens`)."""
    training: dict[str, Any]  # how it was trained: settings, data, figures
    card: str  # what it is, what it was trained on and how well it does, in Markdown

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if not names or len(set(names)) < len(names) or self.longest < 1:
            raise ValueError("an encoder needs parts with distinct names, and longest above 0")
        for part in self.parts:
            words, known = len(part.words), len(self.vocabulary)
            if words != known:
                raise ValueError(f"{part.name} has {words} words, its vocabulary {known}")

    @classmethod
    def load(cls, name_or_folder: str | Path) -> WordEncoder:
        """The shipped encoder of this name, or the one in a folder (`ModelFormat.open`)."""
        return _load_model(FORMAT.find(name_or_folder))

    def save(self, folder: Path, *, replace: bool = False) -> None:
        """Write a model folder; `ModelFormat.save` says what is refused."""
        config = {
            "name": self.name,
            "longest": self.longest,
            "normalize": self.normalize,
            "back_off": self.back_off,
            "parts": [
                {"name": part.name, "units": part.units, "word_units": part.word_units}
                for part in self.parts
            ],
            "training": self.training,
        }
        FORMAT.save(folder, config, {**self.files(), **self.word_files()}, replace=replace)

    @cached_property
    def units(self) -> int:
        """The length of a vector."""
        return sum(part.units for part in self.parts)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that the vectors depend on besides the text."""
        # The tokenizer is code, not data, and may change with the package's version.
        settings = (__version__, self.longest, self.normalize, self.back_off)
        pieces = [repr(settings).encode(), *map(text_bytes, self.vocabulary.words)]
        for part in self.parts:
            pieces += [part.graph, part.words.tobytes(), part.scales.tobytes()]
        return hash_pieces(pieces)

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for one without words: (N, units)."""
        sentences = [self.word_ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)

        def encode_batch(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
            ids, lengths = _pad([sentences[number] for number in numbers])
            found = [part.run(ids, lengths) for part in self.parts]
            if self.normalize:
                found = [unit_rows(part) for part in found]
            return np.concatenate(found, axis=1)

        lengths = [len(ids) for ids in sentences]
        encode_in_batches(encode_batch, lengths, vectors, _BATCH_SIZE, progress)
        return vectors

    def word_ids(self, text: str) -> list[int]:
        """The ids of the words that are read."""
        tokens = training_tokens(text)
        if self.back_off:
            tokens = known_tokens(tokens, self.vocabulary)
        ids = self.vocabulary.ids
        return [ids.get(token, UNKNOWN) for token in tokens[: self.longest]]

    def files(self) -> dict[str, Content]:
        """The graphs and the card, as they are stored."""
        return {**{f"{part.name}.onnx": part.graph for part in self.parts}, CARD: self.card}

    def word_files(self) -> dict[str, Content]:
        """The vocabulary and the word vectors, as they are stored."""
        tables: dict[str, NDArray[Any]] = {}
        for part in self.parts:
            tables |= {f"{part.name}.words": part.words, f"{part.name}.scales": part.scales}
        return {WORDS: tables, VOCABULARY: self.vocabulary}


@load_once
def _load_model(path: Path) -> WordEncoder:
    with FORMAT.open(path) as folder:
        return read_encoder(folder, normalize=bool(folder.config["normalize"]))


def read_encoder(
    folder: ModelFolder, *, normalize: bool, words_of: WordEncoder | None = None
) -> WordEncoder:
    """The encoder in an open folder, with its own word vectors or those of another encoder."""
    config = folder.config
    names = [str(part["name"]) for part in config["parts"]]
    if not all(map(_PART_NAME.fullmatch, names)):
        raise ValueError(f"parts are called {', '.join(names)}")
    if words_of is None:
        vocabulary, tables = folder.vocabulary(), folder.arrays(WORDS)
        words = [(tables[f"{name}.words"], tables[f"{name}.scales"]) for name in names]
    else:
        vocabulary, shared = words_of.vocabulary, words_of.parts[0]
        words = [(shared.words, shared.scales)] * len(names)
    return WordEncoder(
        name=str(config["name"]),
        vocabulary=vocabulary,
        parts=tuple(
            EncoderPart(name=name, graph=folder.read(f"{name}.onnx"), words=table, scales=scales)
            for name, (table, scales) in zip(names, words, strict=True)
        ),
        longest=int(config["longest"]),
        normalize=normalize,
        back_off=bool(config["back_off"]),
        training=dict(config["training"]),
        card=folder.card,
    )


def combine_encoders(models: Sequence[WordEncoder], name: str) -> WordEncoder:
    """Concatenate the vectors of several encoders, as combine-skip does with uni- and bi-skip."""
    if len(models) < 2:
        raise ValueError("it takes two encoders or more to combine")
    first = models[0]
    for model in models[1:]:
        if model.vocabulary.words != first.vocabulary.words:
            raise ConfigError(
                f"{first.name} and {model.name} know different words ({len(first.vocabulary):,} "
                f"and {len(model.vocabulary):,}); combine encoders of one vocabulary"
            )
        for setting in ("longest", "normalize", "back_off"):
            if (ours := getattr(first, setting)) != (theirs := getattr(model, setting)):
                raise ConfigError(
                    f"{first.name} and {model.name} differ in {setting} ({ours} and {theirs}); "
                    "combine encoders that read sentences alike"
                )
    parts = tuple(part for model in models for part in model.parts)
    names = [part.name for part in parts]
    if twice := [part for part in names if names.count(part) > 1]:
        raise ConfigError(f"two of the encoders have a part {twice[0]}; combine different ones")
    *others, last = (model.name for model in models)
    title = f"# {name}\n\nThe vectors of {', '.join(others)} and {last}, joined."
    # Parts of one shipped model have the same card.
    cards = dict.fromkeys(model.card.strip() for model in models)
    return replace(
        first,
        name=name,
        parts=parts,
        training={"combined": [{"name": m.name, "training": m.training} for m in models]},
        card="\n\n".join([title, *cards]) + "\n",
    )


def _pad(sentences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Ids with padding at the end, (T, B), and the lengths, (B,)."""
    lengths = np.array([len(ids) for ids in sentences], dtype=np.int32)
    padded = np.full((int(lengths.max()), len(sentences)), PADDING, dtype=np.int64)
    for column, ids in enumerate(sentences):
        padded[: len(ids), column] = ids
    return padded, lengths


def hash_pieces(pieces: Iterable[bytes]) -> str:
    """One hash over all pieces and their lengths, so that `ab, c` differs from `a, bc`."""
    total = hashlib.sha256()
    for piece in pieces:
        total.update(len(piece).to_bytes(8, "little"))
        total.update(piece)
    return total.hexdigest()


def text_bytes(text: str) -> bytes:
    """A text's bytes, even where a damaged file left half a surrogate pair in it."""
    return text.encode("utf-8", "surrogatepass")
