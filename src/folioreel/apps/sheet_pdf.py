"""A contact sheet as PDF, made with ReportLab.

DejaVu, which comes with Matplotlib, covers Latin, Greek, Cyrillic, Armenian and more, and is
embedded; for Chinese, Japanese and Korean we rely on the fonts that PDF viewers have.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import matplotlib
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Image, Paragraph, SimpleDocTemplate, Spacer, Table

from folioreel.apps.contact_sheet import COLUMNS, ROWS, Card, Sheet
from folioreel.files import replacing
from folioreel.text import cut_text

_MARGIN, _HEAD = 12 * mm, 14 * mm  # the head holds the title, on the first page
_GAP = 2.5 * mm  # between cells
_CELL_WIDTH = (A4[0] - 2 * _MARGIN) / COLUMNS
_CELL_HEIGHT = (A4[1] - 2 * _MARGIN - _HEAD) / ROWS
_PICTURE_HEIGHT = 24.5 * mm  # 16:9 at the width of a cell; higher pictures are made narrower
_LEADING = 1.3
_FRAME_PADDING = 6  # points that ReportLab adds to every margin
_INK, _FAINT = "#2b2a27", "#6b675e"  # as on the HTML page
_FONTS = ("DejaVuSerif", "DejaVuSans")
_KANA = re.compile("[\u3040-\u30ff]")
_IDEOGRAPHS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]+")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7af]+")


def write_sheet_pdf(sheet: Sheet, path: Path) -> None:
    """Write a sheet as PDF; the same sheet gives the same bytes."""
    _register_fonts()
    width = A4[0] - 2 * _MARGIN
    parts: list[Flowable] = [
        _fit(sheet.title, "DejaVuSerif", 13, _INK, width, 8 * mm),
        _paragraph(sheet.subtitle, "DejaVuSans", 7.5, _FAINT),
        Spacer(0, 2 * mm),
        _grid(sheet.cards),
    ]
    with replacing(path) as unfinished:
        document = SimpleDocTemplate(
            str(unfinished),
            pagesize=A4,
            title=sheet.title,
            invariant=True,  # neither a date nor a random id
            leftMargin=_MARGIN - _FRAME_PADDING,
            rightMargin=_MARGIN - _FRAME_PADDING,
            topMargin=_MARGIN - _FRAME_PADDING,
            bottomMargin=_MARGIN - _FRAME_PADDING,
        )
        document.build(parts, onFirstPage=_number_page, onLaterPages=_number_page)


def _grid(cards: Sequence[Card]) -> Flowable:
    cells: list[list[Flowable]] = [_cell(card) for card in cards]
    cells += [[] for _ in range(-len(cards) % COLUMNS)]
    rows = [cells[k : k + COLUMNS] for k in range(0, len(cells), COLUMNS)]
    table = Table(rows, colWidths=[_CELL_WIDTH] * COLUMNS, rowHeights=[_CELL_HEIGHT] * len(rows))
    table.setStyle(
        [
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LEFTPADDING", (0, 0), (-1, -1), 0),
            ("RIGHTPADDING", (0, 0), (-1, -1), _GAP),
            ("TOPPADDING", (0, 0), (-1, -1), 0),
            ("BOTTOMPADDING", (0, 0), (-1, -1), _GAP),
        ]
    )
    return table


def _cell(card: Card) -> list[Flowable]:
    """A frame, its time and place, what is said and the sentence, as far as there is room."""
    width, room = _CELL_WIDTH - _GAP, _CELL_HEIGHT - _GAP
    parts: list[Flowable] = []
    if card.jpeg is not None:
        picture = Image(io.BytesIO(card.jpeg), hAlign="LEFT")
        scale = min(width / picture.imageWidth, _PICTURE_HEIGHT / picture.imageHeight)
        picture.drawWidth, picture.drawHeight = (
            picture.imageWidth * scale,
            picture.imageHeight * scale,
        )
        parts.append(picture)
        room -= picture.drawHeight
    description = card.description
    small, large = (5.5, 6.0) if card.jpeg else (7.0, 8.5)
    lines = [
        (f"{card.clock} · {description.passage.chapter}", "DejaVuSans", small, _FAINT, 1),
        (description.said, "DejaVuSans", small, _FAINT, 2 if card.jpeg else 4),
        (card.sentence, "DejaVuSerif", large, _INK, 99),
    ]
    for text, font, size, colour, most in lines:
        if text:
            part = _fit(text, font, size, colour, width, min(room, most * _LEADING * size + 0.1))
            parts.append(part)
            room -= part.wrap(width, room)[1] + part.getSpaceAfter()
    return parts


def _fit(text: str, font: str, size: float, colour: str, width: float, height: float) -> Paragraph:
    """Text in a box; what does not fit is cut, between words where there are any."""
    whole = _paragraph(text, font, size, colour)
    if whole.wrap(width, height)[1] <= height:
        return whole
    low, high = 0, len(text)  # so many characters fit, so many do not
    while high - low > 1:
        middle = (low + high) // 2
        cut = _paragraph(cut_text(text, middle), font, size, colour)
        if cut.wrap(width, height)[1] <= height:
            low = middle
        else:
            high = middle
    return _paragraph(cut_text(text, low), font, size, colour)


def _paragraph(text: str, font: str, size: float, colour: str) -> Paragraph:
    """Plain text in fonts that have its letters."""
    style = ParagraphStyle(
        "sheet",
        fontName=font,
        fontSize=size,
        leading=_LEADING * size,
        textColor=colour,
        spaceAfter=0.3 * size,
        wordWrap="CJK" if _IDEOGRAPHS.search(text) else None,  # may break lines anywhere
    )
    return Paragraph(_with_asian_fonts(html.escape(text)), style)


def _with_asian_fonts(markup: str) -> str:
    """Markup in which runs of letters that DejaVu lacks are set in other fonts."""
    ideographs = "HeiseiMin-W3" if _KANA.search(markup) else "STSong-Light"
    for letters, font in ((_IDEOGRAPHS, ideographs), (_HANGUL, "HYSMyeongJo-Medium")):
        if letters.search(markup) and font not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(UnicodeCIDFont(font))
        markup = letters.sub(rf'<font name="{font}">\g<0></font>', markup)
    return markup


@cache
def _register_fonts() -> None:
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    for name in _FONTS:
        pdfmetrics.registerFont(TTFont(name, folder / f"{name}.ttf"))


def _number_page(canvas: Canvas, document: SimpleDocTemplate) -> None:
    canvas.setFont("DejaVuSans", 7)
    canvas.setFillColor(_FAINT)
    canvas.drawCentredString(A4[0] / 2, 6 * mm, str(document.page))
