"""EPUB → blocks, on books built here as the usual tools build them."""

import contextlib
import io
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.book import load_book
from folioreel.ingest.books import epub
from folioreel.ingest.books.blocks import Manuscript
from folioreel.ingest.books.titles import is_break, matter_kind
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import open_source


def read_epub(path: Path) -> Manuscript:
    return epub.read_epub(open_source(path))


P, H, V, B = "paragraph", "heading", "verse", "break"
CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" '
    'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{opf}" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>"
)
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head>{body}</html>'
)
PROSE = "The ferry crossed the river at dawn, and nobody spoke of it in the morning. " * 12


def page(body: str, title: str = "", types: str = "") -> str:
    marked = f' epub:type="{types}"' if types else ""
    return XHTML.format(title=title, body=f"<body{marked}>{body}</body>")


def nav(links: list[tuple[str, str]], landmarks: list[tuple[str, str, str]] = ()) -> str:
    rows = "".join(f'<li><a href="{href}">{label}</a></li>' for href, label in links)
    marks = "".join(
        f'<li><a epub:type="{kind}" href="{href}">{label}</a></li>'
        for href, label, kind in landmarks
    )
    return page(
        f'<nav epub:type="toc"><h2>Contents</h2><ol>{rows}</ol></nav>'
        f'<nav epub:type="landmarks"><ol>{marks}</ol></nav>'
    )


def ncx(points: list[tuple[str, str]]) -> str:
    rows = "".join(
        f'<navPoint id="n{k}" playOrder="{k}"><navLabel><text>{label}</text></navLabel>'
        f'<content src="{src}"/></navPoint>'
        for k, (src, label) in enumerate(points)
    )
    return (
        '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" '
        '"http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">'
        f"<navMap>{rows}</navMap></ncx>"
    )


def package(
    documents: list[str],
    *,
    version: str = "3.0",
    extra: str = "",
    spine: str = "",
    guide: str = "",
    metadata: str = "",
) -> str:
    items = "".join(
        f'<item id="d{k}" href="{href}" media-type="application/xhtml+xml"/>'
        for k, href in enumerate(documents)
    )
    refs = spine or "".join(f'<itemref idref="d{k}"/>' for k in range(len(documents)))
    return (
        f'<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="{version}">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Ferry</dc:title>'
        "<dc:creator>Petra Lindqvist</dc:creator><dc:language>en</dc:language>"
        f"{metadata}</metadata>"
        f'<manifest>{items}{extra}</manifest><spine toc="ncx">{refs}</spine>{guide}</package>'
    )


NAV_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'


def pack(folder: Path, files: dict[str, str | bytes], name: str = "book.epub") -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for member, data in files.items():
            archive.writestr(member, data)
    return path


def epub3(
    documents: dict[str, str],
    links: list[tuple[str, str]] = (),
    landmarks: list[tuple[str, str, str]] = (),
    **options: str,
) -> dict[str, str | bytes]:
    files = {f"EPUB/{name}": text for name, text in documents.items()}
    return {
        "META-INF/container.xml": CONTAINER.format(opf="EPUB/content.opf"),
        "EPUB/content.opf": package(list(documents), extra=NAV_ITEM, **options),
        "EPUB/nav.xhtml": nav(list(links), list(landmarks)),
        **files,
    }


def epub2(
    documents: dict[str, str], points: list[tuple[str, str]] = (), **options: str
) -> dict[str, str | bytes]:
    files = {f"OEBPS/{name}": text for name, text in documents.items()}
    return {
        "META-INF/container.xml": CONTAINER.format(opf="OEBPS/content.opf"),
        "OEBPS/content.opf": package(list(documents), version="2.0", extra=NCX_ITEM, **options),
        "OEBPS/toc.ncx": ncx(list(points)),
        **files,
    }


def said(book: Manuscript) -> list[tuple[str, str]]:
    return [(block.kind, block.text.strip()) for block in book.blocks]


STORY = [(H, "CHAPTER I"), (P, PROSE.strip()), (H, "CHAPTER II"), (P, PROSE.strip())]
CHAPTERS = {
    "ch1.xhtml": page(f"<h2>CHAPTER I</h2><p>{PROSE}</p>"),
    "ch2.xhtml": page(f"<h2>CHAPTER II</h2><p>{PROSE}</p>"),
}


