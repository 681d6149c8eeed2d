"""Italics that only a style sheet knows, against rules written by hand."""

import time
from pathlib import Path

from test_emphasis import italics
from test_epub import XHTML, epub3, pack

from folioreel.ingest.book import load_book
from folioreel.ingest.books.style_sheets import read_italics

TEXT = (
    "<p class='calibre1'>He was <span class='calibre3'>very</span> late for the "
    "<b class='calibre3'>boat</b>.</p>"
    "<p class='calibre1'>She <span class='tx'>did not</span> see <b class='tx'>him</b> leave.</p>"
)


def test_what_a_sheet_says_of_classes():
    css = """@charset "utf-8";
    @font-face { font-family: "Serif"; font-style: italic; src: url(a.otf) }
    .a, P.b{font-style:italic} /* .c { font-style: italic } */
    .d { color: red; FONT: Oblique 1em serif }
    .e { font-style: italic } .e { font-style: normal }
    p .f, .g > i, #h, .i:hover { font-style: italic }
    @media (min-width: 10em) { .j { font-style: italic; } }
    .k { font-family: italic }"""
    assert read_italics(css) == {
        (None, "a"): True,
        ("p", "b"): True,
        (None, "d"): True,
        (None, "e"): False,
        (None, "j"): True,
    }


def test_each_document_has_the_italics_of_its_own_sheet(tmp_path: Path):
    linked = XHTML.replace("</head>", "<link rel='stylesheet' href='{sheet}'/></head>")
    assert linked != XHTML
    body = f"<body>{TEXT}</body>"
    documents = {
        f"{name}.xhtml": linked.format(title="", body=body, sheet=f"css/{name}.css")
        for name in ("one", "two", "three")
    }
    files = epub3(documents)  # the third has no sheet
    files["EPUB/css/one.css"] = ".calibre3 { font-style: italic }"
    files["EPUB/css/two.css"] = "span.tx { font-style: italic }"
    plain = ["He was very late for the boat.", "She did not see him leave."]
    assert italics(load_book(pack(tmp_path, files))) == [
        "He was *very* late for the *boat*.",
        plain[1],
        plain[0],
        "She *did not* see him leave.",
        *plain,
    ]


def test_a_sheet_inside_a_page(tmp_path: Path):
    path = tmp_path / "book.html"
    path.write_text(f"<html><head><style>.tx {{font-style: italic}}</style></head>{TEXT}</html>")
    assert italics(load_book(path))[1] == "She *did not* see *him* leave."


def test_strange_sheets_are_read_in_a_moment():
    start = time.perf_counter()
    for css in ("/*" * 500_000, "{" * 500_000, ";font:" * 200_000, ".a," * 300_000, "; " * 500_000):
        assert read_italics(css) == {}
        assert read_italics(css + "}") == {}
    assert time.perf_counter() - start < 10
