"""A folder of books → a corpus: what is kept, what is left out, and that it is always the same."""

from pathlib import Path

import pytest
from made_books import (
    ALONE,
    MIN_WORDS,
    edit_words,
    lay_out,
    make_novel,
    make_paragraphs,
    snapshot,
    snapshot_of_fresh_build,
    write_library,
    write_novels,
    write_tar,
    write_zip,
)

from folioreel.corpus import build, readings
from folioreel.corpus.build import CorpusConfig, CorpusReport, build_corpus
from folioreel.corpus.reader import open_corpus
from folioreel.corpus.sources import BOOK_SUFFIXES
from folioreel.engines.batch import Outcome
from folioreel.errors import ConfigError, InputError, WorkError
from folioreel.ingest import book as book_module
from folioreel.text import tokenize


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_library(tmp_path / "library")


def statuses(report: CorpusReport) -> dict[str, str]:
    return {book.path: book.status for book in report.books}


def test_every_kind_of_file(folder: Path, tmp_path: Path) -> None:
    report = build_corpus(folder, tmp_path / "out", ALONE)
    assert statuses(report) == {
        "empty.txt": "unreadable",
        "kindle.mobi": "unreadable",
        "more.tar.xz/a/page.html": "kept",
        "more.tar.xz/z/electronic.epub": "kept",
        "packed.zip/novel.md": "kept",
        "page.html": "kept",
        "plain.tar/novel.txt": "kept",
        "shelf/novel-00.txt": "kept",
        "shelf/novel-01.txt": "kept",
        "shelf/novel-02.txt": "kept",
        "short.txt": "short",
    }
    reasons = {book.path: book.reason for book in report.left_out}
    assert "empty" in reasons["empty.txt"]
    assert "Kindle" in reasons["kindle.mobi"]
    assert "fewer than 1,500" in reasons["short.txt"]
    titles = {book.path: book.title for book in report.kept}
    assert titles["more.tar.xz/z/electronic.epub"] == "Electronic 30"
    assert titles["shelf/novel-01.txt"] == "Novel 1 of 1"
    assert report.other_files == 1
    assert report.files_read == 11


def test_the_text_is_that_of_load_book(folder: Path, tmp_path: Path) -> None:
    build_corpus(folder, tmp_path / "out", ALONE)
    corpus = open_corpus(tmp_path / "out")
    record = next(book for book in corpus.books if book.path == "shelf/novel-01.txt")
    loaded = book_module.load_book(folder / "shelf" / "novel-01.txt")
    text = corpus.read(record).text
    assert text.texts == tuple(sentence.text for sentence in loaded.sentences)
    assert text.paragraphs == loaded.paragraph_of
    assert text.chapter_titles == tuple(chapter.title for chapter in loaded.chapters)
    assert record.words == sum(len(tokenize(sentence)) for sentence in text.texts)


def test_editions_are_duplicates_and_other_novels_are_not(tmp_path: Path) -> None:
    books = tmp_path / "library"
    books.mkdir()
    original = make_novel(1)
    preface = " ".join(make_paragraphs(77, 500, author=4))
    wrapped = lay_out(make_paragraphs(1, 3000), "THE SAME NOVEL", 45, preface)
    files = {
        "a-original.txt": original,
        "b-copy.txt": original,
        "c-edited.txt": edit_words(original, 0.02),
        "d-wrapped.txt": wrapped,
        "e-same-author.txt": make_novel(2),
        "f-page.html": "".join(f"<p>{p}</p>" for p in make_paragraphs(1, 3000)),
    }
    for name, text in files.items():
        (books / name).write_text(text, encoding="utf-8")
    report = build_corpus(books, tmp_path / "out", ALONE)
    assert [book.path for book in report.kept] == ["a-original.txt", "e-same-author.txt"]
    left_out = {book.path: book for book in report.with_status("duplicate")}
    assert sorted(left_out) == ["b-copy.txt", "c-edited.txt", "d-wrapped.txt", "f-page.html"]
    assert {book.duplicate_of for book in left_out.values()} == {"a-original.txt"}
    assert left_out["b-copy.txt"].reason == "the same file"
    assert "of the same text" in left_out["c-edited.txt"].reason
    assert len(list((tmp_path / "out" / "books").iterdir())) == 2


