"""Markdown → blocks, with every line's number and offset."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.books import markdown
from folioreel.ingest.books.blocks import Block, Manuscript
from folioreel.ingest.source import open_source


def read_markdown(path: Path) -> Manuscript:
    return markdown.read_markdown(open_source(path))


P, H, V, B = "paragraph", "heading", "verse", "break"


def blocks_of(folder: Path, text: str) -> tuple[Block, ...]:
    path = folder / "book.md"
    path.write_bytes(text.encode())
    return read_markdown(path).blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("One.\n\nTwo\nlines.\n", [(P, "One."), (P, "Two lines.")]),
        ("# Tale\n\nI\n-\n\na", [(H, "Tale"), (H, "I"), (P, "a")]),
        ("## CHAPTER I {#c1 .unnumbered}\n\na", [(H, "CHAPTER I"), (P, "a")]),
        ("## The *Ferry* ##\n\na", [(H, "The Ferry"), (P, "a")]),
        ("A *b* **c** ***d*** _e_ __f__ `g`.", [(P, "A b c d e f g.")]),
        ("snake_case and 2 * 3 * 4", [(P, "snake_case and 2 * 3 * 4")]),
        ("un*frigging*believable", [(P, "unfriggingbelievable")]),
        ("See [the *map*](http://x.org 'T') and <http://y.org>.", [(P, "See the map and http://y.org.")]),
        ("See [the map](http://x.org\n'T') now.", [(P, "See the map now.")]),
        ("See [the map][m].\n\n[m]: http://x.org", [(P, "See the map.")]),
        ("A ![picture](x.png) here", [(P, "A here")]),
        ("a\n\n***\n\nb\n\n- - -\n\nc", [(P, "a"), (B, "***"), (P, "b"), (B, "- - -"), (P, "c")]),
        ("a\n\n\\* \\* \\*\n\nb", [(P, "a"), (B, "* * *"), (P, "b")]),
        ("> quoted\n> text\n\nnot", [(P, "quoted text"), (P, "not")]),
        ("- one\n- two\n  lines\n\n1. three", [(P, "one"), (P, "two lines"), (P, "three")]),
        ("```\ncode *x*\nmore\n\nlast\n```", [(P, "code *x* more"), (P, "last")]),
        ("    indented\n    text\n\nb", [(P, "indented text"), (P, "b")]),
        ("a <!-- hidden --> b\n\n<!-- hidden\n\nstill -->\n\nc", [(P, "a b"), (P, "c")]),
        ("a<br>b <span class='x'>c</span>", [(P, "a b c")]),
        ("<div align='center'>\nCentred &amp; set\n</div>\n\nb", [(P, "Centred & set"), (P, "b")]),
        ("<h2>CHAPTER I</h2>\n\na\n\n<hr>\n\nb", [(H, "CHAPTER I"), (P, "a"), (B, ""), (P, "b")]),
        ("<style>\np {}\n</style>\n\na", [(P, "a")]),
        ("He went[^1] on.\n\n[^1]: A note\n    over lines.\n\nAnd on.",
         [(P, "He went on."), (P, "And on.")]),
        ("He went^[a note] on.", [(P, "He went on.")]),
        ("One line\\\ntwo lines\\\nthird", [(V, "One line two lines third")]),
        ("One line  \ntwo lines  \nthird", [(V, "One line two lines third")]),
        ("| One line\n| two lines\n\na", [(V, "One line two lines"), (P, "a")]),
        ("| a | b |\n|---|---|\n| c | d |", [(P, "a b"), (P, "c d")]),
        ("AT&amp;T &mdash; caf&eacute; \\*no\\*", [(P, "AT&T — café *no*")]),
        ("soft\u00adly\u00a0said", [(P, "softly said")]),
        ("::: poem\na\n:::\n\nb", [(P, "a"), (P, "b")]),
    ],
)  # fmt: skip
def test_text(tmp_path: Path, source: str, expected: list[tuple[str, str]]) -> None:
    assert [(block.kind, block.text) for block in blocks_of(tmp_path, source)] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("One.\n\nTwo\nlines here.", [((0, 1),), ((0, 3), (4, 4))]),
        ("# Tale\n\nThe\nTitle\n=====\n", [((0, 1),), ((0, 3), (4, 4))]),
        ("> a\n> b\nc", [((0, 1), (2, 2), (4, 3))]),
        ("- one\n\n  two\n  three", [((0, 1),), ((0, 3), (4, 4))]),
        ("```\na\nb\n\nc\n```", [((0, 2), (2, 3)), ((0, 5),)]),
        ("\n\n    a\n    b", [((0, 3), (2, 4))]),
        ("*a\nb* `c\nd` e", [((0, 1), (2, 2), (6, 3))]),
        ("a [b\nc](http://x.org) d\ne", [((0, 1), (4, 2), (8, 3))]),
        ("a [b](http://x.org\n'T') c\nd", [((0, 1), (4, 2), (6, 3))]),
        ("a <!-- x\ny --> b\nc", [((0, 1), (2, 2), (4, 3))]),
        ("---\ntitle: T\n---\na\nb", [((0, 4), (2, 5))]),
        ("a[^1]\nb\n\n[^1]: note\n\nc", [((0, 1), (2, 2)), ((0, 6),)]),
        ("<p>\na\nb\n</p>", [((0, 2), (2, 3))]),
        ("a\r\nb\r\n\r\nc", [((0, 1), (2, 2)), ((0, 4),)]),
        ("a\\\nb  \nc", [((0, 1), (2, 2), (4, 3))]),
        ("_a_\n_b_\n__c__", [((0, 1), (2, 2), (4, 3))]),
    ],
)
def test_lines(tmp_path: Path, source: str, expected: list[tuple[tuple[int, int], ...]]) -> None:
    assert [block.lines for block in blocks_of(tmp_path, source)] == expected


def test_headings(tmp_path: Path) -> None:
    blocks = blocks_of(tmp_path, "# Tale\n\n## Chapter 1\n\n### x\n\na\n\n## Chapter 2\n\nb")
    heads = [block.text for block in blocks if block.kind == "heading"]
    assert heads == ["Tale", "Chapter 1", "x", "Chapter 2"]


@pytest.mark.parametrize(
    ("source", "title", "language"),
    [
        ("---\ntitle: \"The Ferry\"\nlang: en-GB\n---\n# One\n\na", "The Ferry", "en-GB"),
        ("+++\ntitle = 'The Ferry'\n+++\n\na", "The Ferry", None),
        ("% The Ferry\n% Ann Smith\n\na", "The Ferry", None),
        ("# The Ferry\n\na", "The Ferry", None),
        ("a", "book", None),
        ("---\n\nnot front matter\n\n---\n\nb", "book", None),
    ],
)  # fmt: skip
def test_title_and_language(tmp_path: Path, source: str, title: str, language: str | None) -> None:
    (tmp_path / "book.md").write_text(source)
    book = read_markdown(tmp_path / "book.md")
    assert (book.title, book.language) == (title, language)


@pytest.mark.parametrize("source", ["\n\n", "---\n", "<!-- only this -->", "---\ntitle: x\n---\n"])
def test_nothing_to_read(tmp_path: Path, source: str) -> None:
    with pytest.raises(InputError, match="no text"):
        blocks_of(tmp_path, source)


def test_no_places_but_lines(tmp_path: Path) -> None:
    assert {(b.href, b.offset) for b in blocks_of(tmp_path, "a\n\nb")} == {(None, 0)}


WORDS = st.text(st.characters(categories=("Lu", "Ll", "Lo")), min_size=1, max_size=8)
SOURCE_LINE = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(SOURCE_LINE, min_size=1, max_size=5), min_size=1, max_size=5))
def test_every_line_is_found_where_it_is_said_to_be(paragraphs: list[list[str]]) -> None:
    source = "\n\n".join("\n".join(f"*{line}*" for line in lines) for lines in paragraphs)
    with tempfile.TemporaryDirectory() as folder:
        blocks = blocks_of(Path(folder), source)
    written = source.split("\n")
    for block in blocks:
        ends = [offset for offset, _ in block.lines[1:]] + [len(block.text)]
        for (offset, number), end in zip(block.lines, ends, strict=True):
            assert block.text[offset:end].strip() == written[number - 1].strip("*")
    assert sum(len(block.lines) for block in blocks) == sum(map(len, paragraphs))


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_any_bytes_give_blocks_or_our_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.md"
        path.write_bytes(data)
        try:
            book = read_markdown(path)
        except FolioReelError:
            return
        for block in book.blocks:
            offsets = [offset for offset, _ in block.lines]
            assert offsets == sorted(offsets)
            assert block.lines
            assert not re.search(r"[\n\r]|\s\s", block.text)
