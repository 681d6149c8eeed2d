"""Corrections that come as a file: those that page.html saved, and tables from a spreadsheet.

A table is what `folioreel export --as csv` wrote, with `match` or `none` in the column `judged` of
the moments that a reader judged. Only these rows count, so a table of an older export stays valid.
"""

from __future__ import annotations

from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest.source import read_bytes
from folioreel.ingest.tables import TableRow, read_rows
from folioreel.json_input import parse_json
from folioreel.text import squeeze
from folioreel.types import Alignment, Book
from folioreel.viewer.judgements import FORMAT, VERSION, ReaderJudgement

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
    return _read_table(path, alignment)


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


def _read_table(path: Path, alignment: Alignment) -> list[ReaderJudgement]:
    rows = read_rows(path)
    names = [cell.strip().lower() for cell in rows[0].cells] if rows else []
    for needed in ("moment", "judged"):
        if needed not in names:
            raise InputError(
                f"has no column `{needed}`; correct a table that `folioreel export --as csv` wrote",
                path,
            )
    found, others = [], 0
    lines: dict[int, int] = {}  # moment → where it is judged
    for row in rows[1:]:
        cells = {name: cell.strip() for name, cell in zip(names, row.cells, strict=False)}
        if cells.get("judged"):
            found.append(_read_row(row, cells, alignment, path))
            first = lines.setdefault(found[-1].moment, row.line)
            if first != row.line:
                message = f"judges moment {found[-1].moment} again, as line {first} does; keep one"
                raise InputError(message, path, row.line)
            said = squeeze(alignment.film.moments[found[-1].moment].text)
            others += squeeze(cells.get("text", said)) != said
    # A few cells may differ: spreadsheets take "10-12" for a date and "- No!" for a formula.
    if others > len(found) / 2:
        raise InputError("is a table of another film; its lines are not those of this one", path)
    return found


def _read_row(
    row: TableRow, cells: dict[str, str], alignment: Alignment, path: Path
) -> ReaderJudgement:
    verdict = cells["judged"].lower()
    try:
        values = {
            "moment": _whole(cells["moment"], "moment"),
            "verdict": verdict,
            "sentence": _find_sentence(cells, alignment.book) if verdict == "match" else None,
        }
        return ReaderJudgement.from_dict(values, alignment)
    except ValueError as error:
        raise InputError(f"cannot be used: {error}", path, row.line) from error


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
