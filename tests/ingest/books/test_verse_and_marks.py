"""Lines of verse keep their places, and headings with the marks of Markdown are headings."""

import pytest

from folioreel.ingest.book import load_book
from folioreel.ingest.books.titles import bare_title, is_marked_heading, is_strong_heading

PROSE = "He went down to the river and waited there for the ferry until it was nearly dark outside."
SONG = ("Oh, the river runs down to the sea.", "It runs, and it runs,", "And nobody asks me why.")


def verse_lines(book) -> list[str]:
    """The lines of verse, put together again from where they begin in each sentence."""
    lines: list[str] = []
    for sentence in book.sentences:
        if not sentence.breaks:
            continue
        ends = [*sentence.breaks[1:], len(sentence.text)]
        assert sentence.breaks[0] == 0  # no sentence of the song begins within a line
        lines += [
            sentence.text[start:end].strip()
            for start, end in zip(sentence.breaks, ends, strict=True)
        ]
    return lines


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("book.txt", f"{PROSE}\n\n{chr(10).join(SONG)}\n\n{PROSE}\n"),
        ("book.md", PROSE + "\n\n" + "  \n".join(SONG) + f"\n\n{PROSE}\n"),
        ("book.html", f"<p>{PROSE}</p><p>{'<br>'.join(SONG)}</p><p>{PROSE}</p>"),
        (
            "other.html",
            f"<p>{PROSE}</p><div class='poem'>{''.join(f'<p>{line}</p>' for line in SONG)}</div>"
            f"<p>{PROSE}</p>",
        ),
    ],
)
def test_lines_of_verse(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    book = load_book(path)
    assert verse_lines(book) == list(SONG)
    assert [s.text for s in book.sentences if s.breaks] == [SONG[0], " ".join(SONG[1:])]
    assert not any(s.breaks for s in book.sentences if s.text == PROSE)


def test_headings_with_marks_in_plain_text(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text(
        f"## CHAPTER I\n\n{PROSE}\n\n## CHAPTER II ##\n\n{PROSE}\n\n### The Road Home\n\n{PROSE}\n",
        encoding="utf-8",
    )
    book = load_book(path)
    assert [chapter.title for chapter in book.chapters] == [
        "CHAPTER I",
        "CHAPTER II",
        "The Road Home",
    ]
    assert [sentence.text for sentence in book.sentences] == [PROSE] * 3


@pytest.mark.parametrize(
    ("text", "title"),
    [("## CHAPTER I", "CHAPTER I"), ("*** The End ***", "The End"), ("# 9", "9"), ("C#", "C#")],
)
def test_a_title_without_what_is_around_it(text, title):
    assert bare_title(text) == title


def test_a_long_line_of_marks_takes_no_time():
    line = "# a" + "#" * 1_000_000 + "x"
    assert bare_title(line) == line


def test_what_is_no_heading():
    assert is_strong_heading("## CHAPTER IV")
    assert is_marked_heading("# The Road")
    for text in ("#tag", "#", "##", "Number # 5", "# " + "word " * 40):
        assert not is_marked_heading(text)
