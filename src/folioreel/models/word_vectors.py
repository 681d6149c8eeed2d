"""Word vectors that others have trained, read as a stream: word2vec's two formats, and GloVe's.

    word2vec binary   "words units\\n", then a word, a space and its float32 values, one by one
    word2vec text     "words units\\n", then a word and its values on each line (fastText too)
    GloVe text        the lines alone; words may hold spaces

Each may be compressed with gzip. The format is told by the content, not by the file's name.
"""

from __future__ import annotations

import gzip
import logging
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, cast

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError, UnknownFormatError

WordVector = tuple[str, NDArray[np.float32]]

_logger = logging.getLogger(__name__)
# Digits are limited so that the text of some other file is not taken for an enormous header.
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,5})[ \r]*\n")
_CHUNK = 1 << 20
"""Bytes that are read at a time; the format is told from the first of them."""
_SAMPLED_LINES = 100
"""Lines that are tried: enough that a few odd ones at the top do not hide the format."""
_LONGEST_WORD = 10_000
"""Bytes after which a word of a binary file must have ended; in a damaged one it never does."""
_FEW = 10
"""Broken entries up to which a file is read to its end before it is judged."""
_TOLERATED = 1 / 1000
"""The fraction of broken entries up to which a file is used; more mean a damaged download."""


@dataclass(kw_only=True)
class WordVectors:
    """A file of word vectors, which can be iterated over more than once.

    Broken entries are skipped and counted; a file with more than one in a thousand is refused.
    """

    path: Path
    form: Literal["binary", "text"]
    units: int
    promised: int | None
    """The number of words in the header; None where there is no header."""
    broken: int = field(default=0, init=False)
    """Entries that the last reading skipped: too few values, or not numbers."""
    undecodable: int = field(default=0, init=False)
    """Words that the last reading skipped, as they are not in UTF-8."""
    _warned: bool = field(default=False, init=False, repr=False)

    def __iter__(self) -> Iterator[WordVector]:
        """Each word with its vector.

        Raises:
            InputError: The file is cut short or damaged.
        """
        self.broken = self.undecodable = 0
        with _open(self.path) as file:
            if self.promised is not None:
                next(_lines(file, self.path), b"")
            yield from self._binary(file) if self.form == "binary" else self._text(file)
        if (self.broken or self.undecodable) and not self._warned:
            self._warned = True  # once, though the file is read twice
            _logger.warning(
                "%s: skipped broken entries (%d) and words that are not UTF-8 (%d)",
                self.path,
                self.broken,
                self.undecodable,
            )

    def _binary(self, file: BinaryIO) -> Iterator[WordVector]:
        assert self.promised is not None
        size = 4 * self.units
        data, place, first_broken = b"", 0, None
        for number in range(1, self.promised + 1):
            while (space := data.find(b" ", place)) < 0 or len(data) < space + 1 + size:
                if (len(data) if space < 0 else space) - place > _LONGEST_WORD:
                    raise self._error(f"is damaged at word {number}")
                more = _read(file, self.path)
                if not more:
                    raise self._error(f"is cut short after {number - 1} of {self.promised} words")
                data, place = data[place:] + more, 0
            # The original program ends each entry with a line feed, others do not.
            name = data[place:space].lstrip(b"\n")
            place = space + 1 + size
            vector = np.frombuffer(data, "<f4", self.units, space + 1).astype(np.float32)
            if not name or not np.isfinite(vector).all():
                first_broken = first_broken or number
                self._count_broken(number, f"word {first_broken}", None)
            elif (word := self._decode(name)) is not None:
                yield word, vector
        self._judge(self.promised, f"word {first_broken}", None)

    def _text(self, file: BinaryIO) -> Iterator[WordVector]:
        read, first_broken, line = 0, None, b""
        before = 0 if self.promised is None else 1
        for read, line in enumerate(_lines(file, self.path), 1):
            entry = _parse(line, self.units)
            if entry is None:
                first_broken = first_broken or read + before
                self._count_broken(read, "this line", first_broken)
            elif (word := self._decode(entry[0])) is not None:
                yield word, entry[1]
        ends_broken = bool(line) and not line.endswith(b"\n") and _parse(line, self.units) is None
        if ends_broken or read < (self.promised or 0):
            of = f" of {self.promised}" if self.promised is not None else ""
            raise self._error(f"is cut short after {read - ends_broken}{of} words", read + before)
        self._judge(read, "this line", first_broken)

    def _decode(self, name: bytes) -> str | None:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            self.undecodable += 1
            return None

    def _count_broken(self, read: int, where: str, line: int | None) -> None:
        """Count one; where there are many, give up at once rather than read gigabytes more."""
        self.broken += 1
        if self.broken > _FEW:
            self._judge(read, where, line)

    def _judge(self, read: int, where: str, line: int | None) -> None:
        if self.broken > math.ceil(read * _TOLERATED):
            found = f"{self.broken} of {read} entries are broken, first {where}"
            raise self._error(f"is damaged: {found}", line)

    def _error(self, problem: str, line: int | None = None) -> InputError:
        return InputError(f"{problem}; download it again", self.path, line)


def open_word_vectors(path: Path) -> WordVectors:
    """Find out the format of a file of word vectors.

    Raises:
        InputError: The file is missing or cannot be decompressed.
        UnknownFormatError: It holds no word vectors.
    """
    with _open(path) as file:
        sample = _read(file, path)
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


def _parse(line: bytes, units: int) -> tuple[bytes, NDArray[np.float32]] | None:
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


def _open(path: Path) -> BinaryIO:
    try:
        file = path.open("rb")
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path) from error
    if not packed:
        return file
    file.close()
    return cast("BinaryIO", gzip.open(path, "rb"))


def _read(file: BinaryIO, path: Path) -> bytes:
    try:
        return file.read(_CHUNK)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}); download it again", path) from error


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    try:
        for line in file:  # noqa: UP028 - `yield from` would close the file with this generator
            yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}); download it again", path) from error
