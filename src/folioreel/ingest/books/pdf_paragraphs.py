"""Lines of a PDF → headings, paragraphs, verse and breaks, by how they stand on the page.

The paper's own rule for headings ("indentation, starts on a new page, no end symbol", section 3) is
among the signs; a larger or bolder face, where there is one, says more.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from folioreel.ingest.books.blocks import Piece, heading_text
from folioreel.ingest.books.pdf_lines import SOFT_HYPHEN, Line
from folioreel.ingest.books.pdf_pages import Area
from folioreel.ingest.books.pdf_words import Joiner
from folioreel.ingest.books.titles import (
    is_break,
    is_numbered,
    is_strong_heading,
    is_weak_heading,
)

_LARGER = 1.12
_HEADING_CHARACTERS = 110
_END_MARKS = ".!?…:;”\"'’»)*"
_TERMINAL = ".!?…”\"'’»"

Role = Literal["heading", "break", "paragraph"]


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a book sets its text, measured over all pages."""

    size: float
    pitch: float
    """From baseline to baseline."""
    indent: float
    """Of a paragraph's first line; 0 if paragraphs are not indented."""
    spaced: bool
    """Paragraphs are parted by space."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A line with what its neighbours say of it."""

    line: Line
    area: Area
    gap: float | None
    """Lines of space above it, 0 for none; None at the top of a column."""
    room_below: float | None
    """Lines of space below it; None at the bottom of a column."""
    opens: bool = False
    """It has a large initial, so a paragraph begins with it."""

    @property
    def indent(self) -> float:
        """How far it is set in from the margin."""
        return self.line.x0 - self.area.left

    @property
    def is_centred(self) -> bool:
        """Whether it stands in the middle, with room on both sides."""
        room_left, room_right = self.indent, self.area.right - self.line.x1
        return min(room_left, room_right) > 1.5 * self.line.size and abs(
            room_left - room_right
        ) < max(0.06 * self.area.width, 0.5 * self.line.size)

    @property
    def is_short(self) -> bool:
        """Whether it ends well before the margin."""
        return self.line.x1 < self.area.right - 0.12 * self.area.width


def measure_style(areas: Sequence[Area], size: float) -> Style:
    """Find the pitch and the paragraph style that most lines show."""
    pitches: Counter[float] = Counter()
    indents: Counter[int] = Counter()
    lines = 0
    for area in areas:
        for before, after in pairwise(area.lines):
            if 0 < before.y - after.y < 4 * size:
                pitches[round(2 * (before.y - after.y)) / 2] += 1
        for line in area.lines:
            lines += 1
            if 0.5 * size < line.x0 - area.left < 5 * size:
                indents[round(line.x0 - area.left)] += 1
    pitch = _smallest_common(pitches) or 1.2 * size
    indent, count = indents.most_common(1)[0] if indents else (0, 0)
    indented = count >= max(3, 0.03 * lines)
    gaps = sum(count for height, count in pitches.items() if height > 1.25 * pitch)
    return Style(
        size=size,
        pitch=pitch,
        indent=float(indent) if indented else 0.0,
        spaced=gaps > 0.05 * sum(pitches.values()) and gaps >= 3,
    )


def _smallest_common(pitches: Counter[float]) -> float | None:
    """The smallest distance that many lines have: in dialogue the wide ones may be more."""
    most = max(pitches.values(), default=0)
    return min((pitch for pitch, count in pitches.items() if count >= 0.3 * most), default=None)


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


def group_lines(lines: Sequence[Placed], style: Style, joiner: Joiner) -> Iterator[list[Placed]]:
    """The lines of each block; a heading's lines, if set alike, are one block."""
    group: list[Placed] = []
    for placed in merge_initials(lines, style, joiner):
        if group and _starts_block(group, placed, style):
            yield group
            group = []
        group.append(placed)
    if group:
        yield group


def merge_initials(lines: Sequence[Placed], style: Style, joiner: Joiner) -> Iterator[Placed]:
    """Lines with their large initials, which files draw apart, set before them again."""
    initial: Placed | None = None
    for placed in lines:
        text = placed.line.text
        if (
            len(text.strip("\"“‘'")) == 1
            and placed.line.size > 1.7 * style.size
            and text[-1].isalpha()
        ):
            initial = placed
            continue
        if initial is not None:
            placed = _with_initial(initial, placed, joiner)
            initial = None
        yield placed
    if initial is not None:
        yield initial


def _with_initial(initial: Placed, placed: Placed, joiner: Joiner) -> Placed:
    letter, text = initial.line.text, placed.line.text
    first = text.split()[0].strip(".,;:!?—-\"'“”’")
    # "I" and "was" are two words, "I" and "t" are one.
    alone = letter[-1] in "AIO" and joiner.knows(first) and not joiner.knows(letter[-1] + first)
    whole = f"{letter} {text}" if alone else letter + text
    line = replace(placed.line, text=whole, x0=initial.line.x0)
    return replace(placed, line=line, opens=True)


