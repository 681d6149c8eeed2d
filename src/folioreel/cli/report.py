"""`report` and `compare`: an adaptation in figures, and several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output
from folioreel.cli.export import open_corrected

if TYPE_CHECKING:
    from folioreel.apps.report_pages import Report


@click.command()
@click.argument("alignment", metavar="RESULT", type=options.FILE)
@options.moved
@options.results("Folder for the report (default: RESULT/report).")
def report(
    alignment: Path,
    out: Path | None,
    force: bool,
    book: tuple[Path, ...],
    film: tuple[Path, ...],
) -> None:
    """Describe an adaptation in figures, with their uncertainty.

    How much of the film is in the book and of the book in the film, by chapter and by scene; what
    is left out, added and moved; how the lines render the book. Written as a page to read or print
    (report.html), Markdown, tables (CSV) and drawings (SVG), from RESULT and your corrections.

    \b
    Examples:
      folioreel report result
      folioreel report result --out figures --force
      folioreel report result --json > figures.json
    """
    from folioreel.apps.report import make_report

    opened = open_corrected(alignment, book, film, needs_film=False)
    output.show_warnings(opened)
    found = make_report(opened)
    folder = out or (alignment if alignment.is_dir() else alignment.parent) / "report"
    _write(found, folder, "report", force=force)


def _write(found: Report, folder: Path, stem: str, *, force: bool) -> None:
    from folioreel.apps.report_pages import as_json, write_report_files

    files = write_report_files(found, folder, stem, force=force)
    output.show_json(as_json(found.sections) | {"files": [str(path) for path in files]})
    for figure, says in found.sections[0].figures:
        output.show_line(f"{figure}  {says}")
    output.show_written(*files)


@click.command()
@click.argument("alignments", metavar="RESULT...", type=options.FILE, nargs=-1, required=True)
@options.results("Folder for the comparison.", default=Path("comparison"), show_default=True)
def compare(alignments: tuple[Path, ...], out: Path, force: bool) -> None:
    """Compare two or more adaptations of one book.

    What each film keeps of the book, what they share, and what none of them has; in tables and a
    drawing, as `report` writes them. The films must have been aligned with the same file of the
    book. One film that was aligned with several books is compared as well.

    \b
    Examples:
      folioreel compare result-1943 result-2011 --out comparison
      folioreel compare results/*/ --json
    """
    from folioreel.apps.compare import compare_alignments

    opened = [open_corrected(alignment, needs_film=False) for alignment in alignments]
    for one in opened:
        output.show_warnings(one)
    found = compare_alignments(opened)
    _write(found, out, "compare", force=force)
