"""Word vectors that others have trained, read as a stream: word2vec's two forms, and GloVe's.

    word2vec binary   "words units\\n", then a word, a blank and its float32 values, one by one
    word2vec text     "words units\\n", then a word and its values on each line (fastText too)
    GloVe text        the lines alone; words may hold blanks

Each may be packed with gzip. Which it is, is found by looking and not by the name.
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
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,5})[ \r]*\n")
_GLANCE = 1 << 20
"""Bytes that are looked at to tell the form."""
_GLANCED_LINES = 100
_LONGEST_WORD = 10_000
"""Bytes after which a word of a binary file must have ended."""
_FEW = 10
"""Broken entries for which a file is not yet given up half-way."""


@dataclass(kw_only=True)
class WordVectors:
    """A file of word vectors, which can be gone through again and again.

    Entries that are broken are left out and counted; where more than one in a thousand is, the
    file is refused.
    """

    path: Path
    form: Literal["binary", "text"]
    units: int
    promised: int | None
    """How many words the first line speaks of; None where there is no such line."""
    broken: int = field(default=0, init=False)
    """Entries of the last reading that were left out: too few values, or no numbers."""
    undecodable: int = field(default=0, init=False)
    """Words of the last reading that were left out as they are not written in UTF-8."""
    _warned: bool = field(default=False, init=False, repr=False)

    def __iter__(self) -> Iterator[WordVector]:
        """Each word with its vector.

        Raises:
            InputError: The file is cut short or damaged.
        """
        self.broken = self.undecodable = 0
        with _reading(self.path) as file:
            if self.promised is not None:
                next(_lines(file, self.path), b"")
            yield from self._binary(file) if self.form == "binary" else self._text(file)
        if (self.broken or self.undecodable) and not self._warned:
            self._warned = True  # once, though the file is read twice
            _logger.warning(
                "%s: left out %d broken %s and %d %s not UTF-8",
                self.path,
                self.broken,
                "entry" if self.broken == 1 else "entries",
                self.undecodable,
                "word that is" if self.undecodable == 1 else "words that are",
            )

    def _binary(self, file: BinaryIO) -> Iterator[WordVector]:
        assert self.promised is not None
        size = 4 * self.units
        data, place, first_broken = b"", 0, None
        for number in range(1, self.promised + 1):
            while (blank := data.find(b" ", place)) < 0 or len(data) < blank + 1 + size:
                if (len(data) if blank < 0 else blank) - place > _LONGEST_WORD:
                    raise InputError(f"is damaged at word {number}; fetch it again", self.path)
                more = _read(file, self.path)
                if not more:
                    message = f"is cut short after {number - 1} of {self.promised} words"
                    raise InputError(f"{message}; fetch it again", self.path)
                data, place = data[place:] + more, 0
            # The original program ends each entry with a line feed, others do not.
            name = data[place:blank].lstrip(b"\n")
            place = blank + 1 + size
            vector = np.frombuffer(data, "<f4", self.units, blank + 1).astype(np.float32)
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
            message = f"is cut short after {read - ends_broken}{of} words; fetch it again"
            raise InputError(message, self.path, read + before)
        self._judge(read, "this line", first_broken)

    def _decode(self, name: bytes) -> str | None:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            self.undecodable += 1
            return None

    def _count_broken(self, read: int, where: str, line: int | None) -> None:
        """Count one; give up half-way where there are many, rather than read gigabytes."""
        self.broken += 1
        if self.broken > _FEW:
            self._judge(read, where, line)

    def _judge(self, read: int, where: str, line: int | None) -> None:
        if self.broken > math.ceil(read / 1000):
            message = f"is damaged: {self.broken} of {read} entries are broken, first {where}"
            raise InputError(f"{message}; fetch it again", self.path, line)


def open_word_vectors(path: Path) -> WordVectors:
    """Find out how a file of word vectors is written.

    Raises:
        InputError: The file is missing or cannot be unpacked.
        UnknownFormatError: It holds no word vectors.
    """
    with _reading(path) as file:
        glance = _read(file, path)
    header = _HEADER.match(glance)
    if header is not None:
        promised, units = int(header[1]), int(header[2])
        rest = glance[header.end() :]
        if promised and not rest:
            raise InputError(f"is cut short after 0 of {promised} words; fetch it again", path)
        if units:
            lines = rest.split(b"\n", _GLANCED_LINES)[:_GLANCED_LINES]
            text = promised == 0 or any(_parse(line, units) for line in lines)
            form: Literal["binary", "text"] = "text" if text else "binary"
            return WordVectors(path=path, form=form, units=units, promised=promised)
    elif found := _glove_units(glance):
        return WordVectors(path=path, form="text", units=found, promised=None)
    raise UnknownFormatError(
        "holds no word vectors; give word2vec's binary or text form, or GloVe's text", path
    )


def read_word_vectors(path: Path) -> Iterator[WordVector]:
    """Each word of a file with its vector; see `open_word_vectors` and `WordVectors`."""
    return iter(open_word_vectors(path))


def _glove_units(glance: bytes) -> int | None:
    """How many values stand on a line; words may hold blanks, so most lines decide."""
    lines = glance.split(b"\n", _GLANCED_LINES)
    whole = lines[:-1] if len(lines) > 1 else lines
    counts = Counter(len(line.rstrip(b" \r").split(b" ")) - 1 for line in whole if line)
    if not counts:
        return None
    units = max(counts, key=lambda count: (counts[count], -count))
    good = sum(_parse(line, units) is not None for line in whole)
    return units if units > 1 and 2 * good > len(whole) else None


def _parse(line: bytes, units: int) -> tuple[bytes, NDArray[np.float32]] | None:
    """The word and the values of a line, or None where they are not what they should be."""
    # Split at blanks alone: words hold other white space, as no-break blanks.
    fields = line.rstrip(b" \r\n").rsplit(b" ", units)
    if len(fields) != units + 1 or not fields[0]:
        return None
    try:
        values = [float(value) for value in fields[1:]]
    except ValueError:
        return None
    with np.errstate(over="ignore"):
        vector = np.array(values, dtype=np.float32)
    return (fields[0], vector) if np.isfinite(vector).all() else None


def _reading(path: Path) -> BinaryIO:
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
        return file.read(_GLANCE)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}); fetch it again", path) from error


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    try:
        for line in file:  # noqa: UP028 - `yield from` would close the file with this generator
            yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}); fetch it again", path) from error
