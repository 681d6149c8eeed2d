"""Tables that people write or save from a spreadsheet: CSV with commas or semicolons, and TSV.

Where the comma is the decimal mark, as in most of Europe, Excel separates cells by semicolons; it
may begin a file with a byte-order mark, with `sep=;`, or write UTF-16. All of it is detected from
the content, whatever the file is called.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest import source
from folioreel.ingest.encodings import decode_text
from folioreel.text import unguard_cell

_SEP_LINE = re.compile(r'sep=(\t|[^\w\s"])', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """The cells of a row, and the line of the file that it ends on, counted from 1."""

    line: int
    cells: tuple[str, ...]


def read_rows(path: Path, *, quoted_tabs: bool = True) -> list[TableRow]:
    """The rows of a table, the header among them; rows without any text are left out.

    `quoted_tabs` says whether quotation marks around the cells of a TSV are removed, as a
    spreadsheet puts them there. In tables of dialogue they are part of what is said, as is an
    apostrophe, which else may only keep a cell from being a formula (`guard_cell`).

    Raises:
        InputError: The file cannot be read or is not text, or a row has more cells than the first.
    """
    text = decode_text(source.read_bytes(path), path)
    first, _, rest = text.partition("\n")
    announced = _SEP_LINE.fullmatch(first.strip('" '))
    delimiter = announced.group(1) if announced else _find_delimiter(first)
    skipped = 1 if announced else 0
    plain = delimiter == "\t" and not quoted_tabs
    reader = csv.reader(
        io.StringIO(rest if announced else text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL,
        strict=True,  # otherwise a quotation mark that is never closed swallows the rest
    )
    rows: list[TableRow] = []
    line = skipped  # the last line that was read
    try:
        for row in reader:
            line = reader.line_num + skipped
            if any(cell.strip() for cell in row):
                cells = tuple(row if plain else map(unguard_cell, row))
                rows.append(TableRow(line=line, cells=cells))
    except csv.Error as error:
        raise InputError(
            f"is not a table as spreadsheets write them ({error}); are quotation marks closed, and "
            "doubled inside a cell? Save it as CSV again",
            path,
            line + 1,
        ) from error
    if delimiter != "\t":
        _check_widths(rows, delimiter, path)
    return rows


def _find_delimiter(line: str) -> str:
    """What separates the cells of a line: a tab, or else what there is more of outside quotes."""
    bare = _QUOTED.sub("", line)
    if "\t" in bare:
        return "\t"
    return ";" if bare.count(";") > bare.count(",") else ","


def _check_widths(rows: list[TableRow], delimiter: str, path: Path) -> None:
    """Refuse a row that was split in the middle of a text, before anything gets lost."""
    width = len(rows[0].cells) if rows else 0
    for row in rows:
        if any(cell.strip() for cell in row.cells[width:]):
            raise InputError(
                f"has {len(row.cells)} cells where the first row has {width}; put cells that "
                f"contain `{delimiter}` in quotation marks",
                path,
                row.line,
            )
