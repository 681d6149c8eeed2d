"""Pages of pictures beside passages: the contact sheet of a film, the gallery of `caption`.

A contact sheet is a grid of frames of shots that are in the book, each with its sentence, as HTML
or PDF; a gallery lists the captioned pictures, as HTML. Every page is one file with everything in
it.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from folioreel.apps.describe import MomentDescription, best_of_shots
from folioreel.errors import InputError
from folioreel.export.page_html import encode_jpeg
from folioreel.files import check_output_file, make_folder, write_text, writing_together
from folioreel.ingest.picture import FilmStills, read_picture
from folioreel.language import html_language
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.text import cut_text, squeeze
from folioreel.types import Alignment, Shot

if TYPE_CHECKING:
    from folioreel.apps.caption import FoundPassages, Story

# The pages show pictures at most 240 pixels wide; a third more keeps them sharp when zoomed.
_WIDTH_PX = 320
COLUMNS, ROWS = 4, 6
"""The cells of a page: a picture is 43 mm wide on A4, and four lines of a sentence fit below it."""
# Characters, some eight lines below a picture in a browser.
_LONGEST_SENTENCE = 240

# The page loads nothing: its policy allows inline images and styles only, because people will mail
# such files around and open them from disk.
_PAGE = Template(Path(__file__).with_name("contact_sheet.html").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Card:
    """One cell of the sheet."""

    description: MomentDescription
    clock: str  # the time in the film, as 1:02:03, after the name of the part if there are several
    sentence: str  # of the book; cut if it is long
    jpeg: bytes | None
    """A frame of its shot; None if the film has no pictures, or this one cannot be decoded."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A contact sheet, not yet written."""

    title: str
    subtitle: str
    cards: tuple[Card, ...]
    film_language: str | None
    book_language: str | None


def make_sheet(
    alignment: Alignment,
    progress: ProgressCallback = ignore_progress,
    *,
    pages: int | None = 1,
    span: tuple[float, float] | None = None,
) -> Sheet:
    """Choose the moments to show, evenly over the film, and decode their frames.

    Args:
        alignment: The film and its book.
        progress: Called as frames are decoded.
        pages: How many pages the cards may fill; None for all shots that are in the book.
        span: Show only what is on screen between two times.
    """
    film = alignment.film
    found = [
        description
        for description in best_of_shots(alignment)
        if span is None or (description.start_s < span[1] and description.end_s > span[0])
    ]
    chosen = _surest(found, COLUMNS * ROWS * (len(found) if pages is None else pages))
    shots = [film.moments[description.moment].shot for description in chosen]
    frames = _decode_frames(alignment, [shot for shot in shots if shot is not None], progress)
    cards = tuple(
        Card(
            description=description,
            clock=film.clock(description.start_s),
            sentence=cut_text(description.passage.sentence, _LONGEST_SENTENCE),
            jpeg=frames.get(shot) if shot is not None else None,
        )
        for description, shot in zip(chosen, shots, strict=True)
    )
    what = "shots" if frames else "passages"
    count = f"{len(cards)} of {len(found)}" if len(cards) < len(found) else f"{len(cards)}"
    where = "" if span is None else f", {film.clock(span[0])} to {film.clock(span[1])}"
    return Sheet(
        title=squeeze(alignment.title),
        subtitle=f"{count} {what} that are in the book{where}",
        cards=cards,
        film_language=film.language,
        book_language=alignment.book.language,
    )


