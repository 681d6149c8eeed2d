"""ELAN: the moments on time-aligned tiers, each with its passage and its probability (EAF 3.0).

Annotations of one tier must not overlap, so lines that are spoken at the same time go to a tier of
their own. What is said of a moment (passage, chapter, place, probability, and a reader's judgement,
kind and note) is on tiers that depend on it.
"""

from __future__ import annotations

import itertools
import mimetypes
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from folioreel.export.places import address_of
from folioreel.export.tables import table_rows
from folioreel.export.xml_files import write_xml, xml_text
from folioreel.language import language_name, three_letter_code
from folioreel.types import Alignment, Book, Film

_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
# EAF demands a date; a fixed one, so that two identical runs give identical files.
_DATE = "1970-01-01T00:00:00+00:00"
_TIMED, _DEPENDENT = "moment", "of-a-moment"
_CONSTRAINTS = {
    "Time_Subdivision": "Time subdivision of parent annotation's time interval, no time gaps "
    "allowed within this interval",
    "Symbolic_Subdivision": "Symbolic subdivision of a parent annotation. Annotations refering to "
    "the same parent are ordered",
    "Symbolic_Association": "1-1 association with a parent annotation",
    "Included_In": "Time alignable annotations within the parent annotation's time interval, gaps "
    "are allowed",
}
_Row = dict[str, object]


def write_eaf(alignment: Alignment, path: Path, part: int | None = None) -> None:
    """Write an annotation document for ELAN; `part` as in `write_vtt`."""
    rows = [r for r in table_rows(alignment) if part is None or r["part"] == part]
    root = etree.Element(
        "ANNOTATION_DOCUMENT",
        AUTHOR="folioreel",
        DATE=_DATE,
        FORMAT="3.0",
        VERSION="3.0",
        nsmap={"xsi": _XSI},
    )
    root.set(f"{{{_XSI}}}noNamespaceSchemaLocation", _SCHEMA)
    header = etree.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    _add_media(header, alignment, path, part)
    order = etree.SubElement(root, "TIME_ORDER")
    numbers = itertools.count(1)
    for name, tier in _tiers(rows, "part_" if part is not None else ""):
        _add_tier(root, order, name, tier, numbers, alignment)
    order[:] = sorted(order, key=lambda slot: int(slot.get("TIME_VALUE", "0")))
    kinds: tuple[tuple[str, str, dict[str, str]], ...] = (
        (_TIMED, "true", {}),
        (_DEPENDENT, "false", {"CONSTRAINTS": "Symbolic_Association"}),
    )
    for kind, is_timed, more in kinds:
        etree.SubElement(
            root,
            "LINGUISTIC_TYPE",
            GRAPHIC_REFERENCES="false",
            LINGUISTIC_TYPE_ID=kind,
            TIME_ALIGNABLE=is_timed,
            **more,
        )
    used = {source.language for source in (alignment.film, alignment.book)} - {None}
    for code in sorted(map(str, used)):
        label = f"{language_name(code)} ({three_letter_code(code)})"  # as ELAN itself writes it
        etree.SubElement(root, "LANGUAGE", LANG_ID=three_letter_code(code), LANG_LABEL=label)
    for name, words in _CONSTRAINTS.items():
        etree.SubElement(root, "CONSTRAINT", STEREOTYPE=name, DESCRIPTION=words)
    write_xml(root, path)


def _add_media(header: etree._Element, alignment: Alignment, path: Path, part: int | None) -> None:
    """The video, if it is one file: ELAN plays several together, not one after the other."""
    film = alignment.film
    if film.parts and part is None:
        return
    file = film.files[part or 0]
    if file.video is not None:
        kind = mimetypes.guess_type(file.video.name)[0] or "video/*"
        etree.SubElement(
            header,
            "MEDIA_DESCRIPTOR",
            MEDIA_URL=file.video.absolute().as_uri(),
            RELATIVE_MEDIA_URL=f"./{address_of(file.video, file.title, path)}",
            MIME_TYPE=kind,
        )


def _tiers(rows: list[_Row], prefix: str) -> Iterator[tuple[str, list[tuple[int, int, _Row]]]]:
    """The tiers of moments: their names and (start, end, row), in milliseconds."""
    for kind, name in (("dialogue", "said"), ("visual", "silent shot")):
        tiers: list[list[tuple[int, int, _Row]]] = []
        for row in rows:
            if row["kind"] != kind:
                continue
            start, end = (round(1000 * float(str(row[f"{prefix}{s}_s"]))) for s in ("start", "end"))
            free = next((tier for tier in tiers if tier[-1][1] <= start), None)
            if free is None:
                tiers.append(free := [])
            free.append((start, max(end, start + 1), row))
        for k, tier in enumerate(tiers, 1):
            yield (name if k == 1 else f"{name} {k}"), tier


def _add_tier(
    root: etree._Element,
    order: etree._Element,
    name: str,
    timed: list[tuple[int, int, _Row]],
    numbers: Iterator[int],
    alignment: Alignment,
) -> None:
    """A tier of moments and the tiers that depend on it."""
    spoken, written = _language(alignment.film), _language(alignment.book)
    tier = etree.SubElement(root, "TIER", LINGUISTIC_TYPE_REF=_TIMED, TIER_ID=name, **spoken)
    dependent: dict[str, etree._Element] = {}
    for what in ("passage", "chapter", "place", "probability", "judged", "kind", "note"):
        dependent[what] = etree.SubElement(
            root,
            "TIER",
            LINGUISTIC_TYPE_REF=_DEPENDENT,
            PARENT_REF=name,
            TIER_ID=f"{what}@{name}",
            **(written if what in ("passage", "chapter") else {}),
        )
    for start, end, row in timed:
        slots = []
        for time in (start, end):
            slots.append(f"ts{len(order) + 1}")
            etree.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=slots[-1], TIME_VALUE=str(time))
        moment = f"a{next(numbers)}"
        outer = etree.SubElement(tier, "ANNOTATION")
        annotation = etree.SubElement(
            outer,
            "ALIGNABLE_ANNOTATION",
            ANNOTATION_ID=moment,
            TIME_SLOT_REF1=slots[0],
            TIME_SLOT_REF2=slots[1],
        )
        _add_value(annotation, str(row["text"]))
        for what, text in _said_of(row):
            outer = etree.SubElement(dependent[what], "ANNOTATION")
            annotation = etree.SubElement(
                outer,
                "REF_ANNOTATION",
                ANNOTATION_ID=f"a{next(numbers)}",
                ANNOTATION_REF=moment,
            )
            _add_value(annotation, text)


def _language(source: Film | Book) -> dict[str, str]:
    return {"LANG_REF": three_letter_code(source.language)} if source.language else {}


def _said_of(row: _Row) -> Iterator[tuple[str, str]]:
    """What the dependent tiers say of a moment; those of its passage only if it is in the book."""
    if row["in_book"]:
        yield "passage", str(row["passage"])
        yield "chapter", str(row["chapter_title"])
        lines = dict.fromkeys(str(row[end]) for end in ("line", "line_end"))  # one, or two
        yield "place", "–".join(lines) if row["line"] else str(row["href"] or "")
    yield "probability", f"{row['score']:.2f}"
    if row["judged"]:
        yield "judged", str(row["judged"])
    for what, column in (("kind", "judged_kind"), ("note", "note")):
        if row[column]:
            yield what, str(row[column])


def _add_value(annotation: etree._Element, text: str) -> None:
    etree.SubElement(annotation, "ANNOTATION_VALUE").text = xml_text(text)
