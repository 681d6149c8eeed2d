"""FictionBook → blocks, on books with exactly known text."""

import contextlib
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.books import fb2
from folioreel.ingest.books.blocks import Manuscript
from folioreel.ingest.books.titles import is_break
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import open_source


def read_fb2(path: Path) -> Manuscript:
    return fb2.read_fb2(open_source(path))


P, H, V, B = "paragraph", "heading", "verse", "break"
BOOK = (
    '<?xml version="1.0" encoding="{encoding}"?>\n'
    '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" '
    'xmlns:l="http://www.w3.org/1999/xlink"><stylesheet>p {{}}</stylesheet>'
    "<description><title-info><book-title>{title}</book-title>"
    "<annotation><p>About it.</p></annotation><lang>{language}</lang>"
    "</title-info><src-title-info><book-title>Other</book-title></src-title-info></description>"
    '{bodies}<binary id="c.jpg" content-type="image/jpeg">AAAA</binary></FictionBook>'
)


def write(
    folder: Path,
    bodies: str,
    *,
    encoding: str = "utf-8",
    title: str = "The Ferry",
    language: str = "en",
) -> Path:
    path = folder / "book.fb2"
    book = BOOK.format(encoding=encoding, title=title, language=language, bodies=bodies)
    path.write_bytes(book.encode(encoding, "xmlcharrefreplace"))
    return path


def said(book: Manuscript) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in book.blocks]


def section(body: str) -> str:
    return f"<body><section>{body}</section></body>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>One.</p><p>Two\n lines.</p>", [(P, "One."), (P, "Two lines.")]),
        ("<p><emphasis>w</emphasis>ord <strong>b</strong></p>", [(P, "word b")]),
        ("<title><p>Chapter 1</p></title><p>a</p>", [(H, "Chapter 1"), (P, "a")]),
        ("<title><p>I</p><p>The Ferry</p></title><p>a</p>", [(H, "I. The Ferry"), (P, "a")]),
        ("<title><p>1</p><empty-line/><p>Dawn</p></title><p>a</p>", [(H, "1. Dawn"), (P, "a")]),
        ("<p>a</p><empty-line/><empty-line/><p>b</p>", [(P, "a"), (B, ""), (P, "b")]),
        ("<empty-line/><p>a</p><empty-line/>", [(P, "a")]),
        ("<p>a</p><subtitle>* * *</subtitle><p>b</p>", [(P, "a"), (B, "* * *"), (P, "b")]),
        ("<p>a</p><subtitle>Later</subtitle><p>b</p>", [(P, "a"), (H, "Later"), (P, "b")]),
        (
            "<epigraph><p>Motto.</p><text-author>Anon</text-author></epigraph><p>a</p>",
            [(P, "Motto."), (P, "Anon"), (P, "a")],
        ),
        (
            "<poem><title><p>Song</p></title><stanza><v>One line</v><v>two lines</v></stanza>"
            "<stanza><v>Third.</v></stanza><text-author>Me</text-author></poem>",
            [(V, "Song"), (V, "One line two lines"), (V, "Third."), (P, "Me")],
        ),
        (
            "<cite><p>A letter.</p><subtitle>Monday</subtitle>"
            "<text-author>Ann</text-author></cite>",
            [(P, "A letter."), (P, "Monday"), (P, "Ann")],
        ),
        ("<image l:href='#c.jpg'/><p>a<image l:href='#c.jpg'/>b</p>", [(P, "ab")]),
        ("<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>", [(P, "a b"), (P, "c")]),
        ("<p>He went<a l:href='#n1' type='note'>[1]</a> on.</p>", [(P, "He went on.")]),
        ("<p>See <a l:href='http://example.org'>here</a>.</p>", [(P, "See here.")]),
        ("<p><strong>CHAPTER II</strong></p><p>a</p>", [(H, "CHAPTER II"), (P, "a")]),
        ("<p>CHAPTER I</p><p>a</p>", [(H, "CHAPTER I"), (P, "a")]),
        # What may not stand there, but is words:
        (
            "stray<p>a</p><binary>AAAA</binary><div><p>b</p></div><strong>c</strong>",
            [(P, "stray"), (P, "a"), (P, "b"), (P, "c")],
        ),
        ("<ul><li>a</li></ul><p><svg>b</svg><object>c</object></p>", [(P, "a"), (P, "bc")]),
        ("<p>Call me <a l:href='#n1' type='note'>Ishmael</a>.</p>", [(P, "Call me Ishmael.")]),
    ],
)
def test_text(tmp_path: Path, body: str, expected: list[tuple[str, str]]) -> None:
    assert said(read_fb2(write(tmp_path, section(body)))) == expected


