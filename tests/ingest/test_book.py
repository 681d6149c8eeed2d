"""Any file → `Book`: the file is read once, whatever its format."""

import hashlib
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.book import load_book, skim_book

CONTAINER = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
PACKAGE = (
    "<package><metadata><title>The Ferry</title></metadata>"
    '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)
PAGE = "<html><body><h1>Chapter 1</h1><p>{}</p></body></html>"
STORY = "The ferry came over the river before the morning mist had gone. " * 5


def save_epub(folder: Path) -> Path:
    path = folder / "book.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book.opf", PACKAGE)
        archive.writestr("a.xhtml", PAGE.format(STORY))
    return path


def save_text(folder: Path) -> Path:
    path = folder / "book.txt"
    path.write_text(f"CHAPTER I\n\n{STORY}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("save", [save_epub, save_text])
@pytest.mark.parametrize("load", [load_book, skim_book])
def test_a_book_is_opened_once(tmp_path, monkeypatch, save, load):
    path = save(tmp_path)
    load(path)  # the models of languages are archives as well, and are read once
    opened: Counter[str] = Counter()
    real_open, real_zip = os.open, zipfile.ZipFile

    def counting_open(file, *args, **kwargs):
        opened[f"file {Path(file).name}"] += 1
        return real_open(file, *args, **kwargs)

    def counting_zip(*args, **kwargs):
        opened["archive"] += 1
        return real_zip(*args, **kwargs)

    monkeypatch.setattr(os, "open", counting_open)
    monkeypatch.setattr(zipfile, "ZipFile", counting_zip)
    load(path)
    assert opened[f"file {path.name}"] == 1
    assert opened["archive"] == (path.suffix == ".epub")


def test_the_hash_is_that_of_the_file(tmp_path):
    path = save_epub(tmp_path)
    book = load_book(path)
    assert book.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert book.title == "The Ferry"


def test_a_large_video_is_refused_by_its_first_bytes(tmp_path):
    path = tmp_path / "film.txt"
    with path.open("wb") as file:
        file.write(b"\x00\x00\x00\x20ftypisom")
        file.truncate(2**40)  # sparse: reading it whole would fail
    with pytest.raises(UnknownFormatError, match="an MP4 video"):
        load_book(path)


FRENCH = (
    "Le bac traversait la rivière avant que la brume du matin ne se fût levée, et le passeur ne "
    "disait rien. Sur l'autre rive, une femme attendait depuis une heure avec ses deux enfants. "
)
CHAPTERS = [f"CHAPITRE {number}" for number in ("I", "II", "III", "IV")]
PARAGRAPHS = "".join(f"<p>{title}</p><p>{FRENCH * 4}</p><p>{FRENCH * 3}</p>" for title in CHAPTERS)


def save_wrong_epub(folder: Path) -> Path:
    path = folder / "book.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book.opf", PACKAGE.replace("</title>", "</title><language>en</language>"))
        archive.writestr("a.xhtml", f"<html><body>{PARAGRAPHS}</body></html>")
    return path


def save_wrong_fb2(folder: Path) -> Path:
    path = folder / "book.fb2"
    info = "<title-info><book-title>Le Bac</book-title><lang>en</lang></title-info>"
    path.write_text(
        f"<FictionBook><description>{info}</description><body><section>{PARAGRAPHS}</section>"
        "</body></FictionBook>",
        encoding="utf-8",
    )
    return path


def save_wrong_html(folder: Path) -> Path:
    path = folder / "book.html"
    path.write_text(f'<html lang="en"><body>{PARAGRAPHS}</body></html>', encoding="utf-8")
    return path


def save_wrong_markdown(folder: Path) -> Path:
    path = folder / "book.md"
    text = "".join(f"# {title}\n\n{FRENCH * 4}\n\n" for title in CHAPTERS)
    path.write_text(f"---\nlang: en\n---\n\n{text}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "save", [save_wrong_epub, save_wrong_fb2, save_wrong_html, save_wrong_markdown]
)
def test_a_file_that_states_a_wrong_language(tmp_path, save):
    """Converters write `en` everywhere. A result is read again with the language that was found."""
    book = load_book(save(tmp_path))
    assert book.language == "fr"
    assert [chapter.title for chapter in book.chapters] == CHAPTERS
    assert load_book(save(tmp_path), language="fr") == book


OTHER_DOCUMENTS = {
    "a.fodt": (b'<?xml version="1.0"?>\n<office:document xmlns:office="u"><a>x', "OpenDocument"),
    "a.prc": (bytes(60) + b"TEXtREAd" + bytes(400), "a book for Palm"),
    "a.lit": (b"ITOLITLS" + bytes(400), "Microsoft Reader"),
    "a.wpd": (b"\xffWPC" + bytes(400), "WordPerfect"),
    "a.ps": (b"%!PS-Adobe-3.0\n/a def\n", "PostScript"),
}


@pytest.mark.parametrize("name", OTHER_DOCUMENTS)
def test_documents_that_are_not_read_are_named(tmp_path: Path, name: str) -> None:
    data, kind = OTHER_DOCUMENTS[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnknownFormatError, match=f"{kind}.*Calibre"):
        load_book(tmp_path / name)


def test_an_opendocument_text_is_no_epub(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<office/>")
    with pytest.raises(UnknownFormatError, match="word processor"):
        load_book(tmp_path / "a.odt")


def test_a_pdf_with_drm(tmp_path: Path) -> None:
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"]
    objects.append("<</Filter/EBX_HANDLER/V 4>>")
    text = "%PDF-1.4\n"
    for number, words in enumerate(objects, 1):
        text += f"{number} 0 obj\n{words}\nendobj\n"
    text += "trailer\n<</Size 4/Root 1 0 R/Encrypt 3 0 R/ID[<01><01>]>>\n%%EOF"
    (tmp_path / "a.pdf").write_text(text)
    with pytest.raises(InputError, match="DRM"):
        load_book(tmp_path / "a.pdf")


@pytest.mark.parametrize("new_line", ["\v", "\x85", "\u2028", "\u2029"])
def test_lines_that_end_in_another_sign(tmp_path: Path, new_line: str) -> None:
    text = f"CHAPTER I\n\n{STORY}\n\nCHAPTER II\n\n{STORY}\n".replace("\n", new_line)
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert len(load_book(tmp_path / "a.txt").chapters) == 2
