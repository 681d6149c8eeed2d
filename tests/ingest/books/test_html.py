"""HTML → blocks, on pages with exactly known text."""

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.books import html
from folioreel.ingest.books.blocks import Block, Manuscript
from folioreel.ingest.books.titles import is_break, is_strong_heading
from folioreel.ingest.books.trees import clean_text
from folioreel.ingest.source import open_source


def read_html(path: Path) -> Manuscript:
    return html.read_html(open_source(path))


PAGE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
    "<body>{body}</body></html>"
)


def blocks_of(path: Path, body: str | bytes, title: str = "A Tale") -> tuple[Block, ...]:
    file = path / "book.html"
    if isinstance(body, bytes):
        file.write_bytes(body)
    else:
        file.write_text(PAGE.format(title=title, body=body), encoding="utf-8")
    return read_html(file).blocks


def said(blocks: tuple[Block, ...]) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks]


P, H, V, B = "paragraph", "heading", "verse", "break"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>One.</p><p>Two\n  lines.</p>", [(P, "One."), (P, "Two lines.")]),
        ("Bare text.<p>Then a paragraph.", [(P, "Bare text."), (P, "Then a paragraph.")]),
        (
            "<div>Outer <div>inner</div> after</div>",
            [(P, "Outer"), (P, "inner"), (P, "after")],
        ),
        ("<p><i>w</i>ord and <b>bo</b>ld.</p>", [(P, "word and bold.")]),
        ('<p><span class="dropcap">T</span>he rain.</p>', [(P, "The rain.")]),
        ('<p><img src="t.png" alt="T"/>he rain.</p>', [(P, "The rain.")]),
        ('<p>A picture: <img src="x.png" alt="A house by the sea"/>.</p>', [(P, "A picture: .")]),
        ("<p>soft&shy;ly&nbsp;said &mdash; &lsquo;no&rsquo;</p>", [(P, "softly said — ‘no’")]),
        ("<p>Windows&#151;dash and &#147;quotes&#148;</p>", [(P, "Windows—dash and “quotes”")]),
        ("<p>One<br>line</p>", [(P, "One line")]),
        ("<p>One.<br><br/>Two.<br>&nbsp;<br>Three.</p>", [(P, "One."), (P, "Two."), (P, "Three.")]),
        ("<p>a</p><hr><p>b</p>", [(P, "a"), (B, ""), (P, "b")]),
        ("<p>a</p><p>* * *</p><hr><p>b</p>", [(P, "a"), (B, "* * *"), (P, "b")]),
        ("<hr><h2>One</h2><hr><p>a</p><hr>", [(H, "One"), (P, "a")]),
        ("<blockquote><p>A letter.</p></blockquote>", [(P, "A letter.")]),
        ("<ul><li>one<li>two</ul>", [(P, "one"), (P, "two")]),
        ("<pre>first\n  line\n\nsecond</pre>", [(P, "first line"), (P, "second")]),
        (
            "<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>",
            [(P, "a b"), (P, "c")],
        ),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>字", [(P, "漢字")]),
        ("<p>a<!-- Page 3 -->b</p><!-- gone -->", [(P, "ab")]),
        ("<p>a</p><script>x()</script><style>p{}</style><nav><a>Home</a></nav>", [(P, "a")]),
        (
            '<p>a</p><p hidden>b</p><p style="display: none">c</p><template>d</template>',
            [(P, "a")],
        ),
    ],
)
def test_text(tmp_path: Path, body: str, expected: list[tuple[str, str]]) -> None:
    assert said(blocks_of(tmp_path, body)) == expected


