"""`align`, `align-many`, `demo` and `inspect`: a book, a film, and the two together."""

from __future__ import annotations

import logging
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
@options.speech
@options.method
@options.choice(
    "--detector",
    ["adaptive", "transnetv2"],
    "Shot detector; transnetv2 needs folioreel[transnetv2].",
)
@options.results("Folder for the results: web page, picture, JSON, CSV, VTT and SRT.")
def align(book: Path, film: Path, out: Path | None, force: bool, **settings: Any) -> None:
    """Align a film with its book.

    BOOK is a novel as plain text, Markdown, HTML, EPUB, FB2 or PDF; FILM is a video or a subtitle
    file. Without --out, a summary is printed and nothing is written.

    \b
    Examples:
      folioreel align novel.epub film.mkv --out result
      folioreel align novel.txt film.srt --json > alignment.json
      folioreel align novel.pdf film.mp4 --subtitles fr --out result
      folioreel align novel.epub film.mkv --subtitles speech --out result
      folioreel align novel.epub film.mkv --encoder minilm --out result
    """
    from folioreel.alignment.aligner import align as align_files
    from folioreel.export.alignment_json import alignment_to_dict
    from folioreel.export.results import check_folder, write_results

    if out is not None:  # before the work, which takes minutes for a video
        check_folder(out, force=force)
    output.show_log(logging.INFO)
    with output.show_progress() as progress:
        alignment = align_files(book, film, progress=progress, **settings)
        files = write_results(alignment, out, progress) if out is not None else []
    output.show_json(alignment_to_dict(alignment))
    _show_summary(alignment, files)


@click.command("align-many")
@click.argument("table", type=options.FILE)
@options.method
@options.parallel
@options.results("Folder for the results, with a subfolder for each pair.", required=True)
def align_many(table: Path, out: Path, **settings: Any) -> None:
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
        rows = [asdict(result) for result in app.align_many(table, out, config, progress)]
    # Reasons are whole sentences, too long for a table; they follow below.
    output.show_json(rows)
    output.show_table(rows, without="reason")
    failed = [row for row in rows if row["status"] == "failed"]
    for row in failed:
        output.show_note(f"{row['name']}: {row['reason']}")
    if failed:  # after the results of the others: a script sees the exit code all the same
        raise WorkError(f"{len(failed)} of {len(rows)} pairs failed; the others are in {out}")


@click.command()
@options.results("Folder for the results.", default=Path("folioreel-demo"), show_default=True)
def demo(out: Path, force: bool) -> None:
    """Align the bundled film and book, and score the result.

    \b
    Examples:
      folioreel demo
      folioreel demo --out somewhere --json
    """
    from folioreel.apps.demo import run_demo
    from folioreel.export.results import check_folder

    check_folder(out, force=force)
    output.show_log(logging.INFO)
    with output.show_progress() as progress:
        result = run_demo(out, progress)
    output.show_json(result.to_dict())
    _show_summary(result.alignment, result.files)
    output.show_below("Scores against the judged lines of the demo:", [asdict(result.scores)])
    shots = [] if result.shots is None else [asdict(result.shots)]
    output.show_below("Scores against its judged silent shots:", shots)


@click.command()
@click.argument("files", metavar="FILE...", type=options.FILE, nargs=-1, required=True)
@options.no_shots
@options.json
def inspect(files: tuple[Path, ...], shots: bool) -> None:
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
    output.show_json(rows)
    # Two tables, as books and films have different columns.
    for kind in ("book", "film"):
        table = [row for row in rows if row["kind"] == kind]
        if table:
            output.show_line(f"{kind}s")
            output.show_table(table, without="kind")


def _show_summary(alignment: Alignment, files: list[Path]) -> None:
    from folioreel.export.results import summarize

    output.show_line(summarize(alignment))
    output.show_written(*files)
