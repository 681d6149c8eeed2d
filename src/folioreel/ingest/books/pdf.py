"""PDF with a text layer → blocks: lines, then paragraphs, with pages as places.

The text comes from PDFium (`pypdfium2`, Apache-2.0 and BSD-3-Clause). We tried it beside
pdfminer.six and pypdf on ten PDFs of two novels, made by five programs: it lost the fewest words on
eight of them (0.00–0.01 %; on the other two 0.2–0.3 %, hyphenation that is mended here), and took
0.1–0.6 s a novel where the others took 1.4–18 s. It also gives each character's place. PyMuPDF's
licence (AGPL) rules it out.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from folioreel.errors import InputError
from folioreel.ingest.books.blocks import Manuscript, Piece, arrange
from folioreel.ingest.books.pdf_lines import Line, page_lines
from folioreel.ingest.books.pdf_pages import (
    Area,
    body_size,
    drop_furniture,
    reading_areas,
    usual_margins,
)
from folioreel.ingest.books.pdf_paragraphs import (
    group_lines,
    make_pieces,
    measure_style,
    place_lines,
)
from folioreel.ingest.books.pdf_words import Joiner
from folioreel.ingest.books.toc import TocEntry, head_pages
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import SourceFile

_FEWEST_LETTERS = 30
"""A page with fewer letters holds a picture, or nothing."""
_FILE_NAME = re.compile(
    r"^(?:untitled|microsoft word\b.*|.*\.(?:docx?|odt|indd|tex|rtf|pdf|qxd|pub|html?))?$",
    re.IGNORECASE,
)
_SCANNED = "has no text layer (it is a scan); run OCR on it first, for example with ocrmypdf"


def read_pdf(file: SourceFile) -> Manuscript:
    """Read a PDF that holds text.

    Raises:
        InputError: The file is no PDF, damaged, behind a password, or a scan without text.
    """
    path = file.path
    document = _open(file)
    try:
        pages, notes = _read_pages(document, path)
        outline = _outline(document)
        title = clean_text(document.get_metadata_value("Title") or "")
        language = _language(document)
    finally:
        document.close()
    _refuse_unreadable(pages, path)
    pieces = head_pages(_pieces(pages), outline)
    return Manuscript(
        title=path.stem if _FILE_NAME.match(title) else title,
        blocks=arrange(pieces),
        language=language,
        notes=tuple(notes),
    )


def _open(file: SourceFile) -> pdfium.PdfDocument:
    if b"%PDF-" not in file.data[:1024]:
        raise InputError("is not a PDF; was another file renamed?", file.path)
    try:
        document = pdfium.PdfDocument(file.data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            message = (
                "is behind a password; save a copy without one (for example with qpdf --decrypt)"
            )
        else:
            message = "is cut short or damaged; download or copy it again, or mend it with qpdf"
        raise InputError(message, file.path) from error
    return document


def _read_pages(document: pdfium.PdfDocument, path: Path) -> tuple[list[list[Line]], list[str]]:
    """The lines of each page, and words about pages that cannot be read."""
    pages: list[list[Line]] = []
    broken: list[int] = []
    for number in range(len(document)):
        try:
            page = document[number]
        except pdfium.PdfiumError:
            broken.append(number + 1)
            pages.append([])
            continue
        try:
            pages.append(page_lines(page, number))
        except pdfium.PdfiumError:
            broken.append(number + 1)
            pages.append([])
        finally:
            page.close()
    if not pages or len(broken) == len(pages):
        raise InputError("is damaged (no page can be read); download or copy it again", path)
    notes = []
    if broken:
        notes.append(f"damaged pages, passed over: {', '.join(map(str, broken))}")
    empty = sum(_letters(lines) < _FEWEST_LETTERS for lines in pages) - len(broken)
    if empty > max(4, 0.1 * len(pages)):
        notes.append(f"{empty} of {len(pages)} pages hold no text (pictures or scans)")
    return pages, notes


def _letters(lines: Sequence[Line]) -> int:
    return sum(character.isalpha() for line in lines for character in line.text)


def _refuse_unreadable(pages: Sequence[Sequence[Line]], path: Path) -> None:
    text = "".join(line.text for lines in pages for line in lines)
    letters = sum(character.isalpha() for character in text)
    # Scanners print a page number or a stamp on each page, and no more.
    if letters == 0 or (len(pages) > 3 and letters < _FEWEST_LETTERS * len(pages)):
        raise InputError(_SCANNED, path)
    unknown = sum(character == "\ufffd" or "\ue000" <= character <= "\uf8ff" for character in text)
    if unknown > 0.3 * len(text):
        message = (
            "has text in fonts that do not say which letters they draw; run ocrmypdf --force-ocr"
        )
        raise InputError(message, path)


def _pieces(pages: Sequence[Sequence[Line]]) -> list[Piece]:
    pages = drop_furniture(pages)
    size = body_size(pages)
    margins = usual_margins(pages)
    areas: list[Area] = []
    for number, lines in enumerate(pages):
        areas += reading_areas(_drop_notes(lines, size), margins.get(number % 2))
    style = measure_style(areas, size)
    joiner = Joiner(line.text for area in areas for line in area.lines)
    placed = list(place_lines(areas, style))
    return list(make_pieces(group_lines(placed, style, joiner), style, joiner))


def _drop_notes(lines: Sequence[Line], size: float) -> list[Line]:
    """A page without the notes at its foot: small lines below a mark that the text uses."""
    marks = {mark for line in lines for mark in line.marks}
    ordered = sorted(lines, key=lambda line: -line.y)
    for k, line in enumerate(ordered):
        opened = re.match(r"^[\[(]?(\d{1,3}|[*†‡]+)[\])]?[.:]?\s*\S", line.text)
        below = ordered[k:]
        if opened and opened.group(1) in marks and all(n.size < 0.95 * size for n in below):
            return [kept for kept in lines if kept not in below]
    return list(lines)


def _outline(document: pdfium.PdfDocument) -> list[TocEntry]:
    bookmarks = []
    try:
        for item in document.get_toc():
            target = item.get_dest()
            page = target.get_index() if target is not None else None
            title = clean_text(item.get_title() or "")
            if page is not None and title:
                href = f"#page={page + 1}"
                bookmarks.append(TocEntry(label=title, href=href, depth=item.level + 1))
    except (pdfium.PdfiumError, ValueError, UnicodeError):
        return []  # A broken outline is no reason to refuse the text.
    return bookmarks


def _language(document: pdfium.PdfDocument) -> str | None:
    """The language that the file declares; PDFium tells it since 2025."""
    get_language = getattr(pdfium_c, "FPDFCatalog_GetLanguage", None)
    length = get_language(document, None, 0) if get_language else 0
    if get_language is None or length <= 2:
        return None
    buffer = ctypes.create_string_buffer(length)
    get_language(document, ctypes.cast(buffer, ctypes.POINTER(pdfium_c.FPDF_WCHAR)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", "ignore").strip() or None
