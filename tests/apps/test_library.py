"""Folders of books: what is found, skimmed and read in them, and what is left out."""

from dataclasses import replace

import pytest
from conftest import make_film
from corpus.made_books import make_epub, make_html, make_novel, write_tar, write_zip

from folioreel.apps.library import SkimmedBook, open_library, rank_by_words, read_book
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


def test_languages_are_skimmed_too(tmp_path):
    texts = {
        "fr.txt": "Il faut envoyer une lettre au médecin de la ville avant la nuit. " * 30,
        "en.txt": "We must send a letter to the doctor in town before the night. " * 30,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for _ in range(2):  # the second time from the cache
        books = open_library(tmp_path, workers=1).books
        assert [book.language for book in books] == ["en", "fr"]


def test_translations_do_not_compete_with_books_in_the_films_language():
    """They share names alone, where any book in the film's language shares common words."""
    said = "Then Scrooge saw the ghost of Marley and shut the door of the house at once."
    film = replace(make_film(((1.0, 2.0, said),)), language="en")
    texts = {
        f"english{k}": ("en", f"Then he saw the door of the house and shut it at once {k}.")
        for k in range(9)
    }
    texts["cantique"] = ("fr", "Alors Scrooge vit le fantôme de Marley et ferma sa porte.")
    texts |= {f"roman{k}": ("fr", f"Alors Nadia ferma sa porte {k}.") for k in range(4)}
    texts["unknown"] = (None, "Scrooge!")
    books = [
        SkimmedBook(path=path, sha256=path, bag=make_bag(text), language=language)
        for path, (language, text) in texts.items()
    ]
    found = rank_by_words(film, books, 8)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    french = [path for path in found if texts[path][0] == "fr"]
    assert french[0] == "cantique"
    assert len(french) == 2  # a quarter of eight
    assert len(found) == 8 + 2
    assert "unknown" in found
    # A film in an unknown language is compared with all alike.
    assert len(rank_by_words(replace(film, language=None), books, 8)) == 8


def test_no_books(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        open_library(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no books; give a folder"):
        open_library(tmp_path)
    (tmp_path / "empty.txt").write_bytes(b"")
    with pytest.raises(InputError, match=r"holds no readable book; the first of 1: empty\.txt"):
        open_library(tmp_path, workers=1)
