"""A PDF through PDFium: the lines of each page with place, size and weight, and the bookmarks.

The text comes from PDFium (`pypdfium2`, Apache-2.0 and BSD-3-Clause). We tried it beside
pdfminer.six and pypdf on ten PDFs of two novels, made by five programs: it lost the fewest words on
eight of them (0.00–0.01 %; on the other two 0.2–0.3 %, hyphenation that `pdf.Joiner` repairs), and
took 0.1–0.6 s per novel where the others took 1.4–18 s. It also gives each character's place.
PyMuPDF's licence (AGPL) rules it out.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from folioreel.errors import InputError
from folioreel.ingest.books.blocks import TocEntry
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import SourceFile
from folioreel.text import list_some

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
_LINE_HYPHENS = "\x02\ufffe"  # PDFium's for a hyphen at a line's end, in place of the line break
SOFT_HYPHEN = "\u00ad"  # at a line's end: belongs to the line break and not to the word
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
# Distances are measured in sizes of the letters, so that they hold for any font.
_GAP = 2.5  # wider spaces separate columns, or a title from its page number, and not words
_SAME_BASELINE = 0.1  # parts of one line may differ in height by rounding
_NEW_LINE = 0.7  # a larger step up or down begins a new line; raised and lowered letters step less
_RAISED = 0.75  # a digit smaller than this share of its line's size may be the mark of a note
_WORD_SPACE = 0.1  # parts further apart are separate words; kerning moves letters by less
_OVERLAP = 0.3  # neighbours may overlap by so much, as italics do

FEWEST_LETTERS = 30  # a page with fewer letters holds a picture, or nothing but its number
# Every book has a few blank pages; with more, the user is told that pages may be missing.
_FEW_EMPTY_PAGES = 4
_EMPTY_SHARE = 0.1
# Seconds for all pages: War and Peace takes a few. A page that PDFium never finishes is not caught.
_LONGEST_S = 120
# Letters that a file may show however small it is, and those it may show for each of its bytes:
# text is packed to a third or so.
_FREELY_SHOWN = 1_000_000
_DENSEST_TEXT = 10
_MOST_OBJECTS = 50_000  # pieces of text and lines on a page; one that sets each letter has 5,000
_BOMB = (
    f"shows more than {_DENSEST_TEXT} letters for each of its bytes, or {_MOST_OBJECTS:,} things "
    "on a page; is it really a book?"
)
_MOST_BOOKMARKS = 1000  # no book has as many chapters; each is looked for on its page


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a page; coordinates in points, from the page's lower left corner."""

    text: str
    page: int  # counted from 0
    x0: float
    x1: float
    y: float  # its baseline
    size: float  # the height of its letters' boxes
    bold: bool = False
    marks: tuple[str, ...] = ()  # the marks of notes that stood in it
    continues: bool = False  # it is at the same height as the line before it, after a wide gap


class _Glyph(NamedTuple):
    """A character; a novel has a million, so it is a tuple."""

    character: str
    x0: float
    x1: float
    y: float
    size: float
    position: int