@pytest.mark.parametrize("build", [epub2, epub3])
def test_story_title_language_and_places(tmp_path: Path, build) -> None:
    book = read_epub(pack(tmp_path, build(CHAPTERS)))
    assert said(book) == STORY
    assert (book.title, book.language, book.notes) == ("The Ferry", "en", ())
    folder = "EPUB" if build is epub3 else "OEBPS"
    assert [b.href for b in book.blocks] == [f"{folder}/ch{n}.xhtml" for n in (1, 1, 2, 2)]
    assert [b.offset for b in book.blocks] == [0, 10, 0, 11]


def test_spine_order_decides_and_linear_no_is_left_out(tmp_path: Path) -> None:
    spine = '<itemref idref="d1"/><itemref idref="d2" linear="no"/><itemref idref="d0"/>'
    documents = {**CHAPTERS, "extra.xhtml": page("<p>Aside.</p>")}
    book = read_epub(pack(tmp_path, epub3(documents, spine=spine)))
    assert said(book) == STORY[2:] + STORY[:2]


# --- as the tools make them ---------------------------------------------------------------------


def calibre() -> dict[str, str | bytes]:
    """Calibre: a cover in titlepage.xhtml, split files, classes without meaning, an NCX."""
    cover = page('<div><svg xmlns="http://www.w3.org/2000/svg"><image/></svg></div>', "Cover")
    one = page(f'<p class="calibre2" id="c1">CHAPTER I</p><p class="calibre1">{PROSE}</p>')
    two = page(f'<p class="calibre2" id="c2">CHAPTER II</p><p class="calibre1">{PROSE}</p>')
    return epub2(
        {"titlepage.xhtml": cover, "text/i_split_000.html": one, "text/i_split_001.html": two},
        [("text/i_split_000.html#c1", "CHAPTER I"), ("text/i_split_001.html", "CHAPTER II")],
        guide='<guide><reference type="cover" title="Cover" href="titlepage.xhtml"/></guide>',
    )


def sigil() -> dict[str, str | bytes]:
    """Sigil: Text/Section0001.xhtml, escaped names, headings and an NCX."""
    names = ["Text/Section%200001.xhtml", "Text/Section0002.xhtml"]
    files = epub2(
        dict(zip(names, CHAPTERS.values(), strict=True)),
        [(names[0], "CHAPTER I"), (names[1], "CHAPTER II")],
    )
    files["OEBPS/Text/Section 0001.xhtml"] = files.pop(f"OEBPS/{names[0]}")
    return files


def pandoc() -> dict[str, str | bytes]:
    """Pandoc: title_page.xhtml and nav.xhtml in the spine, sections, h1 chapters."""
    title = page(
        '<section epub:type="titlepage"><h1 class="title">The Ferry</h1></section>',
        types="frontmatter",
    )
    chapters = {
        f"text/ch00{n}.xhtml": page(
            f'<section id="c{n}" class="level1"><h1>CHAPTER {"I" * n}</h1><p>{PROSE}</p></section>',
            types="bodymatter",
        )
        for n in (1, 2)
    }
    spine = '<itemref idref="d0"/><itemref idref="nav"/><itemref idref="d1"/><itemref idref="d2"/>'
    links = [("text/title_page.xhtml", "The Ferry")]
    links += [(f"text/ch00{n}.xhtml#c{n}", "CHAPTER " + "I" * n) for n in (1, 2)]
    return epub3({"text/title_page.xhtml": title, **chapters}, links, spine=spine)


