"""A PDF page → its lines of text, each with its place, its size and its weight."""

from __future__ import annotations

import ctypes
import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from folioreel.ingest.books.trees import clean_text

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_LINE_HYPHENS = "\x02\ufffe"
"""What PDFium puts for a hyphen at a line's end; it leaves out the line's end itself."""
SOFT_HYPHEN = "\u00ad"
"""At a line's end: this hyphen is the line's, not the word's."""
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
_GAP = 2.5
"""So many sizes between two words part columns, or a title from its page number."""
_RAISED = 0.75
"""A digit smaller than this share of its line's size is the mark of a note."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a page; coordinates in points, from the page's lower left corner."""

    text: str
    page: int
    """Counted from 0."""
    x0: float
    x1: float
    y: float
    """Its baseline."""
    size: float
    """The height of its letters' boxes."""
    bold: bool = False
    marks: tuple[str, ...] = ()
    """The marks of notes that stood in it."""
    continues: bool = False
    """It stands on the same height as the line before it, after a wide gap."""

    @property
    def middle(self) -> float:
        """Half-way between its ends."""
        return (self.x0 + self.x1) / 2


class _Glyph(NamedTuple):
    """A character; a novel has a million, so it is a tuple."""

    character: str
    x0: float
    x1: float
    y: float
    size: float
    position: int


def page_lines(page: pdfium.PdfPage, number: int) -> list[Line]:
    """The lines of a page in the order in which the file draws them."""
    text_page = page.get_textpage()
    try:
        lines = (_line(text_page, glyphs, number) for glyphs in _glyph_lines(text_page))
        return _mark_continuations([line for line in lines if line is not None])
    finally:
        text_page.close()


def _mark_continuations(lines: Sequence[Line]) -> list[Line]:
    """Put parts of one line together, unless a wide gap is between them: that is marked."""
    result: list[Line] = []
    for line in lines:
        before = result[-1] if result else None
        beside = before is not None and abs(line.y - before.y) < 0.1 * line.size
        gap = line.x0 - before.x1 if before is not None else 0.0
        if before is not None and beside and -0.3 * line.size < gap <= _GAP * line.size:
            result[-1] = _merged(before, line, " " if gap > 0.1 * line.size else "")
        else:
            result.append(replace(line, continues=beside and gap > 0))
    return result


def _merged(before: Line, line: Line, between: str) -> Line:
    text, marks = f"{before.text}{between}{line.text}", before.marks + line.marks
    return replace(before, text=text, x1=line.x1, marks=marks)


def merge_continuations(lines: Sequence[Line]) -> list[Line]:
    """Lines with the parts behind a wide gap put back: there are no columns."""
    merged: list[Line] = []
    for line in lines:
        if line.continues and merged and abs(merged[-1].y - line.y) < 0.1 * line.size:
            merged[-1] = _merged(merged[-1], line, " ")
        else:
            merged.append(line)
    return merged


def _glyph_lines(text_page: pdfium.PdfTextPage) -> Iterator[list[_Glyph]]:
    """The characters of each line: PDFium says where lines end, and so does a step down."""
    glyphs: list[_Glyph] = []
    last: _Glyph | None = None  # the last one that can be seen
    for glyph in _glyphs(text_page):
        shown = glyph.size > 0 and not glyph.character.isspace()
        moved = last is not None and (
            abs(glyph.y - last.y) > 0.7 * max(glyph.size, last.size)
            or glyph.x0 - last.x1 > _GAP * max(glyph.size, last.size)
        )
        if glyphs and (glyph.character in "\r\n" or (shown and moved)):
            yield glyphs
            glyphs = []
        if glyph.character not in "\r\n":
            glyphs.append(glyph)
            last = glyph if shown else last
        if glyph.character in _LINE_HYPHENS:
            yield glyphs
            glyphs = []
    if glyphs:
        yield glyphs


def _glyphs(text_page: pdfium.PdfTextPage) -> Iterator[_Glyph]:
    box, x, y = pdfium_c.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    for index in range(text_page.count_chars()):
        code = pdfium_c.FPDFText_GetUnicode(text_page, index)
        character = chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        pdfium_c.FPDFText_GetLooseCharBox(text_page, index, box)
        pdfium_c.FPDFText_GetCharOrigin(text_page, index, x, y)
        yield _Glyph(character, box.left, box.right, y.value, box.top - box.bottom, index)


def _line(text_page: pdfium.PdfTextPage, glyphs: Sequence[_Glyph], number: int) -> Line | None:
    shown = [g for g in glyphs if not g.character.isspace() and g.size > 0]
    if not shown:
        return None
    size = statistics.median(glyph.size for glyph in shown)
    baseline = statistics.median_low(glyph.y for glyph in shown)
    kept, marks = _without_marks(_mend_dashes(glyphs, size), size, baseline)
    raw = "".join(kept).rstrip()
    text = clean_text(_CONTROLS.sub("", raw.translate(_LIGATURES)))
    if not text:
        return None
    if raw[-1] in _LINE_HYPHENS:
        text += "-"
    elif raw[-1] == SOFT_HYPHEN:
        text += SOFT_HYPHEN
    return Line(
        text=text,
        page=number,
        x0=min(glyph.x0 for glyph in shown),
        x1=max(glyph.x1 for glyph in shown),
        y=baseline,
        size=size,
        bold=_is_bold(text_page, shown[len(shown) // 2].position),
        marks=tuple(marks),
    )


def _mend_dashes(glyphs: Sequence[_Glyph], size: float) -> list[_Glyph]:
    """Put `--` back where PDFium took the second hyphen for a shadow of the first.

    It then leaves a blank without width before the next word, though the line has real blanks.
    """
    spaced = any(glyph.character == " " and glyph.x1 > glyph.x0 for glyph in glyphs)
    result = list(glyphs)
    for k in range(len(glyphs) - 2):
        hyphen, blank, after = glyphs[k : k + 3]
        empty = blank.character == " " and blank.x1 <= blank.x0
        if spaced and hyphen.character == "-" and empty:
            room = after.x0 - hyphen.x1
            if 0.15 * size < room < 0.7 * size:
                result[k + 1] = blank._replace(character="-")
    return result


def _without_marks(
    glyphs: Sequence[_Glyph], size: float, baseline: float
) -> tuple[list[str], list[str]]:
    """The characters of a line, and apart from them the raised digits that mark notes."""
    kept: list[str] = []
    marks: list[str] = []
    mark = ""
    for glyph in glyphs:
        raised = 0 < glyph.size < _RAISED * size and glyph.y > baseline + 0.1 * size
        if raised and (glyph.character.isdigit() or glyph.character in "*†‡") and (kept or mark):
            mark += glyph.character
            continue
        if mark:
            marks.append(mark)
            mark = ""
        kept.append(glyph.character)
    return kept, [*marks, mark] if mark else marks


def _is_bold(text_page: pdfium.PdfTextPage, index: int) -> bool:
    buffer, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    pdfium_c.FPDFText_GetFontInfo(text_page, index, buffer, 128, flags)
    return bool(re.search(rb"bold|black|heavy|semibold", buffer.value, re.IGNORECASE))