def open_pdf(file: SourceFile) -> pdfium.PdfDocument:
    """Open a PDF, for a `with` block; refuse what is damaged or behind a password."""
    if b"%PDF-" not in file.data[:1024]:
        raise InputError("is not a PDF; was another file renamed?", file.path)
    try:
        return pdfium.PdfDocument(file.data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            message = "is behind a password; save a copy without one (e.g. with qpdf --decrypt)"
        elif b"/EBX_HANDLER" in file.data or "security" in str(error).lower():
            message = "is protected (DRM); give a copy without DRM"
        else:
            message = "is cut short or damaged; download or copy it again, or repair it with qpdf"
        raise InputError(message, file.path) from error


def read_pages(
    document: pdfium.PdfDocument, file: SourceFile
) -> tuple[list[list[Line]], tuple[str, ...]]:
    """The lines of each page, and notes on pages that cannot be read."""
    pages: list[list[Line]] = []
    broken: list[int] = []
    glyphs, deadline = 0, time.monotonic() + _LONGEST_S
    for number in range(len(document)):
        if time.monotonic() > deadline:
            message = f"takes more than {_LONGEST_S} s to read; convert it to text or EPUB"
            raise InputError(message, file.path)
        try:
            with closing(document[number]) as page:
                if pdfium_c.FPDFPage_CountObjects(page) > _MOST_OBJECTS:
                    raise InputError(_BOMB, file.path)
                with closing(page.get_textpage()) as text_page:
                    glyphs += text_page.count_chars()
                    if glyphs > max(_FREELY_SHOWN, _DENSEST_TEXT * len(file.data)):
                        raise InputError(_BOMB, file.path)
                    pages.append(_page_lines(text_page, number))
        except pdfium.PdfiumError:
            broken.append(number + 1)
            pages.append([])
    if not pages or len(broken) == len(pages):
        message = "is damaged (no page can be read); download or copy it again"
        raise InputError(message, file.path)
    notes = []
    if broken:
        notes.append(f"skipped damaged pages: {list_some(list(map(str, broken)))}")
    empty = sum(count_letters(lines) < FEWEST_LETTERS for lines in pages) - len(broken)
    if empty > max(_FEW_EMPTY_PAGES, _EMPTY_SHARE * len(pages)):
        notes.append(f"{empty} of {len(pages)} pages have no text (pictures or scans)")
    return pages, tuple(notes)


def count_letters(lines: Iterable[Line]) -> int:
    """How many letters lines have, digits and marks aside."""
    return sum(character.isalpha() for line in lines for character in line.text)


def read_outline(document: pdfium.PdfDocument) -> list[TocEntry]:
    """The bookmarks that lead to a page."""
    bookmarks = []
    try:
        for item in islice(document.get_toc(), _MOST_BOOKMARKS):
            target = item.get_dest()
            page = target.get_index() if target is not None else None
            title = clean_text(item.get_title() or "")
            if page is not None and title:
                bookmarks.append(TocEntry(label=title, href=f"#page={page + 1}"))
    except (pdfium.PdfiumError, ValueError, UnicodeError):
        return []  # a broken outline is no reason to refuse the text
    return bookmarks


def read_language(document: pdfium.PdfDocument) -> str | None:
    """The language that the file declares; PDFium can return it since 2025."""
    get_language = getattr(pdfium_c, "FPDFCatalog_GetLanguage", None)
    length = get_language(document, None, 0) if get_language else 0
    if get_language is None or length <= 2:  # two bytes of UTF-16 are the closing NUL alone
        return None
    buffer = ctypes.create_string_buffer(length)
    get_language(document, ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", "ignore").strip() or None


def _page_lines(text_page: pdfium.PdfTextPage, number: int) -> list[Line]:
    """The lines of a page in the order in which the file draws them."""
    lines = (_line(text_page, glyphs, number) for glyphs in _glyph_lines(text_page))
    return _mark_continuations([line for line in lines if line is not None])


def _mark_continuations(lines: Sequence[Line]) -> list[Line]:
    """Join the parts of each line, except those behind a wide gap, which are marked."""
    result: list[Line] = []
    for line in lines:
        before = result[-1] if result else None
        beside = before is not None and (abs(line.y - before.y) < _SAME_BASELINE * line.size)
        gap = line.x0 - before.x1 if before is not None else 0.0
        if before is not None and beside and -_OVERLAP * line.size < gap <= _GAP * line.size:
            result[-1] = _merged(before, line, " " if gap > _WORD_SPACE * line.size else "")
        else:
            result.append(replace(line, continues=beside and gap > 0))
    return result


def _merged(before: Line, line: Line, between: str) -> Line:
    text, marks = f"{before.text}{between}{line.text}", before.marks + line.marks
    return replace(before, text=text, x1=line.x1, marks=marks)


def merge_continuations(lines: Sequence[Line]) -> list[Line]:
    """Lines with the parts behind wide gaps joined, for a page without columns."""
    merged: list[Line] = []
    for line in lines:
        if line.continues and merged and abs(merged[-1].y - line.y) < (_SAME_BASELINE * line.size):
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
            abs(glyph.y - last.y) > _NEW_LINE * max(glyph.size, last.size)
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
    kept, marks = _without_marks(_restore_dashes(glyphs, size), size, baseline)
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


def _restore_dashes(glyphs: Sequence[_Glyph], size: float) -> list[_Glyph]:
    """Restore `--` where PDFium took the second hyphen for a shadow of the first.

    It then returns a blank without width before the next word, though the line has real blanks.
    """
    spaced = any(glyph.character == " " and glyph.x1 > glyph.x0 for glyph in glyphs)
    result = list(glyphs)
    for k in range(len(glyphs) - 2):
        hyphen, blank, after = glyphs[k : k + 3]
        empty = blank.character == " " and blank.x1 <= blank.x0
        if spaced and hyphen.character == "-" and empty:
            room = after.x0 - hyphen.x1
            # The second hyphen's width; a wider space would be an ordinary blank.
            if 0.15 * size < room < 0.7 * size:
                result[k + 1] = blank._replace(character="-")
    return result


def _without_marks(
    glyphs: Sequence[_Glyph], size: float, baseline: float
) -> tuple[list[str], list[str]]:
    """The characters of a line, and separately the raised digits that mark notes."""
    kept: list[str] = []
    marks: list[str] = []
    mark = ""
    for glyph in glyphs:
        raised = 0 < glyph.size < _RAISED * size and (glyph.y > baseline + _SAME_BASELINE * size)
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
