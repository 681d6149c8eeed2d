"""Folders of books: what is found, skimmed and read in them, and what is left out."""

import pytest
from corpus.made_books import make_epub, make_html, make_novel, write_tar, write_zip

from folioreel.apps.library import open_library, read_book
from folioreel.errors import InputError
from folioreel.ingest.book import load_book
from folioreel.similarity.tfidf import make_bag


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "below").mkdir()
    (folder / "below" / "one.txt").write_text(make_novel(1), encoding="utf-8")
    (folder / "one-again.txt").write_text(make_novel(1), encoding="utf-8")
    (folder / "page.html").write_text(make_html(2), encoding="utf-8")
    (folder / "book.epub").write_bytes(make_epub(3))
    write_tar(folder / "more.tar.xz", {"four.txt": make_novel(4).encode(), "notes.csv": b"1"})
    write_zip(folder / "even-more.zip", {"deep/five.txt": make_novel(5).encode()})
    (folder / "empty.txt").write_bytes(b"")
    (folder / "broken.epub").write_bytes(b"PK\x03\x04 cut short")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def test_every_book_is_there_once(folder):
    library = open_library(folder, workers=1)
    assert [book.path for book in library.books] == [
        "below/one.txt",
        "book.epub",
        "even-more.zip/deep/five.txt",
        "more.tar.xz/four.txt",
        "page.html",
    ]
    assert [failure.path for failure in library.failures] == ["broken.epub", "empty.txt"]
    assert "empty" in library.failures[1].problem
    # Plain text is skimmed with its headings.
    assert (library.books[0].bag == make_bag(make_novel(1))).all()


def test_books_in_archives_are_read_like_others(folder, tmp_path):
    library = open_library(folder, workers=1)
    path = "more.tar.xz/four.txt"
    (found,) = library.folder.read({path})
    loose = tmp_path / "four.txt"
    loose.write_text(make_novel(4), encoding="utf-8")
    assert read_book(found).sentences == load_book(loose).sentences
    assert read_book(found).title == load_book(loose).title


def test_the_second_time_comes_from_the_cache(folder, monkeypatch):
    first = open_library(folder, workers=1)

    def skim_again(path):
        # What failed is tried again, as a later version may be able to read it.
        assert path.name in ("broken.epub", "empty.txt")
        raise InputError("is still broken", path)

    monkeypatch.setattr("folioreel.apps.library.skim_book", skim_again)
    again = open_library(folder, workers=1)
    assert [failure.problem for failure in again.failures] == ["is still broken"] * 2
    assert len(again.books) == len(first.books)
    assert all((a.bag == b.bag).all() for a, b in zip(first.books, again.books, strict=True))


def test_no_books(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        open_library(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no books; give a folder"):
        open_library(tmp_path)
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(InputError, match=r"holds no readable book; the first of 1: empty\.txt"):
        open_library(tmp_path, workers=1)
