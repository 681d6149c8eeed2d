"""A contact sheet as PDF, made with ReportLab.

DejaVu, which comes with Matplotlib, covers Latin, Greek, Cyrillic, Armenian and more, and is
embedded; for Chinese, Japanese and Korean we rely on the fonts that PDF viewers have.
"""

from __future__ import annotations

import html
import io
import re
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

from folioreel.apps.contact_sheet import Card, Sheet
from folioreel.files import replacing

_FRAME_MM = 52  # of the 174 mm between the margins: the text needs the rest
_INK, _FAINT = "#2b2a27", "#6b675e"  # as on the HTML page
_FONTS = ("DejaVuSerif", "DejaVuSans")
_KANA = re.compile("[\u3040-\u30ff]")
_IDEOGRAPHS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]+")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7af]+")


def write_sheet_pdf(sheet: Sheet, path: Path) -> None:
    """Write a sheet as PDF; the same sheet gives the same bytes."""
    _register_fonts()
    parts: list[Flowable] = [
        _paragraph(sheet.title, "DejaVuSerif", 15, _INK),
        _paragraph(sheet.subtitle, "DejaVuSans", 8, _FAINT),
        Spacer(0, 6 * mm),
    ]
    parts += [_row(card) for card in sheet.cards]
    with replacing(path) as unfinished:
        document = SimpleDocTemplate(
            str(unfinished),
            pagesize=A4,
            title=sheet.title,
            invariant=True,  # neither a date nor a random id
            leftMargin=18 * mm,
            rightMargin=18 * mm,
            topMargin=16 * mm,
            bottomMargin=16 * mm,
        )
        document.build(parts, onFirstPage=_number_page, onLaterPages=_number_page)


def _row(card: Card) -> Flowable:
    """A frame and its passage side by side."""
    description = card.description
    left: list[Flowable] = []
    if card.jpeg is not None:
        picture = Image(io.BytesIO(card.jpeg))
        scale = _FRAME_MM * mm / picture.imageWidth
        picture.drawWidth, picture.drawHeight = _FRAME_MM * mm, picture.imageHeight * scale
        left.append(picture)
    left.append(_paragraph(f"{card.clock} · {description.score:.0%}", "DejaVuSans", 7, _FAINT))
    right: list[Flowable] = []
    if description.said:
        right.append(_paragraph(description.said, "DejaVuSans", 7.5, _FAINT))
    whole = card.before + card.sentence + card.after
    marked = f'<font backColor="#f4e3b0">{html.escape(card.sentence)}</font>'
    markup = html.escape(card.before) + marked + html.escape(card.after)
    right.append(_paragraph(whole, "DejaVuSerif", 9, _INK, markup))
    place = " · ".join(filter(None, (description.passage.chapter, description.passage.place)))
    right.append(_paragraph(place, "DejaVuSans", 7, _FAINT))
    width = _FRAME_MM * mm if card.jpeg is not None else 24 * mm
    table = Table(
        [[left, right]], colWidths=[width + 4 * mm, None], splitInRow=1
    )  # a long passage may continue on the next page
    table.setStyle(
        [
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("LINEABOVE", (0, 0), (-1, 0), 0.4, "#d6d1c4"),
            ("LEFTPADDING", (0, 0), (0, -1), 0),
            ("TOPPADDING", (0, 0), (-1, -1), 6),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 8),
        ]
    )
    return table


def _paragraph(
    text: str, font: str, size: float, colour: str, markup: str | None = None
) -> Paragraph:
    """Text in a font that has its letters; as plain text unless `markup` is given, too."""
    style = ParagraphStyle(
        "sheet",
        fontName=font,
        fontSize=size,
        leading=1.4 * size,
        textColor=colour,
        spaceAfter=0.3 * size,
        wordWrap="CJK" if _IDEOGRAPHS.search(text) else None,  # may break lines anywhere
    )
    return Paragraph(_with_asian_fonts(html.escape(text) if markup is None else markup), style)


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
    canvas.drawCentredString(A4[0] / 2, 9 * mm, str(document.page))
