"""The alignment as a picture: film above, book below, a line for each link (paper, figure 5)."""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from folioreel.export.estimates import describe_share
from folioreel.export.fonts import families_for, missing_letters
from folioreel.export.formats import USUAL_STYLE, PictureStyle
from folioreel.files import replacing
from folioreel.text import cut_label, squeeze
from folioreel.types import Alignment

# Kind → colour, and what the page calls such moments.
_KINDS = {"dialogue": ("#1f5fa8", "spoken"), "visual": ("#d9480f", "silent")}
_INK = "#343a40"
_PAPER = {".png": "#faf8f3"}  # of the page; SVG and PDF are for papers, which are white
_FILM_Y, _BOOK_Y = 1.0, 0.0
_PART_COLOUR = "#2b8a3e"
_PART_GAP = 0.4  # inches that the label of a minute needs before the next part
_MINUTE_GAP = 0.85  # inches between the labels of two minutes, on average
_MOST_PARTS = 20  # names of parts above the film
_LEFT, _RIGHT = 0.03, 0.95
"""Where the film and the book begin and end, as shares of the width; the last chapters' titles
need the rest, on the right."""
# Inches, as letters do not shrink with the picture: half the label of a minute, the margin below,
# the room of the chapters' titles, that of the minutes and of the parts' names, and the lines above
# the picture.
_MARGIN, _BOTTOM, _BELOW, _MINUTES, _PARTS, _TOP, _LINE = 0.26, 0.36, 1.05, 0.3, 0.16, 0.3, 0.27
_NARROW = 9.0  # inches: in a narrower picture the legend has a line of its own
_SMALLEST = 0.75  # of the title's letters, in a very narrow one
_ANGLE = 40  # degrees that the chapters' titles hang down
_LONGEST_LABEL = 1.75  # inches: some 35 letters
_EDGE = 0.1  # inches to the edge of the picture
_LABEL_GAP = 0.2  # inches between the starts of two titles; with less their letters would touch

