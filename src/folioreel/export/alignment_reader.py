"""`alignment.json` → `Alignment`: the book is read again, the film's moments are in the file.

No video is decoded: shots and spoken sentences have their times in the alignment. Files are looked
for where they were, seen from here and from the alignment's folder and those above it, so that a
folder that was moved as a whole still opens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.export.alignment_json import read_alignment
from folioreel.files import file_sha256
from folioreel.ingest.book import load_book
from folioreel.types import Alignment, Book, Film, Link, Shot, Subtitle

FILE_NAME = "alignment.json"
_HASHED_BYTES = 500_000_000
"""Larger films are known by their length in bytes: to hash them would take longer than to open."""


def open_alignment(path: Path, book: Path | None = None, film: Path | None = None) -> Alignment:
    """An alignment as it was when it was written.

    Args:
        path: `alignment.json`, or the folder in which it lies.
        book: The book's file, where it is no longer where it was.
        film: The same for the film.

    Raises:
        InputError: A file is missing, has changed, or is not what it should be.
    """
    path = path / FILE_NAME if path.is_dir() else path
    document = read_alignment(path)
    read_book = _read_book(document["book"], _find_file(document, "book", path, book), path)
    read_film = _read_film(document, _find_file(document, "film", path, film), path)
    links = tuple(
        Link(
            moment=link["moment"],
            sentence=link["sentence"],
            score=link["score"],
            in_book=link["in_book"],
        )
        for link in document["links"]
    )
    moments, sentences = len(read_film.moments), len(read_book.sentences)
    if [link.moment for link in links] != list(range(moments)):
        raise InputError("does not have one link a moment in time order; align again", path)
    if any(link.sentence >= sentences for link in links):
        raise InputError(f"has a link beyond the book's {sentences} sentences; align again", path)
    return Alignment(book=read_book, film=read_film, links=links, signature=document["model"])


def _find_file(document: dict[str, Any], what: str, alignment: Path, given: Path | None) -> Path:
    """The book's or the film's file, checked against what the alignment says of it."""
    record = document[what]
    if given is not None:
        if not given.is_file():
            raise InputError("no such file; check the path", given)
        if not _is_it(given, record):
            raise InputError(f"is not the {what} of {alignment}; give that very file", given)
        return given
    if record["path"] is None:
        raise InputError(f"does not say where its {what} is; give it with --{what} FILE", alignment)
    places = [place for place in _places(Path(record["path"]), alignment) if place.is_file()]
    found = next((place for place in places if _is_it(place, record)), None)
    if found is not None:
        return found
    if places:
        raise InputError(
            f"has changed since {alignment} was made; align again, or give the {what} as it was "
            f"with --{what} FILE",
            places[0],
        )
    raise InputError(
        f"the {what} {record['path']} is not there; give it with --{what} FILE", alignment
    )


def _places(recorded: Path, alignment: Path) -> Iterator[Path]:
    """Where a file may be: as it was given, beside the alignment, or seen from a folder above."""
    yield recorded
    for folder in alignment.absolute().parents:
        yield folder / recorded
        yield folder / recorded.name


def _is_it(path: Path, record: dict[str, Any]) -> bool:
    recorded, size = record.get("bytes"), path.stat().st_size
    if recorded is not None and (recorded != size or size > _HASHED_BYTES):
        return bool(recorded == size)
    return record["sha256"] is None or file_sha256(path) == record["sha256"]


def _read_book(record: dict[str, Any], path: Path, alignment: Path) -> Book:
    book = load_book(path)
    parts = {
        "sentences": len(book.sentences),
        "paragraphs": len(book.paragraphs),
        "chapters": len(book.chapters),
    }
    for name, count in parts.items():
        if count != record[name]:
            raise InputError(
                f"was made with a folioreel that read {record[name]} {name} in the book, this one "
                f"reads {count}; align again",
                alignment,
            )
    return book


def _read_film(document: dict[str, Any], path: Path, alignment: Path) -> Film:
    record = document["film"]
    if "shot_times_s" not in record:
        raise InputError("was made by an older folioreel, without shots; align again", alignment)
    spoken = [link for link in document["links"] if link["kind"] == "dialogue"]
    times = record["subtitle_times_s"]
    if len(spoken) != len(times):
        raise InputError("has other spoken links than subtitles; align again", alignment)
    # Moments are in time order, as `Film.moments` has them.
    order = sorted(range(len(times)), key=lambda k: (*times[k], k))
    texts = {k: link["text"] for k, link in zip(order, spoken, strict=True)}
    return Film(
        title=record["title"],
        duration_s=record["duration_s"],
        shots=tuple(
            Shot(index=k, start_s=start_s, end_s=end_s)
            for k, (start_s, end_s) in enumerate(record["shot_times_s"])
        ),
        subtitles=tuple(
            Subtitle(index=k, start_s=start_s, end_s=end_s, text=texts[k])
            for k, (start_s, end_s) in enumerate(times)
        ),
        video=path if record["is_video"] else None,
        path=path,
        sha256=record["sha256"],
        notes=tuple(record.get("notes", ())),
    )
