"""`export` and `import`: an alignment in other formats, and corrections from a spreadsheet."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output
from folioreel.export.formats import FORMATS, RESULTS

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
    "--title", default="", metavar="TEXT", help="Title of pictures (default: of film and book)."
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
    title: str,
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
      folioreel export result --as svg --as pdf --title "Jane Eyre, 2011" --out figures
      folioreel export result --as eaf --as tei
    """
    from folioreel.export.results import check_folder, write_format, write_results
    from folioreel.files import check_output_file, make_folder

    chosen = tuple(FORMATS) if "all" in formats else formats or RESULTS
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
            write_format(opened, chosen[0], out, progress, title)
            files = [out]
        else:
            files = write_results(opened, out, progress, chosen, title)
    judged = sum(link.judged is not None for link in opened.links)
    output.show_json({"files": [str(path) for path in files], "judged": judged})
    if judged:
        output.show_line(f"{judged} of {len(opened.links)} links were judged")
    output.show_written(*files)


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
