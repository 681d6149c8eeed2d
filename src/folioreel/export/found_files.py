"""The files that an alignment was made from, wherever they are now.

They are looked for where they were, then relative to the alignment's folder and those above it, so
a folder that was moved as a whole still opens; or where the user says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.files import file_sha256
from folioreel.ingest.several import Given, each_given
from folioreel.reading import is_file

_HASHED_BYTES = 500_000_000
"""Larger films are recognised by their size: hashing them would take longer than opening them."""


def find_files(
    document: dict[str, Any],
    what: str,
    alignment: Path,
    given: Given | None = None,
    *,
    must_exist: bool = True,
) -> list[Path]:
    """The files of the book or the film, checked against what the alignment says of them.

    Args:
        document: The content of `alignment.json`.
        what: `book` or `film`.
        alignment: The path of `alignment.json`.
        given: Where the user says they are: the files in order, or the folder they are in.
        must_exist: If not, files that are nowhere to be found are given as they are recorded.
    """
    record = document[what]
    records = record.get("volumes" if what == "book" else "parts") or [record]
    if given is None:
        return [_find_file(record, what, alignment, must_exist) for record in records]
    named = each_given(given)
    if len(named) == 1 and named[0].is_dir():
        named = [_find_in_folder(named[0], record) for record in records]
    if len(named) != len(records):
        raise InputError(
            f"has a {what} of {len(records)} files, not {len(named)}; give the folder that they "
            f"are in with --{what}, or --{what} once for each file, in order",
            alignment,
        )
    for path, record in zip(named, records, strict=True):
        if not is_file(path):
            raise InputError("no such file; check the path", path)
        if not _is_it(path, record):
            raise InputError(
                f"is not the {what} of {alignment}; give the file that was aligned", path
            )
    return named


def _find_file(record: dict[str, Any], what: str, alignment: Path, must_exist: bool) -> Path:
    """A file that was not given: where it was, or near the alignment."""
    if record["path"] is None:
        raise InputError(f"does not say where its {what} is; give it with --{what} FILE", alignment)
    places = [place for place in _places(Path(record["path"]), alignment) if is_file(place)]
    found = next((place for place in places if _is_it(place, record)), None)
    if found is not None:
        return found
    if not must_exist:
        return Path(record["path"])
    if places:
        raise InputError(
            f"has changed since {alignment} was made; align again, or give the {what} as it was "
            f"with --{what} FILE",
            places[0],
        )
    raise InputError(
        f"the {what} {record['path']} is not there; give it with --{what} FILE", alignment
    )


def _find_in_folder(folder: Path, record: dict[str, Any]) -> Path:
    """A file in a folder by its name, or by the name of its own folder too (`CD1/film.avi`)."""
    recorded = Path(record["path"] or "")
    places = [folder / recorded.name, folder / recorded.parent.name / recorded.name]
    there = (place for place in places if is_file(place) and _is_it(place, record))
    return next(there, places[0])


def _places(recorded: Path, alignment: Path) -> Iterator[Path]:
    """Where a file may be: as it was given, beside the alignment, or relative to a folder above."""
    yield recorded
    for folder in alignment.absolute().parents:
        yield folder / recorded
        yield folder / recorded.name


def _is_it(path: Path, record: dict[str, Any]) -> bool:
    recorded, size = record.get("bytes"), path.stat().st_size
    if recorded is not None and (recorded != size or size > _HASHED_BYTES):
        return bool(recorded == size)
    return record["sha256"] is None or file_sha256(path) == record["sha256"]
