"""How the pages of a PDF are set: running heads, notes, columns, margins, pitch, indentation."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from folioreel.ingest.books.numerals import numeral_value
from folioreel.ingest.books.pdf_lines import Line, merge_continuations
from folioreel.ingest.books.titles import any_language, is_break

_EDGE_LINES = 3  # running heads and page numbers are among so many at a page's top or bottom
_SLOT = 6.0  # points; lines that are closer are at the same height on different pages (half a line)
_NUMBER = re.compile(r"(?<![\w.])(\d{1,4}|[ivxlc]{1,7})(?![\w])", re.IGNORECASE)
_DECORATED_NUMBER = re.compile(
    rf"^[\s\-–—|~•·\[(<*.]*+(?:{any_language('page_numbers')})?\s*+(?:\d{{1,4}}|[ivxlc]{{1,7}})"
    rf"(?:\s*(?:/|{any_language('of_pages')})\s*\d{{1,4}})?[\s\-–—|~•·\])>*.]*$",
    re.IGNORECASE,
)
_LARGER = 1.15  # letters larger than the text's by this factor are a chapter's number, not a page's
_FEWEST_REPEATS = 3  # page numbers or running heads that agree by chance are one or two
_NOTE_SIZE = 0.95  # footnotes are set smaller than this share of the text's size
_MARGIN_POINTS = 2  # hanging punctuation and rounding move lines so far from a margin
_FEWEST_COLUMN_LINES = 5  # fewer lines beside each other are a table, a signature or an address
_PERCENTILE = 0.95  # the right margin is where all but the longest lines end; these may stick out


@dataclass(frozen=True, kw_only=True)
class Area:
    """A column of text: a page has one, or two beside each other."""

    lines: tuple[Line, ...]
    left: float
    right: float

    @property
    def width(self) -> float:
        """From margin to margin."""
        return max(self.right - self.left, 1.0)


# A way to number pages: the kind of numeral, and how far it is ahead of the page's index.
_Offset = tuple[Literal["digits", "capitals", "small"], int]
# A line near a page's edge: the line, the edge, and its height in steps of `_SLOT`.
_EdgeLine = tuple[Line, tuple[str, int]]


def drop_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without running heads, running feet and page numbers."""
    body = body_size(pages)
    heights = [line.y for lines in pages for line in lines]
    middle = (min(heights, default=0.0) + max(heights, default=0.0)) / 2
    edges = [edge for lines in pages for edge in _edge_lines(lines, middle)]
    offsets = _number_offsets(edges, body, len(pages))
    patterns = [(edge, height, _pattern(line, offsets)) for line, (edge, height) in edges]
    repeats = Counter(patterns)
    gone: set[Line] = set()
    for (line, _), (edge, height, pattern) in zip(edges, patterns, strict=True):
        # Rounding moves some lines one step up or down.
        count = sum(repeats[edge, height + step, pattern] for step in (-1, 0, 1))
        if _is_repeated(line, count, body, len(pages)) or _is_page_number(
            line, offsets, body, len(pages)
        ):
            gone.add(line)
    gone |= _strays(edges, gone, pages)
    return [_without_edges(lines, gone) for lines in pages]


def _is_repeated(line: Line, count: int, body: float, pages: int) -> bool:
    """Whether a line is on enough pages to be a running head."""
    # "CHAPTER I" in each of three parts of a book is not a running head; nor are asterisks.
    large = line.size > 1.2 * body and count < 0.1 * pages
    return count >= (_FEWEST_REPEATS if pages > 4 else 2) and not large and not is_break(line.text)


def _without_edges(lines: Sequence[Line], gone: set[Line]) -> list[Line]:
    """A page without the lines to drop, except those with a line to keep further out."""
    ordered = sorted(lines, key=lambda line: -line.y)
    top = next((k for k, line in enumerate(ordered) if line not in gone), len(ordered))
    bottom = next((k for k, line in enumerate(ordered[::-1]) if line not in gone), 0)
    outside = {*ordered[:top], *ordered[len(ordered) - bottom :]}
    return [line for line in lines if line not in outside]


def _edge_lines(lines: Sequence[Line], middle: float) -> list[_EdgeLine]:
    """The outermost lines of a page, in its upper and in its lower half."""
    ordered = sorted(lines, key=lambda line: -line.y)
    top = [line for line in ordered[:_EDGE_LINES] if line.y > middle]
    bottom = [line for line in ordered[-_EDGE_LINES:] if line.y <= middle]
    return [
        (line, (edge, round(line.y / _SLOT)))
        for edge, group in (("top", top), ("bottom", bottom))
        for line in group
    ]


