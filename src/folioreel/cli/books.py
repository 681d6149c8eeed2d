"""`retrieve` and `borrow`: one film and many books."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli.options import FILE, json_option
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
    from folioreel.apps.retrieve import Retrieval
    from folioreel.engines.batch import EngineName

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
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where the work is done: on the cores here, or on a Ray cluster.",
)
@click.option("--workers", type=int, metavar="N", help="Processes; one a core if not given.")
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
