"""Opening a corpus: order, passages, counts, and words for what is damaged."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_books import make_novel, write_novels

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.reader import (
    BookText,
    Corpus,
    CorpusPassage,
    CorpusSentence,
    encode_text,
    open_corpus,
    read_text,
)
from folioreel.errors import InputError
from folioreel.text import squeeze
from folioreel.types import Book, Chapter, Paragraph, Sentence

BOOK = """The Ferry

CHAPTER I

The ferry crossed the river at dawn. Petra read the dial and wrote the figure down, as she did
every morning of the long and rainy year.

“Sixty-one kilos,” she said to the old ferryman.

CHAPTER II

The inspector came on the noon bus with a letter in his hand, and nobody in the town knew why he
had come. Nobody spoke.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_novels(tmp_path / "library", range(2), words=300)
    (tmp_path / "library" / "ferry.txt").write_text(BOOK, encoding="utf-8")
    (tmp_path / "library" / "short.txt").write_text(make_novel(9, 8), encoding="utf-8")
    build_corpus(tmp_path / "library", tmp_path / "out", CorpusConfig(min_words=40, workers=1))
    return tmp_path / "out"


@pytest.fixture
def corpus(folder: Path) -> Corpus:
    return open_corpus(folder)


def test_books_in_order(corpus: Corpus) -> None:
    assert [book.path for book in corpus.books] == ["ferry.txt", "novel-00.txt", "novel-01.txt"]
    assert [book.path for book in corpus.manifest.left_out] == ["short.txt"]
    assert corpus.books[0].title == "The Ferry"
    assert corpus.sentence_count == sum(book.sentences for book in corpus.books)
    assert corpus.books[0].words == 61


def test_sentences_in_order_with_their_place(corpus: Corpus) -> None:
    books = list(corpus.read_books())
    assert sum(len(list(book.text.sentences())) for book in books) == corpus.sentence_count
    (first,) = (list(b.text.sentences()) for b in books if b.record.path == "ferry.txt")
    assert [s.index for s in first] == [0, 1, 2, 3, 4]
    assert [s.chapter for s in first] == [0, 0, 0, 1, 1]
    assert [s.paragraph for s in first] == [0, 0, 1, 2, 2]
    assert first[2].text == "“Sixty-one kilos,” she said to the old ferryman."


def test_passages(corpus: Corpus) -> None:
    ferry = corpus.books[0].id
    passage = corpus.passage(ferry, 2, around=1)
    assert [s.index for s in passage.sentences] == [1, 2, 3]
    assert passage.chapter_title == "CHAPTER I"
    assert passage.text.split("\n")[1] == "“Sixty-one kilos,” she said to the old ferryman."
    assert [s.index for s in corpus.passage(ferry, 0).sentences] == [0, 1, 2]
    assert [s.index for s in corpus.passage(ferry, 4, around=9).sentences] == [0, 1, 2, 3, 4]
    assert corpus.passage(ferry, 4).chapter_title == "CHAPTER II"
    assert (passage.sentence.index, passage.before + passage.sentence.text + passage.after) == (
        2,
        passage.text,
    )
    assert passage.before.endswith("year.\n")
    assert passage.after.startswith("\nThe inspector")
    with pytest.raises(ValueError, match="sentence 5"):
        corpus.passage(ferry, 5)
    with pytest.raises(InputError, match="has no book 0123-txt"):
        corpus.passage("0123-txt", 0)


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["雨停了。", "“你是谁？”", "没有人来。"], "雨停了。“你是谁？”没有人来。"),
        (["It rained.", "Nobody came."], "It rained. Nobody came."),
    ],
)
def test_a_passage_as_its_language_writes_it(texts: list[str], whole: str) -> None:
    sentences = tuple(
        CorpusSentence(index=k, chapter=0, paragraph=0, text=text) for k, text in enumerate(texts)
    )
    passage = CorpusPassage(chapter_title="", centre=1, sentences=sentences)
    assert passage.text == passage.before + texts[1] + passage.after == whole


def test_few_books_stay_in_memory(tmp_path: Path) -> None:
    write_novels(tmp_path / "library", range(12), words=100)
    build_corpus(tmp_path / "library", tmp_path / "out", CorpusConfig(min_words=0, workers=1))
    corpus = open_corpus(tmp_path / "out")
    for book in corpus.books * 2:
        assert corpus.passage(book.id, 0).text.startswith(corpus.read(book).text.texts[0])
    assert len(corpus._cache) == 8


def test_a_folder_that_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a corpus"):
        open_corpus(tmp_path)
    (tmp_path / "corpus.json").write_text('{"format": "another"}', encoding="utf-8")
    with pytest.raises(InputError, match="is not a folioreel-corpus file"):
        open_corpus(tmp_path)


def test_another_version(folder: Path) -> None:
    manifest = folder / "corpus.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"version": 1', '"version": 2'), encoding="utf-8")
    with pytest.raises(InputError, match="has version 2, but this folioreel reads version 1"):
        open_corpus(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("books"),
        lambda data: data["books"][0].pop("sha256"),
        lambda data: data["books"][0].update(sentences="many"),
        lambda data: data["books"][0].update(status="lost"),
        lambda data: data["books"][0].update(colour="red"),
        lambda data: data.update(books=[1]),
    ],
)
def test_a_damaged_manifest(folder: Path, change) -> None:
    manifest = folder / "corpus.json"
    data = json.loads(manifest.read_bytes())
    change(data)
    manifest.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match="is damaged"):
        open_corpus(folder)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is damaged"):
        open_corpus(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"no gzip", "is damaged"),
        (lambda data: data[: len(data) // 2], "is damaged"),
        (lambda data: data[:40] + bytes([data[40] ^ 255]) + data[41:], "is damaged"),
        (lambda data: gzip.compress(gzip.decompress(data) + b"0\t0\tmore\n"), "has 6 sentences"),
        (lambda data: gzip.compress(gzip.decompress(data).replace(b"\t", b" ")), "is damaged"),
        (lambda data: gzip.compress(b"x" + gzip.decompress(data)[1:]), "is damaged"),
        (lambda data: gzip.compress(gzip.decompress(data).replace(b"\n1\t", b"\n7\t")), "chapter"),
    ],
)
def test_a_damaged_book(folder: Path, corpus: Corpus, change, message: str) -> None:
    path = folder / "books" / f"{corpus.books[0].id}.tsv.gz"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=message) as caught:
        list(corpus.read_books())
    assert caught.value.path == path


def test_a_missing_book(folder: Path, corpus: Corpus) -> None:
    (folder / "books" / f"{corpus.books[1].id}.tsv.gz").unlink()
    with pytest.raises(InputError, match="no such file"):
        list(corpus.read_books())


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
    path.write_bytes(encode_text(BookText.of(book)))
    text = read_text(path, 1)
    assert text.texts == ("A broken ? mark here .",)
    assert text.chapter_titles == ("One two",)
