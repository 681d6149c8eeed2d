"""The illustrated edition as EPUB 3: a document for each chapter, in a ZIP archive."""

from __future__ import annotations

import html
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib import resources
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from folioreel import __version__
from folioreel.apps.adaptation import chapter_name
from folioreel.apps.illustrate import Edition, Mark, Still
from folioreel.export.xml_files import xml_text
from folioreel.files import replacing
from folioreel.ingest.books.emphasis import cut_emphasis
from folioreel.language import RIGHT_TO_LEFT
from folioreel.text import cut_text, sentence_joint, squeeze
from folioreel.times import format_clock
from folioreel.types import Chapter, Paragraph, Sentence

_SAID = '<span class="said"'
_LONGEST_LINE = 70  # characters of a line in the list of scenes
_URL = "%:/?[]@!$&'()*+,;="  # what has a meaning in an address, and is not escaped
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest: what a ZIP says of its files tells nothing

_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
_PACKAGE = """<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"
 xml:lang="{language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:language>{language}</dc:language>
<dc:description>{description}</dc:description>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>{visual}
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta name="generator" content="folioreel {version}"/>
</metadata>
<manifest>
{items}
</manifest>
<spine{direction}>
{refs}
</spine>
</package>
"""
_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"
 lang="{language}" xml:lang="{language}"{direction}>
