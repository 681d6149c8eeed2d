"""TEI P5: a timeline, the moments, the passages, and the links between them as stand-off markup.

The book's text is not repeated: a passage points into its file, and quotes the sentence alone.
`cert` of a link is its probability, `type` says how the passage is rendered (dialogue, visual or
audio), and `resp` whether a reader judged it or folioreel found it. Moments that are not in the
book have no link. A reader's notes point to their moments.
"""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from folioreel import __version__
from folioreel.export.places import address_of, book_place
from folioreel.export.xml_files import write_xml, xml_text
from folioreel.language import language_name
from folioreel.types import Alignment

_TEI = "http://www.tei-c.org/ns/1.0"
_XML = "{http://www.w3.org/XML/1998/namespace}"
_ID, _LANG = f"{_XML}id", f"{_XML}lang"


def write_tei(alignment: Alignment, path: Path) -> None:
    """Write the alignment as a TEI document that holds nothing but a header and stand-off."""
    root = etree.Element(f"{{{_TEI}}}TEI", nsmap={None: _TEI})
    _add_header(root, alignment, path)
    _add_languages(root[0], alignment)
    standoff = _add(root, "standOff")
    _add_moments(standoff, alignment)
    _add_passages(standoff, alignment, path)
    _add_links(standoff, alignment)
    _add_notes(standoff, alignment)
    write_xml(root, path)


def _add_header(root: etree._Element, alignment: Alignment, path: Path) -> None:
    book, film = alignment.book, alignment.film
    description = _add(_add(root, "teiHeader"), "fileDesc")
    titles = _add(description, "titleStmt")
    _add(titles, "title", f"{alignment.title}: links between film and book")
    for name, duty, who in (
        ("folioreel", "alignment", f"folioreel {__version__}"),
        ("reader", "judgement of links", "a reader"),
    ):
        statement = _add(titles, "respStmt", **{_ID: name})
        _add(statement, "resp", duty)
        _add(statement, "name", who)
    _add(_add(description, "publicationStmt"), "p", "Written by folioreel; not published.")
    sources = _add(_add(description, "sourceDesc"), "listBibl")
    languages = {"book": book.language, "film": None}  # films are called as their files are
    files = [("book", volume) for volume in book.volumes or (book,)]
    for kind, file in [*files, *(("film", part) for part in film.files)]:
        entry = _add(sources, "bibl", type=kind)
        _add(entry, "title", file.title, **_lang(languages[kind]))
        if file.sha256:
            _add(entry, "idno", file.sha256, type="sha256")
        if file.path is not None:
            _add(entry, "ptr", target=address_of(file.path, file.title, path))


def _add_languages(header: etree._Element, alignment: Alignment) -> None:
    """What the moments and the passages are in."""
    used = {source.language for source in (alignment.book, alignment.film)} - {None}
    usage = _add(_add(header, "profileDesc"), "langUsage") if used else None
    for code in sorted(map(str, used)):
        _add(usage, "language", language_name(code), ident=code)


def _lang(language: str | None) -> dict[str, str]:
    return {_LANG: language} if language else {}


def _add_moments(standoff: etree._Element, alignment: Alignment) -> None:
    """The times, counted from the start of the film, and what is said."""
    film = alignment.film
    timeline = _add(standoff, "timeline", unit="s", origin="#T0")
    _add(timeline, "when", **{_ID: "T0"}, absolute="00:00:00")
    ids = {0.0: "T0"}
    for time_s in sorted({t for m in film.moments for t in (m.start_s, m.end_s)} - {0.0}):
        ids[time_s] = f"T{len(ids)}"
        _add(timeline, "when", **{_ID: ids[time_s]}, interval=f"{time_s:.3f}", since="#T0")
    group = _add(standoff, "spanGrp", type="moment", **_lang(film.language))
    for moment in film.moments:
        span = _add(
            group,
            "span",
            moment.text,
            **{_ID: f"moment-{moment.index}"},
            type=moment.kind,
        )
        span.set("from", f"#{ids[moment.start_s]}")
        span.set("to", f"#{ids[moment.end_s]}")


def _add_passages(standoff: etree._Element, alignment: Alignment, path: Path) -> None:
    """The linked sentences, each once, in the order of the book."""
    linked = {j for link in alignment.links if link.in_book for j in link.sentences}
    language = _lang(alignment.book.language)
    group = _add(standoff, "spanGrp", type="passage", **language) if linked else None
    for sentence in sorted(linked):
        place = book_place(alignment.book, range(sentence, sentence + 1), path)
        fragment = f"#{place.fragment}" if place.fragment else ""
        _add(
            group,
            "span",
            alignment.book.sentences[sentence].text,
            **{_ID: f"sentence-{sentence}"},
            target=f"{place.address}{fragment}".replace(" ", "%20"),
        )


def _add_links(standoff: etree._Element, alignment: Alignment) -> None:
    """A link from each moment to the sentences of its passage.

    `targFunc` names each target, so passages of several sentences have groups of their own.
    """
    groups: dict[int, etree._Element] = {}  # TEI does not allow an empty one
    links = [link for link in alignment.links if link.in_book]
    for link in sorted(links, key=lambda link: len(link.sentences)):
        size = len(link.sentences)
        if size not in groups:
            targets = " ".join(["moment", *["passage"] * size])
            groups[size] = _add(standoff, "linkGrp", type="rendering", targFunc=targets)
        kind = link.annotation.kind if link.annotation else None
        _add(
            groups[size],
            "link",
            target=" ".join(
                [f"#moment-{link.moment}", *(f"#sentence-{j}" for j in link.sentences)]
            ),
            type=kind or alignment.film.moments[link.moment].kind,
            cert=f"{link.score:.4f}",
            resp="#reader" if link.judged else "#folioreel",
        )


def _add_notes(standoff: etree._Element, alignment: Alignment) -> None:
    """A reader's notes, each once, on all moments that it speaks of."""
    said = [(link.moment, link.annotation) for link in alignment.links]
    noted = [a for moment, a in said if a is not None and a.note and moment == a.moments[0]]
    notes = _add(standoff, "listAnnotation") if noted else None
    for annotation in noted:
        first, last = annotation.moments
        target = " ".join(f"#moment-{moment}" for moment in range(first, last + 1))
        _add(notes, "note", annotation.note, target=target, resp="#reader")


def _add(
    parent: etree._Element, name: str, text: str | None = None, **attributes: str
) -> etree._Element:
    element = etree.SubElement(parent, f"{{{_TEI}}}{name}")
    for key, value in attributes.items():
        element.set(key, xml_text(value))
    element.text = xml_text(text) if text else None
    return element
