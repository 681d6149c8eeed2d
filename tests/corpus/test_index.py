"""Indexing a corpus: up to date with its books, whatever was there before and whoever did it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from made_books import snapshot
from made_stories import GHOST, SMALL, TALES, build_tales, write_tales
from ray_processes import kill_a_ray_worker

from folioreel.corpus import index as index_module
from folioreel.corpus.build import build_corpus
from folioreel.corpus.index import EmbedTask, IndexConfig, embed_book, index_corpus
from folioreel.corpus.manifest import locked
from folioreel.corpus.reader import open_corpus
from folioreel.corpus.search import SearchStore
from folioreel.corpus.store import read_record, store_folder
from folioreel.errors import ConfigError, InputError

HERE = IndexConfig(workers=1)


def files_of(corpus: Path) -> dict[str, bytes]:
    """The vectors and passages of a store, file by file."""
    found = snapshot(store_folder(corpus) / "vectors") | snapshot(store_folder(corpus) / "passages")
    assert all(name.endswith(".bin") for name in found)
    return found


def paths_of(corpus: Path) -> list[str]:
    known = {book.id: book.path for book in open_corpus(corpus).books}
    return [known[book.id] for book in read_record(corpus).books]


def found_by(corpus: Path, query: str) -> list[str]:
    return [each.sentence.text for each in SearchStore.open(corpus).search(query, 3)]


def test_new_books_are_added_and_gone_ones_removed(tmp_path: Path) -> None:
    corpus = build_tales(tmp_path, "sea.txt", "ghost.txt")
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added, report.removed, report.failures) == (2, 2, 0, ())
    assert report.sentences == open_corpus(corpus).sentence_count
    before = files_of(corpus)
    write_tales(tmp_path / "library", "money.txt")
    (tmp_path / "library" / "sea.txt").unlink()
    build_corpus(tmp_path / "library", corpus, SMALL)
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added, report.removed) == (2, 1, 1)
    assert paths_of(corpus) == ["ghost.txt", "money.txt"]
    after = files_of(corpus)
    assert len(after) == 2 * 2
    assert len(set(after) & set(before)) == 2
    assert "He had nine hundred guineas." in found_by(corpus, "nine hundred guineas")
    assert not any("captain" in text for text in found_by(corpus, "the captain of the ship"))


def test_a_store_that_is_up_to_date_is_left_alone(tmp_path: Path, monkeypatch) -> None:
    corpus = build_tales(tmp_path)
    index_corpus(corpus, HERE)
    before = files_of(corpus), (store_folder(corpus) / "store.json").read_bytes()
    monkeypatch.setattr(index_module, "embed_book", pytest.fail)
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added, report.removed) == (3, 0, 0)
    assert before == (files_of(corpus), (store_folder(corpus) / "store.json").read_bytes())


def test_one_and_two_workers_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = build_tales(tmp_path / "one"), build_tales(tmp_path / "two")
    index_corpus(one, HERE)
    index_corpus(two, IndexConfig(workers=2))
    assert files_of(one) == files_of(two)
    assert read_record(one) == read_record(two)


def test_a_damaged_book_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    corpus = build_tales(tmp_path)
    books = {book.path: book for book in open_corpus(corpus).books}
    damaged = corpus / "books" / f"{books['ghost.txt'].id}.tsv.gz"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-30])
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added) == (2, 2)
    ((path, reason),) = report.failures
    assert path == "ghost.txt"
    assert "build the corpus again" in reason
    assert SearchStore.open(corpus).waiting == 1
    damaged.unlink()
    assert [path for path, _ in index_corpus(corpus, HERE).failures] == ["ghost.txt"]
    damaged.write_bytes(whole)
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added, report.failures) == (3, 1, ())
    assert paths_of(corpus) == sorted(TALES)


@pytest.mark.parametrize("part", ["store.json", "words/meta.json", "vectors", "passages"])
def test_a_damaged_store_is_mended(tmp_path: Path, part: str) -> None:
    corpus = build_tales(tmp_path)
    index_corpus(corpus, HERE)
    before, asked = files_of(corpus), found_by(corpus, "a spirit in the night")
    path = store_folder(corpus) / part
    path = next(path.iterdir()) if path.is_dir() else path
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match="index"):
        SearchStore.open(corpus).search("a spirit in the night", 50)
    index_corpus(corpus, HERE)
    assert files_of(corpus) == before
    assert found_by(corpus, "a spirit in the night") == asked


def test_a_book_with_another_text_is_indexed_anew(tmp_path: Path) -> None:
    corpus = build_tales(tmp_path)
    index_corpus(corpus, HERE)
    changed = GHOST.replace("thirty years", "a hundred winters")
    (tmp_path / "library" / "ghost.txt").write_text(changed, encoding="utf-8")
    build_corpus(tmp_path / "library", corpus, SMALL)
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added, report.removed) == (3, 1, 1)
    assert "Nobody had lived in the house for a hundred winters." in found_by(corpus, "winters")


def test_another_encoder(tmp_path: Path) -> None:
    corpus = build_tales(tmp_path)
    index_corpus(corpus, HERE)
    report = index_corpus(corpus, IndexConfig(encoder="uni-skip", workers=1))
    assert report.added == 3
    assert len(files_of(corpus)) == 2 * 3
    assert read_record(corpus).encoder == "uni-skip"
    assert found_by(corpus, "One night the strongbox was empty.")[0].startswith("One night")


def test_what_cannot_be_indexed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a corpus"):
        index_corpus(tmp_path)
    build_corpus(write_tales(tmp_path / "library"), tmp_path / "corpus")  # all are too short
    with pytest.raises(InputError, match="holds no books"):
        index_corpus(tmp_path / "corpus")
    corpus = build_tales(tmp_path)
    with locked(corpus), pytest.raises(InputError, match="another process is writing"):
        index_corpus(corpus)
    with pytest.raises(ConfigError, match="unknown sentence encoder"):
        index_corpus(corpus, IndexConfig(encoder="no-such"))
    with pytest.raises(ConfigError, match="same version of folioreel"):
        embed_book(EmbedTask(book_id="a", texts=("b",), encoder="student", fingerprint="other"))


@pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")
def test_a_killed_run_leaves_a_store_that_works(tmp_path: Path, monkeypatch) -> None:
    whole = build_tales(tmp_path / "whole")
    index_corpus(whole, HERE)
    corpus = build_tales(tmp_path, "sea.txt")
    index_corpus(corpus, HERE)
    write_tales(tmp_path / "library")
    build_corpus(tmp_path / "library", corpus, SMALL)
    code = (
        "import sys, time\n"
        "from folioreel.corpus import index\n"
        "index._COMMIT_SENTENCES = 1\n"
        "def wait(progress):\n"
        "    print(progress.done, flush=True); time.sleep(60)\n"
        "index.index_corpus(sys.argv[1], index.IndexConfig(workers=1), wait)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(corpus)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline()  # one book is done, and not yet made to count
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = SearchStore.open(corpus)
    assert store.waiting == 2
    assert store.search("a broken oar upon the beach")[0].book.path == "sea.txt"
    report = index_corpus(corpus, HERE)
    assert (report.books, report.added) == (3, 2)
    assert files_of(corpus) == files_of(whole)
    assert found_by(corpus, "the doctor died") == found_by(whole, "the doctor died")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_ray_gives_the_same_bytes_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'folioreel[ray]'")
    demo = Path(index_module.__file__).parents[1] / "demo" / "book.txt"
    corpora = []
    for name in ("here", "ray"):
        library = write_tales(tmp_path / name / "library")
        text = demo.read_text(encoding="utf-8")
        for number in range(3):  # long enough to be killed in the middle
            third = len(text) // 3
            part = text[number * third : (number + 1) * third]
            (library / f"part-{number}.txt").write_text(part, encoding="utf-8")
        build_corpus(library, tmp_path / name / "corpus", SMALL)
        corpora.append(tmp_path / name / "corpus")
    here, on_ray = corpora
    index_corpus(here, HERE)
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = ["corpus", "index", str(on_ray), "--engine", "ray", "--workers", "2", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "folioreel", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    killed = kill_a_ray_worker(process.pid, lambda: process.poll() is None)
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert killed is not None
    report = json.loads(printed)
    assert (report["books"], report["failures"]) == (6, [])
    assert files_of(on_ray) == files_of(here)
    assert read_record(on_ray) == read_record(here)
    for query in ("The bandstand in pieces", "Who lent the umbrella?", "nine hundred guineas"):
        assert [each.to_dict() for each in SearchStore.open(on_ray).search(query)] == [
            each.to_dict() for each in SearchStore.open(here).search(query)
        ]
