"""`alignment.json`, schema version 1: written for every other program, and read back.

To read an alignment no video is decoded: shots and spoken sentences have their times in the file.
The book's and the film's files are looked for where they were, then relative to the alignment's
folder and those above it, so a folder that was moved as a whole still opens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.files import file_sha256, write_text
from folioreel.ingest.book import load_book
from folioreel.json_input import parse_json
from folioreel.reading import is_file, read_whole
from folioreel.times import check_spans
from folioreel.types import Alignment, Book, Film, Link, Shot, Subtitle

FILE_NAME = "alignment.json"
FORMAT = "folioreel-alignment"
VERSION = 1
_HASHED_BYTES = 500_000_000
"""Larger films are recognised by their size: hashing them would take longer than opening them."""


def alignment_to_dict(alignment: Alignment) -> dict[str, Any]:
    """The alignment as plain values, in the order of the schema."""
    book, film = alignment.book, alignment.film
    return {
        "format": FORMAT,
        "version": VERSION,
        "book": {
            "title": book.title,
            "path": str(book.path) if book.path else None,
            "sha256": book.sha256,
            "bytes": _size(book.path),
            "sentences": len(book.sentences),
            "paragraphs": len(book.paragraphs),
            "chapters": len(book.chapters),
            "notes": list(book.notes),
        },
        "film": {
            "title": film.title,
            "path": str(film.path) if film.path else None,
            "sha256": film.sha256,
            "bytes": _size(film.path),
            "is_video": film.video is not None,
            "duration_s": round(film.duration_s, 3),
            "moments": len(film.moments),
            "shots": len(film.shots),
            "subtitles": len(film.subtitles),
            "notes": list(film.notes),
            # To the last digit: with these the moments are the same ones when they are read back.
            "shot_times_s": [[shot.start_s, shot.end_s] for shot in film.shots],
            "subtitle_times_s": [[said.start_s, said.end_s] for said in film.subtitles],
        },
        "model": dict(alignment.signature),
        "links": [_link_to_dict(alignment, link) for link in alignment.links],
    }


def _size(path: Path | None) -> int | None:
    return path.stat().st_size if path is not None and path.is_file() else None


def _link_to_dict(alignment: Alignment, link: Link) -> dict[str, Any]:
    book = alignment.book
    moment = alignment.film.moments[link.moment]
    sentence = book.sentences[link.sentence]
    paragraph = book.paragraph_of[link.sentence]
    return {
        "moment": moment.index,
        "start_s": round(moment.start_s, 3),
        "end_s": round(moment.end_s, 3),
        "kind": moment.kind,
        "text": moment.text,
        "in_book": link.in_book,
        "score": round(link.score, 4),
        "sentence": sentence.index,
        "paragraph": paragraph,
        "chapter": book.chapter_of[paragraph],
        "line": sentence.line,
        "line_end": sentence.line_end,
        "href": sentence.href,
        "char_start": sentence.char_start,
        "char_end": sentence.char_end,
    }


def write_alignment(alignment: Alignment, path: Path) -> None:
    """Write `alignment.json`."""
    document = alignment_to_dict(alignment)
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def load_schema() -> dict[str, Any]:
    """The JSON Schema that ships with the package."""
    text = resources.files("folioreel.export").joinpath("alignment.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def read_document(path: Path) -> dict[str, Any]:
    """The content of an alignment file, validated against the schema.

    Raises:
        InputError: The file is missing, not JSON, or not an alignment of a version that we know.
    """
    import jsonschema  # slow to import, and only readers need it

    if not path.exists():
        message = "no such file; give the alignment.json that `folioreel align` wrote"
        raise InputError(message, path)
    try:
        document: dict[str, Any] = parse_json(read_whole(path))
    except ValueError as error:
        raise InputError(f"is not an alignment.json ({error})", path) from error
    try:
        jsonschema.validate(document, load_schema())
    except jsonschema.ValidationError as error:
        where = "/".join(str(step) for step in error.absolute_path) or "the document"
        raise InputError(f"is not an alignment.json: at {where}: {error.message}", path) from error
    film = document["film"]
    try:
        check_spans([(0, film["duration_s"])])
        for times in (film.get("shot_times_s", ()), film.get("subtitle_times_s", ())):
            check_spans(times)
        check_spans((link["start_s"], link["end_s"]) for link in document["links"])
    except ValueError as error:
        raise InputError(f"is not an alignment.json ({error})", path) from error
    return document


def read_alignment(
    path: Path | str, book: Path | str | None = None, film: Path | str | None = None
) -> Alignment:
    """An alignment as it was when it was written.

    Args:
        path: `alignment.json`, or the folder it is in.
        book: Where the book's file is now, if it was moved.
        film: Where the film's file is now, if it was moved.

    Raises:
        InputError: A file is missing, has changed, or is not what it should be.
    """
    path = Path(path)
    path = path / FILE_NAME if path.is_dir() else path
    document = read_document(path)
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
        raise InputError("does not have one link per moment in time order; align again", path)
    if any(link.sentence >= sentences for link in links):
        raise InputError(f"has a link beyond the book's {sentences} sentences; align again", path)
    return Alignment(book=read_book, film=read_film, links=links, signature=document["model"])


def _find_file(
    document: dict[str, Any], what: str, alignment: Path, given: Path | str | None
) -> Path:
    """The book's or the film's file, checked against what the alignment says of it."""
    record = document[what]
    if given is not None:
        given = Path(given)
        if not given.is_file():
            raise InputError("no such file; check the path", given)
        if not _is_it(given, record):
            raise InputError(
                f"is not the {what} of {alignment}; give the file that was aligned", given
            )
        return given
    if record["path"] is None:
        raise InputError(f"does not say where its {what} is; give it with --{what} FILE", alignment)
    places = [place for place in _places(Path(record["path"]), alignment) if is_file(place)]
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
        raise InputError("does not have one spoken link per subtitle; align again", alignment)
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