def ebookmaker() -> dict[str, str | bytes]:
    """Gutenberg: long names, the frame in sections, contents as links, several chapters a file."""
    first = page(
        '<section class="pg-boilerplate pgheader" id="pg-header"><h2>The Project Gutenberg eBook '
        'of The Ferry</h2><div id="pg-start-separator">*** START ***</div></section>'
        '<h2>CONTENTS</h2><table><tr><td><a href="#c1" class="pginternal">CHAPTER I</a></td></tr>'
        '<tr><td><a href="#c2" class="pginternal">CHAPTER II</a></td></tr>'
        '<tr><td><a href="#e" class="pginternal">THE END</a></td></tr></table>'
        f'<div class="chapter"><h2 id="c1">CHAPTER I</h2><p>{PROSE}'
        '<span class="x-ebookmaker-pageno" title="[4]"><a id="Page_4"></a>[4]</span>'
        '<a id="FNanchor_1"></a><a href="#Footnote_1" class="fnanchor pginternal">[1]</a></p></div>'
    )
    second = page(
        f'<div class="chapter"><h2 id="c2">CHAPTER II</h2><p>{PROSE}</p></div>'
        '<div class="footnotes"><h3>FOOTNOTES:</h3><div class="footnote"><p><a id="Footnote_1"></a>'
        '<a href="#FNanchor_1" class="pginternal"><span class="label">[1]</span></a> A note.</p>'
        "</div></div>"
    )
    licence = page(
        '<section class="pg-boilerplate pgheader" id="pg-footer"><h2>THE FULL PROJECT GUTENBERG '
        "LICENSE</h2><p>Please read this.</p></section>"
    )
    names = [f"817-h@817-h-{n}.htm.xhtml" for n in range(3)]
    documents = dict(zip(names, (first, second, licence), strict=True))
    wrapper = page('<div class="x-ebookmaker-cover"><img alt="Cover" src="c.jpg"/></div>')
    points = [(f"{names[0]}#c1", "CHAPTER I"), (f"{names[1]}#c2", "CHAPTER II")]
    points += [(f"{names[2]}#pg-footer", "THE FULL PROJECT GUTENBERG LICENSE")]
    return epub2({"wrap0000.xhtml": wrapper, **documents}, points)


def standard_ebooks() -> dict[str, str | bytes]:
    """Standard Ebooks: a document each for front and back matter, all marked by epub:type."""
    front = {
        "text/titlepage.xhtml": '<section epub:type="titlepage"><h1>The Ferry</h1></section>',
        "text/imprint.xhtml": '<section epub:type="imprint"><p>Made by volunteers.</p></section>',
        "text/dedication.xhtml": '<section epub:type="dedication"><p>To Ann.</p></section>',
        "text/halftitle.xhtml": '<section epub:type="halftitlepage"><h2>Ferry</h2></section>',
    }
    back = {
        "text/endnotes.xhtml": '<section epub:type="endnotes"><ol><li>A note.</li></ol></section>',
        "text/colophon.xhtml": '<section epub:type="colophon"><p>Set in type.</p></section>',
        "text/uncopyright.xhtml": '<section epub:type="copyright-page"><p>Free.</p></section>',
    }
    documents = {name: page(body, types="frontmatter") for name, body in front.items()}
    documents |= {
        f"text/chapter-{n}.xhtml": page(
            f'<section epub:type="chapter"><h2 epub:type="title">CHAPTER {"I" * n}</h2><p>{PROSE}'
            f'<a href="endnotes.xhtml#note-{n}" epub:type="noteref">{n}</a></p></section>',
            types="bodymatter z3998:fiction",
        )
        for n in (1, 2)
    }
    documents |= {name: page(body, types="backmatter") for name, body in back.items()}
    links = [(name, name.split("/")[1].removesuffix(".xhtml").title()) for name in documents]
    links = [(h, "CHAPTER " + "I" * int(t[-1]) if t[-1].isdigit() else t) for h, t in links]
    return epub3(documents, links, [("text/imprint.xhtml", "Imprint", "frontmatter imprint")])


@pytest.mark.parametrize("build", [calibre, sigil, pandoc, ebookmaker, standard_ebooks])
def test_the_usual_tools(tmp_path: Path, build) -> None:
    assert said(read_epub(pack(tmp_path, build()))) == STORY


# --- chapters by the table of contents ----------------------------------------------------------


def test_a_label_that_no_heading_says_becomes_one(tmp_path: Path) -> None:
    documents = {f"ch{n}.xhtml": page(f"<p>{PROSE}</p>") for n in (1, 2)}
    links = [("ch1.xhtml", "The Ferry Leaves"), ("ch2.xhtml", "The Ferry Returns")]
    for files in (epub3(documents, links), epub2(documents, links)):
        book = read_epub(pack(tmp_path, files))
        assert said(book) == [
            (H, "The Ferry Leaves"),
            (P, PROSE.strip()),
            (H, "The Ferry Returns"),
            (P, PROSE.strip()),
        ]
        assert book.blocks[1].offset == len("The Ferry Leaves\n")


