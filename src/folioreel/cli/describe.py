"""`describe`: what the book says of a moment, and where the film shows a passage."""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli.options import FILE, force_option, json_option
from folioreel.cli.output import ProgressBars, show_json, show_line

if TYPE_CHECKING:
    from folioreel.apps.describe import Description
    from folioreel.types import Alignment

_WIDTH = 88
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)")


class Time(click.ParamType):  # type: ignore[type-arg]  # generic in click 8.2 and newer
    """A time as seconds, M:SS or H:MM:SS."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        """Seconds."""
        match = _CLOCK.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time; write 95, 1:35 or 0:01:35", param, context)
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return 3600 * hours + 60 * minutes + seconds


class TimeRange(click.ParamType):  # type: ignore[type-arg]
    """Two times with a dash between them."""

    name = "range"

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> tuple[float, float]:
        """Seconds, from and to."""
        first, dash, last = re.sub("[–—]", "-", str(value)).partition("-")
        if not dash:
            self.fail(f"{value!r} is no range; write 1:35-2:10", param, context)
        time = Time()
        return time.convert(first, param, context), time.convert(last, param, context)


@click.command()
@click.argument("alignment", type=FILE)
@click.option("--at", type=Time(), metavar="TIME", help="A time: 95, 1:35 or 0:01:35.")
@click.option("--shot", type=click.IntRange(1), metavar="N", help="A shot, counted from 1.")
@click.option("--range", "time_range", type=TimeRange(), metavar="A-B", help="From one time on.")
@click.option(
    "--passage",
    metavar="PLACE",
    help="The other way: a line of the book, chapter:paragraph, or some words.",
)
@click.option("--sheet", type=FILE, help="Write a contact sheet: FILE.html and FILE.pdf, or one.")
@click.option("--out", type=FILE, help="Folder for the frames, as JPEG.")
@force_option
@click.option("--book", type=FILE, help="The book's file, where it was moved.")
@click.option("--film", type=FILE, help="The film's file, where it was moved.")
@json_option
def describe(
    alignment: Path,
    at: float | None,
    shot: int | None,
    time_range: tuple[float, float] | None,
    passage: str | None,
    sheet: Path | None,
    out: Path | None,
    force: bool,
    book: Path | None,
    film: Path | None,
    as_json: bool,
) -> None:
    """Show the passage of the book for a moment of the film, or the moments for a passage.

    ALIGNMENT is an alignment.json or its folder.

    \b
    folioreel describe result --at 0:41:07
    folioreel describe result --range 41:00-42:30 --out frames
    folioreel describe result --passage "sixty-one kilos heavier"
    folioreel describe result --sheet contact-sheet
    """
    from folioreel.apps.contact_sheet import write_sheet
    from folioreel.export.alignment_reader import open_alignment

    questions = [at, shot, time_range, passage, sheet]
    if sum(question is not None for question in questions) != 1:
        raise click.UsageError("give one of --at, --shot, --range, --passage and --sheet")
    opened = open_alignment(alignment, book, film)
    if sheet is not None:
        with ProgressBars() as progress:
            for path in write_sheet(opened, sheet, progress, force=force):
                show_line(f"wrote {path}")
        return
    found = _answer(opened, at, shot, time_range, passage)
    frames = _write_frames(opened, found, out, force=force) if out is not None else {}
    if as_json:
        rows = [asdict(d) | {"frame": frames.get(d.moment)} for d in found]
        show_json(rows)
        return
    if not found:
        show_line("that passage is not in the film")
    for description in found:
        _show(description, frames.get(description.moment))


def _answer(
    alignment: Alignment,
    at: float | None,
    shot: int | None,
    time_range: tuple[float, float] | None,
    passage: str | None,
) -> tuple[Description, ...]:
    from folioreel.apps import describe as app

    if at is not None:
        return (app.describe_time(alignment, at),)
    if shot is not None:
        return app.describe_shot(alignment, shot - 1)
    if time_range is not None:
        return app.describe_range(alignment, *time_range)
    assert passage is not None
    return app.describe_passage(alignment, app.find_passage(alignment.book, passage))


def _write_frames(
    alignment: Alignment, found: tuple[Description, ...], out: Path, *, force: bool
) -> dict[int, str]:
    """Frames of all moments that were asked for: moment → file."""
    from folioreel.apps.contact_sheet import frame_of
    from folioreel.files import check_output_file, make_folder, write_whole

    frames = {}
    for description in found:
        jpeg = frame_of(alignment, description)
        if jpeg is None:
            continue
        path = out / f"moment-{description.moment:05}.jpg"
        check_output_file(path, force=force)
        make_folder(out)
        write_whole(path, jpeg)
        frames[description.moment] = str(path)
    if found and not frames:
        click.echo("the film has no pictures here: no frame was written", err=True)
    return frames


def _show(description: Description, frame: str | None) -> None:
    from folioreel.times import format_clock

    times = f"{format_clock(description.start_s)}–{format_clock(description.end_s)}"
    sure = f"{description.score:.0%} sure"
    state = sure if description.in_book else f"not in the book; the best guess is {sure}"
    show_line(f"{times}  {description.said or '(nobody speaks)'}")
    if frame is not None:
        show_line(f"frame: {frame}")
    passage = description.passage
    show_line(f"{state}: {', '.join(filter(None, (passage.chapter, passage.place)))}\n")
    for mark, text in (("  ", passage.before), ("> ", passage.text), ("  ", passage.after)):
        if text:
            show_line(textwrap.indent(textwrap.fill(text, _WIDTH), mark) + "\n")
