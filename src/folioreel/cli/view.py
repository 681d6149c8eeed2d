"""`view`: film and book side by side in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from folioreel.cli.options import FILE
from folioreel.cli.output import show_error, show_line


@click.command()
@click.argument("alignment", type=FILE)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port to take; by default the alignment's own, or a free one.",
)
@click.option("--no-open", is_flag=True, help="Print the address and do not open a browser.")
@click.option(
    "--judgements", type=FILE, help="Take over what was judged on page.html and saved from it."
)
@click.option("--book", type=FILE, help="The book's file, where it was moved.")
@click.option("--film", type=FILE, help="The film's file, where it was moved.")
def view(
    alignment: Path,
    port: int,
    no_open: bool,
    judgements: Path | None,
    book: Path | None,
    film: Path | None,
) -> None:
    """Read the book while the film plays; confirm and correct the links.

    ALIGNMENT is an alignment.json or its folder. The page is served to this machine alone, until
    Ctrl-C. What is judged on it goes into the folder `judged` beside the alignment, which
    `evaluate` and `train` take as a judged pair.

    \b
    folioreel view result
    folioreel view result/alignment.json --port 8000 --no-open
    folioreel view result --film /media/disk/film.mkv
    folioreel view result --judgements judgements.json
    """
    import webbrowser

    from folioreel.export.alignment_reader import FILE_NAME, open_alignment
    from folioreel.viewer.judgements import judgements_folder
    from folioreel.viewer.server import PageServer
    from folioreel.viewer.session import Session

    path = alignment / FILE_NAME if alignment.is_dir() else alignment
    session = Session(open_alignment(path, book, film), judgements_folder(path))
    with PageServer(session, port) as server:
        session.prepare(show_error)
        if judgements is not None:
            count = session.take(judgements)
            click.echo(f"took over {count} new judgement{'s' * (count != 1)}", err=True)
        show_line(server.address)
        click.echo("Ctrl-C ends it", err=True)
        if not no_open:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("", err=True)  # below the ^C that the terminal shows
        finally:
            session.close()