def test_a_fragment_makes_a_heading_where_it_points(tmp_path: Path) -> None:
    body = f'<p id="a">{PROSE}</p><p>Then <a id="b"/>he left.</p><p id="c">End.</p>'
    links = [("one.xhtml#a", "Morning"), ("one.xhtml#b", "Noon"), ("one.xhtml#c", "Night")]
    book = read_epub(pack(tmp_path, epub3({"one.xhtml": page(body)}, links)))
    assert said(book) == [
        (H, "Morning"),
        (P, PROSE.strip()),
        (H, "Noon"),
        (P, "Then he left."),
        (H, "Night"),
        (P, "End."),
    ]


@pytest.mark.parametrize(
    ("body", "label", "headings"),
    [
        ("<p>Chapter One</p><p>{}</p>", "Chapter One", ["Chapter One"]),
        ("<p>1</p><p>Morning</p><p>{}</p>", "1. Morning", ["1", "Morning"]),
        ("<h2>I</h2><p>{}</p>", "I: Morning", ["I"]),
        ("<p>A picture.</p><h2>Morning</h2><p>{}</p>", "Morning", ["Morning"]),
        ("<p>{}</p>", "Start", []),
        ("<p>{}</p>", "ch1.xhtml", []),
        ("<p>{}</p>", PROSE[:30], []),
    ],
)
def test_labels_meet_what_the_text_says(tmp_path, body, label, headings) -> None:
    files = epub3({"one.xhtml": page(body.format(PROSE))}, [("one.xhtml", label)])
    book = read_epub(pack(tmp_path, files))
    assert [b.text for b in book.blocks if b.kind == "heading"] == headings


def test_paragraphs_that_count_are_headings_where_nothing_else_is(tmp_path: Path) -> None:
    body = "".join(f"<p>{numeral}</p><p>{PROSE}</p>" for numeral in ("I", "II", "III"))
    book = read_epub(pack(tmp_path, epub3({"one.xhtml": page(f"<h1>The Ferry</h1>{body}")})))
    heads = [block.text for block in book.blocks if block.kind == "heading"]
    assert heads == ["The Ferry", "I", "II", "III"]
    counted = f"<h1>The Ferry</h1><p>3</p><p>{PROSE}</p><p>1</p><p>{PROSE}</p><p>2</p>"
    book = read_epub(pack(tmp_path, epub3({"one.xhtml": page(counted)})))
    assert [block.text for block in book.blocks if block.kind == "heading"] == ["The Ferry"]


def test_nested_contents_keep_parts_and_chapters(tmp_path: Path) -> None:
    documents = {f"c{n}.xhtml": page(f"<p>{PROSE}</p>") for n in (1, 2)}
    files = epub3(documents)
    files["EPUB/nav.xhtml"] = page(
        '<nav epub:type="toc"><ol><li><a href="c1.xhtml">PART ONE</a><ol>'
        '<li><a href="c1.xhtml">Chapter 1</a></li><li><a href="c2.xhtml">Chapter 2</a></li>'
        "</ol></li></ol></nav>"
    )
    book = read_epub(pack(tmp_path, files))
    heads = [block.text for block in book.blocks if block.kind == "heading"]
    assert heads == ["PART ONE", "Chapter 1", "Chapter 2"]


