"""Reading one book for the corpus, and remembering what came of it.

`readings/<id>.json` says what a file held: its counts, its fingerprint, or why it is unreadable. A
content that has a reading is not read again, whatever folder or archive it lies in. A reader that
fails or crashes says nothing of the book: that is noted beside the files being read, where it lasts
for one run, and the next one tries again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from folioreel import __version__
from folioreel.corpus.book_file import encode_text, text_of_book
from folioreel.corpus.fingerprints import Fingerprint, fingerprint
from folioreel.errors import InputError
from folioreel.files import file_sha256, write_whole
from folioreel.ingest.book import load_book
from folioreel.text import tokenize
from folioreel.types import Book

_LOG = logging.getLogger(__name__)
_VERSION = 2
"""Readings of version 1 may hold failures as if they were verdicts."""
_NO_NAME = "folioreel-untitled"
"""The file's name while it is read: a book that bears it as its title has none of its own."""
_AGAIN = "the next build tries it again"


@dataclass(frozen=True, kw_only=True)
class ReadTask:
    """A file to be read, and where what it holds is written."""

    id: str
    data: bytes
    suffix: str
    out: Path
    text_from: int | None
    """Words from which the text is kept; None for a held-out book, of which it never is."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What came of reading one file."""

    title: str | None = None
    sentences: int = 0
    words: int = 0
    problem: str = ""
    """Why it cannot be read."""
    text_sha256: str = ""
    """The digest of its text's file, by which a damaged one is known."""
    signature: str = ""
    """The fingerprint's two arrays, little-endian, in base 64."""
    sketch: str = ""

    @property
    def fingerprint(self) -> Fingerprint:
        """By what its text is known again."""
        return Fingerprint(
            signature=np.frombuffer(base64.b64decode(self.signature), dtype="<u4"),
            sketch=np.frombuffer(base64.b64decode(self.sketch), dtype="<u8"),
        )


def text_path(out: Path, book_id: str) -> Path:
    """Where a book's text lies in a corpus."""
    return out / "books" / f"{book_id}.tsv.gz"


def reading_path(out: Path, book_id: str) -> Path:
    """Where a book's reading lies in a corpus."""
    return out / "readings" / f"{book_id}.json"


def scratch_path(out: Path) -> Path:
    """Where files lie while they are read."""
    return out / ".scratch"


def failure_path(out: Path, book_id: str) -> Path:
    """Where it is noted that this run failed to read a book."""
    return scratch_path(out) / f"{book_id}.json"


def find_reading(out: Path, book_id: str) -> Reading | None:
    """What an earlier run found, if it was this version of the package that read it."""
    return _parse_reading(reading_path(out, book_id))


def _parse_reading(path: Path) -> Reading | None:
    try:
        data = json.loads(path.read_bytes())
        if data.pop("version") != _VERSION or data.pop("package_version") != __version__:
            return None
        return Reading(**data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def get_reading(out: Path, book_id: str) -> Reading:
    """What came of reading a book that must have been read by now; in this run, if it failed."""
    reading = _parse_reading(failure_path(out, book_id)) or find_reading(out, book_id)
    if reading is None:
        raise InputError("was removed while the corpus was built", reading_path(out, book_id))
    return reading


def has_text(out: Path, book_id: str, reading: Reading) -> bool:
    """Whether a book's text is there, undamaged."""
    try:
        return file_sha256(text_path(out, book_id)) == reading.text_sha256
    except InputError:
        return False


def read_for_corpus(task: ReadTask) -> None:
    """Read a book and write its text and its reading; a book that cannot be read is no error.

    Raises:
        InputError: The corpus cannot be written.
    """
    loaded = _load(task)
    if loaded is None:
        return
    encoded = encode_text(text_of_book(loaded))
    words = 0

    def counted_words() -> Iterator[str]:
        nonlocal words
        for sentence in loaded.sentences:
            found = tokenize(sentence.text)
            words += len(found)
            yield from found

    found = fingerprint(counted_words())
    # The text goes first: a reading says that all of it is there.
    if task.text_from is not None and words >= task.text_from:
        write_whole(text_path(task.out, task.id), encoded)
    reading = Reading(
        title=None if loaded.title == _NO_NAME else loaded.title,
        sentences=len(loaded.sentences),
        words=words,
        text_sha256=hashlib.sha256(encoded).hexdigest(),
        signature=base64.b64encode(found.signature.astype("<u4").tobytes()).decode(),
        sketch=base64.b64encode(found.sketch.astype("<u8").tobytes()).decode(),
    )
    _write_reading(reading_path(task.out, task.id), reading)


def note_failure(task: ReadTask, problem: str) -> None:
    """Say for the rest of this run why a book was not read."""
    _write_reading(failure_path(task.out, task.id), Reading(problem=problem))


def _load(task: ReadTask) -> Book | None:
    """The book; where there is none, why has been written down."""
    # All books go by one name while they are read: no title may hang on which copy came first.
    folder = scratch_path(task.out) / task.id
    path = folder / f"{_NO_NAME}{task.suffix}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(task.data)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path) from error
    try:
        return load_book(path)
    except InputError as error:
        if _is_whole(path, task.data):
            _write_reading(reading_path(task.out, task.id), Reading(problem=error.message))
        else:
            note_failure(task, f"the reader failed ({error.message}); {_AGAIN}")
    except Exception as error:
        # One book that the readers do not foresee must not end a run over thousands.
        _LOG.warning("book %s could not be read", task.id, exc_info=True)
        note_failure(task, f"the reader failed ({type(error).__name__}: {error}); {_AGAIN}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _is_whole(path: Path, data: bytes) -> bool:
    """Whether the reader had the book's own bytes before it."""
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _write_reading(path: Path, reading: Reading) -> None:
    data: dict[str, Any] = {"version": _VERSION, "package_version": __version__, **asdict(reading)}
    text = json.dumps(data, ensure_ascii=False, indent=0) + "\n"
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))
