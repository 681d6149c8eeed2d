"""One book's file: any text comes back as it was."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.corpus.book_file import BookText, encode_text, read_text, text_of_book
from folioreel.text import squeeze
from folioreel.types import Book, Chapter, Paragraph, Sentence

TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1).map(squeeze), max_size=8)


@settings(deadline=None)
@given(TEXTS, st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_round_trip(texts: list[str], titles: list[str]) -> None:
    text = BookText(
        chapter_titles=tuple(titles),
        chapters=tuple(k % len(titles) for k in range(len(texts))),
        paragraphs=tuple(k // 2 for k in range(len(texts))),
        texts=tuple(texts),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.tsv.gz"
        path.write_bytes(encode_text(text))
        assert read_text(path, len(texts)) == text


def test_half_a_character_and_odd_blanks_do_no_harm(tmp_path: Path) -> None:
    book = Book(
        title="Odd",
        sentences=(Sentence(index=0, text="A\tbroken \ud800 mark\u2028here\n."),),
        paragraphs=(Paragraph(index=0, sentences=range(1)),),
        chapters=(Chapter(index=0, title="One\ttwo", paragraphs=range(1)),),
    )
    path = tmp_path / "book.tsv.gz"
    path.write_bytes(encode_text(text_of_book(book)))
    text = read_text(path, 1)
    assert text.texts == ("A broken ? mark here .",)
    assert text.chapter_titles == ("One two",)
