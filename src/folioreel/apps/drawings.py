"""The drawings of reports as SVG: in a page they follow its colours, on their own the system's."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from folioreel.export.estimates import Estimate, spaced_percent
from folioreel.text import cut_label, squeeze
from folioreel.times import format_clock
from folioreel.types import Alignment

_WIDTH = 960  # px; pages scale it to their own width
_LEFT = 240  # for labels beside bars
_LABEL = 34  # characters that fit there
_ANGLE = 30  # degrees that the titles of chapters hang down
_TITLE, _FEWEST = 26, 5  # letters of such a title, at most and at least
_LETTER = 6.5  # px that one takes across: some titles are in capitals
_TITLE_GAP = 26  # px between two titles; with less they would touch
_STYLE = """
.drawing { font: 12px system-ui, sans-serif; --ink: #2b2a27; --faint: #6b675e; --rule: #d8d3c6;
 --film: #1f5fa8; --moved: #c2410c; --paper: #faf8f3; }
@media (prefers-color-scheme: dark) { .drawing { --ink: #e8e4da; --faint: #a09b8f;
 --rule: #45423c; --film: #7db4f0; --moved: #fb923c; --paper: #1d1c1a; } }
@media print { .drawing { --ink: #000; --faint: #444; --rule: #bbb; --film: #1f5fa8;
 --moved: #c2410c; --paper: #fff; } }
.drawing text { fill: var(--ink); } .drawing .faint { fill: var(--faint); }
.drawing .rule { stroke: var(--rule); } .drawing .bar { fill: var(--film); }
.drawing .line { stroke: var(--film); } .drawing .moved { stroke: var(--moved); }
.drawing .whisker { stroke: var(--ink); } .drawing .empty { fill: var(--rule); }
.drawing .ground { fill: var(--paper); }
"""


@dataclass(frozen=True, kw_only=True)
class Strip:
    """A row of a drawing: stretches of a book or film, each filled by its share."""

    label: str
    stretches: tuple[tuple[float, float, float], ...]
    """Start and end, in 0 … 1 of the whole, and the share, in 0 … 1."""


def draw_order(alignment: Alignment, in_order: Iterable[int], moved: Iterable[int]) -> str:
    """The film above, the book below, a line for each moment; those that are moved stand out."""
    film, book = alignment.film, alignment.book
    height, top, bottom = 390, 40, 260
    parts = [_text(0, 16, "film", "faint"), _text(0, height - 8, "book", "faint")]
    for kind, moments in (("line", in_order), ("moved", moved)):
        for k in moments:
            x = _WIDTH * film.moments[k].start_s / film.duration_s
            y = _WIDTH * (alignment.links[k].sentence + 0.5) / len(book.sentences)
            opacity = 0.35 if kind == "line" else 0.9
            parts.append(
                f'<path class="{kind}" opacity="{opacity}" d="M{x:.1f} {top}L{y:.1f} {bottom}"/>'
            )
    for y in (top, bottom):
        parts.append(f'<path class="whisker" stroke-width="3" d="M0 {y}H{_WIDTH}"/>')
    for minute in _minutes(film.duration_s):
        x = _WIDTH * 60 * minute / film.duration_s
        parts.append(_text(x, 30, format_clock(60 * minute), "faint"))
    free = 0.0  # where the next title may begin
    for chapter in book.chapters:
        first = book.paragraphs[chapter.paragraphs.start].sentences.start
        x = _WIDTH * first / len(book.sentences)
        parts.append(f'<path class="whisker" d="M{x:.1f} {bottom}v8"/>')
        # Slanted, as chapters are often shorter than their titles; of many, some have none.
        letters = min(_TITLE, int((_WIDTH - x) / _LETTER))
        if x >= free and letters >= _FEWEST:
            title = cut_label(squeeze(chapter.title) or str(chapter.index + 1), letters)
            parts.append(_text(x, bottom + 20, title, "faint", angle=_ANGLE))
            free = x + _TITLE_GAP
    return _svg(height, "The order of the film and of the book", parts)


def draw_bars(rows: Sequence[tuple[str, Estimate]], title: str) -> str:
    """A bar for each share, with its interval."""
    parts, room = [], _WIDTH - _LEFT - 60
    for k, (label, share) in enumerate(rows):
        y = 20 * k + 4
        low, high = (_LEFT + room * x for x in (share.low, share.high))
        parts += [
            _text(_LEFT - 8, y + 12, cut_label(label, _LABEL), "", "end"),
            f'<rect class="empty" opacity=".5" x="{_LEFT}" y="{y}" width="{room}" height="15"/>',
            f'<rect class="bar" opacity=".75" x="{_LEFT}" y="{y}" height="15" '
            f'width="{room * share.value:.1f}"/>',
            f'<path class="whisker" d="M{low:.1f} {y + 7.5}H{high:.1f}M{low:.1f} {y + 4}v7'
            f'M{high:.1f} {y + 4}v7"/>',
            _text(_WIDTH - 4, y + 12, spaced_percent(share.value), "", "end"),
        ]
    return _svg(20 * len(rows) + 8, title, parts)


def draw_strips(strips: Sequence[Strip], title: str, marks: Sequence[float] = ()) -> str:
    """A row for each strip, its stretches darker the larger their share, over a key to the shades.

    Marks go across all strips.
    """
    parts, room = [], _WIDTH - _LEFT
    for k, strip in enumerate(strips):
        y = 34 * k + 4
        parts += [
            _text(_LEFT - 8, y + 18, cut_label(strip.label, _LABEL), "", "end"),
            f'<rect class="empty" opacity=".5" x="{_LEFT}" y="{y}" width="{room}" height="26"/>',
        ]
        for start, end, share in strip.stretches:
            if share > 0.01:
                parts.append(
                    f'<rect class="bar" opacity="{share:.2f}" x="{_LEFT + room * start:.1f}" '
                    f'y="{y}" width="{max(0.4, room * (end - start)):.1f}" height="26"/>'
                )
    height = 34 * len(strips) + 8
    for mark in marks:
        x = _LEFT + room * mark
        parts.append(f'<path class="whisker" opacity=".6" d="M{x:.1f} 0V{height}"/>')
    parts += _key(height + 4)
    return _svg(height + 24, title, parts)


def _key(y: float) -> list[str]:
    """What the shades mean, below the strips."""
    parts = []
    for k, share in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
        x = _LEFT + 80 * k
        box = f'x="{x}" y="{y}" width="24" height="14"'
        parts += [
            f'<rect class="empty" opacity=".5" {box}/>',
            f'<rect class="bar" opacity="{share:.2f}" {box}/>',
            _text(x + 30, y + 11, spaced_percent(share), "faint"),
        ]
    return parts


def _minutes(duration_s: float) -> range:
    """The minutes that are written along a film."""
    minutes = int(duration_s / 60)
    every = next(t for t in (1, 2, 5, 10, 15, 20, 30, 60, 120) if minutes / t <= 12 or t == 120)
    return range(every, minutes, every)


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start", angle: float = 0) -> str:
    turned = f' transform="rotate({angle} {x:.1f} {y:.1f})"' if angle else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{turned}>'
        f"{html.escape(text)}</text>"
    )


def _svg(height: float, title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    name = html.escape(title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
        f'viewBox="0 0 {_WIDTH} {height}" aria-label="{name}">\n<title>{name}</title>\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect class="ground" width="{_WIDTH}" height="{height}"/>\n'
        f'<g fill="none" stroke-width="1">\n{body}\n</g>\n</svg>\n'
    )
