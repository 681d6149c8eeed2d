"""`caption`: pictures told with passages of books."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli.options import FILE, force_option, json_option, workers_option
from folioreel.cli.output import ProgressBars, resumable, show_failures, show_json, show_line

if TYPE_CHECKING:
    from folioreel.apps.caption import Story

_WIDTH = 88


@click.command()
@click.argument("images", metavar="[IMAGE]...", nargs=-1, type=FILE)
@click.option(
    "--books",
    type=FILE,
    required=True,
    metavar="DIR",
    help="A corpus that was indexed, or a folder of books.",
)
@click.option(
    "--caption",
    "text",
    metavar="TEXT",
    help="What the picture shows, in the captioner's place; needs no picture, and takes one.",
)
@click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="What gives the sentence vectors: student if not given, or what DIR was indexed with.",
)
@click.option(
    "--nearest",
    default=10,
    show_default=True,
    metavar="N",
    help="How many sentences, the nearest by vectors, are ranked by their words.",
)
@click.option("--count", default=1, show_default=True, metavar="N", help="Passages a picture.")
@click.option(
    "--style-shift",
    is_flag=True,
    help="Move the captions' vectors from how captions sound to how the books do.",
)
@click.option("--out", type=FILE, metavar="FILE.html", help="Write a page with the pictures, too.")
@force_option
@workers_option
@json_option
def caption(
    images: tuple[Path, ...],
    books: Path,
    text: str | None,
    encoder: str | None,
    nearest: int,
    count: int,
    style_shift: bool,
    out: Path | None,
    force: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Tell each IMAGE with a passage of a book.

    It gets a caption; the sentence most like that is given, with two before it and two after.

    \b
    folioreel caption dog.jpg --books library/
    folioreel caption *.jpg --books corpus --style-shift --out gallery.html
    folioreel caption --caption "A man waits in the rain." --books library/ --count 3 --json
    """
    from folioreel.apps.caption import CaptionConfig, tell_pictures
    from folioreel.apps.gallery import write_gallery
    from folioreel.files import check_output_file

    if not images and text is None:
        raise click.UsageError("give a picture, or --caption")
    if text is not None and len(images) > 1:
        raise click.UsageError("--caption tells one picture; give the others by themselves")
    config = CaptionConfig(
        encoder=encoder, nearest=nearest, count=count, style_shift=style_shift, workers=workers
    )
    if out is not None:
        check_output_file(out, force=force)
    with resumable("the books read so far"), ProgressBars() as progress:
        captions = () if text is None else (text,)
        telling = tell_pictures(images, books, config, progress, captions=captions)
    if out is not None:
        write_gallery(telling, out, force=force)
    if as_json:
        show_json([story.to_dict() for story in telling.stories])
    else:
        for story in telling.stories:
            _show_story(story)
        if out is not None:
            show_line(f"wrote {out}")
    show_failures(telling.failures)


def _show_story(story: Story) -> None:
    show_line(f"{story.picture}: {story.caption}" if story.picture else story.caption)
    for passage in story.passages:
        show_line("")
        for lines, mark in (
            (passage.before, "  "),
            (passage.sentence, "> "),
            (passage.after, "  "),
        ):
            for line in lines.strip().splitlines():
                show_line(textwrap.indent(textwrap.fill(line, _WIDTH), mark))
        place = ", ".join(filter(None, (passage.path, passage.chapter)))
        figures = f"cosine {passage.similarity:.2f}, precision {passage.precision:.2f}"
        show_line(f"  ({place}; {figures})")
    show_line("")