def _number_offsets(edges: Sequence[_EdgeLine], body: float, pages: int) -> set[_Offset]:
    """By how much printed page numbers are ahead of the page's index.

    A number on a line of its own is a page number if three agree. One beside other words ("CHAPTER
    IV"), or in Roman capitals as chapters have, must agree on a quarter of the pages.
    """
    alone: Counter[_Offset] = Counter()
    beside: Counter[_Offset] = Counter()
    for line, _ in edges:
        if line.size > _LARGER * body:
            continue
        bare = _DECORATED_NUMBER.match(line.text)
        for offset in {_offset(numeral, line.page) for numeral in _NUMBER.findall(line.text)}:
            (alone if bare and offset[0] != "capitals" else beside)[offset] += 1
    least = max(_FEWEST_REPEATS, 0.25 * pages)
    # Up to three ways to count: front matter, the book, and a second volume.
    found = {offset for offset, count in alone.most_common(3) if count >= _FEWEST_REPEATS} | {
        offset for offset, count in beside.most_common(1) if count >= least
    }
    # Where digits number the pages, capitals number the chapters.
    return {offset for offset in found if offset[0] != "capitals"} or found


def _offset(numeral: str, page: int) -> _Offset:
    ahead = numeral_value(numeral) - page
    if numeral.isdigit():
        return "digits", ahead
    return "capitals" if numeral.isupper() else "small", ahead


def _pattern(line: Line, offsets: set[_Offset]) -> str:
    """A line's text, with its page's number (and no other) made the same on all pages."""
    return _NUMBER.sub(
        lambda match: "#" if _offset(match.group(), line.page) in offsets else match.group(),
        line.text,
    ).casefold()


def _is_page_number(line: Line, offsets: set[_Offset], body: float, pages: int) -> bool:
    if not _DECORATED_NUMBER.match(line.text) or line.size > _LARGER * body:
        return False
    found = {_offset(numeral, line.page) for numeral in _NUMBER.findall(line.text)}
    if found & offsets:
        return True
    # Too few pages to agree: then a number that is the page's own is enough.
    return pages < 4 and ("digits", 1) in found


def _strays(
    edges: Sequence[_EdgeLine], gone: set[Line], pages: Sequence[Sequence[Line]]
) -> set[Line]:
    """Running heads that repeat too seldom to be recognised, at a height where others stand.

    The head of a short chapter is one. It must be set off from the text by more than a line.
    """
    total = Counter(slot for _, slot in edges)
    heads = Counter(slot for line, slot in edges if line in gone)
    strays = set()
    for line, slot in edges:
        if line in gone or heads[slot] < max(_FEWEST_REPEATS, 0.5 * total[slot]):
            continue
        beside = [abs(other.y - line.y) for other in pages[line.page] if other.y != line.y]
        # Lines of text are about 1.2 sizes apart, and longer than a head.
        if len(line.text) <= 80 and beside and min(beside) > 1.6 * line.size:
            strays.add(line)
    return strays


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The size in which most of the text is set."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(2 * line.size) / 2] += len(line.text)  # steps of half a point
    return sizes.most_common(1)[0][0] if sizes else 1.0


def reading_areas(lines: Sequence[Line], default: tuple[float, float] | None = None) -> list[Area]:
    """A page's columns in reading order; `default` are the margins that other pages have."""
    if not lines:
        return []
    # Some files draw lines in another order than they are read; a few steps up are normal.
    falls = sum(after.y > before.y + 1 for before, after in pairwise(lines))
    columns = _columns(lines)
    if len(columns) == 1:
        whole = merge_continuations(lines)
        columns = [
            sorted(whole, key=lambda line: -line.y) if falls > max(3, 0.1 * len(lines)) else whole
        ]
    return [_area(column, default if len(columns) == 1 else None) for column in columns if column]