def test_held_out_books_stay_out(tmp_path: Path) -> None:
    books, held = tmp_path / "library", tmp_path / "evaluation"
    write_novels(books, range(4))
    collection = make_paragraphs(60, 6000)
    (books / "collection.txt").write_text(lay_out(collection, "Tales"), encoding="utf-8")
    (held / "a").mkdir(parents=True)
    (held / "a" / "book.txt").write_text(edit_words(make_novel(2), 0.05), encoding="utf-8")
    # A short tale that is but a tenth of a collection.
    tale = lay_out(collection[30:46], "A Tale")
    (held / "tale.txt").write_text(tale, encoding="utf-8")
    (held / "broken.epub").write_bytes(b"PK\x03\x04 and no more")
    config = CorpusConfig(min_words=MIN_WORDS, workers=1, exclude=(held,))
    report = build_corpus(books, tmp_path / "out", config)
    assert {b.path: b.duplicate_of for b in report.with_status("held out")} == {
        "collection.txt": "evaluation/tale.txt",
        "novel-02.txt": "evaluation/a/book.txt",
    }
    assert len(report.kept) == 3
    assert {h.path: bool(h.problem) for h in report.held_out} == {
        "evaluation/a/book.txt": False,
        "evaluation/broken.epub": True,
        "evaluation/tale.txt": False,
    }
    # The same folder without the list: both come in.
    assert len(build_corpus(books, tmp_path / "out", ALONE).kept) == 5
    assert snapshot(tmp_path / "out") == snapshot_of_fresh_build(books, tmp_path)


def test_two_folders_of_one_name_can_be_held_out(tmp_path: Path) -> None:
    write_novels(tmp_path / "library", range(3))
    write_novels(tmp_path / "a" / "test", range(1))
    write_novels(tmp_path / "b" / "test", range(1, 2))
    excluded = (tmp_path / "a" / "test", tmp_path / "b" / "test")
    config = CorpusConfig(min_words=MIN_WORDS, workers=1, exclude=excluded)
    report = build_corpus(tmp_path / "library", tmp_path / "out", config)
    assert [book.duplicate_of for book in report.with_status("held out")] == [
        "test/novel-00.txt",
        "test-2/novel-01.txt",
    ]


def test_one_and_two_workers_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    two = CorpusConfig(min_words=MIN_WORDS, workers=2)
    assert snapshot_of_fresh_build(folder, tmp_path) == snapshot_of_fresh_build(
        folder, tmp_path / "second", two
    )


def test_nothing_is_read_twice(folder: Path, tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "out"
    build_corpus(folder, out, ALONE)
    before = snapshot(out)
    monkeypatch.setattr(readings, "load_book", lambda path: pytest.fail("read again"))
    (folder / "shelf").rename(folder / "other shelf")
    report = build_corpus(folder, out, ALONE)
    assert report.files_read == 0
    after = snapshot(out)
    assert {name: data for name, data in before.items() if name != "corpus.json"} == {
        name: data for name, data in after.items() if name != "corpus.json"
    }
    assert "other shelf/novel-00.txt" in statuses(report)


def test_new_books_are_added_and_vanished_ones_removed(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_corpus(folder, out, ALONE)
    (folder / "page.html").unlink()
    # An edition that comes before the one that was kept takes its place.
    (folder / "aa-first.txt").write_text(edit_words(make_novel(1), 0.02), encoding="utf-8")
    report = build_corpus(folder, out, ALONE)
    assert report.files_read == 1
    assert statuses(report)["shelf/novel-01.txt"] == "duplicate"
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path)
    # And gives it back.
    (folder / "aa-first.txt").unlink()
    report = build_corpus(folder, out, ALONE)
    assert statuses(report)["shelf/novel-01.txt"] == "kept"
    assert report.files_read == 1
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path / "again")


