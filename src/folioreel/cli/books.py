"""`retrieve` and `borrow`: one film and many books."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli.options import FILE, engine_option, json_option, workers_option
from folioreel.cli.output import (
    ProgressBars,
    resumable,
    show_failures,
    show_json,
    show_line,
    show_notes,
    show_table,
)

if TYPE_CHECKING:
    from folioreel.apps.borrow import Loan
    from folioreel.apps.retrieve import Retrieval
    from folioreel.engines.batch import EngineName

_WIDTH = 88

books_option = click.option(
    "--books",
    type=FILE,
    required=True,
    metavar="DIR",
    help="A folder of books, also in folders and archives below it.",
)
subtitles_option = click.option(
    "--subtitles", metavar="FILE|TRACK|LANGUAGE", help="Which subtitles to take."
)


@click.command()
@click.argument("film", type=FILE)
@books_option
@subtitles_option
@click.option(
    "--shortlist",
    default=8,
    show_default=True,
    metavar="N",
    help="How many books, the likeliest by words and names, are aligned in full.",
)
@engine_option
@workers_option
@json_option
def retrieve(
    film: Path,
    books: Path,
    subtitles: str | None,
    shortlist: int,
    engine: EngineName,
    workers: int | None,
    as_json: bool,
) -> None:
    """Find the book in a folder that FILM (a video, or a subtitle file alone) is made from.

    \b
    folioreel retrieve film.srt --books library/
    folioreel retrieve film.mkv --books library/ --shortlist 30 --json
    """
    from folioreel.apps.retrieve import RetrieveConfig
    from folioreel.apps.retrieve import retrieve as find_book
    from folioreel.ingest.film import load_film

    config = RetrieveConfig(shortlist=shortlist, engine=engine, workers=workers)
    with resumable("the books read so far"), ProgressBars() as progress:
        read_film = load_film(film, subtitles=subtitles, shots=False)
        show_notes(film, read_film.notes)
        retrieval = find_book(read_film, books, config, progress)
    if as_json:
        show_json([asdict(candidate) for candidate in retrieval.candidates])
    else:
        _show_retrieval(retrieval)
    show_failures(retrieval.failures)


@click.command()
@click.argument("film", type=FILE)
@books_option
@subtitles_option
@click.option(
    "--shortlist",
    default=8,
    show_default=True,
    metavar="N",
    help="How many books, the likeliest by words and names, lend their lines.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="PATH",
    help="A book in the folder to leave out, such as the film's own; may be given again.",
)
@click.option("--count", default=20, show_default=True, metavar="N", help="Show the best N.")
@click.option("--no-pictures", is_flag=True, help="Do not decode the video: dialogue alone.")
@engine_option
@workers_option
@json_option
def borrow(
    film: Path,
    books: Path,
    subtitles: str | None,
    shortlist: int,
    without: tuple[str, ...],
    count: int,
    no_pictures: bool,
    engine: EngineName,
    workers: int | None,
    as_json: bool,
) -> None:
    """Tell FILM with passages of other books, none of them twice.

    \b
    folioreel borrow film.mkv --books library/
    folioreel borrow film.srt --books library/ --without novel.epub --count 50 --json
    """
    from folioreel.alignment.aligner import Aligner
    from folioreel.apps.borrow import BorrowConfig
    from folioreel.apps.borrow import borrow as find_loans
    from folioreel.ingest.film import load_film

    aligner = Aligner.load()
    config = BorrowConfig(shortlist=shortlist, without=without, engine=engine, workers=workers)
    with resumable("the books read so far"), ProgressBars() as progress:
        read_film = load_film(
            film,
            subtitles=subtitles,
            shots=not no_pictures,
            progress=progress,
            encoder=None if no_pictures else aligner.frame_features(),
        )
        show_notes(film, read_film.notes)
        borrowing = find_loans(read_film, books, config, progress, aligner)
    loans = borrowing.best(count)
    if as_json:
        show_json([asdict(loan) for loan in loans])
    else:
        for loan in loans:
            _show_loan(loan)
    show_failures(borrowing.failures)


def _show_loan(loan: Loan) -> None:
    from folioreel.times import format_clock

    place = ", ".join(filter(None, (loan.book, loan.passage.chapter, loan.passage.place)))
    show_line(f"{format_clock(loan.start_s)}  {loan.said or '(nobody speaks)'}")
    show_line(textwrap.indent(textwrap.fill(loan.passage.text, _WIDTH), "> "))
    show_line(f"  {place} (score {loan.score:.1f})\n")


def _show_retrieval(retrieval: Retrieval) -> None:
    show_table(
        [
            {
                "book": candidate.book,
                "score": round(candidate.score, 1),
                "p_value": f"{candidate.p_value:.2g}",
                "in_book": f"{candidate.in_book:.0%}",
            }
            for candidate in retrieval.candidates
        ]
    )
    tried = f"{len(retrieval.candidates)} of {retrieval.books} books were aligned in full"
    names = " and ".join(candidate.book for candidate in retrieval.found)
    if names:
        show_line(f"\nmade from {names} ({tried})")
    else:
        best = retrieval.candidates[0].p_value
        show_line(
            f"\nthe film's book is not there: a wrong book scores like the best one here with a "
            f"chance of {best:.2g} ({tried})"
        )
