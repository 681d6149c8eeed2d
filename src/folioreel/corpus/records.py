"""`corpus.json`: what a corpus holds, and what was left out of it and why (paper, section 3).

```
{"format": "folioreel-corpus", "version": 1, "package_version": "0.1.0",
 "config": {"min_words": 20000, "duplicate_from": 0.3, "held_out_from": 0.1},
 "held_out": [{"path", "title", "sha256", "words", "problem"}, ...],
 "books": [{"id", "title", "path", "sha256", "sentences", "words",
            "status": "kept" | "short" | "duplicate" | "held out" | "unreadable",
            "reason", "duplicate_of"}, ...]}
```
The books are in path order. `path` is relative to the folder that the corpus was built from; a book
in an archive has the archive's path before its own. `duplicate_of` is the path of the kept or
held-out book that this one repeats.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from folioreel import __version__
from folioreel.errors import InputError
from folioreel.files import write_whole
from folioreel.ingest.source import read_bytes

FORMAT = "folioreel-corpus"
VERSION = 1
MANIFEST = "corpus.json"

Status = Literal["kept", "short", "duplicate", "held out", "unreadable"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, kw_only=True)
class BookRecord:
    """One book of the folder and what became of it."""

    id: str
    """Names its content and its kind of file; empty for an archive that cannot be opened."""
    title: str
    path: str
    sha256: str
    sentences: int
    words: int
    status: Status
    reason: str = ""
    """Why it was left out, in words for the user."""
    duplicate_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class HeldOutRecord:
    """One book that the corpus must not hold."""

    path: str
    title: str
    sha256: str
    words: int
    problem: str = ""
    """Why it could not be read, and so could not be kept out."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All that `corpus.json` says."""

    config: dict[str, Any]
    books: tuple[BookRecord, ...]
    held_out: tuple[HeldOutRecord, ...] = ()
    package_version: str = __version__


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `corpus.json`, one line a book."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "package_version": manifest.package_version,
        "config": manifest.config,
    }
    lines = [f'"{key}": {_dump(value)}' for key, value in head.items()]
    lines.append(f'"held_out": {_dump_rows(map(asdict, manifest.held_out))}')
    lines.append(f'"books": {_dump_rows(map(asdict, manifest.books))}')
    text = "{" + ",\n ".join(lines) + "}\n"
    write_whole(folder / MANIFEST, text.encode("utf-8", errors="backslashreplace"))


def read_manifest(folder: Path) -> Manifest:
    """Read `corpus.json`.

    Raises:
        InputError: The folder is no corpus, or one of another version, or it is damaged.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"is no corpus (it has no {MANIFEST}); build one first", folder)
    try:
        data = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError("is damaged; delete it and build the corpus again", path) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("does not describe a corpus; is it another program's file?", path)
    if data.get("version") != VERSION:
        raise InputError(
            f"is of version {data.get('version')}, and this folioreel reads version {VERSION}; "
            "build the corpus again",
            path,
        )
    try:
        return Manifest(
            config=data["config"],
            books=tuple(_parse(BookRecord, row) for row in data["books"]),
            held_out=tuple(_parse(HeldOutRecord, row) for row in data["held_out"]),
            package_version=data["package_version"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged ({error}); build the corpus again", path) from error


_Record = TypeVar("_Record", BookRecord, HeldOutRecord)


def _parse(kind: type[_Record], row: dict[str, Any]) -> _Record:
    """A record whose fields have the types that they should have."""
    record = kind(**row)
    for field in fields(kind):
        value = getattr(record, field.name)
        expected = int if field.type == "int" else str
        optional = field.name == "duplicate_of" and value is None
        if not optional and not isinstance(value, expected):
            raise ValueError(f"{field.name} of {row.get('path')} is no {expected.__name__}")
    if isinstance(record, BookRecord) and record.status not in STATUSES:
        raise ValueError(f"unknown status {record.status!r}")
    return record


def _dump_rows(rows: Iterable[dict[str, Any]]) -> str:
    dumped = ",\n  ".join(_dump(row) for row in rows)
    return f"[\n  {dumped}]" if dumped else "[]"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
