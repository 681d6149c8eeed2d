"""What every page of a PDF repeats is taken off; what is left is put in reading order."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from folioreel.ingest.books.blocks import numeral_value
from folioreel.ingest.books.pdf_lines import Line, merge_continuations
from folioreel.ingest.books.titles import is_break

_EDGE_LINES = 3
"""Running heads and page numbers are among so many lines at a page's top or bottom."""
_SLOT = 6.0
"""Points within which two lines stand at the same height."""
_NUMBER = re.compile(r"(?<![\w.])(\d{1,4}|[ivxlc]{1,7})(?![\w])", re.IGNORECASE)
_DECORATED_NUMBER = re.compile(
    r"^[\s\-–—|~•·\[(<*.]*(?:page|p\.|pg\.?|seite|стр\.?)?\s*(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|von|из)\s*\d{1,4})?[\s\-–—|~•·\])>*.]*$",
    re.IGNORECASE,
)
_LARGER = 1.15
"""Letters larger than the text's by this are a title's, not a page number's."""


@dataclass(frozen=True, kw_only=True)
class Area:
    """A column of text: a page has one, or two beside each other."""

    lines: tuple[Line, ...]
    left: float
    right: float
    page: int

    @property
    def width(self) -> float:
        """From margin to margin."""
        return max(self.right - self.left, 1.0)


@dataclass(frozen=True, kw_only=True)
class _Offset:
    """A way to number pages: the kind of numeral, and how far it is ahead of the page's index."""

    style: str
    pages: int


@dataclass(frozen=True, kw_only=True)
class _EdgeLine:
    line: Line
    slot: tuple[str, int]
    """The page's edge, and the height in steps of `_SLOT`."""