def _starts_block(group: Sequence[Placed], placed: Placed, style: Style) -> bool:
    last = group[-1]
    role, role_before = line_role(placed, style), line_role(last, style)
    if role != role_before or role == "break" or placed.opens:
        return True
    if role == "heading":
        alike = abs(placed.line.size - last.line.size) < 0.06 * last.line.size
        near = placed.gap is not None and placed.gap < 0.9 * last.line.size / style.size
        return not (alike and near) or is_numbered(placed.line.text)
    if last.line.text.endswith(("-", SOFT_HYPHEN)) and placed.line.text[0].islower():
        return False  # half a word
    if placed.gap is None:
        return not _runs_on(last, placed, style)
    if placed.gap > (0.25 if style.spaced or not style.indent else 0.45):
        return True
    if abs(placed.line.size - last.line.size) > 0.15 * style.size:
        return True
    return _is_set_in(group, placed, style) or _follows_end(last, placed, style)


def _is_set_in(group: Sequence[Placed], placed: Placed, style: Style) -> bool:
    """Whether a line's indentation opens a paragraph."""
    last = group[-1]
    step = placed.line.x0 - last.line.x0
    tolerance = 0.3 * style.size
    if style.indent and abs(placed.indent - style.indent) < tolerance:
        return True
    if placed.is_centred != last.is_centred and placed.indent > style.size:
        return True
    if len(group) > 1 or not style.indent:
        return step > 0.5 * style.size and not placed.is_centred
    # After a first line that is set in, a second one further in belongs to a poem or a quotation.
    return step > 0.5 * style.size and abs(last.indent - style.indent) < tolerance


def _follows_end(last: Placed, placed: Placed, style: Style) -> bool:
    """Where nothing else parts paragraphs, a short line with a full stop ends one."""
    if style.indent or style.spaced:
        return False
    ended = _had_room(last, placed) and last.line.text[-1] in _TERMINAL
    return ended and not placed.is_centred


def _had_room(last: Placed, placed: Placed) -> bool:
    """Whether the next line's first word would have fitted: then the line was ended on purpose."""
    text = placed.line.text
    letter = (placed.line.x1 - placed.line.x0) / len(text)
    return last.area.right - last.line.x1 > letter * (len(text.split()[0]) + 2)


def _runs_on(last: Placed, placed: Placed, style: Style) -> bool:
    """Whether a paragraph goes on over the end of a page or a column."""
    text, first = last.line.text, placed.line.text
    if last.is_centred or placed.is_centred:
        return False
    if text[-1] in ",;" or first[0].islower():
        return True
    if style.indent:
        ended = _had_room(last, placed) and text[-1] in _TERMINAL
        return placed.indent < 0.5 * style.size and not ended
    return text[-1] not in _TERMINAL or not _had_room(last, placed)


def line_role(placed: Placed, style: Style) -> Role:
    """What a line is by itself."""
    line = placed.line
    text = line.text
    if is_break(text):
        return "break"
    if len(text) > _HEADING_CHARACTERS or not any(c.isalnum() for c in text):
        return "paragraph"
    if line.size > _LARGER * style.size and not (len(text) > 60 and text[-1] in ".,"):
        return "heading"
    above = placed.gap is None or placed.gap > 0.4
    below = placed.room_below is None or placed.room_below > 0.4
    if not (above and (below or placed.is_centred)):
        return "paragraph"
    if is_strong_heading(text) and (placed.is_centred or line.bold or below):
        return "heading"
    if line.bold and placed.is_short and text[-1] not in _END_MARKS:
        return "heading"
    weak = placed.is_centred and is_weak_heading(
        text,
        blank_before=round(placed.gap) if placed.gap is not None else 4,
        indented=True,
        new_page=placed.gap is None,
    )
    return "heading" if weak else "paragraph"


def make_pieces(
    groups: Iterable[Sequence[Placed]], style: Style, joiner: Joiner
) -> Iterator[Piece]:
    """The blocks of the book; an empty line between paragraphs that are not spaced is a break."""
    before: Piece | None = None
    for group in groups:
        piece = _make_piece(group, style, joiner)
        both = before is not None and before.kind == piece.kind == "paragraph"
        if both and style.indent and not style.spaced and (group[0].gap or 0) > 0.8:
            yield Piece(kind="break", text="", href=piece.href)
        yield piece
        before = piece


def _make_piece(group: Sequence[Placed], style: Style, joiner: Joiner) -> Piece:
    """One block of lines as a piece; its rank is the size of its letters, larger ones first."""
    href = f"#page={group[0].line.page + 1}"
    texts = [placed.line.text for placed in group]
    role = line_role(group[0], style)
    if role == "break":
        return Piece(kind="break", text=texts[0], href=href)
    if role == "heading":
        size = statistics.median(placed.line.size for placed in group)
        rank = max(1, round(100 - 10 * size / style.size))
        return Piece(kind="heading", text=heading_text([joiner.join(texts)]), rank=rank, href=href)
    if _is_verse(group, style):
        return Piece(kind="verse", text=" ".join(texts), href=href)
    return Piece(kind="paragraph", text=joiner.join(texts), href=href)


def _is_verse(group: Sequence[Placed], style: Style) -> bool:
    """Lines that end before the margin, set in, each with a capital."""
    if len(group) < 2 or not all(placed.is_short for placed in group):
        return False
    set_in = all(placed.indent > 0.8 * style.size for placed in group)
    capitals = sum(placed.line.text.lstrip("\"“‘'(—-")[:1].isupper() for placed in group)
    return set_in and capitals >= 0.7 * len(group)
