"""`export` and `import`: an alignment in other formats, and corrections from a spreadsheet."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output
from folioreel.export.formats import FORMATS, RESULTS, PictureStyle

if TYPE_CHECKING:
    from folioreel.types import Alignment
    from folioreel.viewer.session import Session


_LISTED = {name: format.what for name, format in FORMATS.items()} | {"all": "all of these"}
_FORMAT_LIST = "\n".join(f"  {name:<15} {what}" for name, what in _LISTED.items())


def _list_formats(command: click.Command) -> click.Command:
    """Put the list of formats into the help."""
    command.help = inspect.cleandoc(command.help or "").replace("FORMATS", _FORMAT_LIST)
    return command


@_list_formats
@click.command()
@click.argument("alignment", metavar="RESULT", type=options.FILE)
@click.option(
    "--as",
    "formats",
    type=click.Choice([*FORMATS, "all"]),
    multiple=True,
    metavar="FORMAT",
    help="Format to write. Can be repeated (default: the files of `align`).",
)
@click.option(
    "--title",
    metavar="TEXT",
    help='Title of pictures (default: those of film and book); "" for none.',
)
@click.option("--no-subtitle", is_flag=True, help="Pictures without the line below the title.")
@click.option(
    "--size",
    type=(click.FloatRange(3, 100), click.FloatRange(2.5, 100)),
    default=PictureStyle.size_in,
    show_default=True,
    metavar="WIDTH HEIGHT",
    help="Size of pictures in inches.",
)
@click.option("--uncorrected", is_flag=True, help="Ignore the corrections made with `view`.")
@options.moved
@options.results(
    "Folder for the files, or the file if there is one format (default: RESULT/exported).",
    metavar="FOLDER|FILE",
)
def export(
    alignment: Path,
    formats: tuple[str, ...],
    title: str | None,
    no_subtitle: bool,
    size: tuple[float, float],
    uncorrected: bool,
    out: Path | None,
    force: bool,
    book: tuple[Path, ...],
    film: tuple[Path, ...],
) -> None:
    """Write an alignment again, with its corrections, or in other formats.

    RESULT is an alignment.json file or its folder. Links are those after your corrections, and
    judged ones are marked; the files in RESULT stay as they are.

    \b
    Formats:
    FORMATS

    \b
    Examples:
      folioreel export result
      folioreel export result --as csv --out corrected.csv
      folioreel export result --as svg --title "Jane Eyre, 2011" --size 7 3.5 --out figure.svg
      folioreel export result --as eaf --as tei
    """
    from folioreel.export.results import check_folder, write_format, write_results
    from folioreel.files import check_output_file, make_folder

    chosen = _choose(formats)
    style = PictureStyle(title=title, has_subtitle=not no_subtitle, size_in=size)
    out = out or (alignment if alignment.is_dir() else alignment.parent) / "exported"
    suffix = Path(FORMATS[chosen[0]].file).suffix
    is_file = len(chosen) == 1 and out.suffix == suffix and not out.is_dir()
    if is_file:
        check_output_file(out, force=force)
    else:
        check_folder(out, chosen, force=force)
    with output.show_progress() as progress:
        # Only the page shows pictures.
        opened = open_corrected(
            alignment, book, film, uncorrected=uncorrected, needs_film="page" in chosen
        )
        if is_file:
            make_folder(out.parent)
            write_format(opened, chosen[0], out, progress, style)
            files = [out]
        else:
            files = write_results(opened, out, progress, chosen, style)
    judged = sum(link.judged is not None for link in opened.links)
    output.show_json({"files": [str(path) for path in files], "judged": judged})
    if judged:
        output.show_line(f"{judged} of {len(opened.links)} links were judged")
    output.show_written(*files)


def _choose(given: tuple[str, ...]) -> tuple[str, ...]:
    """The formats to write, each of which can be written here."""
    if "all" not in given:
        for name in given:
            FORMATS[name].check_installed()
        return given or RESULTS
    for name, format in FORMATS.items():
        if not format.is_installed:
            output.show_note(
                f'{name} is left out: it needs pip install "folioreel[{format.extra}]"'
            )
    return tuple(name for name, format in FORMATS.items() if format.is_installed)


@click.command("import")
@click.argument("alignment", metavar="RESULT", type=options.FILE)
@click.argument("corrections", type=options.FILE)
@options.moved
@options.json
def import_corrections(
    alignment: Path, corrections: Path, book: tuple[Path, ...], film: tuple[Path, ...]
) -> None:
    """Read corrections from a table.

    CORRECTIONS is the table that `export --as csv` wrote, with `match` or `none` in the column
    `judged`. Where the passage is another one, put its number into `sentence` (`export --as
    sentences` lists them), or empty that cell and put its words into `passage`. It can also be an
    annotations.tsv, with times of the film and lines of the book, or a file that was saved from
    page.html. The links around corrections are found anew, and `export` writes them.

    \b
    Examples:
      folioreel import result corrected.csv
      folioreel import result annotations.tsv
      folioreel import result judgements.json
    """
    with output.show_progress():
        session = open_session(alignment, book, film)
        session.prepare(output.show_error)
        try:
            count = session.take(corrections)
        finally:
            session.close()
    judged = len(session.judgements.current)
    output.show_json({"new": count, "judged": judged})
    output.show_line(f"imported {count} new correction{'s' * (count != 1)}; {judged} in all")


def open_corrected(
    alignment: Path,
    book: tuple[Path, ...] = (),
    film: tuple[Path, ...] = (),
    *,
    uncorrected: bool = False,
    needs_film: bool = True,
) -> Alignment:
    """An alignment with the corrections that lie beside it."""
    if uncorrected:
        from folioreel.export.alignment_json import read_alignment

        return read_alignment(alignment, book or None, film or None, needs_film=needs_film)
    session = open_session(alignment, book, film, needs_film=needs_film)
    if session.is_behind:  # the last `view` was killed before it could write its links
        session.prepare(output.show_error)
    try:
        return session.corrected()
    finally:
        session.close()


def open_session(
    alignment: Path, book: tuple[Path, ...], film: tuple[Path, ...], *, needs_film: bool = True
) -> Session:
    """An alignment and the corrections that lie beside it."""
    from folioreel.export.alignment_json import FILE_NAME, read_alignment
    from folioreel.viewer.judgements import describe_unplaced, judgements_folder
    from folioreel.viewer.session import Session

    # Judgements are kept beside the file, so its name is needed even if the folder was given.
    path = alignment / FILE_NAME if alignment.is_dir() else alignment
    found = read_alignment(path, book or None, film or None, needs_film=needs_film)
    session = Session(found, judgements_folder(path))
    if session.judgements.unplaced:
        output.show_note(describe_unplaced(session.judgements))
    return session