# --- what is no part of the story ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "body", "label"),
    [
        ("cover.xhtml", "<p>The Ferry</p>", None),
        ("x.xhtml", "<p>Copyright 1999</p>", "Copyright"),
        ("x.xhtml", "<h2>Contents</h2><p>Chapter 1</p>", None),
        ("x.xhtml", "<p>To Ann.</p>", "Dedication"),
        ("notes.xhtml", "<p>1. A note.</p>", None),
        ("x.xhtml", "<h2>Notes</h2><p>1. A note.</p>", "Notes"),
        ("x.xhtml", "<p>Ann lives by a river.</p>", "About the Author"),
        ("x.xhtml", "<p>On the text.</p>", "Translator’s Note"),
    ],
)
def test_matter_is_left_out(tmp_path, name, body, label) -> None:
    links = [(name, label)] if label else []
    links += [("ch1.xhtml", "CHAPTER I"), ("ch2.xhtml", "CHAPTER II")]
    book = read_epub(pack(tmp_path, epub3({name: page(body), **CHAPTERS}, links)))
    assert said(book) == STORY
    assert book.notes == (f"skipped documents that are not part of the story: {label or name}",)


@pytest.mark.parametrize(
    "label",
    [
        "Prologue",
        "Epilogue",
        "Author’s Note",
        "Extract from a Diary",
        "The Cover",
        "Contents of a Pocket",
    ],
)
def test_what_belongs_to_the_story_stays(tmp_path: Path, label: str) -> None:
    links = [("a.xhtml", label), ("ch1.xhtml", "CHAPTER I"), ("ch2.xhtml", "CHAPTER II")]
    documents = {"a.xhtml": page(f"<h2>{label}</h2><p>Before.</p>"), **CHAPTERS}
    book = read_epub(pack(tmp_path, epub3(documents, links)))
    assert said(book) == [(H, label), (P, "Before."), *STORY]


@pytest.mark.parametrize(
    "label",
    ["Preface", "Introduction", "Foreword", "Introduction by Petra Lindqvist", "Foreword by M. B."],
)
@pytest.mark.parametrize("heading", ["<h2>{}</h2>", ""])
def test_prefaces_go_whoever_wrote_them(tmp_path: Path, label: str, heading: str) -> None:
    links = [("a.xhtml", label), ("ch1.xhtml", "CHAPTER I"), ("ch2.xhtml", "CHAPTER II")]
    documents = {"a.xhtml": page(f"{heading.format(label)}<p>Before.</p>"), **CHAPTERS}
    book = load_book(pack(tmp_path, epub3(documents, links)))
    assert [chapter.title for chapter in book.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert "Before." not in [sentence.text for sentence in book.sentences]


@pytest.mark.parametrize("kind", ["foreword", "preface", "introduction"])
@pytest.mark.parametrize("title", ["Foreword", "Introduction", "How It Began"])
def test_a_preface_marked_as_front_matter_goes_and_one_in_the_fiction_stays(
    tmp_path: Path, kind: str, title: str
) -> None:
    body = f'<section epub:type="{kind}"><h2>{title}</h2><p>It was all by me.</p></section>'
    for types, stays in (("frontmatter", False), ("bodymatter", True)):
        documents = {"a.xhtml": page(body, types=types), **CHAPTERS}
        book = load_book(pack(tmp_path, epub3(documents)))
        assert (title in [chapter.title for chapter in book.chapters]) is stays


@pytest.mark.parametrize(
    "opening",
    [
        '<h2><a href="toc.xhtml#ref1">1</a></h2>',
        '<div><h2><a href="toc.xhtml#ref1">1</a></h2></div>',
        '<h2>1<a href="notes.xhtml#fn1">[1]</a></h2>',
    ],
)
@pytest.mark.parametrize("outer", ["{}", "<section>{}</section>", "<div>{}</div>"])
def test_a_chapter_may_open_with_a_link_or_a_note_mark(tmp_path, opening, outer) -> None:
    body = outer.format(f"{opening}<p>{PROSE}</p>")
    documents = {"a.xhtml": page(body), "b.xhtml": page(body.replace(">1<", ">2<"))}
    text = (P, PROSE.strip())
    assert said(read_epub(pack(tmp_path, epub3(documents)))) == [(H, "1"), text, (H, "2"), text]


def test_a_chapter_whose_first_paragraph_opens_with_a_note_mark_is_not_dropped(tmp_path) -> None:
    chapter = (
        f'<p><a href="notes.xhtml#fn1">[1]</a> So it began.</p><p>{PROSE}</p>' + "<p>More.</p>"
    )
    for outer in ("{}", "<section>{}</section>", "<div>{}</div>"):
        body = outer.format(chapter + f"<p>{PROSE * 5}</p>")
        book = read_epub(pack(tmp_path, epub3({"a.xhtml": page(body), **CHAPTERS})))
        assert (P, "More.") in said(book)


def test_guide_and_landmarks_name_matter(tmp_path: Path) -> None:
    documents = {"x1.xhtml": page("<p>Of many lands.</p>"), **CHAPTERS}
    guide = '<guide><reference type="copyright-page" href="x1.xhtml"/></guide>'
    assert said(read_epub(pack(tmp_path, epub2(documents, guide=guide)))) == STORY
    marks = [("x1.xhtml", "Dedication", "dedication"), ("ch1.xhtml", "Start", "bodymatter")]
    assert said(read_epub(pack(tmp_path, epub3(documents, landmarks=marks)))) == STORY


def test_a_large_document_is_the_story_whatever_it_is_called(tmp_path: Path) -> None:
    documents = {"cover.xhtml": page(f"<p>{PROSE}</p>"), "b.xhtml": page("<p>And so on.</p>")}
    guide = '<guide><reference type="cover" href="cover.xhtml"/></guide>'
    book = read_epub(pack(tmp_path, epub2(documents, guide=guide)))
    assert said(book) == [(P, PROSE.strip()), (P, "And so on.")]


def test_a_book_of_one_document_is_read(tmp_path: Path) -> None:
    book = read_epub(pack(tmp_path, epub3({"titlepage.xhtml": page(f"<p>{PROSE}</p>")})))
    assert said(book) == [(P, PROSE.strip())]


# --- what is wrong with a file ------------------------------------------------------------------


def encryption(algorithm: str, target: str) -> str:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
        'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
        f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData>'
        f'<enc:CipherReference URI="{target}"/></enc:CipherData></enc:EncryptedData></encryption>'
    )


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