def _columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Two columns, with what spans both above or below them; or all lines as one."""
    middle = (min(line.x0 for line in lines) + max(line.x1 for line in lines)) / 2
    left = [line for line in lines if line.x1 < middle + _MARGIN_POINTS]
    right = [line for line in lines if line.x0 > middle - _MARGIN_POINTS]
    beside = {*left, *right}
    across = [line for line in lines if line not in beside]
    # Titles and a paragraph may go across; if more does, the short lines are dialogue or verse.
    if min(len(left), len(right)) < _FEWEST_COLUMN_LINES or len(across) > 0.2 * len(lines):
        return [list(lines)]
    if not (_is_filled(left) and _is_filled(right)):
        return [list(lines)]  # a table
    top = max(line.y for line in left + right)
    above = [line for line in across if line.y > top]
    below = [line for line in across if line.y <= top]
    return [sorted(group, key=lambda line: -line.y) for group in (above, left, right, below)]


def _is_filled(column: Sequence[Line]) -> bool:
    """Whether most lines reach the end of the column, as prose does and tables do not."""
    width = max(line.x1 for line in column) - min(line.x0 for line in column)
    return statistics.median(line.x1 - line.x0 for line in column) > 0.7 * width


def _area(lines: Sequence[Line], default: tuple[float, float] | None) -> Area:
    """A column with its margins: the usual ones, unless its own lines stick out on the left."""
    starts = Counter(round(line.x0) for line in lines)
    # The margin is the leftmost place at which many lines begin, not the most frequent one: in
    # dialogue more lines are indented than not. A quarter as many as elsewhere is "many".
    least = max(2, 0.25 * max(starts.values())) if len(lines) >= 4 else 1
    left = float(min((x for x, count in starts.items() if count >= least), default=min(starts)))
    ends = sorted(line.x1 for line in lines)
    right = ends[int(_PERCENTILE * (len(ends) - 1))]
    if default is not None and left > default[0] - _MARGIN_POINTS:
        left, right = default
    return Area(lines=tuple(lines), left=left, right=right)


def usual_margins(pages: Sequence[Sequence[Line]]) -> dict[int, tuple[float, float]]:
    """The margins of left-hand and of right-hand pages: parity → (left, right)."""
    found: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for number, lines in enumerate(pages):
        if len(lines) >= 8:  # a chapter's last page may hold nothing but short lines
            area = _area(lines, None)
            found[number % 2].append((area.left, area.right))
    usual = {
        parity: (
            statistics.median_low(left for left, _ in margins),
            statistics.median_high(right for _, right in margins),
        )
        for parity, margins in found.items()
        if margins
    }
    # With one or two pages, these may be all dialogue, which shows the indentation instead.
    few = [parity for parity in usual if len(found[parity]) < 3]
    return {p: min(usual.values()) if p in few else margins for p, margins in usual.items()}


def drop_notes(lines: Sequence[Line], size: float) -> list[Line]:
    """A page without its footnotes: small lines from one that begins with a mark in the text."""
    marks = {mark for line in lines for mark in line.marks}
    ordered = sorted(lines, key=lambda line: -line.y)
    # All lines from this one down are set as small as notes.
    large = [k for k, line in enumerate(ordered) if line.size >= _NOTE_SIZE * size]
    smaller_from = large[-1] + 1 if large else 0
    for k, line in enumerate(ordered):
        opened = re.match(r"^[\[(]?(\d{1,3}|[*†‡]+)[\])]?[.:]?\s*\S", line.text)
        if opened and opened.group(1) in marks and k >= smaller_from:
            below = set(ordered[k:])
            return [kept for kept in lines if kept not in below]
    return list(lines)


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a book sets its text, measured over all pages."""

    size: float
    pitch: float  # from baseline to baseline
    indent: float  # of a paragraph's first line; 0 if paragraphs are not indented
    spaced: bool  # whether space separates paragraphs


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A line with the space around it."""

    line: Line
    area: Area
    gap: float | None  # lines of space above it, 0 for none; None at the top of a column
    room_below: float | None  # lines of space below it; None at the bottom of a column
    opens: bool = False  # it has a drop capital, so a paragraph begins with it

    @property
    def indent(self) -> float:
        """How far it is indented from the margin."""
        return self.line.x0 - self.area.left

    @property
    def is_centred(self) -> bool:
        """Whether it is centred, with room on both sides."""
        room_left, room_right = self.indent, self.area.right - self.line.x1
        # More room than an indentation has, and as much left as right, within a few letters.
        return min(room_left, room_right) > 1.5 * self.line.size and abs(
            room_left - room_right
        ) < max(0.06 * self.area.width, 0.5 * self.line.size)

    @property
    def is_short(self) -> bool:
        """Whether it ends well before the margin: by more than one long word."""
        return self.line.x1 < self.area.right - 0.12 * self.area.width


def measure_style(areas: Sequence[Area], size: float) -> Style:
    """Find the pitch and the paragraph style that most lines show."""
    pitches: Counter[float] = Counter()
    indents: Counter[int] = Counter()
    lines = 0
    for area in areas:
        for before, after in pairwise(area.lines):
            if 0 < before.y - after.y < 4 * size:  # a wider step is a blank part of the page
                pitches[round(2 * (before.y - after.y)) / 2] += 1
        for line in area.lines:
            lines += 1
            # Less is rounding, more is a centred or right-aligned line.
            if 0.5 * size < line.x0 - area.left < 5 * size:
                indents[round(line.x0 - area.left)] += 1
    # The smallest distance that many lines have: in dialogue the wide ones may prevail. Without
    # any, it is the usual leading.
    many = 0.3 * max(pitches.values(), default=0)
    pitch = min((height for height, n in pitches.items() if n >= many), default=1.2 * size)
    indent, count = indents.most_common(1)[0] if indents else (0, 0)
    # One line in 33 is about one paragraph per page; other indentations are rarer.
    indented = count >= max(3, 0.03 * lines)
    # If fewer than one step in twenty is wide, headings and section breaks account for them.
    gaps = sum(count for height, count in pitches.items() if height > 1.25 * pitch)
    return Style(
        size=size,
        pitch=pitch,
        indent=float(indent) if indented else 0.0,
        spaced=gaps > 0.05 * sum(pitches.values()) and gaps >= 3,
    )


def place_lines(areas: Sequence[Area], style: Style) -> Iterator[Placed]:
    """All lines of the book, each with its surroundings."""
    for area in areas:
        steps = [
            max((before.y - after.y) / style.pitch - 1, 0.0)
            for before, after in pairwise(area.lines)
        ]
        for k, line in enumerate(area.lines):
            yield Placed(
                line=line,
                area=area,
                gap=steps[k - 1] if k else None,
                room_below=steps[k] if k < len(steps) else None,
            )
