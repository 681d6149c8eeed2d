"""A corpus on disk: where its files lie, what `corpus.json` says, and the lock for writers.

```
CORPUS/corpus.json          which books are kept, and which are not and why
CORPUS/books/<id>.tsv.gz    the sentences of each kept book               (reader.py)
CORPUS/readings/<id>.json   the result of reading each file               (readings.py)
CORPUS/search/              what `corpus index` adds                      (store.py)
CORPUS/.scratch/            files while they are being read; gone when the build ends
CORPUS/.lock                held by the one process that may write
```
`<id>` is the first 16 digits of the file's SHA-256 and its suffix: `9c56cc51b374c3ba-txt`.

```
{"format": "folioreel-corpus", "version": 1, "package_version": "0.1.0",
 "config": {"min_words": 20000, "duplicate_from": 0.3, "held_out_from": 0.1},
 "held_out": [{"path", "title", "sha256", "words", "problem"}, ...],
 "books": [{"id", "title", "path", "sha256", "sentences", "words",
            "status": "kept" | "short" | "duplicate" | "held out" | "unreadable",
            "reason", "duplicate_of"}, ...]}
```
Books are sorted by path. A `path` is relative to the folder that the corpus was built from; a book
in an archive has the archive's path before its own. `duplicate_of` is the path of the kept or
held-out book that this one repeats.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from folioreel import __version__
from folioreel.errors import InputError
from folioreel.files import write_whole
from folioreel.ingest.source import read_bytes
from folioreel.json_input import convert, parse_json

FORMAT = "folioreel-corpus"
VERSION = 1
MANIFEST = "corpus.json"
LOCK = ".lock"

Status = Literal["kept", "short", "duplicate", "held out", "unreadable"]
STATUSES: tuple[Status, ...] = get_args(Status)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BookRecord:
    """One book of the folder, and whether the corpus keeps it."""

    id: str  # identifies content and file type; empty for an archive that cannot be opened
    title: str
    path: str
    sha256: str
    sentences: int
    words: int
    status: Status
    reason: str = ""  # why it is not kept, in words for the user
    duplicate_of: str | None = None
    language: str | None = None  # two letters, if it is known


@dataclass(frozen=True, kw_only=True)
class HeldOutRecord:
    """One book that must stay out of the corpus."""

    path: str
    title: str
    sha256: str
    words: int
    problem: str = ""  # why it could not be read, in which case its copies could not be excluded


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The content of `corpus.json`."""

    config: dict[str, Any]
    books: tuple[BookRecord, ...]  # every book that was found, sorted by path
    held_out: tuple[HeldOutRecord, ...] = ()
    package_version: str = __version__

    def with_status(self, status: Status) -> tuple[BookRecord, ...]:
        """The books with one status: `kept`, `short`, `duplicate`, `held out`, `unreadable`."""
        return tuple(book for book in self.books if book.status == status)

    @cached_property
    def kept(self) -> tuple[BookRecord, ...]:
        """The books of the corpus."""
        return self.with_status("kept")

    @cached_property
    def left_out(self) -> tuple[BookRecord, ...]:
        """The other books, each with the reason."""
        return tuple(book for book in self.books if book.status != "kept")


def text_path(corpus: Path, book_id: str) -> Path:
    """Where the text of a book lies."""
    return corpus / "books" / f"{book_id}.tsv.gz"


def reading_path(corpus: Path, book_id: str) -> Path:
    """Where the reading of a book lies."""
    return corpus / "readings" / f"{book_id}.json"


def scratch_path(corpus: Path) -> Path:
    """Where files lie while they are being read."""
    return corpus / ".scratch"


@contextmanager
def locked(corpus: Path) -> Iterator[None]:
    """Keep other processes from writing to a corpus; its folder must exist.

    The system releases the lock when the process ends, however it ends.
    """
    try:
        (corpus / LOCK).touch()
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", corpus / LOCK) from error
    lock = FileLock(corpus / LOCK, timeout=0)  # fail at once: a build may take hours
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"another process is writing to {corpus}; wait until it has finished"
        ) from None
    except OSError as error:
        # Some network drives have no locks. Refusing to build there would help nobody.
        _LOG.warning(
            "%s cannot be locked (%s); run one build at a time", corpus, error.strerror or error
        )
    try:
        yield
    finally:
        lock.release()  # does nothing where it was not acquired


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `corpus.json`."""
    head = {"package_version": manifest.package_version, "config": manifest.config}
    rows = {"held_out": manifest.held_out, "books": manifest.books}
    write_records(folder / MANIFEST, FORMAT, VERSION, head, rows)


def read_manifest(folder: Path) -> Manifest:
    """Read `corpus.json`; an error says what to do about it."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"is not a corpus (it has no {MANIFEST}); build one first", folder)
    data = read_records(path, FORMAT, VERSION, "delete it and build the corpus again")
    try:
        return Manifest(
            config=data["config"],
            books=convert(data["books"], tuple[BookRecord, ...], known_only=True),
            held_out=convert(data["held_out"], tuple[HeldOutRecord, ...], known_only=True),
            package_version=data["package_version"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged ({error}); build the corpus again", path) from error


def write_records(
    path: Path,
    file_format: str,
    version: int,
    head: Mapping[str, Any],
    rows: Mapping[str, Sequence[Any]],
) -> None:
    """Write JSON with one line per record, so that `diff` and `grep` work on it."""

    def dump(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    head = {"format": file_format, "version": version, **head}
    lines = [f'"{key}": {dump(value)}' for key, value in head.items()]
    for key, records in rows.items():
        dumped = ",\n  ".join(dump(asdict(record)) for record in records)
        lines.append(f'"{key}": ' + (f"[\n  {dumped}]" if dumped else "[]"))
    text = "{" + ",\n ".join(lines) + "}\n"
    # File names on disk need not be valid UTF-8.
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def read_records(path: Path, file_format: str, version: int, repair: str) -> dict[str, Any]:
    """Read what `write_records` wrote; if it cannot be used, `repair` says what to do."""
    try:
        data = parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(f"is damaged; {repair}", path) from error
    if not isinstance(data, dict) or data.get("format") != file_format:
        raise InputError(f"is not a {file_format} file; {repair}", path)
    if data.get("version") != version:
        found = data.get("version")
        message = f"has version {found}, but this folioreel reads version {version}; {repair}"
        raise InputError(message, path)
    return data