@pytest.mark.parametrize(
    ("extra", "scheme"),
    [
        ({"META-INF/encryption.xml": encryption(AES, "EPUB/ch1.xhtml")}, "DRM"),
        ({"META-INF/rights.xml": "<rights/>"}, "Adobe"),
        ({"META-INF/sinf.xml": "<sinf/>"}, "FairPlay"),
        ({"META-INF/license.lcpl": "{}"}, "LCP"),
    ],
)
def test_protection_is_named(tmp_path: Path, extra: dict[str, str], scheme: str) -> None:
    with pytest.raises(InputError, match=rf"protected \(.*{scheme}.*\); give a copy"):
        read_epub(pack(tmp_path, epub3(CHAPTERS) | extra))


@pytest.mark.parametrize(
    "algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"]
)
def test_obfuscated_fonts_are_no_protection(tmp_path: Path, algorithm: str) -> None:
    extra = {"META-INF/encryption.xml": encryption(algorithm, "EPUB/fonts/a.otf")}
    assert said(read_epub(pack(tmp_path, epub3(CHAPTERS) | extra))) == STORY


def broken(kind: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in epub3(CHAPTERS).items():
            archive.writestr(name, data)
    data = bytearray(buffer.getvalue())
    if kind == "truncated":
        return bytes(data[: len(data) // 2])
    if kind == "password":  # the flag of encryption, in local and central headers
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = data.find(mark)
            while at >= 0:
                data[at + offset] |= 1
                at = data.find(mark, at + 4)
        return bytes(data)
    return b"This is a plain text."


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("not a zip", "not an EPUB"),
        ("truncated", "cut short or damaged; download"),
        ("password", "behind a password"),
    ],
)
def test_broken_archives(tmp_path: Path, kind: str, message: str) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(broken(kind))
    with pytest.raises(InputError, match=message):
        read_epub(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"META-INF/container.xml": None}, "container.xml is missing"),
        ({"EPUB/content.opf": None}, "no package document"),
        ({"EPUB/content.opf": package([], extra=NAV_ITEM)}, "no documents"),
        ({"EPUB/content.opf": "\x00\x01"}, "not"),
        ({"EPUB/ch1.xhtml": "", "EPUB/ch2.xhtml": "<html/>"}, "no text"),
    ],
)
def test_missing_parts(tmp_path: Path, change: dict[str, str | None], message: str) -> None:
    files = {k: v for k, v in (epub3(CHAPTERS) | change).items() if v is not None}
    with pytest.raises(InputError, match=message):
        read_epub(pack(tmp_path, files))


