"""The alignment as a picture: film above, book below, a line for each link (paper, figure 5)."""

from __future__ import annotations

import base64
import html
import io
from math import cos, radians
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.textpath import text_to_path

from folioreel.export.estimates import describe_share
from folioreel.files import replacing
from folioreel.text import squeeze
from folioreel.types import Alignment

_COLOURS = {"dialogue": "#1f5fa8", "visual": "#d9480f"}
_INK = "#343a40"
_PAPER = "#faf8f3"
_FILM_Y, _BOOK_Y = 1.0, 0.0
_PART_COLOUR = "#2b8a3e"
_PART_GAP = 0.03  # share of the width that the label of a minute needs before the next part
_MOST_PARTS = 20  # names of parts above the film
_WIDTH, _HEIGHT = 13.0, 6.0  # inches; all other lengths are shares of them
_LEFT, _ACROSS = 0.03, 0.92
"""Where the film and the book begin, and how long they are; the last chapters' titles need the
rest, on the right."""
_ANGLE = 40  # degrees that the chapters' titles hang down
_LONGEST_LABEL = 1.75  # inches: some 35 letters, which end above the lower edge
_EDGE = 0.1  # inches to the edge of the picture
_LABEL_GAP = 0.2  # inches between the starts of two titles; with less their letters would touch

_POINTS = 72  # per inch
_TITLE_LETTERS = 80  # of both titles together
_MOST_LETTERS = 300  # more than fit anywhere


def write_picture(alignment: Alignment, path: Path, title: str = "") -> None:
    """Draw the links, coloured by kind and faded by score, into a PNG, SVG or PDF file.

    `title` stands above the picture instead of the titles of film and book.
    """
    with replacing(path) as temporary:
        # No date inside: two identical runs give identical files.
        metadata = _no_date(path.suffix)
        # Nor random ids; and text stays text, which people search and edit.
        with rc_context({"svg.hashsalt": "folioreel", "svg.fonttype": "none"}):
            draw_alignment(alignment, title).savefig(
                temporary, format=path.suffix[1:], metadata=metadata
            )


def to_html(alignment: Alignment, counts: str) -> str:
    """A short description and the picture, for a notebook."""
    stream = io.BytesIO()
    # 80 dots per inch make it 1,040 px wide, the width of a notebook's cell.
    draw_alignment(alignment).savefig(stream, format="png", dpi=80)
    image = base64.b64encode(stream.getvalue()).decode("ascii")
    titles = html.escape(f"{alignment.film.title} — {alignment.book.title}")
    return (
        f"<div><p><b>{titles}</b>: {html.escape(counts)}</p>"
        f'<img alt="The links between film and book" src="data:image/png;base64,{image}"></div>'
    )


def draw_alignment(alignment: Alignment, title: str = "") -> Figure:
    """The film above, the book below, and a line for each link."""
    figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=150, facecolor=_PAPER)
    axes = figure.add_axes((_LEFT, 0.06, _ACROSS, 0.8))
    _draw_links(axes, alignment)
    _draw_film(axes, alignment)
    _draw_book(axes, alignment)
    axes.set_xlim(-0.005, 1.005)
    axes.set_ylim(-0.32, 1.14)
    axes.axis("off")
    title = title or _join_titles(alignment)
    _write(
        figure,
        (_LEFT + 0.005, 0.94),
        title,
        0.78 * _WIDTH,  # as far as the legend
        fontsize=15,
        family="serif",
    )
    figure.text(_LEFT + 0.005, 0.895, describe_share(alignment), fontsize=10, color=_INK)
    return figure


def _draw_links(axes: Axes, alignment: Alignment) -> None:
    film, sentences = alignment.film, len(alignment.book.sentences)
    drawn = False
    for kind, colour in _COLOURS.items():
        lines, alphas = [], []
        for link in alignment.links:
            moment = film.moments[link.moment]
            if moment.kind != kind or not link.in_book:
                continue
            top = (moment.start_s + moment.end_s) / 2 / film.duration_s
            lines.append([(top, _FILM_Y), ((link.sentence + 0.5) / sentences, _BOOK_Y)])
            alphas.append(0.08 + 0.72 * link.score)
        if lines:
            axes.add_collection(
                LineCollection(lines, colors=colour, alpha=np.array(alphas), linewidths=0.7)
            )
            axes.plot([], [], color=colour, label=kind)
            drawn = True
    if drawn:
        axes.legend(loc="upper right", frameon=False, ncols=2, fontsize=9, bbox_to_anchor=(1, 1.12))