@pytest.mark.parametrize(
    "mark",
    [
        '<a href="#fn1"><sup>1</sup></a>',
        '<sup><a href="#fn1">1</a></sup>',
        '<a href="notes.xhtml#n1" epub:type="noteref">1</a>',
        '<a role="doc-noteref" href="#x">†</a>',
        '<a id="FNanchor_1_1"></a><a href="#Footnote_1_1" class="fnanchor">[1]</a>',
        '<a href="#note1">[1]</a>',
        '[<a id="t"></a><a href="#whatever">1</a>]',
        '<a href="#_ftn1">*</a>',
        '<span class="pagenum"><a id="Page_3">[Pg 3]</a></span>',
        '<span epub:type="pagebreak" id="p3" title="3">3</span>',
        '<span class="x-ebookmaker-pageno" title="[4]">[4]</span>',
    ],
)
def test_marks_are_left_out(tmp_path: Path, mark: str) -> None:
    assert said(blocks_of(tmp_path, f"<p>He went{mark} on.</p>")) == [(P, "He went on.")]


@pytest.mark.parametrize(
    ("inline", "text"),
    [
        ('<a href="http://example.org/">the site</a>', "the site"),
        ('<a href="#ch2">2</a>', "2"),
        ("x<sup>2</sup>", "x2"),
        ("the 1<sup>st</sup>", "the 1st"),
        ('<a name="here">word</a>', "word"),
    ],
)
def test_what_only_looks_like_a_mark_stays(tmp_path: Path, inline: str, text: str) -> None:
    assert said(blocks_of(tmp_path, f"<p>See {inline}.</p>")) == [(P, f"See {text}.")]


@pytest.mark.parametrize(
    "note",
    [
        '<div class="footnotes"><h3>NOTES:</h3><div class="footnote"><p>A note.</p></div></div>',
        '<aside epub:type="footnote" id="n1"><p>A note.</p></aside>',
        '<section role="doc-endnotes"><h2>Notes</h2><ol><li>A note.</li></ol></section>',
        '<h3>NOTES</h3><p><a id="Footnote_1_1"></a><a href="#FNanchor_1_1">[1]</a> A note.</p>',
        '<p><a name="fn1"></a>[<a href="#fnref1">1</a>] A note.</p>',
        '<p class="MsoFootnoteText">A note.</p>',
    ],
)
def test_notes_are_left_out(tmp_path: Path, note: str) -> None:
    assert said(blocks_of(tmp_path, f"<p>Story.</p>{note}")) == [(P, "Story.")]


def test_a_story_link_at_a_paragraphs_start_is_no_note(tmp_path: Path) -> None:
    blocks = blocks_of(tmp_path, '<p><a href="#map">The map</a> lay open.</p>')
    assert said(blocks) == [(P, "The map lay open.")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>Tale</h1><h2>I</h2>", ["Tale", "I"]),
        ("<h1>T</h1><h3>I</h3><h3>II</h3><h4>x</h4>", ["T", "I", "II", "x"]),
        ("<h1>PART ONE</h1><h2>CHAPTER I</h2><h2>CHAPTER II</h2>",
         ["PART ONE", "CHAPTER I", "CHAPTER II"]),
        ("<h2>CHAPTER I<br/>The Ferry</h2>", ["CHAPTER I The Ferry"]),
        ("<h2>IV<br/>The Ferry</h2>", ["IV. The Ferry"]),
        ("<hgroup><h2>I</h2><p>A Letter</p></hgroup>", ["I. A Letter"]),
        ('<h2><a name="a"/><span class="caption">A man runs.</span><br/>CHAPTER II.</h2>',
         ["CHAPTER II."]),
        ('<h2><img src="c.png" alt="CHAPTER III"/></h2>', ["CHAPTER III"]),
        ('<p class="chapter-title">The Ferry</p>', ["The Ferry"]),
        ('<p class="chapter">CHAPTER I</p>', ["CHAPTER I"]),
        ('<div role="heading" aria-level="2">The Ferry</div>', ["The Ferry"]),
        ('<p align="center"><b>CHAPTER I</b></p>', ["CHAPTER I"]),
        ('<p style="text-align: center">IV</p>', ["IV"]),
        ("<p>CHAPTER I</p>", ["CHAPTER I"]),
        ("<p>PROLOGUE</p>", ["PROLOGUE"]),
    ],
)  # fmt: skip
def test_headings(tmp_path: Path, body: str, expected: list[str]) -> None:
    blocks = blocks_of(tmp_path, f"{body}<p>Text.</p>")
    assert [block.text for block in blocks if block.kind == "heading"] == expected


