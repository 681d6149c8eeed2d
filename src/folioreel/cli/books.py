"""`retrieve`, `borrow` and `caption`: a film or pictures, and many books."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output

if TYPE_CHECKING:
    from folioreel.apps.borrow import Loan
    from folioreel.apps.caption import Story
    from folioreel.apps.retrieve import Retrieval
    from folioreel.config import SpeechConfig
    from folioreel.types import Film

_KEPT = "the books read so far"
_film_and_library = options.join(
    click.argument("film", metavar="FILM...", type=options.FILE, nargs=-1, required=True),
    options.books("Folder of books; subfolders and archives are searched, too."),
    options.subtitles,
    options.language,
    options.speech,
    options.shortlist,
)


@click.command()
@_film_and_library
@options.preset
@options.parallel
@options.json
def retrieve(
    film: tuple[Path, ...],
    books: Path,
    subtitles: Any,
    language: str | None,
    speech: SpeechConfig,
    **settings: Any,
) -> None:
    """Find the book that a film was made from.

    FILM is a video or a subtitle file; a film in several parts is given as for align. Every book in
    the folder is compared with it by words and names; the most similar ones are then aligned with
    the film and ranked by how well they fit (with --preset paper, by the energy of its chain). For
    English, --preset auto takes the preset fast.

    \b
    Examples:
      folioreel retrieve film.srt --books library/
      folioreel retrieve film.mkv --books library/ --shortlist 30 --json
      folioreel retrieve film.srt --books library/ --preset paper
    """
    from folioreel.apps import retrieve as app
    from folioreel.ingest.film import load_film
    from folioreel.ingest.sync import Timing

    config = app.RetrieveConfig(**settings)
    with output.show_progress(_KEPT) as progress:
        # Books are found by what is said: shots and exact times would change nothing.
        read_film = load_film(
            film,
            subtitles=subtitles,
            language=language,
            speech=speech,
            timing=Timing(sync=False),
            shots=False,
            progress=progress,
        )
        output.show_notes(read_film.path or Path(read_film.title), read_film.notes)
        retrieval = app.retrieve(read_film, books, config, progress)
    output.show_json([asdict(candidate) for candidate in retrieval.candidates])
    _show_retrieval(retrieval)
    output.show_failures(retrieval.failures)


@click.command()
@_film_and_library
@click.option(
    "--without",
    multiple=True,
    metavar="PATH",
    help="Skip this book, such as the film's own, by its path inside the folder. Can be repeated.",
)
@options.number("--count", 20, "Number of passages to show, the best ones.")
@options.preset
@options.watching
@options.parallel
@options.json
def borrow(film: tuple[Path, ...], books: Path, count: int, preset: str, **settings: Any) -> None:
    """Retell a film with passages from other books.

    FILM is a video or a subtitle file; a film in several parts is given as for align. No passage is
    used twice.

    \b
    Examples:
      folioreel borrow film.mkv --books library/
      folioreel borrow film.srt --books library/ --without novel.epub --count 50 --json
      folioreel borrow film.srt --books library/ --preset paper
    """
    from folioreel.alignment.aligner import Aligner
    from folioreel.apps import borrow as app
    from folioreel.models.presets import AUTO

    # It says which features of the pictures it needs.
    aligner = Aligner.load("default" if preset == AUTO else preset)
    how = {
        name: settings.pop(name)
        for name in ("subtitles", "language", "speech", "shots", "pictures")
    }
    config = app.BorrowConfig(**settings)
    with output.show_progress(_KEPT) as progress:
        read_film = aligner.load_film(film, progress=progress, **how)
        output.show_notes(read_film.path or Path(read_film.title), read_film.notes)
        borrowing = app.borrow(
            read_film, books, config, progress, None if preset == AUTO else aligner
        )
    loans = borrowing.best(count)
    output.show_json([asdict(loan) | read_film.part_fields(loan.start_s) for loan in loans])
    for loan in loans:
        _show_loan(loan, read_film)
    output.show_failures(borrowing.failures)


@click.command()
@click.argument("images", metavar="[IMAGE]...", nargs=-1, type=options.FILE)
@options.books("An indexed corpus, or a folder of books.")
@click.option(
    "--caption",
    "text",
    metavar="TEXT",
    help="Use this caption instead of a generated one; IMAGE is then optional.",
)
@options.encoder("Sentence encoder (default: the one the corpus was indexed with, or student).")
# Ten, as in the paper (CoCoBook), which also ranks them by the words that they share.
@options.number(
    "--nearest", 10, "Number of nearest sentences to rank by the words they share with the caption."
)
@options.number("--count", 1, "Number of passages per image.")
@click.option(
    "--style-shift",
    is_flag=True,
    help="Shift caption vectors from the style of captions to the style of the books.",
)
@options.workers
@options.results("Also write a web page with the images and passages.", metavar="FILE.html")
def caption(
    images: tuple[Path, ...],
    books: Path,
    text: str | None,
    out: Path | None,
    force: bool,
    **settings: Any,
) -> None:
    """Find a book passage for each image.

    A caption is generated for each IMAGE, and the most similar sentence of the books is printed
    with the two sentences before and after it.

    \b
    Examples:
      folioreel caption dog.jpg --books library/
      folioreel caption *.jpg --books corpus --style-shift --out gallery.html
      folioreel caption --caption "A man waits in the rain." --books library/ --count 3 --json
    """
    from folioreel.apps.caption import CaptionConfig, find_passages
    from folioreel.apps.contact_sheet import write_gallery
    from folioreel.files import check_output_file

    if not images and text is None:
        raise click.UsageError("give at least one image, or --caption")
    if text is not None and len(images) > 1:
        raise click.UsageError("--caption describes one image; run the others separately")
    config = CaptionConfig(**settings)
    if out is not None:  # before the work, which may take an hour
        check_output_file(out, force=force)
    with output.show_progress(_KEPT) as progress:
        captions = () if text is None else (text,)
        found = find_passages(images, books, config, progress, captions=captions)
    if out is not None:
        write_gallery(found, out, force=force)
    output.show_json([story.to_dict() for story in found.stories])
    for story in found.stories:
        _show_story(story)
    if out is not None:
        output.show_written(out)
    output.show_failures(found.failures)


def _show_retrieval(retrieval: Retrieval) -> None:
    rows = [
        {
            "book": candidate.book,
            "score": round(candidate.score, 1),
            "p_value": None if candidate.p_value is None else f"{candidate.p_value:.2g}",
            "in_book": f"{candidate.in_book:.0%}",
        }
        for candidate in retrieval.candidates
    ]
    # The paper's chain has a place for every moment, whatever the book.
    tested = any(candidate.p_value is not None for candidate in retrieval.candidates)
    output.show_table(rows, without="" if tested else "in_book")
    aligned = f"{len(rows)} of {retrieval.books} books were aligned"
    output.show_line(f"\n{retrieval.verdict} ({aligned})")


def _show_loan(loan: Loan, film: Film) -> None:
    place = ", ".join(filter(None, (loan.book, loan.passage.chapter, loan.passage.place)))
    output.show_line(f"{film.clock(loan.start_s)}  {loan.said or '(no dialogue)'}")
    output.show_passage(loan.passage.text, "> ")
    output.show_line(f"  {place} (score {loan.score:.1f})\n")


def _show_story(story: Story) -> None:
    output.show_line(f"{story.picture}: {story.caption}" if story.picture else story.caption)
    for passage in story.passages:
        output.show_line()
        output.show_passage(passage.before)
        output.show_passage(passage.sentence, "> ")
        output.show_passage(passage.after)
        place = ", ".join(filter(None, (passage.path, passage.chapter)))
        figures = f"cosine {passage.similarity:.2f}, precision {passage.precision:.2f}"
        output.show_line(f"  ({place}; {figures})")
    output.show_line()