def test_sections_nest_and_notes_are_left_out(tmp_path: Path) -> None:
    bodies = (
        "<body><title><p>Ann Smith</p><p>The Ferry</p></title>"
        "<section><title><p>Part One</p></title>"
        "<section><title><p>Chapter 1</p></title><p>a<a l:href='#n1'>1</a></p></section>"
        "<section><title><p>Chapter 2</p></title><p>b</p><section><title><p>Later</p></title>"
        "<p>c</p></section></section></section></body>"
        '<body name="notes"><title><p>Notes</p></title>'
        '<section id="n1"><title><p>1</p></title><p>A note.</p></section></body>'
    )
    book = read_fb2(write(tmp_path, bodies))
    assert said(book) == [
        (H, "Ann Smith The Ferry"),
        (H, "Part One"),
        (H, "Chapter 1"),
        (P, "a"),
        (H, "Chapter 2"),
        (P, "b"),
        (H, "Later"),
        (P, "c"),
    ]
    whole = "\n".join(block.text for block in book.blocks)
    assert all(whole[b.offset :].startswith(b.text) for b in book.blocks)
    assert {b.href for b in book.blocks} == {"book.fb2"}


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-16"])
def test_title_language_and_encodings(tmp_path: Path, encoding: str) -> None:
    text = "Всё смешалось в доме — «и никто не знал»."
    path = write(
        tmp_path, section(f"<p>{text}</p>"), encoding=encoding, title="Паром", language="ru"
    )
    book = read_fb2(path)
    assert (book.title, book.language, said(book)) == ("Паром", "ru", [(P, text)])


@pytest.mark.parametrize("name", ["book.fb2.zip", "book.fbz"])
def test_packed(tmp_path: Path, name: str) -> None:
    inner = write(tmp_path, section("<p>a</p>"))
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.write(inner, "book.fb2")
    assert said(read_fb2(tmp_path / name)) == [(P, "a")]


@pytest.mark.parametrize("count", [0, 2])
def test_an_archive_must_hold_one_book(tmp_path: Path, count: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.fb2.zip", "w") as archive:
        archive.writestr("readme.txt", "x")
        for n in range(count):
            archive.writestr(f"{n}.fb2", "<FictionBook/>")
    with pytest.raises(InputError, match="unpack it and give one"):
        read_fb2(tmp_path / "a.fb2.zip")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"<html><body><p>a</p></body></html>", "not a FictionBook"),
        (b"no markup at all", "not XML"),
        (
            BOOK.format(encoding="utf-8", title="t", language="en", bodies="<body/>").encode(),
            "no text",
        ),
    ],
)
def test_errors(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.fb2").write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_fb2(tmp_path / "a.fb2")


def test_broken_markup_is_mended(tmp_path: Path) -> None:
    path = write(tmp_path, section("<p>Salt & pepper &nbsp;</p><p>Two</p>"))
    assert [text for _, text in said(read_fb2(path))][-1] == "Two"
    path.write_bytes(path.read_bytes()[: -len("</section></body></FictionBook>") - 90])
    assert said(read_fb2(path))[-1][0] == P


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    book = BOOK.format(encoding="utf-8", title="t", language="en", bodies=section("<p>x &b;</p>"))
    bomb = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><FictionBook'
    (tmp_path / "a.fb2").write_text(book.replace("<FictionBook", bomb, 1))
    assert "haha" not in said(read_fb2(tmp_path / "a.fb2"))[0][1]


LETTERS = st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="\ufeff")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(LETTERS, min_size=1), min_size=1, max_size=6))
def test_any_text_survives(texts: list[str]) -> None:
    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    body = "".join(f"<p>{escaped(text)}</p>" for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        blocks = read_fb2(write(Path(folder), section(body + "<p>The end of it.</p>"))).blocks
    wanted = [t for t in map(clean_text, texts) if t and not is_break(t)]
    assert [b.text for b in blocks if b.kind != "break"] == [*wanted, "The end of it."]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 500))
@example(b":", 383)  # `<:ection>`
def test_any_bytes_give_blocks_or_our_error(data: bytes, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), section("<p>One.</p>"))
        sound = path.read_bytes()
        for damaged in (data, sound[:at] + data + sound[at + len(data) :]):
            path.write_bytes(damaged)
            with contextlib.suppress(FolioReelError):
                read_fb2(path)
