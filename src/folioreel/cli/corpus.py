"""`corpus build`, `index`, `search` and `stats`: many books as one (paper, section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.errors import InputError

if TYPE_CHECKING:
    from folioreel.corpus.build import CorpusReport
    from folioreel.corpus.manifest import Status
    from folioreel.corpus.search import By

# Some paragraphs fill pages; the first characters show what one is about. --json has all of it.
_EXCERPT = 600
# Status of a record → what the summary calls it.
_LEFT_OUT: dict[Status, str] = {
    "short": "too short",
    "duplicate": "near-duplicates",
    "held out": "excluded",
    "unreadable": "unreadable",
}
_corpus_argument = click.argument("folder", metavar="CORPUS", type=options.FILE)


@click.group(cls=options.CommandGroup)
def corpus() -> None:
    """Build a corpus of many books, and search it.

    \b
    Examples:
      folioreel corpus build library/ --out corpus
      folioreel corpus index corpus
      folioreel corpus search "a ghost walks at night" --corpus corpus
      folioreel corpus stats corpus
    """


@corpus.command()
@click.argument("folder", type=options.FILE)
@options.out("The corpus to create or update; not inside FOLDER.", metavar="CORPUS", required=True)
# The paper's bound, which filters out short stories, the noisier part of such collections.
@options.number("--min-words", 20_000, "Skip books with fewer words.")
@click.option(
    "--exclude",
    type=options.FILE,
    multiple=True,
    metavar="FOLDER",
    help="Skip the books in this folder, such as those of an evaluation. Can be repeated.",
)
@options.workers
@options.json
def build(folder: Path, out: Path, **settings: Any) -> None:
    """Build a corpus from a folder of books.

    Reads every book in FOLDER, in subfolders and archives, too, and keeps one copy of each long
    book. An existing corpus is updated, and an interrupted build continues where it stopped: no
    book is read twice.

    \b
    Examples:
      folioreel corpus build library/ --out corpus
      folioreel corpus build library/ --out corpus --exclude pairs/ --workers 4
    """
    from folioreel.corpus.build import CorpusConfig, build_corpus

    config = CorpusConfig(**settings)
    # The next build would take the corpus's own files for books.
    if folder.is_dir() and out.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"is inside {folder}; choose a folder outside it with --out", out)
    with output.show_progress("the books read so far") as progress:
        report = build_corpus(folder, out, config, progress)
    output.show_json(_report_to_dict(report, out))
    _show_report(report, out)


@corpus.command()
@_corpus_argument
@options.encoder("Sentence encoder (default: student for English, use-multilingual otherwise).")
@options.parallel
@options.json
def index(folder: Path, **settings: Any) -> None:
    """Make a corpus searchable, or update its index.

    Adds new books to the index and removes those that are gone. An interrupted run continues where
    it stopped.

    \b
    Examples:
      folioreel corpus index corpus
      folioreel corpus index corpus --engine ray --workers 64
    """
    from folioreel.corpus.index import IndexConfig, index_corpus

    config = IndexConfig(**settings)
    with output.show_progress("the books indexed so far") as progress:
        report = index_corpus(folder, config, progress)
    output.show_json({"corpus": str(folder), **asdict(report)})
    figures = {"books": report.books, "sentences": report.sentences}
    output.show_figures({**figures, "books added": report.added, "books removed": report.removed})
    output.show_list("not indexed", [f"{path}: {reason}" for path, reason in report.failures])
    _note_languages(report.by_words, report.encoder)


@corpus.command()
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--corpus", metavar="CORPUS", type=options.FILE, required=True, help="Corpus to search."
)
@options.number("--count", 10, "Number of results.")
@options.choice(
    "--by", ["both", "meaning", "words"], "Rank by meaning, by matching words, or by both."
)
@options.json
def search(query: tuple[str, ...], corpus: Path, count: int, by: By) -> None:
    """Search the sentences of a corpus.

    QUERY is a sentence, some words or a question.

    \b
    Examples:
      folioreel corpus search "a ghost walks at night" --corpus corpus
      folioreel corpus search who killed the old man --corpus corpus --count 3 --json
    """
    from folioreel.corpus.search import SearchStore

    store = SearchStore.open(corpus)
    if store.waiting:
        waiting = f"books of {corpus} not indexed yet: {store.waiting}"
        output.show_note(f"{waiting}; run: folioreel corpus index {corpus}")
    words = " ".join(query)  # so that a query needs no quotes
    found = store.search(words, count, by)
    encoder = store.encoder.name
    if by != "words" and not store.understands(words):
        output.show_note(f"searched by words alone: {encoder} does not know the query's language")
    elif by == "meaning":
        _note_languages(store.by_words, encoder)
    if missing := ", ".join(store.missing_words(words)):
        output.show_note(f"not found in any book: {missing}; check spelling and language")
    output.show_json([answer.to_dict() for answer in found])
    for answer in found:
        place = f"{answer.book.title}: {answer.passage.chapter_title}"
        output.show_line(f"{answer.scores.score:.3f}  {place}")
        output.show_passage(answer.passage.excerpt(_EXCERPT), " " * 7)  # below the place


@corpus.command()
@_corpus_argument
@click.option(
    "--genres",
    type=options.FILE,
    metavar="TABLE",
    help="Also count books by genre: a table with the columns path and genre.",
)
@options.json
def stats(folder: Path, genres: Path | None) -> None:
    """Count books, sentences and words of a corpus.

    Prints the rows of the paper's BookCorpus table.

    \b
    Examples:
      folioreel corpus stats corpus
      folioreel corpus stats corpus --genres library/genres.tsv --json
    """
    from folioreel.corpus.reader import open_corpus
    from folioreel.corpus.statistics import measure_corpus
    from folioreel.ingest.genres import read_genres

    known = None if genres is None else read_genres(genres, "path")
    with output.show_progress() as progress:
        statistics = measure_corpus(open_corpus(folder), progress, known)
    output.show_json(asdict(statistics))
    output.show_figures(statistics.figures())


def _note_languages(languages: Iterable[str], encoder: str) -> None:
    """Say which books have no vectors."""
    from folioreel.language import language_name

    if names := " and ".join(map(language_name, languages)):
        output.show_note(
            f"books in {names} are found by their words alone: the encoder {encoder} was not "
            "trained on them"
        )


def _show_report(report: CorpusReport, out: Path) -> None:
    left_out = {name: report.with_status(status) for status, name in _LEFT_OUT.items()}
    output.show_figures(
        {
            "books kept": len(report.kept),
            **{name: len(books) for name, books in left_out.items()},
            "other files": report.other_files,
            "files read now": report.files_read,
        }
    )
    del left_out[_LEFT_OUT["short"]]  # often thousands, and nobody needs their names
    for name, books in left_out.items():
        listed = []
        for book in books:
            like = f"like {book.duplicate_of} ({book.reason})"
            listed.append(f"{book.path}: {like if book.duplicate_of else book.reason}")
        output.show_list(name, listed)
    for held_out in report.held_out:
        if held_out.problem:
            output.show_note(f"{held_out.path}: could not be excluded: {held_out.problem}")
    output.show_line(f"\nwrote {out}")


def _report_to_dict(report: CorpusReport, out: Path) -> dict[str, Any]:
    names = ("path", "title", "words", "status", "reason", "duplicate_of")
    return {
        "corpus": str(out),
        "kept": len(report.kept),
        **{status.replace(" ", "_"): len(report.with_status(status)) for status in _LEFT_OUT},
        "other_files": report.other_files,
        "files_read": report.files_read,
        "left_out": [{name: getattr(book, name) for name in names} for book in report.left_out],
        "not_kept_out": [
            {"path": book.path, "reason": book.problem} for book in report.held_out if book.problem
        ],
    }
