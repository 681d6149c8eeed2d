"""`alignment.json`, schema version 1: written for every other program, and read back.

To read an alignment no video is decoded: shots and spoken sentences have their times in the file.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.export.found_files import find_files
from folioreel.export.places import passage_ends
from folioreel.files import write_text
from folioreel.ingest.book import load_book
from folioreel.ingest.several import Given
from folioreel.json_input import parse_json
from folioreel.reading import read_whole
from folioreel.times import check_parts, check_spans
from folioreel.types import (
    Alignment,
    Alternative,
    Annotation,
    Book,
    Film,
    FilmPart,
    Link,
    Moment,
    Shot,
    Subtitle,
)

FILE_NAME = "alignment.json"
FORMAT = "folioreel-alignment"
VERSION = 1

_LISTS = re.compile(r'"alternatives": \[[^][]*\]')
"""What is written on one line each, as it would take nine. Texts cannot match: their quotes are
escaped."""


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
            "language": book.language,
            "notes": list(book.notes),
            **_volumes_to_dict(book),
        },
        "film": {
            "title": film.title,
            "path": str(film.path) if film.path else None,
            "sha256": film.sha256,
            "bytes": _size(film.path),
            "is_video": film.has_video,
            "duration_s": round(film.duration_s, 3),
            "moments": len(film.moments),
            "shots": len(film.shots),
            "subtitles": len(film.subtitles),
            "source": film.source,
            "language": film.language,
            "notes": list(film.notes),
            # To the last digit: with these the moments are the same ones when they are read back.
            "shot_times_s": [[shot.start_s, shot.end_s] for shot in film.shots],
            "subtitle_times_s": [[said.start_s, said.end_s] for said in film.subtitles],
            **_parts_to_dict(film),
        },
        "warnings": list(alignment.warnings),
        "model": dict(alignment.signature),
        "links": [_link_to_dict(alignment, link) for link in alignment.links],
    }


def _volumes_to_dict(book: Book) -> dict[str, Any]:
    """`volumes`, only of a book that has several."""
    volumes = [
        {
            "title": volume.title,
            "path": str(volume.path) if volume.path else None,
            "sha256": volume.sha256,
            "bytes": _size(volume.path),
            "first_sentence": volume.sentences.start,
            "sentences": len(volume.sentences),
        }
        for volume in book.volumes
    ]
    return {"volumes": volumes} if volumes else {}


def _parts_to_dict(film: Film) -> dict[str, Any]:
    """`parts`, only of a film that has several."""
    parts = [
        {
            "title": part.title,
            "path": str(part.path) if part.path else None,
            "sha256": part.sha256,
            "bytes": _size(part.path),
            "start_s": part.start_s,
            "duration_s": part.duration_s,
        }
        for part in film.parts
    ]
    return {"parts": parts} if parts else {}


def _size(path: Path | None) -> int | None:
    return path.stat().st_size if path is not None and path.is_file() else None


def _link_to_dict(alignment: Alignment, link: Link) -> dict[str, Any]:
    book = alignment.book
    moment = alignment.film.moments[link.moment]
    first, last = passage_ends(book, link.sentences)
    paragraph = book.paragraph_of[link.sentence]
    volume = {"volume": book.volume_of(link.sentence)} if book.volumes else {}
    return {
        "moment": moment.index,
        "start_s": round(moment.start_s, 3),
        "end_s": round(moment.end_s, 3),
        **_part_times(alignment.film, moment),
        "kind": moment.kind,
        "text": moment.text,
        **_speaker_to_dict(alignment.film, moment),
        "in_book": link.in_book,
        "score": round(link.score, 4),
        "judged": link.judged,
        "alternatives": [
            {"sentence": other.sentence, "score": other.score} for other in link.alternatives
        ],
        "annotation": _annotation_to_dict(link.annotation),
        "sentence": link.sentence,
        "paragraph": paragraph,
        "chapter": book.chapter_of[paragraph],
        **volume,
        "line": first.line,
        "line_end": last.line_end,
        "href": first.href,
        "char_start": first.char_start,
        "char_end": last.char_end,
    }


def _annotation_to_dict(annotation: Annotation | None) -> dict[str, Any] | None:
    if annotation is None:
        return None
    span = annotation.sentences
    return {
        "moments": list(annotation.moments),
        "sentences": None if span is None else list(span),
        "kind": annotation.kind,
        "note": annotation.note,
    }


def _annotation_from_dict(values: dict[str, Any] | None) -> Annotation | None:
    if values is None:
        return None
    span = values["sentences"]
    return Annotation(
        moments=(values["moments"][0], values["moments"][1]),
        sentences=None if span is None else (span[0], span[1]),
        kind=values["kind"],
        note=values["note"],
    )


def _speaker_to_dict(film: Film, moment: Moment) -> dict[str, Any]:
    """Who speaks, only in a film whose subtitles name somebody."""
    if not film.names_speakers:
        return {}
    return {"speaker": None if moment.subtitle is None else film.subtitles[moment.subtitle].speaker}


def _part_times(film: Film, moment: Moment) -> dict[str, Any]:
    """The part that a moment is in and its times there, only in a film that has several."""
    if not film.parts:
        return {}
    part, start_s = film.locate(moment.start_s)
    return {
        "part": part,
        "part_start_s": round(start_s, 3),
        "part_end_s": round(start_s + moment.end_s - moment.start_s, 3),
    }


def write_alignment(alignment: Alignment, path: Path) -> None:
    """Write `alignment.json`."""
    document = alignment_to_dict(alignment)
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    write_text(path, _LISTS.sub(lambda found: re.sub(r"\n *", "", found[0]), text) + "\n")


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
        check_parts((part["start_s"], part["duration_s"]) for part in film.get("parts", ()))
        check_spans((link["start_s"], link["end_s"]) for link in document["links"])
    except ValueError as error:
        raise InputError(f"is not an alignment.json ({error})", path) from error
    return document


def read_alignment(
    path: Path | str,
    book: Given | None = None,
    film: Given | None = None,
    *,
    needs_film: bool = True,
) -> Alignment:
    """An alignment as it was when it was written.

    Args:
        path: `alignment.json`, or the folder it is in.
        book: Where the book's file is now, if it was moved; the folder it is in; or the files of
            all volumes in order.
        film: The same for the film and its parts.
        needs_film: Whether the film's files must be there; what is said, and when, is known
            without them.

    Raises:
        InputError: A file is missing, has changed, or is not what it should be.
    """
    path = Path(path)
    path = path / FILE_NAME if path.is_dir() else path
    document = read_document(path)
    read_book = _read_book(document["book"], find_files(document, "book", path, book), path)
    files = find_files(document, "film", path, film, must_exist=needs_film)
    read_film = _read_film(document, files, path)
    links = tuple(
        Link(
            moment=link["moment"],
            sentence=link["sentence"],
            score=link["score"],
            in_book=link["in_book"],
            judged=link.get("judged"),
            alternatives=tuple(
                Alternative(sentence=other["sentence"], score=other["score"])
                for other in link.get("alternatives", ())
            ),
            annotation=_annotation_from_dict(link.get("annotation")),
        )
        for link in document["links"]
    )
    moments, sentences = len(read_film.moments), len(read_book.sentences)
    if [link.moment for link in links] != list(range(moments)):
        raise InputError("does not have one link per moment in time order; align again", path)
    named = {k.sentence for k in links} | {k.sentence for link in links for k in link.alternatives}
    if max(named, default=0) >= sentences:
        raise InputError(f"has a link beyond the book's {sentences} sentences; align again", path)
    for annotation in filter(None, (link.annotation for link in links)):
        spans = ((annotation.moments, moments), (annotation.sentences or (0, 0), sentences))
        if not all(first <= last < size for (first, last), size in spans):
            raise InputError("has a judgement of what is not there; align again", path)
    return Alignment(
        book=read_book,
        film=read_film,
        links=links,
        signature=document["model"],
        warnings=tuple(document.get("warnings", ())),
    )


def _read_book(record: dict[str, Any], files: list[Path], alignment: Path) -> Book:
    # In the language it was read in, so that its sentences are the same.
    book = load_book(files, language=record.get("language"))
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


def _read_film(document: dict[str, Any], files: list[Path], alignment: Path) -> Film:
    record = document["film"]
    if not {"shot_times_s", "subtitle_times_s", "is_video"} <= record.keys():
        raise InputError("was made by an older folioreel, without shots; align again", alignment)
    spoken = [link for link in document["links"] if link["kind"] == "dialogue"]
    times = record["subtitle_times_s"]
    if len(spoken) != len(times):
        raise InputError("does not have one spoken link per subtitle; align again", alignment)
    # Moments are in time order, as `Film.moments` has them.
    order = sorted(range(len(times)), key=lambda k: (*times[k], k))
    said = dict(zip(order, spoken, strict=True))
    path = None if "parts" in record else files[0]
    return Film(
        title=record["title"],
        duration_s=record["duration_s"],
        shots=tuple(
            Shot(index=k, start_s=start_s, end_s=end_s)
            for k, (start_s, end_s) in enumerate(record["shot_times_s"])
        ),
        subtitles=tuple(
            Subtitle(
                index=k,
                start_s=start_s,
                end_s=end_s,
                text=said[k]["text"],
                speaker=said[k].get("speaker"),
            )
            for k, (start_s, end_s) in enumerate(times)
        ),
        video=path if record["is_video"] else None,
        path=path,
        sha256=record["sha256"],
        notes=tuple(record.get("notes", ())),
        source=record.get("source", ""),
        language=record.get("language"),
        parts=tuple(
            FilmPart(
                title=part["title"],
                start_s=part["start_s"],
                duration_s=part["duration_s"],
                video=file if record["is_video"] else None,
                path=file,
                sha256=part["sha256"],
            )
            for part, file in zip(record.get("parts", ()), files, strict="parts" in record)
        ),
    )