@pytest.mark.parametrize(
    "body",
    [
        '<p align="center"><b>Keep out!</b></p>',
        '<p class="center">He was gone.</p>',
        '<div class="chapter"><p>The whole chapter is in this.</p><p>More of it.</p></div>',
        '<p class="chapter">It was a long paragraph that tells of many things, one by one.</p>',
        '<p align="center">12</p>',
        "<p>Chapter and verse were quoted to him.</p>",
    ],
)
def test_what_only_looks_like_a_heading_is_text(tmp_path: Path, body: str) -> None:
    assert not [b for b in blocks_of(tmp_path, f"<h2>One</h2>{body}")[1:] if b.kind == "heading"]


@pytest.mark.parametrize(
    "poem",
    [
        '<div class="poem"><div class="stanza"><span>One line<br/></span>'
        '<span class="i2">two lines<br/></span></div>'
        '<div class="stanza"><span>Third.</span></div></div>',
        '<div class="poetry-container"><div class="poetry"><div class="stanza">'
        '<div class="verse indent0">One line</div><div class="verse indent2">two lines</div></div>'
        '<div class="stanza"><div class="verse">Third.</div></div></div></div>',
        '<blockquote epub:type="z3998:verse"><p><span>One line</span><br/>'
        "<span>two lines</span></p>"
        "<p><span>Third.</span><br/><span/></p></blockquote>",
        '<div class="poem"><p>One line<br/>two lines<br/></p><p class="stanza">Third.</p></div>',
    ],
)
def test_poems(tmp_path: Path, poem: str) -> None:
    blocks = blocks_of(tmp_path, f"<p>He sang:</p>{poem}<p>So.</p>")
    assert [block.verse_lines for block in blocks] == [(), (0, len("One line ")), (0,), ()]
    assert said(blocks) == [
        (P, "He sang:"),
        (V, "One line two lines"),
        (V, "Third."),
        (P, "So."),
    ]


def test_short_lines_parted_by_breaks_are_verse(tmp_path: Path) -> None:
    blocks = blocks_of(tmp_path, "<p>One line<br/>two lines<br/>and three</p>")
    assert said(blocks) == [(V, "One line two lines and three")]


def test_long_lines_parted_by_breaks_are_paragraphs(tmp_path: Path) -> None:
    long = (
        "It went on and on, as such things do, and nobody there could have said at all why it did "
        "so, nor how."
    )
    lines = [long + " So.", "“Yes.”", long + " Thus."]
    assert said(blocks_of(tmp_path, f"<p>{'<br>'.join(lines)}</p>")) == [
        (P, line) for line in lines
    ]


def test_contents_of_links_are_left_out(tmp_path: Path) -> None:
    rows = "".join(
        f'<tr><td>{n}.</td><td><a href="#c{n}">Of {n}</a></td><td>{n * 9}</td></tr>' for n in "123"
    )
    body = f"<h1>Tale</h1><h2>CONTENTS</h2><table>{rows}</table><h2 id='c1'>I</h2><p>Text.</p>"
    assert said(blocks_of(tmp_path, body)) == [(H, "Tale"), (H, "I"), (P, "Text.")]


def test_gutenberg_frame_is_left_out(tmp_path: Path) -> None:
    body = (
        '<section class="pg-boilerplate" id="pg-header"><h2>The Project Gutenberg eBook</h2>'
        '<div id="pg-start-separator"><span>*** START ***</span></div></section>'
        "<h2>CHAPTER I</h2><p>Text.</p>"
        '<section class="pg-boilerplate pgheader" id="pg-footer"><p>Licence</p></section>'
    )
    title = "The Project Gutenberg eBook of Katrine, by Elinor Lane."
    assert said(blocks_of(tmp_path, body, title)) == [(H, "CHAPTER I"), (P, "Text.")]
    assert read_html(tmp_path / "book.html").title == "Katrine"


def test_places(tmp_path: Path) -> None:
    blocks = blocks_of(tmp_path, "<h2>One</h2><p>Two <b>words</b>.</p><hr><p>End.</p>")
    whole = "\n".join(block.text for block in blocks)
    assert all(whole[b.offset :].startswith(b.text) for b in blocks)
    assert {b.href for b in blocks} == {"book.html"}
    assert [b.offset for b in blocks] == [0, 4, 15, 16]


