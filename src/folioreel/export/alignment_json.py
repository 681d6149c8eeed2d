"""`alignment.json`, schema version 1: the alignment as every other program reads it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.files import write_text
from folioreel.types import Alignment, Link

FORMAT = "folioreel-alignment"
VERSION = 1


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


def _refuse_constant(name: str) -> float:
    """Python's JSON would take NaN and Infinity, which are none and which no page can show."""
    raise ValueError(f"{name} is no number")


def read_alignment(path: Path) -> dict[str, Any]:
    """An alignment file, validated against the schema.

    Raises:
        InputError: The file is missing, not JSON, or not an alignment of a version that we know.
    """
    import jsonschema  # slow to import, and only readers need it

    try:
        document: dict[str, Any] = json.loads(
            path.read_text(encoding="utf-8"), parse_constant=_refuse_constant
        )
    except FileNotFoundError:
        message = "no such file; give the alignment.json that `folioreel align` wrote"
        raise InputError(message, path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"is not an alignment.json ({error})", path) from error
    try:
        jsonschema.validate(document, load_schema())
    except jsonschema.ValidationError as error:
        where = "/".join(str(step) for step in error.absolute_path) or "the document"
        raise InputError(f"is not an alignment.json: at {where}: {error.message}", path) from error
    return document
