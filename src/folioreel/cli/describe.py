"""`describe`: the passage of the book for a moment of the film, and the other way round."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from folioreel.cli import options, output
from folioreel.times import format_clock, format_timestamp, parse_clock

if TYPE_CHECKING:
    from folioreel.apps.describe import MomentDescription
    from folioreel.types import Alignment


def _parse_range(text: str) -> tuple[float, float]:
    try:
        # Word processors and chat programs like to turn a hyphen into a dash.
        first, last = re.split("[-–—]", text)
        return parse_clock(first), parse_clock(last)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a range; write 1:35-2:10") from None


def parse_time(text: str) -> float:
    """A time that a user gives, in seconds."""
    try:
        return parse_clock(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("alignment", type=options.FILE)
@click.option("--at", type=parse_time, metavar="TIME", help="A time: 95, 1:35 or 0:01:35.")
@click.option(
    "--part",
    type=click.IntRange(1),
    metavar="N",
    help="Times are in this part of the film, counted from 1.",
)
@click.option("--shot", type=click.IntRange(1), metavar="N", help="A shot, counted from 1.")
@click.option(
    "--range",
    type=_parse_range,
    metavar="FROM-TO",
    help="All moments between two times; with --sheet, a sheet of these.",
)
@click.option(
    "--passage",
    metavar="PLACE",
    help="The moments that show a passage: a line number, chapter:paragraph, or some of its words.",
)
@click.option(
    "--sheet",
    type=options.FILE,
    help="Write a contact sheet of the film: .html, .pdf or both.",
)
@click.option(
    "--pages",
    type=click.IntRange(1),
    metavar="N",
    help="Pages of the contact sheet, with up to 24 pictures each (default: 1).",
)
@options.moved
@options.results("Folder for the frames of the moments, as JPEG files.")
def describe(
    alignment: Path,
    sheet: Path | None,
    pages: int | None,
    out: Path | None,
    force: bool,
    part: int | None,
    book: tuple[Path, ...],
    film: tuple[Path, ...],
    **places: Any,
) -> None:
    """Show the book passage for a moment, or the moments for a passage.

    ALIGNMENT is an alignment.json file or its folder.

    \b
    Examples:
      folioreel describe result --at 0:41:07
      folioreel describe result --part 2 --at 0:12:30
      folioreel describe result --range 41:00-42:30 --out frames
      folioreel describe result --passage "sixty-one kilos heavier"
      folioreel describe result --sheet contact-sheet
      folioreel describe result --sheet part.pdf --range 41:00-52:30 --pages 2
    """
    from folioreel.apps.contact_sheet import write_sheet
    from folioreel.export.alignment_json import read_alignment

    asked = {option: place for option, place in places.items() if place is not None}
    whole = sheet is not None and asked.keys() <= {"range"}  # a sheet may be of a range
    if not whole and len(asked) + (sheet is not None) != 1:
        raise click.UsageError("choose exactly one of --at, --shot, --range, --passage and --sheet")
    if part is not None and not asked.keys() & {"at", "range"}:
        raise click.UsageError("--part is for the times of --at and --range")
    if pages is not None and sheet is None:
        raise click.UsageError("--pages needs --sheet")
    opened = read_alignment(alignment, book or None, film or None)
    if part is not None:
        asked = {option: _place_in_part(opened, part, place) for option, place in asked.items()}
    if sheet is not None:
        with output.show_progress() as progress:
            span = asked.get("range")
            files = write_sheet(opened, sheet, progress, pages=pages or 1, span=span, force=force)
        output.show_json([str(path) for path in files])
        output.show_written(*files)
        return
    found = _find_moments(opened, *asked.popitem())
    frames = _write_frames(opened, found, out, force=force) if out is not None else {}
    output.show_json(
        [
            asdict(d) | opened.film.part_fields(d.start_s) | {"frame": frames.get(d.moment)}
            for d in found
        ]
    )
    if not found:
        output.show_line("that passage is not in the film")
    for description in found:
        _show(opened, description, frames.get(description.moment))


def in_part(alignment: Alignment, part: int, time_s: float) -> float:
    """A time in a part of the film as a time of the whole film."""
    from folioreel.errors import InputError

    files = alignment.film.files
    if part > len(files):
        raise InputError(f"there is no part {part}; the film has 1 to {len(files)}")
    file = files[part - 1]
    if time_s > file.duration_s:
        raise InputError(
            f"{format_timestamp(time_s)} is not in part {part} ({file.title}), which is "
            f"{format_timestamp(file.duration_s)} long"
        )
    return file.start_s + time_s


def _place_in_part(
    alignment: Alignment, part: int, place: float | tuple[float, float]
) -> float | tuple[float, float]:
    """A time or a range in a part, as times of the whole film."""
    if not isinstance(place, tuple):
        return in_part(alignment, part, place)
    start_s = in_part(alignment, part, place[0])
    file = alignment.film.files[part - 1]
    return start_s, file.start_s + min(place[1], file.duration_s)


def _find_moments(alignment: Alignment, option: str, place: Any) -> tuple[MomentDescription, ...]:
    from folioreel.apps import describe as app

    if option == "at":
        return (app.describe_time(alignment, place),)
    if option == "shot":
        return app.describe_shot(alignment, place - 1)  # people count from 1
    if option == "range":
        return app.describe_range(alignment, *place)
    return app.describe_passage(alignment, app.find_passage(alignment.book, place))


def _write_frames(
    alignment: Alignment, found: tuple[MomentDescription, ...], out: Path, *, force: bool
) -> dict[int, str]:
    """Write a frame of each moment that has a picture: moment → file."""
    from folioreel.apps.contact_sheet import frame_of
    from folioreel.files import check_output_folder, write_whole, writing_together

    names = {one.moment: f"moment-{one.moment:05}.jpg" for one in found}
    # Only now is it known which moments were asked for.
    check_output_folder(out, names.values(), force=force)
    pictures = {one.moment: frame_of(alignment, one) for one in found}
    frames = {moment: jpeg for moment, jpeg in pictures.items() if jpeg is not None}
    if found and not frames:
        output.show_note("the film has no pictures here; no frame was written")
    if not frames:
        return {}
    with writing_together(out, (names[moment] for moment in frames)):
        for moment, jpeg in frames.items():
            write_whole(out / names[moment], jpeg)
    return {moment: str(out / names[moment]) for moment in frames}


def _show(alignment: Alignment, description: MomentDescription, frame: str | None) -> None:
    film = alignment.film
    end_s = film.locate(description.start_s)[1] + description.end_s - description.start_s
    times = f"{film.clock(description.start_s)}–{format_clock(end_s)}"
    output.show_line(f"{times}  {description.said or '(no dialogue)'}")
    if frame is not None:
        output.show_line(f"frame: {frame}")
    passage = description.passage
    place = ", ".join(filter(None, (passage.chapter, passage.place)))
    state = "in the book" if description.in_book else "not in the book; best guess"
    output.show_line(f"{state} ({description.score:.0%}): {place}")
    for text, margin in ((passage.before, "  "), (passage.text, "> "), (passage.after, "  ")):
        if text:
            output.show_line()
            output.show_passage(text, margin)
    output.show_line()
