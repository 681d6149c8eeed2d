"""Genres of books, from a table with a column that names them and a column `genre`."""

from __future__ import annotations

from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest import tables


def read_genres(path: Path, name: str) -> dict[str, str]:
    """The genre by the cell in the column `name`; rows without a genre are left out.

    Raises:
        InputError: The table cannot be read, or lacks one of the two columns.
    """
    rows = tables.read_rows(path)
    head = [cell.strip().lower() for cell in rows[0].cells] if rows else []
    for column in (name, "genre"):
        if column not in head:
            raise InputError(f"has no column {column}", path, 1)
    at, genre_at = head.index(name), head.index("genre")
    found = {}
    for row in rows[1:]:
        cells = (*row.cells, *[""] * (len(head) - len(row.cells)))  # TSVs may have short rows
        if cells[genre_at].strip():
            found[cells[at].strip()] = cells[genre_at].strip()
    return found
