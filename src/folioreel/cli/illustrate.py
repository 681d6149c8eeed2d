"""`illustrate`: the book as an EPUB with the film's stills at their passages."""

from __future__ import annotations

from pathlib import Path

import click

from folioreel.cli import options, output
from folioreel.cli.describe import in_part, parse_time
from folioreel.cli.export import open_corrected


def _read_link(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """An address as it is; a file or folder of this computer as an address."""
    if given is None or "://" in given:
        return given
    path = Path(given)
    if not path.exists():
        raise click.BadParameter(f"{given} is neither a web address nor a file that is there")
    return path.absolute().as_uri() + ("/" if path.is_dir() else "")


@click.command()
@click.argument("alignment", metavar="RESULT", type=options.FILE)
@click.option(
    "--until",
    type=parse_time,
    metavar="TIME",
    help="Use nothing of the film after this time: for readers who have not seen the rest.",
)
@click.option(
    "--part",
    type=click.IntRange(1),
    metavar="N",
    help="The time of --until is in this part of the film, counted from 1.",
)
@click.option(
    "--link",
    callback=_read_link,
    metavar="ADDRESS",
    help="Make the times links that open the film there: the page or the film, or the folder of "
    "its parts, as a web address or a path on this computer.",
)
@options.moved
@options.results("File to write (default: RESULT/illustrated.epub).", metavar="FILE.epub")
def illustrate(
    alignment: Path,
    until: float | None,
    part: int | None,
    link: str | None,
    out: Path | None,
    force: bool,
    book: tuple[Path, ...],
    film: tuple[Path, ...],
) -> None:
    """Make an illustrated edition of the book, as EPUB.

    The whole text with stills of the film below the passages that it shows, times in the margin,
    and a list of scenes after the table of contents. For a film without pictures, its lines stand
    beside the passages. RESULT is an alignment.json file or its folder; your corrections count.

    \b
    Examples:
      folioreel illustrate result
      folioreel illustrate result --until 41:00 --out novel.epub
      folioreel illustrate result --link https://example.org/page.html
    """
    from folioreel.apps.edition_epub import write_edition
    from folioreel.apps.illustrate import make_edition
    from folioreel.files import check_output_file, make_folder

    if part is not None and until is None:
        raise click.UsageError("--part needs --until")
    out = out or (alignment if alignment.is_dir() else alignment.parent) / "illustrated.epub"
    check_output_file(out, force=force)
    with output.show_progress() as progress:
        opened = open_corrected(alignment, book, film)
        if part is not None and until is not None:
            until = in_part(opened, part, until)
        output.show_warnings(opened)
        edition = make_edition(opened, progress, until_s=until)
        make_folder(out.parent)
        write_edition(edition, out, link=link)
    counts = {"stills": len(edition.stills), "times": len(edition.marks)}
    output.show_json({"file": str(out), **counts, "scenes": len(edition.scenes)})
    if not edition.stills:
        output.show_note("the film has no pictures: its lines stand beside the passages instead")
    if link is not None and link.startswith("file:"):
        output.show_note("links to files work on this computer only; EPUB 3.3 does not allow them")
    named = (f"{count} {name[:-1]}{'s' * (count != 1)}" for name, count in counts.items())
    output.show_line(f"{', '.join(named)} in the margin")
    output.show_written(out)
