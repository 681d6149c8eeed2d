"""Vocabulary expansion: give a model the words of word vectors that others have trained.

As in the skip-thoughts paper, to which the paper's section 4.1 points: an unregularised linear
regression from the other space to the model's, fitted on the words that both know, gives a vector
to every word of the other space. It has a constant term, as in the published code; words that the
model knows keep their own vectors.

Files are read as a stream, in three formats, which are told apart by the content, not the name:

    word2vec binary   "words units\\n", then a word, a space and its float32 values, one by one
    word2vec text     "words units\\n", then a word and its values on each line (fastText too)
    GloVe text        the lines alone; words may hold spaces

Each may be compressed with gzip.
"""

from __future__ import annotations

import gzip
import logging
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError, UnknownFormatError
from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary, training_tokens
from folioreel.models.word_encoder import EncoderPart, WordEncoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.reading import open_file

Floats = NDArray[np.float32]
WordVector = tuple[str, Floats]

_logger = logging.getLogger(__name__)
_BLOCK = 4096  # words that are mapped at a time: a file may have millions, and is never held whole
_HELD_OUT = 10  # one shared word in ten is held out from the fit that is reported on
# Digits are limited so that the text of some other file is not taken for an enormous header.
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,5})[ \r]*\n")
_CHUNK = 1 << 20  # bytes that are read at a time; the format is told from the first of them
_SAMPLED_LINES = 100  # lines that are tried: a few odd ones at the top do not hide the format
# Bytes after which a word of a binary file must have ended; in a damaged one it never does.
_LONGEST_WORD = 10_000
_FEW = 10  # broken entries up to which a file is read to its end before it is judged
# The fraction of broken entries up to which a file is used; more mean a damaged download.
_TOLERATED = 1 / 1000
_SKIPPED = "%s: skipped broken entries (%d) and words that are not UTF-8 (%d)"


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """A model with more words, and how well the map fits."""

    model: WordEncoder
    known: int  # words in both vocabularies, on which the map was fitted
    added: int
    cosine: float
    """Mean cosine of mapped and true vectors, over a held-out tenth of the known words."""


