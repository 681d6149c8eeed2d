"""A page of pictures with their passages, as one HTML file with everything in it."""

from __future__ import annotations

import base64
import html
from pathlib import Path

import numpy as np
from PIL import Image

from folioreel.apps.caption import BookPassage, Story, Telling
from folioreel.apps.contact_sheet import PAGE
from folioreel.export.thumbnails import encode_jpeg
from folioreel.files import check_output_file, make_folder, write_text
from folioreel.ingest.picture import read_picture

_LARGEST_PX = 320


def write_gallery(
    telling: Telling, path: Path, *, title: str = "Pictures and passages", force: bool = False
) -> None:
    """Write the pictures, small, beside their captions and passages.

    Raises:
        InputError: The file is there or cannot be written, or a picture is gone.
    """
    check_output_file(path, force=force)
    count = len(telling.stories)
    page = PAGE.format(
        title=html.escape(title),
        subtitle="1 caption" if count == 1 else f"{count} captions",
        cards="\n".join(map(_card, telling.stories)),
    )
    make_folder(path.parent)
    write_text(path, page)


def _card(story: Story) -> str:
    caption = html.escape(story.caption)
    passages = "".join(map(_passage, story.passages))
    if story.picture is None:
        return f'<article class="text"><p class="said">{caption}</p><div>{passages}</div></article>'
    address = "data:image/jpeg;base64," + _small_jpeg(story.picture)
    return (
        f'<article><div><img src="{address}" alt="{caption}" loading="lazy">'
        f'<p class="said">{caption}</p></div><div>{passages}</div></article>'
    )


def _passage(passage: BookPassage) -> str:
    place = " · ".join(filter(None, (passage.book, passage.chapter)))
    return (
        f'<blockquote style="white-space: pre-line">{html.escape(passage.before)}'
        f"<mark>{html.escape(passage.sentence)}</mark>{html.escape(passage.after)}</blockquote>"
        f'<p class="place">{html.escape(place)}</p>'
    )


def _small_jpeg(path: Path) -> str:
    image = Image.fromarray(read_picture(path))
    image.thumbnail((_LARGEST_PX, _LARGEST_PX))
    return base64.b64encode(encode_jpeg(np.asarray(image)) or b"").decode("ascii")
