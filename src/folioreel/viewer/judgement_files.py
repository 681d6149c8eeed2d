"""Corrections that come as a file: those that page.html saved, and tables.

A table is what `folioreel export --as csv` wrote, with `match` or `none` in the column `judged` of
the moments that a reader judged. Only these rows count, so a table of an older export stays valid.
Or it is an `annotations.tsv` (evaluate/dataset.py): times of the film and lines of the book.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from folioreel.errors import InputError
from folioreel.evaluate.judged_tables import Judgement, read_annotations
from folioreel.ingest.source import read_bytes
from folioreel.ingest.tables import TableRow, read_rows
from folioreel.json_input import parse_json
from folioreel.text import squeeze
from folioreel.times import is_clock
from folioreel.types import Alignment, Book, Film
from folioreel.viewer.judgement import MOST_MOMENTS, ReaderJudgement
from folioreel.viewer.judgements import FORMAT, VERSION, Lines, book_lines, times_of


@dataclass(frozen=True, kw_only=True)
class _Said:
    """What a row of a table says of its moment."""

    values: dict[str, Any]
    span: tuple[str, str] | None  # the moments that it was judged with, if there are any


_NEAR_S = 0.001  # times are exported in milliseconds
_ZIP = b"PK\x03\x04"  # how an Excel or OpenDocument file begins


def read_judgements(path: Path, alignment: Alignment) -> list[ReaderJudgement]:
    """The corrections in a file, all checked before the first is used.

    Raises:
        InputError: The file is damaged, or belongs to another book or film.
    """
    start = read_bytes(path)[:100]
    if start.startswith(_ZIP):
        raise InputError("is a workbook; save the sheet as CSV, and import that", path)
    if path.suffix.lower() == ".json" or start.lstrip().startswith(b"{"):
        return _read_saved(path, alignment)
    # Notes of older annotations may begin with a quotation mark that is no quoting.
    names = _column_names(read_rows(path, quoted_tabs=False))
    if "time_s" in names or (names and is_clock(names[0])):
        return _read_annotations(path, alignment)
    rows = read_rows(path)
    return _read_table(rows, _column_names(rows), alignment, path)


def _column_names(rows: list[TableRow]) -> list[str]:
    return [cell.strip(' "').lower() for cell in rows[0].cells] if rows else []


def _read_saved(path: Path, alignment: Alignment) -> list[ReaderJudgement]:
    """What page.html saved."""
    try:
        values = parse_json(read_bytes(path))
        if (values["format"], values["version"]) != (FORMAT, VERSION):
            raise ValueError("another format or version")
        titles = (alignment.book.title, alignment.film.title)
        if (values["book"], values["film"]) != titles:
            raise ValueError(f"it is of {values['book']} and {values['film']}")
        return [ReaderJudgement.from_dict(entry, alignment) for entry in values["judgements"]]
    except (ValueError, LookupError, TypeError) as error:
        message = f"is not a file of judgements saved by the page ({error})"
        raise InputError(message, path) from error


def _read_table(
    rows: list[TableRow], names: list[str], alignment: Alignment, path: Path
) -> list[ReaderJudgement]:
    for needed in ("moment", "judged"):
        if needed not in names:
            raise InputError(
                f"has no column `{needed}`; correct a table that `folioreel export --as csv` wrote",
                path,
            )
    found: dict[int, _Said] = {}
    lines: dict[int, int] = {}  # moment → where it is judged
    others = 0
    for row in rows[1:]:
        cells = {name: cell.strip() for name, cell in zip(names, row.cells, strict=False)}
        if cells.get("judged"):
            moment, said_of_it = _read_row(row, cells, alignment, path)
            if moment in found:
                message = f"judges moment {moment} again, as line {lines[moment]} does; keep one"
                raise InputError(message, path, row.line)
            found[moment], lines[moment] = said_of_it, row.line
            said = squeeze(alignment.film.moments[moment].text)
            others += squeeze(cells.get("text", said)) != said
    # A few cells may differ: spreadsheets take "10-12" for a date and "- No!" for a formula.
    if others > len(found) / 2:
        raise InputError("is a table of another film; its lines are not those of this one", path)
    try:
        return [ReaderJudgement.from_dict(span, alignment) for span in _join_rows(found)]
    except ValueError as error:  # a stretch that is too long
        raise InputError(f"cannot be used: {error}", path) from error


def _join_rows(found: dict[int, _Said]) -> list[dict[str, Any]]:
    """The judgements in rows; rows that were judged together, and still agree, are one."""
    runs: list[tuple[int, int]] = []
    for moment in sorted(found):
        is_more = found[moment].span and found.get(moment - 1) == found[moment]
        first = runs.pop()[0] if is_more else moment
        runs.append((first, moment))
    return [{**found[first].values, "moment": first, "moment_to": last} for first, last in runs]


def _read_row(
    row: TableRow, cells: dict[str, str], alignment: Alignment, path: Path
) -> tuple[int, _Said]:
    verdict = cells["judged"].lower()
    try:
        moment = _whole(cells["moment"], "moment")
        values: dict[str, Any] = {"verdict": verdict, "note": cells.get("note")}
        if verdict == "match":
            values |= _find_span(cells, alignment.book)
            values["kind"] = cells.get("judged_kind", "").lower() or None
        ReaderJudgement.from_dict({**values, "moment": moment}, alignment)
    except ValueError as error:
        raise InputError(f"cannot be used: {error}", path, row.line) from error
    span = (cells.get("first_moment", ""), cells.get("last_moment", ""))
    return moment, _Said(values=values, span=span if span[0] != span[1] else None)


def _find_span(cells: dict[str, str], book: Book) -> dict[str, int]:
    """The sentence, or all those from `first_sentence` to `last_sentence` if these are given."""
    ends = [cells.get(name, "") for name in ("first_sentence", "last_sentence")]
    if all(ends) and _is_as_exported(cells, book):
        first, last = (_whole(end, "sentence") for end in ends)
        return {"sentence": first, "sentence_to": last}
    sentence = _find_sentence(cells, book)
    if not any(ends):
        return {"sentence": sentence}
    first, last = (_whole(end, "sentence") if end else sentence for end in ends)
    if not first <= sentence <= last:
        raise ValueError(
            f"sentence {sentence} is not among sentences {first} to {last}; correct `sentence`, or "
            "`first_sentence` and `last_sentence`"
        )
    return {"sentence": first, "sentence_to": last}


def _is_as_exported(cells: dict[str, str], book: Book) -> bool:
    """Whether `sentence` and `passage` still agree, so that neither was corrected."""
    if not cells.get("sentence"):
        return not cells.get("passage")
    sentence = _whole(cells["sentence"], "sentence")
    said = squeeze(book.sentences[sentence].text) if sentence < len(book.sentences) else None
    return said is not None and said in squeeze(cells.get("passage", ""))


def _find_sentence(cells: dict[str, str], book: Book) -> int:
    """The sentence by its number; without one, by the words of `passage`."""
    if cells.get("sentence"):
        return _whole(cells["sentence"], "sentence")
    wanted = squeeze(cells.get("passage", ""))
    if not wanted:
        raise ValueError("a match needs the number of its sentence, or its words as the passage")
    same = [s.index for s in book.sentences if squeeze(s.text) == wanted]
    same = same or [s.index for s in book.sentences if wanted in squeeze(s.text)]
    if len(same) != 1:
        where = f"in {len(same)} sentences" if same else "in no sentence"
        raise ValueError(f"the passage {wanted[:40]!r} is {where} of the book; give a number")
    return same[0]


def _whole(cell: str, name: str) -> int:
    """A whole number, also as spreadsheets may write one: `12.0`, or `12,0` in Europe."""
    number, _, fraction = cell.replace(",", ".").partition(".")
    if not number.isdecimal() or fraction.strip("0") or len(number) > 9:
        raise ValueError(f"{cell[:40]!r} is not the number of a {name}")
    return int(number)


def _read_annotations(path: Path, alignment: Alignment) -> list[ReaderJudgement]:
    """Times and lines, as judgements of the moments and sentences there."""
    text, lines = book_lines(alignment.book)
    found = []
    taken: set[int] = set()  # moments of the rows before
    for annotation in read_annotations(path, (), text.count("\n") + 1):
        (passage,) = annotation.passages
        span = _sentences_at(passage, lines)
        if span is None:
            raise InputError(f"names line {passage[0]} of the book, which has no text", path)
        moments = _moments_at(annotation, alignment.film, taken)
        taken.update(moments)
        values = {"moment": moments[0], "moment_to": moments[-1], "verdict": "match"}
        values |= {"sentence": span[0], "sentence_to": span[1]}
        values |= {"kind": annotation.kind, "note": annotation.note}
        try:
            found.append(ReaderJudgement.from_dict(values, alignment))
        except ValueError as error:
            raise InputError(f"cannot be used: {error}", path) from error
    return found


def _sentences_at(passage: Lines, lines: list[Lines]) -> tuple[int, int] | None:
    """The first and last sentence in some lines of the book; None if these have no text.

    If sentences begin on the first line, one that merely ends there is not meant, nor one that goes
    on after the last line if others end on that. So what was exported comes back with its lines.
    """
    inside = [j for j, (a, b) in enumerate(lines) if a <= passage[1] and b >= passage[0]]
    if not inside:
        return None
    first = next((j for j in inside if lines[j][0] == passage[0]), inside[0])
    last = next((j for j in reversed(inside) if lines[j][1] == passage[1]), inside[-1])
    # On a line that has only the end of one sentence and the beginning of another, both are meant.
    return (first, last) if first <= last else (inside[0], inside[-1])


def _moments_at(annotation: Judgement, film: Film, taken: set[int]) -> Sequence[int]:
    """The moments with just these times; else those whose middle is within; else the nearest."""
    assert annotation.times_s is not None
    start_s, end_s = annotation.times_s
    same = [run for run in _runs_at(start_s, end_s, film) if taken.isdisjoint(run)]
    if same:
        return min(same, key=len)
    inside = [m.index for m in film.moments if start_s <= (m.start_s + m.end_s) / 2 <= end_s]
    if inside:
        return inside
    spoken = [m for m in film.moments if m.text or annotation.kind != "dialogue"] or film.moments
    nearest = min(spoken, key=lambda m: max(m.start_s - end_s, start_s - m.end_s, 0.0))
    return [nearest.index]


def _runs_at(start_s: float, end_s: float, film: Film) -> Iterator[range]:
    """The runs of moments that are exported with these times; several, if lines overlap."""
    for first in film.moments:
        if abs(first.start_s - start_s) > _NEAR_S:
            continue
        for last in film.moments[first.index : first.index + MOST_MOMENTS]:
            if last.start_s > end_s + _NEAR_S:
                break
            run = range(first.index, last.index + 1)
            if times_of(film, run) == (f"{start_s:.3f}", f"{end_s:.3f}"):
                yield run