def expand_vocabulary(
    model: WordEncoder,
    vectors: Path | Iterable[WordVector],
    limit: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Expansion:
    """Give a model the words of a file of word vectors, or of words with their vectors.

    The file is read twice, and only the vectors of the words that both know are held in memory.
    With a `limit`, the first words are added, which in most files are the most frequent.
    """
    source = vectors if isinstance(vectors, Path) else None
    entries = open_word_vectors(vectors) if isinstance(vectors, Path) else vectors
    if isinstance(entries, Iterator):
        raise ValueError("the vectors are read twice: give a list or a path")
    promised = (entries.promised if isinstance(entries, WordVectors) else None) or 0
    first_reading = _tell_progress(entries, "finding shared words", promised, progress)
    shared, new, read = _find_words(model.vocabulary, first_reading, limit)
    inputs = np.array([*shared.values()], dtype=np.float32)  # (shared words, other units)
    # Each column of the regression has `other units + 1` unknowns: below that it fits anything.
    needed = math.ceil((inputs.shape[-1] + 1) * _HELD_OUT / (_HELD_OUT - 1))
    if len(shared) <= needed:
        raise InputError(
            f"shares {len(shared)} words with the model, and a map between them needs more "
            f"than {needed}; is it of the model's language, with words in lower case?",
            source,
        )
    rows = np.array([*shared], dtype=np.int64)
    truth = np.concatenate(
        [part.words[rows] * part.scales[rows, None] for part in model.parts], axis=1
    )
    cosine = _held_out_cosine(inputs, truth)
    second_reading = _tell_progress(entries, "adding words", read, progress)
    parts = _with_new_rows(model.parts, _fit(inputs, truth), second_reading, new)
    expanded = _with_words(model, parts, [*new], len(shared), round(cosine, 4))
    return Expansion(model=expanded, known=len(shared), added=len(new), cosine=cosine)


def _with_words(
    model: WordEncoder, parts: tuple[EncoderPart, ...], new: list[str], known: int, cosine: float
) -> WordEncoder:
    """The model with the new words, and with where they come from in its card."""
    note = {"known": known, "added": len(new), "held_out_cosine": cosine}
    # How often the new words occur in the training corpus is not known; as good as never.
    vocabulary = Vocabulary(
        words=(*model.vocabulary.words, *new),
        counts=(*model.vocabulary.counts, *[0] * len(new)),
    )
    card = (
        f"{model.card.rstrip()}\n\nIts vocabulary was expanded by {len(new)} words: a linear map,"
        f" fitted on {known} words that both knew, brought them from other word vectors. On a"
        f" held-out tenth the mapped vectors have a mean cosine of {cosine} with the true ones.\n"
    )
    training = {**model.training, "expansion": note}
    return replace(model, parts=parts, vocabulary=vocabulary, training=training, card=card)


def _find_words(
    vocabulary: Vocabulary, entries: Iterable[WordVector], limit: int | None
) -> tuple[dict[int, Floats], dict[str, int], int]:
    """Shared words (id → vector), new ones (→ number of their entry), and the number of entries."""
    shared: dict[int, Floats] = {}
    new: dict[str, int] = {}
    lower: set[str] = set()
    number = -1
    for number, (name, vector) in enumerate(entries):
        word = name.lower()
        # A word's own vector is that of its lower-case form; `Paris` serves where that is missing.
        exact = word == name
        if (known := vocabulary.ids.get(word)) is not None:
            if exact and known >= len(SPECIAL_TOKENS):
                shared.setdefault(known, vector)
            continue
        if word not in new:
            # Only what the tokenizer leaves in one piece can ever be looked up.
            if (limit is not None and len(new) >= limit) or training_tokens(word) != [word]:
                continue
        elif not exact or word in lower:
            continue
        new[word] = number
        if exact:
            lower.add(word)
    return shared, new, number + 1


def _tell_progress(
    entries: Iterable[WordVector], stage: str, total: int, progress: ProgressCallback
) -> Iterator[WordVector]:
    """As `track`, but once a block: millions of calls would take longer than the reading."""
    done = 0
    for done, entry in enumerate(entries, 1):
        if done % _BLOCK == 0:
            progress(Progress(stage=stage, done=done, total=max(total, done)))
        yield entry
    progress(Progress(stage=stage, done=done, total=done))


def _with_new_rows(
    parts: tuple[EncoderPart, ...],
    solution: NDArray[np.float64],
    entries: Iterable[WordVector],
    new: dict[str, int],
) -> tuple[EncoderPart, ...]:
    """The parts with a row for each new word; the solution's columns are theirs in turn."""
    maps = np.split(solution, np.cumsum([part.word_units for part in parts])[:-1], axis=1)
    words = [np.pad(part.words, ((0, len(new)), (0, 0))) for part in parts]
    scales = [np.pad(part.scales, (0, len(new))) for part in parts]
    row_of = {number: row for row, number in enumerate(new.values(), len(parts[0].words))}
    wanted = ((row_of[k], vector) for k, (_, vector) in enumerate(entries) if k in row_of)
    while block := list(islice(wanted, _BLOCK)):
        rows = [row for row, _ in block]
        vectors = np.stack([vector for _, vector in block])
        for k, map_ in enumerate(maps):
            words[k][rows], scales[k][rows] = quantize_rows(_apply(map_, vectors))
    tables = zip(parts, words, scales, strict=True)
    return tuple(replace(part, words=table, scales=scale) for part, table, scale in tables)


def _held_out_cosine(vectors: Floats, truth: Floats) -> float:
    """How well a fit on nine tenths does on the last."""
    held_out = np.arange(len(vectors)) % _HELD_OUT == _HELD_OUT - 1
    mapped = _apply(_fit(vectors[~held_out], truth[~held_out]), vectors[held_out])
    products = np.sum(mapped * truth[held_out], axis=1)
    lengths = np.linalg.norm(mapped, axis=1) * np.linalg.norm(truth[held_out], axis=1)
    return float(np.mean(products / np.maximum(lengths, 1e-12)))  # a word may map to zero


def _fit(vectors: Floats, truth: Floats) -> NDArray[np.float64]:
    """Least squares: (other units + 1, word units), the constant term last."""
    inputs = np.pad(vectors.astype(np.float64), ((0, 0), (0, 1)), constant_values=1)
    solution = np.linalg.lstsq(inputs, truth.astype(np.float64), rcond=None)[0]
    return solution.astype(np.float64, copy=False)


def _apply(map_: NDArray[np.float64], vectors: Floats) -> NDArray[np.float64]:
    mapped: NDArray[np.float64] = vectors @ map_[:-1] + map_[-1]
    return mapped


@dataclass(kw_only=True)
class WordVectors:
    """A file of word vectors, which can be iterated over more than once.

    Broken entries are skipped and counted; a file with more than one in a thousand is refused.
    """

    path: Path
    form: Literal["binary", "text"]
    units: int
    promised: int | None  # the number of words in the header; None where there is no header
    broken: int = field(default=0, init=False)
    """Entries that the last reading skipped: too few values, or not numbers."""
    undecodable: int = field(default=0, init=False)
    """Words that the last reading skipped, as they are not in UTF-8."""
    _warned: bool = field(default=False, init=False, repr=False)

    def __iter__(self) -> Iterator[WordVector]:
        """Each word with its vector; an InputError if the file is cut short or damaged."""
        self.broken = self.undecodable = 0
        number = first_broken = 0
        with _open(self.path) as file:
            if self.promised is not None:
                file.readline()
            entries = self._binary(file) if self.form == "binary" else self._text(file)
            for number, entry in enumerate(entries, 1):
                if entry is None:
                    self.broken += 1
                    first_broken = first_broken or number
                    # Where there are many, give up at once rather than read gigabytes more.
                    if self.broken > _FEW:
                        self._judge(number, first_broken)
                elif (word := self._decode(entry[0])) is not None:
                    yield word, entry[1]
        self._judge(number, first_broken)
        if (self.broken or self.undecodable) and not self._warned:
            self._warned = True  # once, though the file is read twice
            skipped = (self.path, self.broken, self.undecodable)
            _logger.warning(_SKIPPED, *skipped)

    def _binary(self, file: BinaryIO) -> Iterator[tuple[bytes, Floats] | None]:
        """Each word with its vector; None where the values are broken."""
        assert self.promised is not None
        size = 4 * self.units
        data, place = b"", 0
        for number in range(1, self.promised + 1):
            while (space := data.find(b" ", place)) < 0 or len(data) < space + 1 + size:
                if (len(data) if space < 0 else space) - place > _LONGEST_WORD:
                    raise self._error(f"is damaged at word {number}")
                more = file.read(_CHUNK)
                if not more:
                    raise self._error(f"is cut short after {number - 1} of {self.promised} words")
                data, place = data[place:] + more, 0
            # The original program ends each entry with a line feed, others do not.
            name = data[place:space].lstrip(b"\n")
            place = space + 1 + size
            vector = np.frombuffer(data, "<f4", self.units, space + 1).astype(np.float32)
            yield (name, vector) if name and np.isfinite(vector).all() else None

    def _text(self, file: BinaryIO) -> Iterator[tuple[bytes, Floats] | None]:
        """Each word with its vector; None where a line is broken."""
        read, line, entry = 0, b"", None
        for line in file:
            read += 1
            entry = _parse(line, self.units)
            yield entry
        ends_broken = bool(line) and not line.endswith(b"\n") and entry is None
        if ends_broken or read < (self.promised or 0):
            of = f" of {self.promised}" if self.promised is not None else ""
            problem = f"is cut short after {read - ends_broken}{of} words"
            raise self._error(problem, read + (self.promised is not None))

    def _decode(self, name: bytes) -> str | None:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            self.undecodable += 1
            return None

    def _judge(self, read: int, first_broken: int) -> None:
        if self.broken > math.ceil(read * _TOLERATED):
            line = first_broken + (self.promised is not None) if self.form == "text" else None
            where = f"word {first_broken}" if line is None else "this line"
            found = f"{self.broken} of {read} entries are broken, first {where}"
            raise self._error(f"is damaged: {found}", line)

    def _error(self, problem: str, line: int | None = None) -> InputError:
        return InputError(f"{problem}; download it again", self.path, line)


def open_word_vectors(path: Path) -> WordVectors:
    """Find out the format of a file of word vectors."""
    with _open(path) as file:
        sample = file.read(_CHUNK)
    header = _HEADER.match(sample)
    if header is not None:
        promised, units = int(header[1]), int(header[2])
        rest = sample[header.end() :]
        if promised and not rest:
            raise InputError(f"is cut short after 0 of {promised} words; download it again", path)
        if units:
            lines = rest.split(b"\n", _SAMPLED_LINES)[:_SAMPLED_LINES]
            text = promised == 0 or any(_parse(line, units) for line in lines)
            form: Literal["binary", "text"] = "text" if text else "binary"
            return WordVectors(path=path, form=form, units=units, promised=promised)
    elif found := _glove_units(sample):
        return WordVectors(path=path, form="text", units=found, promised=None)
    raise UnknownFormatError(
        "holds no word vectors; give a word2vec file (binary or text) or a GloVe file", path
    )


def _glove_units(sample: bytes) -> int | None:
    """How many values are on a line; words may hold spaces, so the majority decides."""
    lines = sample.split(b"\n", _SAMPLED_LINES)
    whole = lines[:-1] if len(lines) > 1 else lines
    counts = Counter(len(line.rstrip(b" \r").split(b" ")) - 1 for line in whole if line)
    if not counts:
        return None
    units = max(counts, key=lambda count: (counts[count], -count))
    good = sum(_parse(line, units) is not None for line in whole)
    return units if units > 1 and 2 * good > len(whole) else None


def _parse(line: bytes, units: int) -> tuple[bytes, Floats] | None:
    """The word and the values of a line, or None where it is broken."""
    # Split at spaces alone: words may hold other white space, such as no-break spaces.
    fields = line.rstrip(b" \r\n").rsplit(b" ", units)
    if len(fields) != units + 1 or not fields[0]:
        return None
    try:
        values = [float(value) for value in fields[1:]]
    except ValueError:
        return None
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and so not finite
        vector = np.array(values, dtype=np.float32)
    return (fields[0], vector) if np.isfinite(vector).all() else None


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """The file, unpacked as it is read."""
    with open_file(path) as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        try:
            yield cast("BinaryIO", gzip.GzipFile(fileobj=file)) if is_packed else file
        except (OSError, EOFError, zlib.error) as error:
            message = f"cannot be unpacked ({error}); download it again"
            raise InputError(message, path) from error