_POINTS = 72  # per inch
_MOST_LETTERS = 300  # more than fit anywhere
_JUDGED: dict[str, Any] = {
    "marker": "o",
    "markersize": 3.5,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
    "linestyle": "none",
}
_TITLE_LETTERS = 80  # of both titles together


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Where things are in a picture of some size."""

    width: float  # inches, as all lengths here
    height: float
    lines: int  # above the picture: title, subtitle, legend
    above: float  # room for the minutes, and for the names of parts

    @property
    def left(self) -> float:
        """Where film and book begin, as a share of the width."""
        return max(_LEFT, _MARGIN / self.width)

    @property
    def across(self) -> float:
        """The length of film and book."""
        return (_RIGHT - self.left) * self.width

    @property
    def axes_height(self) -> float:
        return self.height - _TOP - _LINE * self.letters * self.lines - _BOTTOM

    @property
    def below(self) -> float:
        """Room for the titles of chapters; in a low picture, not more than a third."""
        return min(_BELOW, self.axes_height / 3)

    @property
    def unit(self) -> float:
        """From the book up to the film."""
        return self.axes_height - self.below - self.above

    @property
    def letters(self) -> float:
        """The size of the letters in the header, as a share of the usual."""
        return max(_SMALLEST, min(1.0, self.width / _NARROW))

    def line_y(self, line: int) -> float:
        """The foot of a line of the header, as a share of the height."""
        return 1 - (_TOP + 0.06 + _LINE * self.letters * line) / self.height


def write_picture(alignment: Alignment, path: Path, style: PictureStyle = USUAL_STYLE) -> None:
    """Draw the links, coloured by kind and faded by score, into a PNG, SVG or PDF file."""
    with replacing(path) as temporary:
        # No date inside: two identical runs give identical files.
        metadata = _no_date(path.suffix)
        # Nor random ids; text stays text, which people search and edit, and PDF has fonts that
        # publishers take: TrueType, not Type 3.
        with (
            rc_context({"svg.hashsalt": "folioreel", "svg.fonttype": "none", "pdf.fonttype": 42}),
            missing_letters(),
        ):
            figure = draw_alignment(alignment, style)
            figure.set_facecolor(_PAPER.get(path.suffix, "white"))
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)


def to_html(alignment: Alignment, counts: str) -> str:
    """A short description and the picture, for a notebook."""
    stream = io.BytesIO()
    # 80 dots per inch make it 1,040 px wide, the width of a notebook's cell.
    with missing_letters():
        figure = draw_alignment(alignment)
        figure.savefig(stream, format="png", dpi=80, facecolor=_PAPER[".png"])
    image = base64.b64encode(stream.getvalue()).decode("ascii")
    titles = html.escape(alignment.title)
    return (
        f"<div><p><b>{titles}</b>: {html.escape(counts)}</p>"
        f'<img alt="The links between film and book" src="data:image/png;base64,{image}"></div>'
    )


def draw_alignment(alignment: Alignment, style: PictureStyle = USUAL_STYLE) -> Figure:
    """The film above, the book below, and a line for each link."""
    width, height = style.size_in
    title = _join_titles(alignment) if style.title is None else style.title
    lines = bool(title) + style.has_subtitle
    has_own_line = width < _NARROW or not lines  # the legend
    layout = _Layout(
        width=width,
        height=height,
        lines=lines + has_own_line,
        above=_MINUTES + (_PARTS if alignment.film.parts else 0.0),
    )
    figure = Figure(figsize=(width, height), dpi=150)
    axes = figure.add_axes(
        (layout.left, _BOTTOM / height, layout.across / width, layout.axes_height / height),
        xlim=(-0.005, 1.005),
        ylim=(-layout.below / layout.unit, _FILM_Y + layout.above / layout.unit),
    )
    axes.axis("off")
    room = layout.across
    if title:
        _write(
            figure,
            (layout.left + 0.005, layout.line_y(0)),
            title,
            room if has_own_line else 0.78 * width,  # as far as the legend
            fontsize=15 * layout.letters,
            family="serif",
        )
    if style.has_subtitle:
        at = (layout.left + 0.005, layout.line_y(lines - 1))
        _write(figure, at, describe_share(alignment), room, fontsize=10 * layout.letters)
    _draw_links(axes, alignment, 0.7 * min(1.0, width / USUAL_STYLE.size_in[0] + 0.2))
    _draw_legend(figure, axes, layout.line_y(lines if has_own_line else 0), layout.letters)
    _draw_film(axes, alignment, layout)
    _draw_book(axes, alignment, layout)
    return figure


def _draw_links(axes: Axes, alignment: Alignment, thickness: float) -> None:
    """A line for each link; those that a reader judged have dots at their ends."""
    film, sentences = alignment.film, len(alignment.book.sentences)
    for kind, (colour, name) in _KINDS.items():
        lines, alphas, judged = [], [], []
        for link in alignment.links:
            moment = film.moments[link.moment]
            if moment.kind != kind or not link.in_book:
                continue
            top = (moment.start_s + moment.end_s) / 2 / film.duration_s
            ends = [(top, _FILM_Y), ((link.sentence + 0.5) / sentences, _BOOK_Y)]
            lines.append(ends)
            alphas.append(0.08 + 0.72 * link.score)
            judged += ends if link.judged else []
        if lines:
            axes.add_collection(
                LineCollection(lines, colors=colour, alpha=np.array(alphas), linewidths=thickness)
            )
            axes.plot([], [], color=colour, label=name)
        if judged:
            # Above the film and the book, which are drawn over the lines.
            axes.plot(*zip(*judged, strict=True), color=colour, zorder=5, **_JUDGED)


def _draw_legend(figure: Figure, axes: Axes, y: float, letters: float) -> None:
    """What the colours and dots are, on the right, in a line of the header."""
    shown, names = axes.get_legend_handles_labels()
    if any(line.get_marker() == _JUDGED["marker"] for line in axes.lines):
        shown.append(Line2D([], [], color=_INK, **_JUDGED))
        names.append("judged")
    if shown:
        figure.legend(
            shown,
            names,
            loc="center right",
            frameon=False,
            ncols=len(names),
            fontsize=9 * letters,
            bbox_to_anchor=(_RIGHT, y + 0.06 / figure.get_figheight()),
            borderaxespad=0,
        )


def _draw_film(axes: Axes, alignment: Alignment, layout: _Layout) -> None:
    film = alignment.film
    axes.plot([0, 1], [_FILM_Y, _FILM_Y], color=_INK, linewidth=5, solid_capstyle="butt")
    minutes = film.duration_s / 60
    most = max(2, round(layout.across / _MINUTE_GAP))
    tick = next(t for t in (1, 2, 5, 10, 15, 20, 30, 60, 120) if minutes / t <= most or t == 120)
    for file in film.files:
        end = (file.start_s + file.duration_s) / film.duration_s
        for minute in range(0, int(file.duration_s / 60) + 1, tick):
            x = (file.start_s + minute * 60) / film.duration_s
            # In a film of several parts, a mark is here, or so near that the two would touch.
            if film.parts and (minute == 0 or (end - x) * layout.width < _PART_GAP):
                continue
            foot, top = (_FILM_Y + length / layout.unit for length in (0.15, 0.1))
            axes.plot([x, x], [_FILM_Y, top], color=_INK, linewidth=1)
            axes.text(x, foot, f"{minute} min", ha="center", fontsize=8, color=_INK)
    _draw_parts(axes, alignment, layout)


def _draw_parts(axes: Axes, alignment: Alignment, layout: _Layout) -> None:
    """A mark where each part of the film begins, with its name as far as there is room."""
    film = alignment.film
    every = -(-len(film.parts) // _MOST_PARTS)
    low, high = (_FILM_Y + length / layout.unit for length in (-0.08, 0.36))
    for k, part in enumerate(film.parts):
        x = part.start_s / film.duration_s
        axes.plot([x, x], [low, high], color=_PART_COLOUR, linewidth=1.5)
        if k % every == 0:
            room = min(part.duration_s / film.duration_s * every, 1 - x) * layout.across
            place = (x + 0.004, _FILM_Y + 0.3 / layout.unit)
            _write(axes, place, part.title, room - 0.1, fontsize=8, color=_PART_COLOUR)


def _draw_book(axes: Axes, alignment: Alignment, layout: _Layout) -> None:
    book = alignment.book
    shades = ("#495057", "#adb5bd")
    across, down = cos(radians(_ANGLE)), sin(radians(_ANGLE))
    # They hang from just below the book to the lower edge.
    longest = min(_LONGEST_LABEL, (layout.below + _BOTTOM - 0.12 - _EDGE) / down)
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
        start = first * layout.across
        if chapter.title and start >= free:
            edge = (1 - layout.left) * layout.width - start  # to the edge of the picture
            room = min(longest, (edge - _EDGE) / across)
            _write(
                axes,
                (first, _BOOK_Y - 0.12 / layout.unit),
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
    half = _TITLE_LETTERS // 2
    rooms = (max(half, _TITLE_LETTERS - len(other)) for other in (book, film))
    cut = [cut_label(title, most) for title, most in zip((film, book), rooms, strict=True)]
    return "  —  ".join(dict.fromkeys(cut))


def _write(
    place: Axes | Figure, at: tuple[float, float], text: str, room: float, **settings: Any
) -> None:
    """Text on one line, cut where it would be longer than `room`, in inches."""
    text = squeeze(text)[:_MOST_LETTERS]
    family = families_for(text, settings.pop("family", "sans-serif"))
    # A dollar sign would switch to mathematics.
    drawn = place.text(*at, text, parse_math=False, family=family, **{"color": _INK, **settings})
    font = drawn.get_fontproperties()

    def width(text: str) -> float:
        return text_to_path.get_text_width_height_descent(text, font, False)[0] / _POINTS

    whole, letters = drawn.get_text(), len(drawn.get_text())
    while letters and width(drawn.get_text()) > room:
        letters -= 1
        drawn.set_text(whole[:letters].rstrip() + "…")


def _no_date(suffix: str) -> dict[str, None]:
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