def test_other_bounds_take_effect(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_corpus(folder, out, ALONE)
    low = CorpusConfig(min_words=100, workers=1)
    assert statuses(build_corpus(folder, out, low))["short.txt"] == "kept"
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path, low)
    build_corpus(folder, out, ALONE)
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path / "again")


def test_a_damaged_text_is_mended(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = build_corpus(folder, out, ALONE)
    before = snapshot(out)
    (out / "books" / f"{report.kept[0].id}.tsv.gz").write_bytes(b"damaged")
    (out / "readings" / f"{report.kept[1].id}.json").write_bytes(b"damaged")
    assert build_corpus(folder, out, ALONE).files_read == 2
    assert snapshot(out) == before


def test_damaged_archives_are_named_and_give_what_they_can(tmp_path: Path) -> None:
    books = tmp_path / "library"
    books.mkdir()
    members = {f"novel-{seed}.txt": make_novel(seed).encode() for seed in range(4)}
    for name in ("cut.tar", "cut.tar.gz", "cut.tar.xz", "cut.zip"):
        (write_zip if name.endswith("zip") else write_tar)(books / name, members)
        whole = (books / name).read_bytes()
        (books / name).write_bytes(whole[: int(0.6 * len(whole))])
    write_zip(books / "nested.zip", {"inner.tar": b"any"})
    (books / "no.tar").write_bytes(b"")
    report = build_corpus(books, tmp_path / "out", ALONE)
    named = {book.path: book.reason for book in report.with_status("unreadable")}
    archives = ("cut.tar", "cut.tar.gz", "cut.tar.xz", "cut.zip", "no.tar")
    assert set(named) == {*archives, "nested.zip/inner.tar"}
    assert all("cut short" in named[name] for name in archives)
    # Novels 0 and 1 lie before the cut in the three tars; the first in path order is kept.
    assert [book.path for book in report.kept] == [
        "cut.tar.gz/novel-0.txt",
        "cut.tar.gz/novel-1.txt",
    ]


def test_a_reader_that_fails_costs_one_book(folder: Path, tmp_path: Path, monkeypatch) -> None:
    load = readings.load_book

    def fail_on_html(path: Path):
        if path.suffix == ".html":
            raise RecursionError("too deep")
        return load(path)

    monkeypatch.setattr(readings, "load_book", fail_on_html)
    report = build_corpus(folder, tmp_path / "out", ALONE)
    failed = {book.path: book.reason for book in report.with_status("unreadable")}
    assert "(RecursionError: too deep); the next build tries it again" in failed["page.html"]
    assert len(report.kept) == 6
    # It says nothing of the books: the next run reads those two, and no others, again.
    monkeypatch.undo()
    report = build_corpus(folder, tmp_path / "out", ALONE)
    assert (len(report.kept), report.files_read) == (8, 2)
    assert snapshot(tmp_path / "out") == snapshot_of_fresh_build(folder, tmp_path)


def test_a_file_that_vanished_while_it_was_read_is_read_again(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    load = readings.load_book

    def lose_html(path: Path):
        if path.suffix == ".html":
            path.unlink()
        return load(path)

    monkeypatch.setattr(readings, "load_book", lose_html)
    report = build_corpus(folder, tmp_path / "out", ALONE)
    assert statuses(report)["page.html"] == "unreadable"
    monkeypatch.undo()
    build_corpus(folder, tmp_path / "out", ALONE)
    assert snapshot(tmp_path / "out") == snapshot_of_fresh_build(folder, tmp_path)


def test_a_book_whose_reader_was_killed_is_read_again(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    def kill_first(function, tasks, workers):
        for number, task in enumerate(tasks):
            failure = function(task) if number else WorkError("killed")
            yield Outcome(item=task, failure=failure)

    monkeypatch.setattr(build, "run_many", kill_first)
    report = build_corpus(folder, tmp_path / "out", ALONE)
    assert sum("killed; the next build tries" in b.reason for b in report.left_out) == 1
    monkeypatch.undo()
    assert build_corpus(folder, tmp_path / "out", ALONE).files_read == 1
    assert snapshot(tmp_path / "out") == snapshot_of_fresh_build(folder, tmp_path)


def test_where_a_lost_text_cannot_be_read_again_another_edition_is_kept(
    tmp_path: Path, monkeypatch
) -> None:
    books, out = tmp_path / "library", tmp_path / "out"
    write_novels(books, range(2))
    (books / "edition.html").write_text(
        "".join(f"<p>{p}</p>" for p in make_paragraphs(1, 3000)), encoding="utf-8"
    )
    (books / "novel-01.txt").write_text(make_novel(1), encoding="utf-8")
    before = {book.path: book for book in build_corpus(books, out, ALONE).books}
    assert before["novel-01.txt"].duplicate_of == "edition.html"
    (out / "books" / f"{before['edition.html'].id}.tsv.gz").unlink()
    load = readings.load_book

    def fail_on_html(path: Path):
        if path.suffix == ".html":
            raise MemoryError
        return load(path)

    monkeypatch.setattr(readings, "load_book", fail_on_html)
    report = build_corpus(books, out, ALONE)
    assert [book.path for book in report.kept] == ["novel-00.txt", "novel-01.txt"]
    assert len(list(open_corpus(out).read_books())) == 2
    monkeypatch.undo()
    build_corpus(books, out, ALONE)
    assert snapshot(out) == snapshot_of_fresh_build(books, tmp_path)


def test_the_corpus_may_lie_in_the_folder(tmp_path: Path) -> None:
    write_novels(tmp_path / "library", range(2))
    out = tmp_path / "library" / "corpus"
    for _ in range(2):
        report = build_corpus(tmp_path / "library", out, ALONE)
        assert len(report.books) == 2
        assert report.other_files == 0


def test_what_is_no_corpus_is_not_touched(tmp_path: Path) -> None:
    write_novels(tmp_path / "library", range(2))
    mine = tmp_path / "home" / "books"
    mine.mkdir(parents=True)
    (mine / "list.json").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not empty and not a corpus"):
        build_corpus(tmp_path / "library", tmp_path / "home", ALONE)
    (tmp_path / "home" / "corpus.json").write_text('{"format": "another"}', encoding="utf-8")
    with pytest.raises(InputError, match="not empty and not a corpus"):
        build_corpus(tmp_path / "library", tmp_path / "home", ALONE)
    assert (mine / "list.json").read_text(encoding="utf-8") == "mine"


def test_missing_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        build_corpus(tmp_path / "nowhere", tmp_path / "out", ALONE)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no books"):
        build_corpus(tmp_path / "empty", tmp_path / "out", ALONE)
    write_novels(tmp_path / "library", range(1))
    config = CorpusConfig(exclude=(tmp_path / "empty",))
    with pytest.raises(InputError, match="holds no books"):
        build_corpus(tmp_path / "library", tmp_path / "out", config)


@pytest.mark.parametrize(
    "setting", [{"min_words": -1}, {"duplicate_from": 0}, {"held_out_from": 1.5}, {"workers": 0}]
)
def test_settings_out_of_range(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        CorpusConfig(**setting)


def test_progress_counts_to_the_end(folder: Path, tmp_path: Path) -> None:
    seen = []
    build_corpus(folder, tmp_path / "out", ALONE, seen.append)
    last = {progress.stage: progress for progress in seen}
    assert list(last) == ["looking for books", "reading books"]
    assert all(progress.done == progress.total for progress in last.values())


def test_every_suffix_of_a_book_is_looked_at() -> None:
    assert set(book_module._SUFFIXES) <= BOOK_SUFFIXES
