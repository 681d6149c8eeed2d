"""The command line: parse, call one public function, print; notes and progress go to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel import __version__
from folioreel.errors import FolioReelError
from folioreel.progress import Progress

if TYPE_CHECKING:
    from folioreel.ingest.video.shot_detectors import DetectorName
    from folioreel.types import Alignment

_FILE = click.Path(path_type=Path, readable=False)


class _Commands(click.Group):
    """Turns our errors into one line on stderr and exit code 1."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except FolioReelError as error:
            click.echo(f"folioreel: {_one_line(str(error))}", err=True)
            sys.exit(1)
        except BrokenPipeError:
            sys.stderr.close()  # the reader of our output has gone: `folioreel … | head`
            sys.exit(1)
        except OSError as error:
            click.echo(
                f"folioreel: {_one_line(str(error))}; check that file and the disk", err=True
            )
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="folioreel")
def main() -> None:
    """Align a film with the book it was made from.

    For every moment of the film: the sentence of the book that it renders, how sure that is, or
    that it is not in the book.
    """


@main.command()
@click.argument("book", type=_FILE)
@click.argument("film", type=_FILE)
@click.option("--subtitles", metavar="FILE|TRACK|LANGUAGE", help="Which subtitles to take.")
@click.option("--preset", default="default", show_default=True, help="default or paper.")
@click.option("--no-shots", is_flag=True, help="Do not look at the picture: dialogue alone.")
@click.option(
    "--detector",
    type=click.Choice(["adaptive", "transnetv2"]),
    default="adaptive",
    show_default=True,
    help="What finds the shots; transnetv2 needs folioreel[transnetv2].",
)
@click.option("--out", type=_FILE, help="Folder for JSON, CSV, VTT, SRT and the picture.")
@click.option("--force", is_flag=True, help="Replace results that are already in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print alignment.json to stdout.")
def align(
    book: Path,
    film: Path,
    subtitles: str | None,
    preset: str,
    no_shots: bool,
    detector: DetectorName,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Align FILM (a video, or a subtitle file alone) with BOOK.

    \b
    folioreel align novel.epub film.mkv --out result
    folioreel align novel.txt film.srt --json > alignment.json
    folioreel align novel.pdf film.mp4 --subtitles fr --out result
    """
    from folioreel.align.aligner import Aligner
    from folioreel.export.results import check_folder, write_results
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film

    aligner = Aligner.load(preset)
    if out is not None:
        check_folder(out, force=force)
    with _ProgressBars() as progress:
        read_book = load_book(book)
        read_film = load_film(
            film, subtitles=subtitles, shots=not no_shots, detector=detector, progress=progress
        )
        _show_notes(book, read_book.notes)
        _show_notes(film, read_film.notes)
        alignment = aligner.align(read_film, read_book, progress)
    files = write_results(alignment, out) if out is not None else []
    _show_alignment(alignment, files, as_json=as_json)


@main.command()
@click.option("--out", type=_FILE, default=Path("folioreel-demo"), show_default=True)
@click.option("--force", is_flag=True, help="Replace results that are already in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def demo(out: Path, force: bool, as_json: bool) -> None:
    """Align the bundled film with its book, and score the result against judged lines.

    \b
    folioreel demo
    folioreel demo --out somewhere --json
    """
    from folioreel.apps.demo import run_demo
    from folioreel.export.results import check_folder

    check_folder(out, force=force)
    with _ProgressBars() as progress:
        result = run_demo(out, progress)
    if as_json:
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=1))
        return
    _show_alignment(result.alignment, result.files, as_json=False)
    click.echo("\nagainst the judged lines of the demo:")
    _show_table([asdict(result.scores)])


@main.command()
@click.argument("files", type=_FILE, nargs=-1, required=True)
@click.option("--no-shots", is_flag=True, help="Do not look for shots in videos.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(files: tuple[Path, ...], no_shots: bool, as_json: bool) -> None:
    """Count what books and films hold: the paper's dataset table.

    \b
    folioreel inspect novel.epub film.mkv
    folioreel inspect library/*.epub --json
    """
    from folioreel.evaluate.statistics import inspect_file

    with _ProgressBars() as progress:
        rows = [inspect_file(path, shots=not no_shots, progress=progress) for path in files]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for kind in ("book", "film"):
        table = [
            {k: v for k, v in row.items() if k != "kind"} for row in rows if row["kind"] == kind
        ]
        if table:
            click.echo(f"{kind}s")
            _show_table(table)


@main.command()
@click.argument("dataset", type=_FILE)
@click.option("--preset", default="default", show_default=True, help="default or paper.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(dataset: Path, preset: str, as_json: bool) -> None:
    """Align each judged pair in DATASET (a folder of folders) and score it.

    \b
    folioreel evaluate pairs/
    folioreel evaluate pairs/old-scrooge --json
    """
    from folioreel.evaluate.report import evaluate_dataset

    with _ProgressBars() as progress:
        rows = evaluate_dataset(dataset, preset, progress)
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        _show_table(rows)


def _show_notes(path: Path, notes: tuple[str, ...]) -> None:
    """What a reader chose or noticed."""
    for note in notes:
        click.echo(f"{path.name}: {note}", err=True)


def _show_alignment(alignment: Alignment, files: list[Path], *, as_json: bool) -> None:
    if as_json:
        from folioreel.export.alignment_json import alignment_to_dict

        click.echo(json.dumps(alignment_to_dict(alignment), ensure_ascii=False, indent=1))
        return
    from folioreel.export.summary import summarize

    click.echo(summarize(alignment))
    for path in files:
        click.echo(f"wrote {path}")


def _show_table(rows: list[dict[str, Any]]) -> None:
    """Rows of equal keys as aligned columns, numbers to the right."""
    cells = [[_cell(value) for value in row.values()] for row in rows]
    head = [name.replace("_", " ") for name in rows[0]]
    widths = [max(len(row[k]) for row in [head, *cells]) for k in range(len(head))]
    texts = [isinstance(value, str) for value in rows[0].values()]
    for row in [head, *cells]:
        padded = (
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(row, widths, texts, strict=True)
        )
        click.echo("  ".join(padded).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value if len(value) <= 40 else value[:39] + "…"
    return f"{value:,}"


def _one_line(message: str) -> str:
    return " ".join(message.split())


class _ProgressBars:
    """Progress bars on stderr, one a stage; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def __enter__(self) -> Callable[[Progress], None]:
        return self._update if sys.stderr.isatty() else _silent

    def _update(self, progress: Progress) -> None:
        from tqdm import tqdm

        if progress.stage != self._stage:
            self._close()
            self._stage = progress.stage
            form = "{desc:>12} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self._bar = tqdm(
                desc=progress.stage, total=progress.total, bar_format=form, leave=False
            )
        self._bar.total = progress.total
        self._bar.update(progress.done - self._bar.n)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __exit__(self, *error: object) -> None:
        self._close()


def _silent(progress: Progress) -> None:
    """Draw nothing."""
