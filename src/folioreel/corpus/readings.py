"""Reading one book for the corpus, and remembering the result.

`readings/<id>.json` says what a file holds: its counts and its fingerprint, or why it is
unreadable. Content that has a reading is never read again, in whatever folder or archive it turns
up. A reader that crashes says nothing about the book: that is reported but not stored, so that the
next run tries again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from folioreel import __version__
from folioreel.corpus.fingerprints import Fingerprint, fingerprint
from folioreel.corpus.manifest import reading_path, scratch_path, text_path
from folioreel.corpus.reader import BookText, encode_text
from folioreel.corpus.sources import FoundFile
from folioreel.errors import InputError, WorkError
from folioreel.files import file_sha256, write_whole
from folioreel.ingest.book import load_book
from folioreel.json_input import convert, parse_json
from folioreel.reading import read_plain, read_whole
from folioreel.text import tokenize
from folioreel.types import Book

# Version 1 did not tell a crash of the reader from an unreadable book, version 2 no languages.
_VERSION = 3
# The file name while a book is read: a book with this title has none of its own.
_UNTITLED = "folioreel-untitled"


@dataclass(frozen=True, kw_only=True)
class ReadTask:
    """A file to read, and the corpus to write the result to."""

    file: FoundFile
    out: Path
    text_from: int | None
    """The number of words from which the text is stored; None for held-out books: never."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The result of reading one file."""

    title: str | None = None
    language: str | None = None
    sentences: int = 0
    words: int = 0
    problem: str = ""  # why it cannot be read
    text_sha256: str = ""  # the hash of the stored text, by which damage is noticed
    signature: str = ""  # the two arrays of the fingerprint, little-endian, in base64
    sketch: str = ""

    @property
    def fingerprint(self) -> Fingerprint:
        """What identifies its text."""
        return Fingerprint(
            signature=np.frombuffer(base64.b64decode(self.signature), dtype="<u4"),
            sketch=np.frombuffer(base64.b64decode(self.sketch), dtype="<u8"),
        )


def find_reading(out: Path, book_id: str) -> Reading | None:
    """The stored reading of a book, if this version of the package made it."""
    try:
        data = parse_json(read_whole(reading_path(out, book_id)), dict[str, Any])
        # Another version of the package may split sentences differently.
        if data.get("version") != _VERSION or data.get("package_version") != __version__:
            return None
        reading = convert(data, Reading)
        if not reading.problem:
            reading.fingerprint.check()
    except (InputError, ValueError):
        return None
    return reading


def has_text(out: Path, book_id: str) -> bool:
    """Whether the text of a book is stored and undamaged."""
    reading = find_reading(out, book_id)
    try:
        return reading is not None and file_sha256(text_path(out, book_id)) == reading.text_sha256
    except InputError:
        return False


def read_for_corpus(task: ReadTask) -> None:
    """Read a book and store its text and its reading; "unreadable" is a reading, too."""
    # All books have the same file name while they are read: otherwise a title that comes from the
    # name would depend on which of several copies was found first.
    path = scratch_path(task.out) / task.file.id / f"{_UNTITLED}{task.file.suffix}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(task.file.data)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path) from error
    try:
        book = load_book(path)
    except InputError as error:
        if not _is_intact(path, task.file.data):
            raise WorkError(error.message) from error
        reading = Reading(problem=error.message)
    else:
        reading = _store_text(book, task)
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)
    data = {"version": _VERSION, "package_version": __version__, **asdict(reading)}
    text = json.dumps(data, ensure_ascii=False, indent=0) + "\n"
    encoded = text.encode("utf-8", errors="backslashreplace")
    write_whole(reading_path(task.out, task.file.id), encoded)


def _store_text(book: Book, task: ReadTask) -> Reading:
    """Store the text of a book, if it is long enough, and describe it."""
    # Encoded even if it is too short to be stored: the hash is part of the reading, and other
    # settings may keep the book later.
    encoded = encode_text(BookText.of(book))
    words = 0

    def counted_words() -> Iterator[str]:
        nonlocal words
        for sentence in book.sentences:
            found = tokenize(sentence.text)
            words += len(found)
            yield from found

    found = fingerprint(counted_words())
    # Before the reading is written, which promises that the text is complete.
    if task.text_from is not None and words >= task.text_from:
        write_whole(text_path(task.out, task.file.id), encoded)
    return Reading(
        title=None if book.title == _UNTITLED else book.title,
        language=book.language,
        sentences=len(book.sentences),
        words=words,
        text_sha256=hashlib.sha256(encoded).hexdigest(),
        signature=base64.b64encode(found.signature.astype("<u4").tobytes()).decode(),
        sketch=base64.b64encode(found.sketch.astype("<u8").tobytes()).decode(),
    )


def _is_intact(path: Path, data: bytes) -> bool:
    """Whether the reader had the book's own bytes: somebody may have cleaned up the folder."""
    try:
        return read_plain(path) == data
    except OSError:
        return False