def test_title_and_language(tmp_path: Path) -> None:
    file = tmp_path / "the-book.html"
    file.write_text("<html xml:lang='fr'><body><h1>Le Bac</h1><p>Il part.</p></body></html>")
    book = read_html(file)
    assert (book.title, book.language) == ("Le Bac", "fr")
    file.write_text("<p>Only this.</p>")
    assert (read_html(file).title, read_html(file).language) == ("the-book", None)


RUSSIAN = "Всё смешалось в доме Облонских, и никто не знал, что делать дальше."


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="windows-1251">', "windows-1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ('<meta charset="iso-8859-1">', "utf-8"),  # a false claim
        ('<meta charset="nonsense">', "utf-8"),
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ("", "utf-16"),
        ('<meta charset="utf-16">', "utf-8"),
    ],
)
def test_encodings(tmp_path: Path, head: str, encoding: str) -> None:
    page = f"<html><head>{head}</head><body><p>{RUSSIAN}</p></body></html>"
    assert said(blocks_of(tmp_path, page.encode(encoding))) == [(P, RUSSIAN)]


def test_xml_declaration_and_entities(tmp_path: Path) -> None:
    page = (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 '
        'Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>'
        '<p><a id="x"/>D\xe9but \x93la\x94 &eacute;&nbsp;&hellip;</p></body></html>'
    )
    assert said(blocks_of(tmp_path, page.encode("latin-1"))) == [(P, "Début “la” é …")]


def test_entities_are_neither_fetched_nor_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    page = (
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY leak SYSTEM "{secret.as_uri()}">'
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Text &leak; &b;.</p></body></html>'
    )
    [block] = blocks_of(tmp_path, page.encode())
    assert "SECRET" not in block.text
    assert "haha" not in block.text
    assert block.text.startswith("Text")


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("<p>One<p>Two<b>bold<p>Three</i>", ["One", "Twobold", "Three"]),
        ("<div><p>One</div></p></div>Two", ["One", "Two"]),
        ("<p>a < b & c</p>", ["a < b & c"]),
        ("<p>One</p>" + "<font>" * 3000 + "<p>Two</p>", ["One", "Two"]),
        ("<div>" * 3000 + "<p>One</p>" + "</div>" * 3000 + "<p>Two</p>", ["One", "Two"]),
    ],
)
def test_broken_markup(tmp_path: Path, body: str, texts: list[str]) -> None:
    assert [block.text for block in blocks_of(tmp_path, f"<html><body>{body}".encode())] == texts


@pytest.mark.parametrize(
    "body", ["", "<!-- nothing -->", "<img src='a.png'>", "<script>x</script>"]
)
def test_nothing_to_read(tmp_path: Path, body: str) -> None:
    with pytest.raises(InputError, match="no text"):
        blocks_of(tmp_path, body)


LETTERS = st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="\ufeff")
PARAGRAPHS = st.lists(st.text(LETTERS, min_size=1), min_size=1, max_size=6)


def plain(texts: list[str]) -> list[str]:
    """What must come out: the words, without breaks, and headings among them or not."""
    cleaned = [clean_text(text) for text in texts]
    return [text for text in cleaned if text and not is_break(text)]


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@settings(max_examples=150, deadline=None)
@given(PARAGRAPHS)
def test_any_text_survives(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.html"
        body = "".join(f"<p>{escaped(text)}</p>" for text in texts)
        file.write_text(PAGE.format(title="t", body=body + "<p>The end of it.</p>"), "utf-8")
        blocks = read_html(file).blocks
    assert [b.text for b in blocks if b.kind != "break"] == [*plain(texts), "The end of it."]
    assert all(
        b.kind == "paragraph" or is_strong_heading(b.text) for b in blocks if b.kind != "break"
    )


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_blocks_or_our_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.html"
        file.write_bytes(data)
        with contextlib.suppress(FolioReelError):
            read_html(file)
