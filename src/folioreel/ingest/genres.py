"""What a table says of books or pairs: one column names them, another is their genre."""

from __future__ import annotations

from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest import tables


def read_genres(path: Path, name: str) -> dict[str, str]:
    """The genre by the cell in the column `name`; rows without a genre are left out.

    Raises:
        InputError: The table cannot be read, or lacks one of the two columns.
    """
    return read_columns(path, name, ["genre"])["genre"]


def read_columns(path: Path, name: str, wanted: list[str]) -> dict[str, dict[str, str]]:
    """For each column, its cells that are not empty by the cell in the column `name`.

    Raises:
        InputError: The table cannot be read, or lacks the column `name` or all others.
    """
    rows = tables.read_rows(path)
    head = [cell.strip().lower() for cell in rows[0].cells] if rows else []
    for column in (name, " or ".join(wanted)):
        if not any(each in head for each in column.split(" or ")):
            raise InputError(f"has no column {column}", path, 1)
    found: dict[str, dict[str, str]] = {column: {} for column in wanted}
    for row in rows[1:]:
        # TSVs may have short rows.
        cells = dict(zip(head, (cell.strip() for cell in row.cells), strict=False))
        for column in wanted:
            if cells.get(column):
                found[column][cells.get(name, "")] = cells[column]
    return found
