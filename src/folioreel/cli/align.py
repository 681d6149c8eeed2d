"""`align`, `align-many`, `demo` and `inspect`: a book, a film, and the two together."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.errors import WorkError

if TYPE_CHECKING:
    from folioreel.types import Alignment


@click.command()
@click.argument("book", type=options.FILE)
@click.argument("film", type=options.FILE)
@options.subtitles
@options.method
@click.option(
    "--detector",
    type=click.Choice(["adaptive", "transnetv2"]),
    default="adaptive",
    show_default=True,
    help="Shot detector; transnetv2 is better on dissolves (needs folioreel[transnetv2]).",
)
@options.out("Folder for the results: web page, picture, JSON, CSV, VTT and SRT.")
@options.force
@options.json
def align(
    book: Path, film: Path, out: Path | None, force: bool, as_json: bool, **settings: Any
) -> None:
    """Align a film with its book.

    BOOK is a novel as plain text, Markdown, HTML, EPUB, FB2 or PDF; FILM is a video or a subtitle
    file. Without --out, a summary is printed and nothing is written.

    \b
    Examples:
      folioreel align novel.epub film.mkv --out result
      folioreel align novel.txt film.srt --json > alignment.json
      folioreel align novel.pdf film.mp4 --subtitles fr --out result
      folioreel align novel.epub film.mkv --encoder minilm --out result
    """
    from folioreel.alignment.aligner import align as align_files
    from folioreel.export.results import check_folder, write_results

    if out is not None:  # before the work, which takes minutes for a video
        check_folder(out, force=force)
    with output.show_progress() as progress:
        alignment = align_files(book, film, progress=progress, **settings)
        output.show_notes(book, alignment.book.notes)
        output.show_notes(film, alignment.film.notes)
        files = write_results(alignment, out, progress) if out is not None else []
    _show_alignment(alignment, files, as_json=as_json)


@click.command("align-many")
@click.argument("table", type=options.FILE)
@options.out("Folder for the results, with a subfolder for each pair.", required=True)
@options.method
@options.engine
@options.workers
@options.force
@options.json
def align_many(table: Path, out: Path, as_json: bool, **settings: Any) -> None:
    """Align many films with their books.

    TABLE is a CSV file with the columns book and film. A pair that fails does not stop the others,
    and an interrupted run continues where it stopped.

    \b
    Examples:
      folioreel align-many pairs.csv --out results
      folioreel align-many pairs.csv --out results --engine ray --workers 64
    """
    from folioreel.apps import align_many as app

    config = app.ManyConfig(**settings)
    with output.show_progress("the pairs aligned so far") as progress:
        results = app.align_many(table, out, config, progress)
    failed = [result for result in results if result.status == "failed"]
    rows = [asdict(result) for result in results]
    if not as_json:  # reasons are whole sentences, too long for a table; they follow below
        rows = [{name: row[name] for name in row if name != "reason"} for row in rows]
    output.show_rows(rows, as_json=as_json)
    if failed:
        for result in failed:
            output.show_note(f"{result.name}: {result.reason}")
        raise WorkError(f"{len(failed)} of {len(results)} pairs failed; the others are in {out}")


@click.command()
@options.out("Folder for the results.", default=Path("folioreel-demo"), show_default=True)
@options.force
@options.json
def demo(out: Path, force: bool, as_json: bool) -> None:
    """Align the bundled film and book, and score the result.

    \b
    Examples:
      folioreel demo
      folioreel demo --out somewhere --json
    """
    from folioreel.apps.demo import run_demo
    from folioreel.export.results import check_folder

    check_folder(out, force=force)
    with output.show_progress() as progress:
        result = run_demo(out, progress)
    if as_json:
        output.show_json(result.to_dict())
        return
    _show_alignment(result.alignment, result.files, as_json=False)
    output.show_line("\nScores against the judged lines of the demo:")
    output.show_table([asdict(result.scores)])
    if result.shots is not None:
        output.show_line("\nScores against its judged silent shots:")
        output.show_table([asdict(result.shots)])


@click.command()
@click.argument("files", metavar="FILE...", type=options.FILE, nargs=-1, required=True)
@options.no_shots
@options.json
def inspect(files: tuple[Path, ...], shots: bool, as_json: bool) -> None:
    """Count the sentences, words and shots of books and films.

    Prints the rows of the paper's dataset table.

    \b
    Examples:
      folioreel inspect novel.epub film.mkv
      folioreel inspect library/*.epub --json
    """
    from folioreel.evaluate.statistics import inspect_file

    with output.show_progress() as progress:
        rows = [inspect_file(path, shots=shots, progress=progress) for path in files]
    if as_json:
        output.show_json(rows)
        return
    # Two tables, as books and films have different columns.
    for kind in ("book", "film"):
        table = [
            {k: v for k, v in row.items() if k != "kind"} for row in rows if row["kind"] == kind
        ]
        if table:
            output.show_line(f"{kind}s")
            output.show_table(table)


def _show_alignment(alignment: Alignment, files: list[Path], *, as_json: bool) -> None:
    if as_json:
        from folioreel.export.alignment_json import alignment_to_dict

        output.show_json(alignment_to_dict(alignment))
        return
    from folioreel.export.results import summarize

    output.show_line(summarize(alignment))
    output.show_written(*files)