def _surest(found: Sequence[MomentDescription], most: int) -> list[MomentDescription]:
    """All, or of each of `most` equal stretches of them the most certain."""
    if len(found) <= most:
        return list(found)
    ends = [k * len(found) // most for k in range(most + 1)]
    return [max(found[a:b], key=lambda one: one.score) for a, b in pairwise(ends)]


def write_sheet(
    alignment: Alignment,
    out: Path,
    progress: ProgressCallback = ignore_progress,
    *,
    pages: int | None = 1,
    span: tuple[float, float] | None = None,
    force: bool = False,
) -> list[Path]:
    """Write the contact sheet of a film.

    Args:
        alignment: The film and its book.
        out: A file name that ends in .html or .pdf; without such an ending both are written.
        progress: Called as frames are decoded.
        pages: How many pages it may fill; None for all shots that are in the book.
        span: Show only what is on screen between two times.
        force: Whether existing files are replaced.
    """
    from folioreel.apps.sheet_pdf import write_sheet_pdf  # ReportLab is slow to import

    writers: dict[str, Callable[[Sheet, Path], None]]
    writers = {".html": write_sheet_html, ".pdf": write_sheet_pdf}
    ending = out.suffix.lower()
    paths = [out] if ending in writers else [out.with_name(out.name + kind) for kind in writers]
    for path in paths:
        check_output_file(path, force=force)
    sheet = make_sheet(alignment, progress, pages=pages, span=span)
    if not sheet.cards:
        when = "" if span is None else " in this range"
        raise InputError(
            f"no moment of the film is in the book{when}; the contact sheet would be empty"
        )
    with writing_together(out.parent, [path.name for path in paths]):
        for path in paths:
            writers[path.suffix.lower()](sheet, path)
    return paths


def write_sheet_html(sheet: Sheet, path: Path) -> None:
    """Write a sheet as an HTML page."""
    page = _PAGE.substitute(
        title=html.escape(sheet.title),
        subtitle=html.escape(sheet.subtitle),
        layout="grid",
        cards="\n".join(_card_html(card, sheet) for card in sheet.cards),
    )
    write_text(path, page)


def write_gallery(
    found: FoundPassages, path: Path, *, title: str = "Pictures and passages", force: bool = False
) -> None:
    """Write pictures, scaled down, beside their captions and passages as an HTML page."""
    check_output_file(path, force=force)
    count = len(found.stories)
    page = _PAGE.substitute(
        title=html.escape(title),
        subtitle="1 caption" if count == 1 else f"{count} captions",
        layout="list",
        cards="\n".join(map(_story_html, found.stories)),
    )
    make_folder(path.parent)
    write_text(path, page)


def _card_html(card: Card, sheet: Sheet) -> str:
    description = card.description
    passage = description.passage
    spoken, written = map(html_language, (sheet.film_language, sheet.book_language))
    words = html.escape(description.said)
    said = f'<p class="said"{spoken}>{words}</p>' if words else ""
    return (
        f"<article>{_image_html(card.jpeg, f'frame at {card.clock}')}"
        f'<p class="said">{html.escape(card.clock)} · {description.score:.0%}</p>{said}'
        f"<blockquote{written}>{html.escape(card.sentence)}</blockquote>"
        f'<p class="place"{written}>{html.escape(_join(passage.chapter, passage.place))}</p>'
        "</article>"
    )


def _story_html(story: Story) -> str:
    caption = f'<p class="said">{html.escape(story.caption)}</p>'
    passages = "".join(
        _passage_html(
            passage.before,
            passage.sentence,
            passage.after,
            (passage.book, passage.chapter),
            ' style="white-space: pre-line"',  # these passages may run over paragraphs
        )
        for passage in story.passages
    )
    jpeg = None if story.picture is None else _small_jpeg(story.picture)
    return _article_html(jpeg, story.caption, caption, passages)


def _article_html(jpeg: bytes | None, alt: str, legend: str, text: str) -> str:
    """A picture with its legend on the left, text on the right; without one, the legend alone."""
    kind = "" if jpeg else ' class="text"'
    image = _image_html(jpeg, alt)
    return f"<article{kind}><div>{image}{legend}</div><div>{text}</div></article>"


def _image_html(jpeg: bytes | None, alt: str) -> str:
    if not jpeg:
        return ""
    address = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    return f'<img src="{address}" alt="{html.escape(alt)}" loading="lazy">'


def _passage_html(
    before: str, sentence: str, after: str, place: tuple[str, str], style: str = ""
) -> str:
    return (
        f"<blockquote{style}>{html.escape(before)}<mark>{html.escape(sentence)}</mark>"
        f'{html.escape(after)}</blockquote><p class="place">{html.escape(_join(*place))}</p>'
    )


def _join(*words: str) -> str:
    return " · ".join(filter(None, words))


def _small_jpeg(path: Path) -> bytes:
    image = Image.fromarray(read_picture(path))
    image.thumbnail((_WIDTH_PX, _WIDTH_PX))
    return encode_jpeg(np.asarray(image)) or b""


def _decode_frames(
    alignment: Alignment, numbers: list[int], progress: ProgressCallback
) -> dict[int, bytes]:
    """A JPEG of each shot that can be decoded, by its number."""
    film = alignment.film
    if not film.has_video or not numbers:
        return {}
    frames = {}
    with FilmStills(film, _WIDTH_PX) as stills:
        for number in track(numbers, "decoding frames", progress):
            picture = stills.picture(film.shots[number])
            jpeg = None if picture is None else encode_jpeg(picture)
            if jpeg is not None:
                frames[number] = jpeg
    return frames


def frame_of(alignment: Alignment, description: MomentDescription) -> bytes | None:
    """A JPEG of what is on screen in a moment; None if the film has no pictures."""
    moment = alignment.film.moments[description.moment]
    shot = Shot(index=0, start_s=moment.start_s, end_s=moment.end_s)
    with FilmStills(alignment.film, _WIDTH_PX) as stills:
        picture = stills.picture(shot)
    return None if picture is None else encode_jpeg(picture)