def test_a_missing_chapter_is_noted(tmp_path: Path) -> None:
    files = epub3({**CHAPTERS, "ch3.xhtml": page("<p>Gone.</p>")})
    del files["EPUB/ch3.xhtml"]
    book = read_epub(pack(tmp_path, files))
    assert said(book) == STORY
    assert book.notes == ("missing from the EPUB: EPUB/ch3.xhtml",)


def test_a_damaged_chapter_is_an_error(tmp_path: Path) -> None:
    path = pack(tmp_path, epub3(CHAPTERS))
    data = bytearray(path.read_bytes())
    at = data.find(b"EPUB/ch1.xhtml") + len("EPUB/ch1.xhtml") + 20
    data[at : at + 30] = b"\xff" * 30
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        read_epub(path)


def test_a_comic_has_no_text(tmp_path: Path) -> None:
    pages = {f"p{n}.xhtml": page(f'<div><img src="{n}.jpg" alt=""/></div>') for n in range(9)}
    images = "".join(f'<item id="i{n}" href="{n}.jpg" media-type="image/jpeg"/>' for n in range(9))
    files = epub3(pages)
    files["EPUB/content.opf"] = package(list(pages), extra=NAV_ITEM + images)
    with pytest.raises(InputError, match="pictures and no text"):
        read_epub(pack(tmp_path, files))


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("folioreel.ingest.source.LARGEST_TEXT", 10_000)
    huge = {"ch1.xhtml": page(f"<p>{'a' * 100_000}</p>"), "ch2.xhtml": CHAPTERS["ch2.xhtml"]}
    with pytest.raises(InputError, match="more than 0 MB of text"):
        read_epub(pack(tmp_path, epub3(huge)))


def test_names_that_differ_in_writing(tmp_path: Path) -> None:
    files = epub3(CHAPTERS)
    files["EPUB/CH1.XHTML"] = files.pop("EPUB/ch1.xhtml")
    files["EPUB\\ch2.xhtml"] = files.pop("EPUB/ch2.xhtml")
    assert said(read_epub(pack(tmp_path, files))) == STORY


def test_a_book_packed_with_its_folder(tmp_path: Path) -> None:
    files = {f"The Ferry/{name}": data for name, data in epub3(CHAPTERS).items()}
    assert said(read_epub(pack(tmp_path, files))) == STORY


def test_a_chapter_in_an_old_encoding_and_broken_markup(tmp_path: Path) -> None:
    text = "<html><head><meta charset='windows-1252'></head><body><p>“Café”<p>Two & three"
    files = epub3({"a.html": "", "b.xhtml": CHAPTERS["ch1.xhtml"]})
    files["EPUB/a.html"] = text.encode("cp1252")
    assert said(read_epub(pack(tmp_path, files)))[:2] == [(P, "“Café”"), (P, "Two & three")]


# --- any text, any bytes ------------------------------------------------------------------------

LETTERS = st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="\ufeff")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(LETTERS, min_size=1), min_size=1, max_size=5))
def test_any_text_survives(texts: list[str]) -> None:
    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    # A line that says "NOTES", with nothing below it, is left out on purpose.
    assume(not any(matter_kind(text) or text.strip(" .:").lower() == "note" for text in texts))
    body = "".join(f"<p>{escaped(text)}</p>" for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        path = pack(
            Path(folder), epub3({"a.xhtml": page(body), "b.xhtml": page(f"<p>{PROSE}</p>")})
        )
        blocks = read_epub(path).blocks
    wanted = [t for t in map(clean_text, texts) if t and not is_break(t)]
    assert [b.text for b in blocks if b.kind != "break"] == [*wanted, PROSE.strip()]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 3000))
def test_any_bytes_give_blocks_or_our_error(data: bytes, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pack(Path(folder), epub3(CHAPTERS))
        sound = path.read_bytes()
        for damaged in (data, sound[:at] + data + sound[at + len(data) :]):
            path.write_bytes(damaged)
            with contextlib.suppress(FolioReelError):
                read_epub(path)
