"""The summary of `align-many`: a table of all pairs, and a page that links theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from folioreel.apps.report_pages import Cell, Linked, Report, Section, Table, flat_rows, to_html
from folioreel.errors import InputError
from folioreel.export.estimates import Estimate
from folioreel.export.formats import FORMATS
from folioreel.export.tables import write_rows
from folioreel.files import make_folder, write_text
from folioreel.reading import is_file, read_whole

INDEX, TABLE = "index.html", "summary.csv"
_TITLE = "Films and their books"
_MARK = f"<title>{_TITLE}</title>"


@dataclass(frozen=True, kw_only=True)
class PairOutcome:
    """The outcome of one row."""

    name: str
    status: Literal["aligned", "kept", "failed"]  # `kept`: an earlier run had aligned it
    book: str = ""  # its title
    minutes: float | None = None
    lines: int | None = None  # number of spoken lines
    share: Estimate | None = None
    """The share of these lines that is expected to be in the book."""
    moments: int | None = None
    in_book: int | None = None  # number of moments that are in the book
    reason: str = ""  # why it failed, or why its results are doubtful


def check_summary(folder: Path, *, force: bool) -> None:
    """Stop before any work is done if files that are not ours would be overwritten."""
    index = folder / INDEX
    is_ours = is_file(index) and _MARK.encode() in read_whole(index)
    for path in (index, folder / TABLE):
        if not force and not is_ours and (path.exists() or path.is_symlink()):
            raise InputError(
                "already exists, and is not a summary of align-many; choose another folder, or "
                "add --force to replace it",
                path,
            )


def write_summary(outcomes: Sequence[PairOutcome], folder: Path) -> list[Path]:
    """Write the table of all pairs, and the page."""
    table = Table(name=Path(TABLE).stem, rows=tuple(map(_row, outcomes)))
    failed = sum(outcome.status == "failed" for outcome in outcomes)
    doubtful = sum(outcome.status != "failed" and outcome.reason != "" for outcome in outcomes)
    counts = [f"{len(outcomes)} pairs"]
    counts += [
        f"{count} {what}" for count, what in ((failed, "failed"), (doubtful, "doubtful")) if count
    ]
    report = Report(
        title=_TITLE,
        subtitle=", ".join(counts),
        sections=(
            Section(
                title="The pairs",
                table=table,
                note="Share: the expected share of the film’s spoken lines that are in the book, "
                "with its 95 % interval.",
            ),
        ),
    )
    make_folder(folder)
    # The page first: it tells that both files are ours.
    write_text(folder / INDEX, to_html(report))
    write_rows(flat_rows(table), folder / TABLE)
    return [folder / INDEX, folder / TABLE]


def _row(outcome: PairOutcome) -> dict[str, Cell]:
    is_there = outcome.status != "failed"
    page = f"{quote(outcome.name)}/{FORMATS['page'].file}"
    return {
        "name": Linked(outcome.name, page) if is_there else outcome.name,
        "status": "aligned" if is_there else "failed",
        "book": outcome.book,
        "minutes": outcome.minutes,
        "lines": outcome.lines,
        "share_of_lines_in_book": outcome.share,
        "moments": outcome.moments,
        "moments_in_book": outcome.in_book,
        "remarks": outcome.reason,
    }
