"""`view`: film and book side by side in the browser."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output
from folioreel.cli.export import open_session
from folioreel.errors import InputError

if TYPE_CHECKING:
    from folioreel.viewer.server import PageServer


@click.command()
@click.argument("alignment", type=options.FILE)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port to serve on (default: a fixed one per alignment, or any free port).",
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
@click.option(
    "--judgements", type=options.FILE, help="Import corrections, as the command `import` does."
)
@options.moved
def view(
    alignment: Path,
    port: int,
    no_open: bool,
    judgements: Path | None,
    book: tuple[Path, ...],
    film: tuple[Path, ...],
) -> None:
    """Watch the film beside the book, and correct links.

    ALIGNMENT is an alignment.json file or its folder. The page is served to this machine only,
    until you press Ctrl-C. Your corrections are saved in the folder `judged` beside the alignment,
    which `evaluate` and `train` accept as a judged pair.

    \b
    Examples:
      folioreel view result
      folioreel view result/alignment.json --port 8000 --no-open
      folioreel view result --film /media/disk/film.mkv
      folioreel view result --film /media/disk/CD1.avi --film /media/disk/CD2.avi
      folioreel view result --judgements judgements.json
    """
    from folioreel.viewer.server import PageServer

    session = open_session(alignment, book, film)
    with ExitStack() as stack:
        server = stack.enter_context(PageServer(session, port))
        session.prepare(output.show_error)
        if judgements is not None:
            count = session.take(judgements)
            output.show_note(f"imported {count} new correction{'s' * (count != 1)}")
        # On stdout and alone, so that scripts can read it.
        output.show_line(server.address)
        by_hand = "; if the browser shows an error, open the address above by hand"
        output.show_note(f"press Ctrl-C to stop{'' if no_open else by_hand}")
        try:
            if not no_open:
                _open_browser(server, stack)
            server.serve_forever()
        except KeyboardInterrupt:
            output.show_note("")  # below the ^C that the terminal shows
        finally:
            session.close()


def _open_browser(server: PageServer, stack: ExitStack) -> None:
    """Open the page; not by its address, as every user of the machine can read command lines."""
    import webbrowser

    from folioreel.viewer.handover import PrivatePage

    try:
        page = stack.enter_context(PrivatePage(server.address))
    except InputError as error:
        output.show_error(str(error))
        return
    server.when_opened = page.remove
    webbrowser.open(page.uri)
