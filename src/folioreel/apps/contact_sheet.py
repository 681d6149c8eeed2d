"""Pages of pictures beside passages: the contact sheet of a film, the gallery of `caption`.

A contact sheet shows a frame of each shot that is in the book, as HTML or PDF; a gallery shows the
captioned pictures, as HTML. Every page is one file with everything in it.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable
from dataclasses import dataclass
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
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.text import squeeze
from folioreel.types import Alignment, Shot

if TYPE_CHECKING:
    from folioreel.apps.caption import FoundPassages, Story

# The page shows pictures 15 rem (240 pixels) wide; a third more keeps them sharp when zoomed.
_WIDTH_PX = 320
# Characters, about eight lines beside a picture. A paragraph of a novel may run over pages.
_LONGEST_PASSAGE = 700

# The page loads nothing: its policy allows inline images and styles only, because people will mail
# such files around and open them from disk.
_PAGE = Template(Path(__file__).with_name("contact_sheet.html").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Card:
    """One entry of the sheet."""

    description: MomentDescription
    clock: str  # the time in the film, as 1:02:03, after the name of the part if there are several
    jpeg: bytes | None
    """A frame of its shot; None if the film has no pictures, or this one cannot be decoded."""
    before: str  # the passage up to the linked sentence, the sentence itself, and what follows it
    sentence: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A contact sheet, not yet written."""

    title: str
    subtitle: str
    cards: tuple[Card, ...]


def make_sheet(alignment: Alignment, progress: ProgressCallback = ignore_progress) -> Sheet:
    """Choose the moments to show, and decode their frames."""
    chosen = best_of_shots(alignment)
    moments = alignment.film.moments
    shots = [moments[description.moment].shot for description in chosen]
    frames = _decode_frames(alignment, [shot for shot in shots if shot is not None], progress)
    cards = tuple(
        _make_card(
            description,
            alignment.film.clock(description.start_s),
            frames.get(shot) if shot is not None else None,
        )
        for description, shot in zip(chosen, shots, strict=True)
    )
    in_book = sum(link.in_book for link in alignment.links)
    what = f"{len(cards)} shots" if frames else f"{len(cards)} passages"
    return Sheet(
        title=f"{squeeze(alignment.film.title)} — {squeeze(alignment.book.title)}",
        subtitle=f"{in_book} of {len(alignment.links)} moments are in the book; {what}",
        cards=cards,
    )


def write_sheet(
    alignment: Alignment,
    out: Path,
    progress: ProgressCallback = ignore_progress,
    *,
    force: bool = False,
) -> list[Path]:
    """Write the contact sheet of a whole film.

    Args:
        alignment: The film and its book.
        out: A file name that ends in .html or .pdf; without such an ending both are written.
        progress: Called as frames are decoded.
        force: Whether existing files are replaced.
    """
    from folioreel.apps.sheet_pdf import write_sheet_pdf  # ReportLab is slow to import

    writers: dict[str, Callable[[Sheet, Path], None]]
    writers = {".html": write_sheet_html, ".pdf": write_sheet_pdf}
    ending = out.suffix.lower()
    paths = [out] if ending in writers else [out.with_name(out.name + kind) for kind in writers]
    for path in paths:
        check_output_file(path, force=force)
    sheet = make_sheet(alignment, progress)
    if not sheet.cards:
        raise InputError("no moment of the film is in the book; the contact sheet would be empty")
    with writing_together(out.parent, [path.name for path in paths]):
        for path in paths:
            writers[path.suffix.lower()](sheet, path)
    return paths


def write_sheet_html(sheet: Sheet, path: Path) -> None:
    """Write a sheet as an HTML page."""
    page = _PAGE.substitute(
        title=html.escape(sheet.title),
        subtitle=html.escape(sheet.subtitle),
        cards="\n".join(map(_card_html, sheet.cards)),
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
        cards="\n".join(map(_story_html, found.stories)),
    )
    make_folder(path.parent)
    write_text(path, page)


def _card_html(card: Card) -> str:
    description = card.description
    clock = f'<p class="said">{card.clock} · {description.score:.0%}</p>'
    said = f'<p class="said">{html.escape(description.said)}</p>' if description.said else ""
    place = (description.passage.chapter, description.passage.place)
    passage = _passage_html(card.before, card.sentence, card.after, place)
    return _article_html(card.jpeg, f"frame at {card.clock}", clock, said + passage)


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
    if jpeg is None:
        return f'<article class="text">{legend}<div>{text}</div></article>'
    address = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    image = f'<img src="{address}" alt="{html.escape(alt)}" loading="lazy">'
    return f"<article><div>{image}{legend}</div><div>{text}</div></article>"


def _passage_html(
    before: str, sentence: str, after: str, place: tuple[str, str], style: str = ""
) -> str:
    return (
        f"<blockquote{style}>{html.escape(before)}<mark>{html.escape(sentence)}</mark>"
        f'{html.escape(after)}</blockquote><p class="place">'
        f"{html.escape(' · '.join(filter(None, place)))}</p>"
    )


def _small_jpeg(path: Path) -> bytes:
    image = Image.fromarray(read_picture(path))
    image.thumbnail((_WIDTH_PX, _WIDTH_PX))
    return encode_jpeg(np.asarray(image)) or b""


def _make_card(description: MomentDescription, clock: str, jpeg: bytes | None) -> Card:
    passage = description.passage
    start = max(passage.text.find(passage.sentence), 0)
    before, after = passage.text[:start], passage.text[start + len(passage.sentence) :]
    # The sentence is shown whole; what precedes and what follows it share the rest evenly, and are
    # cut between words.
    room = max(_LONGEST_PASSAGE - len(passage.sentence), 0) // 2
    if len(before) > room:
        before = "… " + before[len(before) - room :].partition(" ")[2]
    if len(after) > room:
        after = after[:room].rpartition(" ")[0] + " …"
    sentence = passage.sentence
    return Card(
        description=description,
        clock=clock,
        jpeg=jpeg,
        before=before,
        sentence=sentence,
        after=after,
    )


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