def drop_furniture(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without running heads, running feet and page numbers."""
    body = body_size(pages)
    heights = [line.y for lines in pages for line in lines]
    middle = (min(heights, default=0.0) + max(heights, default=0.0)) / 2
    edges = [edge for lines in pages for edge in _edge_lines(lines, middle)]
    offsets = _number_offsets(edges, body, len(pages))
    repeats = Counter((edge.slot, _pattern(edge.line, offsets)) for edge in edges)
    neighbours = {key: _count_nearby(repeats, key) for key in repeats}
    gone: set[Line] = set()
    for edge in edges:
        count = neighbours[edge.slot, _pattern(edge.line, offsets)]
        if _is_repeated(edge.line, count, body, len(pages)) or _is_page_number(
            edge.line, offsets, body, len(pages)
        ):
            gone.add(edge.line)
    gone |= _strays(edges, gone, pages)
    return [_without_edges(lines, gone) for lines in pages]


def _is_repeated(line: Line, count: int, body: float, pages: int) -> bool:
    """Whether a line stands on so many pages that it is a running head."""
    # The same "CHAPTER I" in three parts of a book is no running head; nor are asterisks.
    large = line.size > 1.2 * body and count < 0.1 * pages
    return count >= (3 if pages > 4 else 2) and not large and not is_break(line.text)


def _without_edges(lines: Sequence[Line], gone: set[Line]) -> list[Line]:
    """A page without what goes, as long as nothing that stays is further out."""
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
        _EdgeLine(line=line, slot=(edge, round(line.y / _SLOT)))
        for edge, group in (("top", top), ("bottom", bottom))
        for line in group
    ]


def _number_offsets(edges: Sequence[_EdgeLine], body: float, pages: int) -> set[_Offset]:
    """By how much printed page numbers are ahead of the page's index.

    A number that stands alone is a page number if three agree; one beside other words ("CHAPTER
    IV"), or in Roman capitals as chapters are, only if it does so on a quarter of the pages.
    """
    alone: Counter[_Offset] = Counter()
    beside: Counter[_Offset] = Counter()
    for edge in edges:
        if edge.line.size > _LARGER * body:
            continue
        bare = _DECORATED_NUMBER.match(edge.line.text)
        for offset in {_offset(n, edge.line.page) for n in _NUMBER.findall(edge.line.text)}:
            (alone if bare and offset.style != "capitals" else beside)[offset] += 1
    least = max(3, 0.25 * pages)
    found = {offset for offset, count in alone.most_common(3) if count >= 3} | {
        offset for offset, count in beside.most_common(1) if count >= least
    }
    # Where digits number the pages, capitals number the chapters.
    digits = {offset for offset in found if offset.style != "capitals"}
    return digits or found


def _offset(numeral: str, page: int) -> _Offset:
    style = "digits" if numeral.isdigit() else "capitals" if numeral.isupper() else "small"
    return _Offset(style=style, pages=numeral_value(numeral) - page)


def _pattern(line: Line, offsets: set[_Offset]) -> str:
    """A line's text, with its page's number (and no other) made the same on all pages."""
    return _NUMBER.sub(
        lambda match: "#" if _offset(match.group(), line.page) in offsets else match.group(),
        line.text,
    ).casefold()


def _count_nearby(
    repeats: Counter[tuple[tuple[str, int], str]], key: tuple[tuple[str, int], str]
) -> int:
    """How often a text stands at a height, a step up or down included."""
    (edge, height), pattern = key
    return sum(repeats[(edge, height + step), pattern] for step in (-1, 0, 1))


def _is_page_number(line: Line, offsets: set[_Offset], body: float, pages: int) -> bool:
    if not _DECORATED_NUMBER.match(line.text) or line.size > _LARGER * body:
        return False
    found = {_offset(numeral, line.page) for numeral in _NUMBER.findall(line.text)}
    if found & offsets:
        return True
    return pages < 4 and _Offset(style="digits", pages=1) in found


def _strays(
    edges: Sequence[_EdgeLine], gone: set[Line], pages: Sequence[Sequence[Line]]
) -> set[Line]:
    """Heads that stand too seldom to be told by their text, at a height where heads stand.

    The head of a short chapter is one: it must be the page's outermost line, and set off.
    """
    total = Counter(edge.slot for edge in edges)
    heads = Counter(edge.slot for edge in edges if edge.line in gone)
    strays = set()
    for edge in edges:
        line = edge.line
        if line in gone or heads[edge.slot] < max(3, 0.5 * total[edge.slot]):
            continue
        beside = [abs(other.y - line.y) for other in pages[line.page] if other.y != line.y]
        if len(line.text) <= 80 and beside and min(beside) > 1.6 * line.size:
            strays.add(line)
    return strays


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The size in which most of the text is set."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(2 * line.size) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 1.0


def reading_areas(lines: Sequence[Line], default: tuple[float, float] | None = None) -> list[Area]:
    """A page's columns in reading order, with their margins.

    Args:
        lines: What the page holds, without furniture.
        default: The margins of other pages, for one with too few lines to show its own.
    """
    if not lines:
        return []
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
    left = [line for line in lines if line.x1 < middle + 2]
    right = [line for line in lines if line.x0 > middle - 2]
    across = [line for line in lines if line not in left and line not in right]
    if min(len(left), len(right)) < 5 or len(across) > 0.2 * len(lines):
        return [list(lines)]
    if not (_is_filled(left) and _is_filled(right)):
        return [list(lines)]  # a table
    top = max(line.y for line in left + right)
    above = [line for line in across if line.y > top]
    below = [line for line in across if line.y <= top]
    return [sorted(group, key=lambda line: -line.y) for group in (above, left, right, below)]


def _is_filled(column: Sequence[Line]) -> bool:
    """Whether most lines go through to the column's end, as prose does."""
    width = max(line.x1 for line in column) - min(line.x0 for line in column)
    return statistics.median(line.x1 - line.x0 for line in column) > 0.7 * width


def _area(lines: Sequence[Line], default: tuple[float, float] | None) -> Area:
    """A column with its margins: the usual ones, unless its own lines stick out on the left."""
    starts = Counter(round(line.x0) for line in lines)
    # The margin is the leftmost place at which many lines begin: where dialogue is set in line by
    # line, more lines are indented than not.
    least = max(2, 0.25 * max(starts.values())) if len(lines) >= 4 else 1
    left = float(min((x for x, count in starts.items() if count >= least), default=min(starts)))
    ends = sorted(line.x1 for line in lines)
    right = ends[int(0.95 * (len(ends) - 1))]
    if default is not None and left > default[0] - 2:
        left, right = default
    return Area(lines=tuple(lines), left=left, right=right, page=lines[0].page)


def usual_margins(pages: Sequence[Sequence[Line]]) -> dict[int, tuple[float, float]]:
    """The margins of left-hand and of right-hand pages: parity → (left, right)."""
    found: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for number, lines in enumerate(pages):
        if len(lines) >= 8:
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
    # A page or two of nothing but dialogue show the indentation, and not the margin.
    few = [parity for parity in usual if len(found[parity]) < 3]
    return {p: min(usual.values()) if p in few else margins for p, margins in usual.items()}
