"""What is left out of a story: the same rule for every format."""

from pathlib import Path

import pytest

from folioreel.ingest.book import load_book
from folioreel.ingest.books.titles import matter_kind
from folioreel.types import Book

PROSE = "The ferry crossed the river at dawn, and nobody spoke of it in the morning. "
FICTION_BOOK = (
    '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body>{}</body></FictionBook>'
)


def save(folder: Path, suffix: str, sections: list[tuple[str, str]]) -> Path:
    """A book of titled sections in the format that a suffix names."""
    section, frame = {
        ".txt": ("\n\n\n{}\n\n{}\n", "{}"),
        ".md": ("\n## {}\n\n{}\n", "{}"),
        ".html": ("<h2>{}</h2><p>{}</p>", "<html><body>{}</body></html>"),
        ".fb2": ("<section><title><p>{}</p></title><p>{}</p></section>", FICTION_BOOK),
    }[suffix]
    text = "".join(section.format(title, body) for title, body in sections)
    path = folder / f"book{suffix}"
    path.write_text(frame.format(text), encoding="utf-8")
    return path


def titles_of(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def load(
    folder: Path, suffix: str, first: list[tuple[str, str]], last: list[tuple[str, str]]
) -> Book:
    chapters = [(f"CHAPTER {number}", PROSE * 20) for number in ("I", "II", "III")]
    return load_book(save(folder, suffix, [*first, *chapters, *last]))


CHAPTERS = ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
FORMATS = [".txt", ".md", ".html", ".fb2"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    "title",
    [
        "PREFACE",
        "FOREWORD BY A FRIEND",
        "INTRODUCTION",
        "AUTHOR’S PREFACE",
        "DEDICATION",
        "WIDMUNG",
    ],
)
def test_front_matter_goes_from_every_format(tmp_path, suffix, title):
    book = load(tmp_path, suffix, [(title, PROSE * 4)], [])
    assert titles_of(book) == CHAPTERS
    assert f"{title.lower()} (2 blocks)" in book.notes[0]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("title", ["PROLOGUE", "AUTHOR’S NOTE", "THE COVER"])
def test_the_opening_of_a_story_stays_in_every_format(tmp_path, suffix, title):
    book = load(tmp_path, suffix, [(title, PROSE * 4)], [])
    assert titles_of(book) == [title, *CHAPTERS]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("title", ["ABOUT THE AUTHOR", "NOTES", "ПРИМЕЧАНИЯ", "TRANSLATOR’S NOTE"])
def test_back_matter_goes_from_every_format(tmp_path, suffix, title):
    book = load(tmp_path, suffix, [], [(title, PROSE * 4)])
    assert titles_of(book) == CHAPTERS


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_long_dedication_is_a_chapter(tmp_path, suffix):
    book = load(tmp_path, suffix, [], [("DEDICATION", PROSE * 110), ("CHAPTER IV", PROSE * 90)])
    assert sum("ferry" in sentence.text for sentence in book.sentences) == 3 * 20 + 110 + 90


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_holds_most_of_the_book_is_the_story(tmp_path, suffix):
    book = load(tmp_path, suffix, [("PREFACE", PROSE * 70)], [])
    assert titles_of(book) == ["PREFACE", *CHAPTERS]


def test_contents_end_where_prose_begins_in_any_language(tmp_path):
    text = "TABLE DES MATIÈRES\n\nLe bac\n\nLa route\n\nLe pont\n\n" + f"{PROSE * 5}\n\n" * 9
    (tmp_path / "book.txt").write_text(text, encoding="utf-8")
    book = load_book(tmp_path / "book.txt")
    assert len(book.paragraphs) == 9


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Table of Contents", "contents"),
        ("LIST OF PLATES.", "contents"),
        ("Оглавление", "contents"),
        ("Also by Ann Lee", "page"),
        ("Impressum", "page"),
        ("Endnotes", "apparatus"),
        ("A Note on the Text", "apparatus"),
        ("Preface to the Second Edition", "preface"),
        ("Introductory", "introduction"),
        ("An Excerpt from The Bridge", "excerpt"),
        ("The Cover", None),
        ("Contents of a Pocket", None),
        ("Author’s Note", None),
        ("Prologue", None),
        ("Notes from Underground", None),
    ],
)
def test_kinds_of_matter(title, kind):
    assert matter_kind(title) == kind


def test_a_turkish_heading_is_told_in_small_letters(tmp_path):
    prose = "Yaşlı adam kapıyı kapattı ve ateşin başına oturdu, kızına tek bir söz söylemedi. " * 20
    chapters = [(f"BÖLÜM {number}", prose) for number in ("I", "II", "III")]
    book = load_book(save(tmp_path, ".md", [("İÇİNDEKİLER", "Mektup 1\n\nFener 2"), *chapters]))
    assert "içindekiler (" in book.notes[0]


def test_the_last_entry_of_the_contents_is_no_chapter(tmp_path):
    """The story opens with a title of its own, which has no number."""
    prose = "It is a little remarkable that an impulse should have taken possession of me. " * 8
    names = ["THE DOOR", "THE MARKET", "THE MEETING", "THE ROAD", "THE CLOSE"]
    titles = [f"{n}. {name}" for n, name in zip(("I", "II", "III", "IV", "V"), names, strict=True)]
    path = tmp_path / "book.txt"
    blocks = ["THE TALE", "by Somebody", "CONTENTS", *(f"CHAPTER {title}" for title in titles), ""]
    blocks += ["THE CUSTOM HOUSE", 'INTRODUCTORY TO "THE TALE"', prose]
    blocks += [part for title in titles for part in (f"\n{title}", prose)]
    path.write_text("\n\n".join(blocks))
    first = 'THE CUSTOM HOUSE: INTRODUCTORY TO "THE TALE"'
    assert [chapter.title for chapter in load_book(path).chapters] == [first, *titles]