<head>
<title>{title}</title>
<link rel="stylesheet" href="edition.css"/>
</head>
<body{kind}>
<main>
{body}
</main>
</body>
</html>
"""


@dataclass(frozen=True, kw_only=True)
class _File:
    """A file of the book; those with a place in the spine are read in this order."""

    name: str
    kind: str
    content: bytes
    properties: str = ""
    is_read: bool = False

    @property
    def item(self) -> str:
        """Its line of the manifest."""
        properties = f' properties="{self.properties}"' if self.properties else ""
        return (
            f'<item id="{_identifier(self.name)}" href="{self.name}" '
            f'media-type="{self.kind}"{properties}/>'
        )


def write_edition(
    edition: Edition, path: Path, *, link: str | None = None, modified: datetime | None = None
) -> None:
    """Write an edition as EPUB 3.

    Args:
        edition: What `make_edition` gives.
        path: The file.
        link: Where the film can be watched: times become links to this address, with the seconds
            after `#t=`. The names of the film's files are added to an address that ends with a
            slash.
        modified: The time of writing; now, unless it is given.
    """
    writer = _Writer(edition, link)
    files = list(writer.files())
    package = writer.package(files, modified or datetime.now(UTC))
    with replacing(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        # First and not compressed, so that the format can be told from the first bytes.
        _add(archive, "mimetype", b"application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", _CONTAINER.encode())
        _add(archive, "EPUB/package.opf", package.encode())
        for file in files:
            how = zipfile.ZIP_STORED if file.kind == "image/jpeg" else zipfile.ZIP_DEFLATED
            _add(archive, f"EPUB/{file.name}", file.content, how)


def _add(
    archive: zipfile.ZipFile, name: str, content: bytes, how: int = zipfile.ZIP_DEFLATED
) -> None:
    info = zipfile.ZipInfo(name, _ZIP_DATE)
    info.compress_type = how
    archive.writestr(info, content)


class _Writer:
    """The documents of an edition."""

    def __init__(self, edition: Edition, link: str | None) -> None:
        self._edition, self._link = edition, link
        self._book, self._film = edition.alignment.book, edition.alignment.film
        self._language = self._book.language or "und"
        is_turned = self._language in RIGHT_TO_LEFT
        self._direction = ' dir="rtl"' if is_turned else ""
        self._progression = ' page-progression-direction="rtl"' if is_turned else ""

    @cached_property
    def _marks(self) -> dict[int, list[Mark]]:
        """Sentence → the times that stand at it."""
        marks: dict[int, list[Mark]] = {}
        for mark in self._edition.marks:
            marks.setdefault(mark.sentence, []).append(mark)
        return marks

    @cached_property
    def _stills(self) -> dict[int, Still]:
        return {still.paragraph: still for still in self._edition.stills}

    def files(self) -> Iterator[_File]:
        """Everything in the book but its package document."""
        style = resources.files("folioreel.apps").joinpath("edition.css").read_bytes()
        yield _File(name="edition.css", kind="text/css", content=style)
        title = squeeze(self._book.title)
        yield self._document("title.xhtml", title, self._title_page(), ' class="title"')
        yield self._document(
            "nav.xhtml", f"{title}: contents", self._contents(), ' class="contents"', "nav"
        )
        for chapter in self._book.chapters:
            name = chapter_name(self._book, chapter.index)
            yield self._document(_chapter_file(chapter.index), name, self._chapter(chapter))
        if self._edition.cover is not None:
            yield _jpeg("cover.jpg", self._edition.cover, "cover-image")
        for still in self._edition.stills:
            yield _jpeg(_still_file(still), still.jpeg)

    def package(self, files: list[_File], modified: datetime) -> str:
        """The package document: what the book is called and what is in it."""
        book, film = self._book, self._film
        seed = f"folioreel edition {book.sha256} {film.sha256} {book.title} {film.title}"
        with_stills = bool(self._edition.stills)
        return _PACKAGE.format(
            language=self._language,
            identifier=uuid5(NAMESPACE_URL, xml_text(seed)),
            title=_text(squeeze(book.title) or "Untitled"),
            description=_text(self._about()),
            modified=modified.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            visual='\n<meta property="schema:accessMode">visual</meta>' if with_stills else "",
            version=__version__,
            items="\n".join(file.item for file in files),
            direction=self._progression,
            refs="\n".join(
                f'<itemref idref="{_identifier(file.name)}"/>' for file in files if file.is_read
            ),
        )

    def _document(
        self, name: str, title: str, body: str, kind: str = "", properties: str = ""
    ) -> _File:
        text = _DOCUMENT.format(
            language=self._language,
            direction=self._direction,
            title=_text(title) or "Untitled",
            kind=kind,
            body=body,
        )
        media = "application/xhtml+xml"
        return _File(
            name=name, kind=media, content=text.encode(), properties=properties, is_read=True
        )

    def _about(self) -> str:
        what = "stills" if self._edition.stills else "lines"
        return f"With {what} of the film {squeeze(self._film.title)} at their passages."

    def _title_page(self) -> str:
        names = [file.path.name for file in self._film.files if file.path is not None]
        parts = [f"<h1>{_text(squeeze(self._book.title))}</h1>"]
        if self._edition.cover is not None:
            parts.append('<p><img src="cover.jpg" alt="A still of the film"/></p>')
        parts.append(f'<p lang="en" xml:lang="en">{_text(self._about())}</p>')
        note = "Times in the margin are those of the film"
        if self._film.parts:
            note += "; the number before them is that of its file"
        listed = f" ({', '.join(names)})" if names else ""
        notes = [f"{note}{listed}."]
        if self._edition.until_s is not None:
            clock = self._film.clock(self._edition.until_s)
            notes.append(f"Covers the film up to {clock}.")
        notes += [*(f"Warning: {w}." for w in self._edition.alignment.warnings)]
        parts += [f'<p class="note" lang="en" xml:lang="en">{_text(note)}</p>' for note in notes]
        return "\n".join(parts)

    def _contents(self) -> str:
        """The chapters, and the scenes of the film."""
        chapters = [
            f'<li><a href="{_chapter_file(chapter.index)}">'
            f"{_text(chapter_name(self._book, chapter.index))}</a></li>"
            for chapter in self._book.chapters
        ]
        scenes = []
        for scene in self._edition.scenes:
            line = f"{self._film.clock(scene.start_s)} {cut_text(scene.first_line, _LONGEST_LINE)}"
            place = self._place(scene.paragraph)
            scenes.append(f'<li><a href="{place}">{_text(line)}</a></li>')
        # Readers list the first of the two in their menu, so it leads to the second.
        chapters.insert(0, '<li><a href="nav.xhtml#scenes" lang="en">Scenes of the film</a></li>')
        return (
            '<nav epub:type="toc" id="chapters" aria-labelledby="contents">'
            '<h1 id="contents" lang="en">Contents</h1>\n<ol>\n'
            + "\n".join(chapters)
            + '\n</ol>\n</nav>\n<nav epub:type="loi" id="scenes" '
            'aria-labelledby="of-film"><h2 id="of-film" lang="en">Scenes of the film</h2>\n'
            '<ol class="scenes">\n' + "\n".join(scenes) + "\n</ol>\n</nav>"
        )

    def _place(self, paragraph: int) -> str:
        return f"{_chapter_file(self._book.chapter_of[paragraph])}#p{paragraph}"

    def _chapter(self, chapter: Chapter) -> str:
        title = chapter.title or (
            chapter_name(self._book, chapter.index).capitalize() if chapter.index else ""
        )
        parts = [f"<h1>{_text(squeeze(title))}</h1>"] if title else []
        parts += [self._paragraph(self._book.paragraphs[k]) for k in chapter.paragraphs]
        return "\n".join(parts)

    def _paragraph(self, paragraph: Paragraph) -> str:
        sentences = [self._book.sentences[j] for j in paragraph.sentences]
        is_verse = any(sentence.breaks for sentence in sentences)
        inside = self._sentence(sentences[0])
        for before, after in pairwise(sentences):
            inside += sentence_joint(before.text, after.text) + self._sentence(after)
        inside = inside.replace(" <br/>", "<br/>").removeprefix("<br/>")
        kinds = ["verse"] * is_verse + ["beside"] * (_SAID in inside)
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        whole = f'<p id="p{paragraph.index}"{kind}>{inside}</p>'
        still = self._stills.get(paragraph.index)
        return whole if still is None else f"{whole}\n{self._figure(still)}"

    def _sentence(self, sentence: Sentence) -> str:
        times = "".join(map(self._time, self._marks.get(sentence.index, ())))
        cuts = [0, *filter(None, sentence.breaks), len(sentence.text)]
        lines = "<br/>".join(_line(sentence, start, end) for start, end in pairwise(cuts))
        return f"{'<br/>' if 0 in sentence.breaks else ''}{times}{lines}"

    def _time(self, mark: Mark) -> str:
        """A time in the margin; of a film without pictures, also what is said then."""
        part, local_s = self._film.locate(self._film.moments[mark.moment].start_s)
        clock = format_clock(local_s)
        clock = f"{part + 1}·{clock}" if self._film.parts else clock
        time = f'<span class="time">{self._linked(clock, mark.moment)} </span>'
        if self._edition.stills or not mark.said:
            return time
        # Inside the paragraph: beside the line at which its time stands.
        return f"{time}{_SAID}{_lang(self._film.language)}>{_text(mark.said)} </span>"

    def _figure(self, still: Still) -> str:
        moment = self._film.moments[still.moment]
        clock = self._film.clock(moment.start_s)
        said = f" <q{_lang(self._film.language)}>{_text(moment.text)}</q>" if moment.text else ""
        alt = html.escape(xml_text(f"Still of the film at {clock}"))
        return (
            f'<figure><img src="{_still_file(still)}" alt="{alt}"/>'
            f"<figcaption>{self._linked(_text(clock), still.moment)}{said}</figcaption></figure>"
        )

    def _linked(self, text: str, moment: int) -> str:
        """Text as a link to the moment, if the film has an address."""
        if self._link is None:
            return text
        time_s = self._film.moments[moment].start_s
        address = quote(self._link, safe=_URL)
        if address.endswith("/"):
            part, time_s = self._film.locate(time_s)
            path = self._film.files[part].path
            address += quote("" if path is None else path.name)
        return f'<a href="{html.escape(address)}#t={time_s:.1f}">{text}</a>'


def _line(sentence: Sentence, start: int, end: int) -> str:
    """One line of verse, or a whole sentence of prose, with its italics."""
    text = sentence.text[start:end].rstrip()
    markup, at = "", 0
    for a, b in cut_emphasis(sentence.emphasis, start, start + len(text)):
        markup += f"{_text(text[at:a])}<i>{_text(text[a:b])}</i>"
        at = b
    return markup + _text(text[at:])


def _jpeg(name: str, content: bytes, properties: str = "") -> _File:
    return _File(name=name, kind="image/jpeg", content=content, properties=properties)


def _chapter_file(chapter: int) -> str:
    return f"chapter{chapter + 1:04}.xhtml"


def _still_file(still: Still) -> str:
    return f"still{still.moment:05}.jpg"


def _identifier(name: str) -> str:
    return name.replace(".", "-")


def _lang(language: str | None) -> str:
    return f' lang="{language}" xml:lang="{language}"' if language else ""


def _text(text: str) -> str:
    """Text as it stands in a document."""
    return html.escape(xml_text(text), quote=False)