def _draw_film(axes: Axes, alignment: Alignment) -> None:
    film = alignment.film
    axes.plot([0, 1], [_FILM_Y, _FILM_Y], color=_INK, linewidth=5, solid_capstyle="butt")
    minutes = film.duration_s / 60
    tick = next(t for t in (1, 2, 5, 10, 15, 20, 30, 60, 120) if minutes / t <= 14 or t == 120)
    for file in film.files:
        end = (file.start_s + file.duration_s) / film.duration_s
        for minute in range(0, int(file.duration_s / 60) + 1, tick):
            x = (file.start_s + minute * 60) / film.duration_s
            # In a film of several parts, a mark is here, or so near that the two would touch.
            if film.parts and (minute == 0 or end - x < _PART_GAP):
                continue
            axes.plot([x, x], [_FILM_Y, _FILM_Y + 0.03], color=_INK, linewidth=1)
            axes.text(x, _FILM_Y + 0.045, f"{minute} min", ha="center", fontsize=8, color=_INK)
    _draw_parts(axes, alignment)


def _draw_parts(axes: Axes, alignment: Alignment) -> None:
    """A mark where each part of the film begins, with its name as far as there is room."""
    film = alignment.film
    every = -(-len(film.parts) // _MOST_PARTS)
    for k, part in enumerate(film.parts):
        x = part.start_s / film.duration_s
        axes.plot([x, x], [_FILM_Y - 0.025, _FILM_Y + 0.11], color=_PART_COLOUR, linewidth=1.5)
        if k % every == 0:
            room = min(part.duration_s / film.duration_s * every, 1 - x) * _ACROSS * _WIDTH
            place = (x + 0.004, _FILM_Y + 0.09)
            _write(axes, place, part.title, room - 0.1, fontsize=8, color=_PART_COLOUR)


def _draw_book(axes: Axes, alignment: Alignment) -> None:
    book = alignment.book
    shades = ("#495057", "#adb5bd")
    slope = cos(radians(_ANGLE))
    free = 0.0  # where the next title may begin, in inches from the book's first sentence
    for chapter in book.chapters:
        first = book.paragraphs[chapter.paragraphs.start].sentences.start / len(book.sentences)
        last = book.paragraphs[chapter.paragraphs.stop - 1].sentences.stop / len(book.sentences)
        axes.plot(
            [first, last],
            [_BOOK_Y, _BOOK_Y],
            color=shades[chapter.index % 2],
            linewidth=6,
            solid_capstyle="butt",
        )
        start = first * _ACROSS * _WIDTH
        if chapter.title and start >= free:
            edge = (1 - _LEFT) * _WIDTH - start  # to the edge of the picture
            room = min(_LONGEST_LABEL, (edge - _EDGE) / slope)
            _write(
                axes,
                (first, _BOOK_Y - 0.035),
                chapter.title,
                room,
                rotation=-_ANGLE,
                ha="left",
                va="top",
                rotation_mode="anchor",
                fontsize=7,
            )
            free = start + _LABEL_GAP


def _join_titles(alignment: Alignment) -> str:
    """The titles of film and book; if both are long, each gets half of the room."""
    film, book = squeeze(alignment.film.title), squeeze(alignment.book.title)

    def cut(title: str, other: str) -> str:
        most = max(_TITLE_LETTERS // 2, _TITLE_LETTERS - len(other))
        return title if len(title) <= most else title[: most - 1].rstrip() + "…"

    return f"{cut(film, book)}  —  {cut(book, film)}"


def _write(
    place: Axes | Figure, at: tuple[float, float], text: str, room: float, **settings: Any
) -> None:
    """Text on one line, cut where it would be longer than `room`, in inches."""
    # A dollar sign would switch to mathematics.
    drawn = place.text(
        *at, squeeze(text)[:_MOST_LETTERS], parse_math=False, **{"color": _INK, **settings}
    )
    font = drawn.get_fontproperties()

    def width(text: str) -> float:
        return text_to_path.get_text_width_height_descent(text, font, False)[0] / _POINTS

    whole, letters = drawn.get_text(), len(drawn.get_text())
    while letters and width(drawn.get_text()) > room:
        letters -= 1
        drawn.set_text(whole[:letters].rstrip() + "…")


def _no_date(suffix: str) -> dict[str, None]:
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
