"""`align`, `align-many`, `demo` and `inspect`: a book, a film, and the two together."""

from __future__ import annotations

import logging
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.errors import FolioReelError, InputError, WorkError

if TYPE_CHECKING:
    from folioreel.types import Alignment


@click.command()
@click.argument("book", type=options.FILE)
@click.argument("film", metavar="FILM...", type=options.FILE, nargs=-1, required=True)
@click.option(
    "--book",
    "volumes",
    type=options.FILE,
    multiple=True,
    help="A further volume of the book, after BOOK. Can be repeated.",
)
@options.subtitles
@options.languages
@options.timing
@options.speech
@options.method
@options.choice(
    "--detector",
    ["adaptive", "transnetv2"],
    "Shot detector; transnetv2 needs folioreel[transnetv2].",
)
@click.option("--title", metavar="TEXT", help="Title of the film (default: from its file).")
@options.results("Folder for the results: web page, picture, JSON, CSV, VTT and SRT.")
def align(
    book: Path,
    film: tuple[Path, ...],
    volumes: tuple[Path, ...],
    title: str | None,
    out: Path | None,
    force: bool,
    **settings: Any,
) -> None:
    """Align a film with its book.

    BOOK is a novel as plain text, Markdown, HTML, EPUB, FB2 or PDF; FILM is a video or a subtitle
    file. Give the parts of a film one after the other, and further volumes of the book with --book;
    both may also be folders, whose files are sorted by the numbers in their names. Without --out, a
    summary is printed and nothing is written.

    \b
    Examples:
      folioreel align novel.epub film.mkv --out result
      folioreel align novel.txt film.srt --json > alignment.json
      folioreel align novel.pdf film.mp4 --subtitles fr --out result
      folioreel align novel.epub film.mkv --subtitles speech --out result
      folioreel align novel.epub film.mkv --encoder minilm --out result
      folioreel align novel.epub CD1.avi CD2.avi --out result
      folioreel align volume1.epub --book volume2.epub season1/ --out result
      folioreel align novel.epub film.mkv --subtitles film.srt --fps 25:23.976 --out result
    """
    from folioreel.alignment.align import align as align_files
    from folioreel.export.alignment_json import FILE_NAME, alignment_to_dict
    from folioreel.export.results import check_folder, write_results
    from folioreel.viewer.judgements import describe_kept

    if out is not None:  # before the work, which takes minutes for a video
        check_folder(out, force=force)
    output.show_log(logging.INFO)
    with output.show_progress() as progress:
        alignment = align_files([book, *volumes], film, progress=progress, **settings)
        if title:
            alignment = replace(alignment, film=replace(alignment.film, title=title))
        files = write_results(alignment, out, progress) if out is not None else []
    output.show_json(alignment_to_dict(alignment))
    _show_summary(alignment, files)
    if out is not None and (kept := describe_kept(alignment, out / FILE_NAME)):
        output.show_note(kept)


@click.command("align-many")
@click.argument("table", type=options.FILE)
@options.languages
@options.sync
@options.method
@options.parallel
@options.results("Folder for the results, with a subfolder for each pair.", required=True)
def align_many(table: Path, out: Path, **settings: Any) -> None:
    """Align many films with their books.

    TABLE is a CSV or TSV file with the columns book and film, and optionally name, subtitles,
    language and book_language. Several files in a cell, for the volumes of a book or the parts of
    a film, are separated by |. A pair that fails does not stop the others, and an interrupted run
    continues where it stopped. All pairs are summed up in index.html, which links their pages, and
    summary.csv.

    \b
    Examples:
      folioreel align-many pairs.csv --out results
      folioreel align-many pairs.csv --out results --engine ray --workers 64
    """
    from folioreel.apps import align_many as app
    from folioreel.apps.many_summary import INDEX, TABLE

    config = app.ManyConfig(**settings)
    with output.show_progress("the pairs aligned so far") as progress:
        outcomes = list(app.align_many(table, out, config, progress))
    rows = [asdict(outcome) for outcome in outcomes]
    output.show_json(rows)
    # Reasons are whole sentences, too long for a table; they follow below.
    output.show_table(
        [
            {
                "name": outcome.name,
                "status": outcome.status,
                "lines": outcome.lines,
                "lines_in_book": "-" if outcome.share is None else outcome.share.percent(),
            }
            for outcome in outcomes
        ]
    )
    failed = [row for row in rows if row["status"] == "failed"]
    for row in rows:
        if row["reason"]:
            output.show_note(f"{row['name']}: {row['reason']}")
    output.show_written(out / INDEX, out / TABLE)
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
@options.languages
@options.no_shots
@options.json
def inspect(files: tuple[Path, ...], **settings: Any) -> None:
    """Count the sentences, words and shots of books and films.

    Prints the rows of the paper's dataset table. A folder counts as one film in several parts, or
    as one book in several volumes. For a folder of judged pairs, prints the whole table: books,
    films, and how many places were matched by dialogue, pictures and sound.

    \b
    Examples:
      folioreel inspect novel.epub film.mkv
      folioreel inspect library/*.epub --json
      folioreel inspect pairs/
    """
    from folioreel.evaluate.statistics import describe_dataset, inspect_file, is_dataset

    if len(files) == 1 and is_dataset(files[0]):
        if settings["language"] or settings["book_language"]:
            raise click.UsageError(
                "--language and --book-language are for books and films, not for a folder of pairs"
            )
        with output.show_progress() as progress:
            pairs = describe_dataset(files[0], shots=settings["shots"], progress=progress)
        output.show_json(pairs)
        output.show_table(pairs)
        return
    output.show_log(logging.INFO)
    rows = []
    with output.show_progress() as progress:
        for path in files:
            try:
                if is_dataset(path):
                    raise InputError(
                        "holds judged pairs, whose table is another: give it alone", path
                    )
                rows.append(inspect_file(path, progress=progress, **settings))
            except FolioReelError as error:
                if len(files) == 1:
                    raise
                output.show_error(str(error))
    output.show_json(rows)
    # Two tables, as books and films have different columns.
    for kind in ("book", "film"):
        table = [row for row in rows if row["kind"] == kind]
        if table:
            output.show_line(f"{kind}s")
            output.show_table(table, without="kind")
    if failed := len(files) - len(rows):
        raise WorkError(f"{failed} of {len(files)} files could not be read")


def _show_summary(alignment: Alignment, files: list[Path]) -> None:
    from folioreel.export.results import summarize

    output.show_line(summarize(alignment))
    output.show_written(*files)
