"""Stores that are damaged, read-only or on a full disk: one line that says what to do."""

import multiprocessing
import os
import random
from collections.abc import Callable
from pathlib import Path

import numba
import pytest
from fuzzed_readers import refusal
from numba.core import caching

from folioreel import compiled
from folioreel.corpus import words
from folioreel.corpus.words import WordIndex, WordWriter
from folioreel.errors import InputError

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def index(tmp_path):
    """The word index of a corpus: two segments, one of them with deleted sentences."""
    folder = tmp_path / "corpus" / "search" / "words"
    for book in ("a", "b"):
        writer = WordWriter(folder)
        writer.add_book(book, [f"The ferry crossed river {k} at dawn" for k in range(100)])
        writer.commit()
        writer.close()
    return folder


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a process that does something: 1 after an exception, -6 if it aborts."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def put(path: Path, data: bytes) -> None:
    """Put other bytes in a file's place; one that is mapped into memory must not shrink."""
    fresh = path.with_name("fresh")
    fresh.write_bytes(data)
    fresh.replace(path)


def search(index: Path) -> dict[tuple[str, int], float] | str:
    """What is found, or what the user is told instead."""
    found: list[dict[tuple[str, int], float]] = []
    told = refusal(lambda: found.append(WordIndex(index).search("ferry", 3)))
    return told or found[0]


def test_one_wrong_byte_in_the_word_index(index):
    """Tantivy would panic, abort, or find other sentences."""
    right, rng, refused = search(index), random.Random(5), 0
    files = [path for path in sorted(index.iterdir()) if path.suffix not in (".json", ".lock")]
    for path in files:
        data = path.read_bytes()
        for _ in range(10):
            place = rng.randrange(len(data))
            wrong = bytes([data[place] ^ 1 << rng.randrange(8)])
            put(path, data[:place] + wrong + data[place + 1 :])
            if (found := search(index)) != right:  # the number of a version is no damage
                assert "index the corpus again: folioreel corpus index" in found
                refused += 1
        put(path, data[: len(data) // 2])
        assert "index the corpus again" in search(index)
        put(path, data)
    assert refused > 5 * len(files)


def test_one_wrong_byte_in_its_list_of_segments(index):
    path = index / "meta.json"
    data, rng = path.read_bytes(), random.Random(6)
    for place in rng.sample(range(len(data)), 60):
        put(path, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        found = search(index)
        assert isinstance(found, dict) or "index the corpus again" in found


def test_a_field_twice_in_its_schema(index, capfd):
    """Tantivy would panic, and Rust print a traceback that nobody can catch."""
    path = index / "meta.json"
    put(path, path.read_bytes().replace(b'"stems"', b'"text"'))
    assert "index the corpus again" in search(index)
    assert capfd.readouterr().err == ""


def test_a_word_index_that_is_missing(tmp_path):
    with pytest.raises(InputError, match="index the corpus again"):
        WordIndex(tmp_path / "corpus" / "search" / "words")


def test_a_panic_is_an_error(index, monkeypatch):
    class PanicException(BaseException):
        pass

    class Searcher:
        def doc_freq(self, *_: object) -> int:
            raise PanicException("index out of bounds")

    found = WordIndex(index)
    monkeypatch.setattr(found, "_searcher", Searcher())
    with pytest.raises(InputError, match=r"cannot be searched \(index out of bounds\)"):
        found.count_sentences("ferry")


def test_an_interrupt_is_none(index):
    with pytest.raises(KeyboardInterrupt), words._explained(index):
        raise KeyboardInterrupt


@needs_fork
@pytest.mark.filterwarnings("ignore")
def test_a_read_only_index_can_be_searched(index, tmp_path):
    (tmp_path / "tmp").mkdir(mode=0o777)
    (tmp_path / "tmp").chmod(0o777)
    for path in index.iterdir():
        path.chmod(0o644)
        if path.suffix == ".lock":
            path.unlink()
    for folder in (index, *index.parents):
        if not folder.is_relative_to(tmp_path.parent.parent):
            break
        folder.chmod(0o755)
    index.chmod(0o555)

    def search() -> None:
        if os.getuid() == 0:  # who may write anywhere
            os.setuid(65534)
        os.environ["TMPDIR"] = str(tmp_path / "tmp")
        assert not os.access(index, os.W_OK)
        assert len(WordIndex(index).search("ferry", 3)) == 3

    assert in_child(search) == 0
    assert not list((tmp_path / "tmp").iterdir())


def test_a_full_disk_while_indexing(index, monkeypatch):
    class Writer:
        def __getattr__(self, name: str) -> Callable[..., None]:
            def fail(*_: object) -> None:
                raise OSError(28, "No space left on device")

            return fail

    writer = WordWriter(index)
    monkeypatch.setattr(writer, "_writer", Writer())
    for change in (lambda: writer.add_book("c", ["x"]), writer.commit, writer.close):
        with pytest.raises(InputError, match=r"No space left on device\); is the disk full"):
            change()


def test_functions_are_compiled_where_nothing_can_be_kept(monkeypatch):
    kept = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # its name until 0.60
    monkeypatch.setattr(kept, "_locator_classes", [])
    with pytest.raises(RuntimeError):
        numba.njit(cache=True)(lambda x: x + 1)

    @compiled.njit(nogil=True)
    def add(x: int) -> int:
        return x + 1

    assert add(2) == 3
