"""`corpus build`, `stats`, `index` and `search`: many books as one (paper, section 3)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli.options import FILE, engine_option, json_option, workers_option
from folioreel.cli.output import (
    ProgressBars,
    resumable,
    show_figures,
    show_json,
    show_line,
    wrap_passage,
)
from folioreel.errors import InputError

if TYPE_CHECKING:
    from folioreel.corpus.build import CorpusReport
    from folioreel.corpus.records import BookRecord
    from folioreel.corpus.search import By
    from folioreel.engines.batch import EngineName


@click.group()
def corpus() -> None:
    """Build a corpus out of many books, count what it holds, and find any sentence in it.

    \b
    folioreel corpus build library/ --out corpus
    folioreel corpus stats corpus
    folioreel corpus index corpus
    folioreel corpus search "a ghost walks at night" --corpus corpus
    """


@corpus.command()
@click.argument("folder", metavar="DIR", type=FILE)
@click.option("--out", type=FILE, required=True, help="The corpus; not inside DIR.")
@click.option("--min-words", default=20_000, show_default=True, help="Shorter books are left out.")
@click.option(
    "--exclude",
    type=FILE,
    multiple=True,
    metavar="DIR",
    help="Books that must stay out, such as those of an evaluation; may be given again.",
)
@click.option("--workers", type=int, metavar="N", help="Processes; one a core if not given.")
@json_option
def build(
    folder: Path,
    out: Path,
    min_words: int,
    exclude: tuple[Path, ...],
    workers: int | None,
    as_json: bool,
) -> None:
    """Read every book in DIR, also in archives, and keep the long ones once each.

    A run that was stopped is taken up where it was, and a corpus that is there is brought up to
    date: no book is read twice.

    \b
    folioreel corpus build library/ --out corpus
    folioreel corpus build library/ --out corpus --exclude pairs/ --workers 4
    """
    from folioreel.corpus.build import build_corpus
    from folioreel.corpus.config import CorpusConfig

    config = CorpusConfig(min_words=min_words, exclude=exclude, workers=workers)
    if folder.is_dir() and out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"lies inside {folder}; give a folder outside it with --out", out)
    with resumable("the books read so far"), ProgressBars() as progress:
        report = build_corpus(folder, out, config, progress)
    if as_json:
        show_json(_report_to_dict(report, out))
    else:
        _show_report(report, out)


@corpus.command()
@click.argument("folder", metavar="CORPUS", type=FILE)
@click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    default="student",
    show_default=True,
    help="What gives the sentence vectors.",
)
@engine_option
@workers_option
@json_option
def index(
    folder: Path, encoder: str, engine: EngineName, workers: int | None, as_json: bool
) -> None:
    """Make a corpus searchable, or bring its store up to date with it.

    New books are added and vanished ones removed. A run that was stopped is taken up where it was.

    \b
    folioreel corpus index corpus
    folioreel corpus index corpus --engine ray --workers 64
    """
    from folioreel.corpus.index import IndexConfig, index_corpus

    config = IndexConfig(encoder=encoder, engine=engine, workers=workers)
    with resumable("the books indexed so far"), ProgressBars() as progress:
        report = index_corpus(folder, config, progress)
    if as_json:
        show_json({"corpus": str(folder), **asdict(report)})
        return
    figures = {"books": report.books, "sentences": report.sentences}
    show_figures({**figures, "books added": report.added, "books removed": report.removed})
    if report.failures:
        show_line("\nnot indexed:")
        for path, reason in report.failures:
            show_line(f"  {path}: {reason}")


@corpus.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--corpus", "folder", metavar="CORPUS", type=FILE, required=True, help="Where.")
@click.option("--count", default=10, show_default=True, metavar="N", help="How many answers.")
@click.option(
    "--by",
    type=click.Choice(["both", "meaning", "words"]),
    default="both",
    show_default=True,
    help="What counts: meaning, words, or both together.",
)
@json_option
def search(query: tuple[str, ...], folder: Path, count: int, by: By, as_json: bool) -> None:
    """Find a sentence, or the answer to a question, in all books of a corpus.

    \b
    folioreel corpus search "a ghost walks at night" --corpus corpus
    folioreel corpus search who killed the old man --corpus corpus --count 3 --json
    """
    from folioreel.corpus.search import SearchStore

    store = SearchStore.open(folder)
    if store.waiting:
        click.echo(
            f"{store.waiting} books of {folder} are not indexed yet; "
            f"run: folioreel corpus index {folder}",
            err=True,
        )
    asked = " ".join(query)
    found = store.search(asked, count, by)
    missing = store.missing_words(asked)
    if missing:
        click.echo(
            f"in no sentence: {', '.join(missing)}; is it spelt as in the books, and in their "
            "language?",
            err=True,
        )
    if as_json:
        show_json([answer.to_dict() for answer in found])
        return
    for answer in found:
        show_line(f"{answer.scores.score:.3f}  {answer.book.title}: {answer.passage.chapter_title}")
        show_line(wrap_passage(answer.passage.excerpt(_EXCERPT)))


@corpus.command()
@click.argument("folder", metavar="CORPUS", type=FILE)
@json_option
def stats(folder: Path, as_json: bool) -> None:
    """Count books, sentences and words: the paper's BookCorpus table.

    \b
    folioreel corpus stats corpus
    folioreel corpus stats corpus --json
    """
    from folioreel.corpus.reader import open_corpus
    from folioreel.corpus.statistics import measure_corpus

    opened = open_corpus(folder)
    with ProgressBars() as progress:
        statistics = measure_corpus(opened, progress)
    if as_json:
        show_json(asdict(statistics))
    else:
        show_line(statistics.table())


_EXCERPT = 600
"""Characters of a paragraph that are shown; --json has all of it."""
_LEFT_OUT = {
    "short": "too short",
    "duplicate": "near-duplicates",
    "held out": "excluded",
    "unreadable": "unreadable",
}
"""Status of a record → what the summary calls it."""


def _count(report: CorpusReport, status: str) -> int:
    return sum(book.status == status for book in report.books)


def _show_report(report: CorpusReport, out: Path) -> None:
    figures = {"books kept": len(report.kept)}
    figures |= {name: _count(report, status) for status, name in _LEFT_OUT.items()}
    figures["other files"] = report.other_files
    figures["files read now"] = report.files_read
    show_figures(figures)
    for status, name in _LEFT_OUT.items():
        named = [book for book in report.books if book.status == status]
        if named and status != "short":  # how many are short is all that one asks
            show_line(f"\n{name}:")
            for book in named:
                show_line(f"  {_describe(book)}")
    for held_out in report.held_out:
        if held_out.problem:
            click.echo(f"{held_out.path}: not kept out: {held_out.problem}", err=True)
    show_line(f"\nwrote {out}")


def _describe(book: BookRecord) -> str:
    if book.duplicate_of is None:
        return f"{book.path}: {book.reason}"
    return f"{book.path}: like {book.duplicate_of} ({book.reason})"


def _report_to_dict(report: CorpusReport, out: Path) -> dict[str, Any]:
    left_out = {status.replace(" ", "_"): _count(report, status) for status in _LEFT_OUT}
    names = ("path", "title", "words", "status", "reason", "duplicate_of")
    return {
        "corpus": str(out),
        "kept": len(report.kept),
        **left_out,
        "other_files": report.other_files,
        "files_read": report.files_read,
        "left_out": [{name: getattr(book, name) for name in names} for book in report.left_out],
        "not_kept_out": [
            {"path": book.path, "reason": book.problem} for book in report.held_out if book.problem
        ],
    }
