"""Disks that are full, and folders that cannot be written: one line, and nothing half-written."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import write_pair
from corpus.made_books import write_novels
from corpus.made_stories import write_tales
from fuzzed_readers import refusal
from made_pages import open_session
from stopping import Command, content, run_stopped

from folioreel.corpus.words import WordIndex
from folioreel.files import UNFINISHED
from folioreel.language import detect_language

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and limits of POSIX"),
    pytest.mark.filterwarnings("ignore"),  # of forks in a process that has threads
]
detect_language("Nobody spoke of it.")  # loads its model through a large temporary file
SIZES = (10, 1000, 30_000)  # bytes; the first stops at once, the last late


def assert_whole(folder: Path, whole: dict[str, bytes]) -> None:
    """What is there is there from beginning to end, and nothing else is but the mark."""
    found = content(folder) if folder.exists() else {}
    found = {name: data for name, data in found.items() if not name.startswith(".scratch/")}
    found.pop(f".results{UNFINISHED}", None)
    assert {name for name in found if name.endswith(UNFINISHED)} == set()
    assert found.items() <= whole.items()


TOO_LITTLE = "too little to tell"  # the warning of a short film


def check_sizes(words: list[object], out: Path, prepare=lambda: None) -> None:
    """With files of several sizes at most, a command fails in one line; and then it works."""
    prepare()
    assert run_stopped(Command(*words)) == 0
    whole = content(out)
    for size in SIZES:
        shutil.rmtree(out)
        prepare()
        limited = Command(*words, largest_file=size)
        ended, said = run_stopped(limited), limited.said()
        assert ended == int(any(len(data) > size for data in whole.values())), said
        if ended:
            lines = [line for line in said.splitlines() if line.startswith("folioreel: ")]
            assert len([line for line in lines if TOO_LITTLE not in line]) == 1, said
            assert "Traceback" not in said
        assert_whole(out, whole)
        again = Command(*words)
        assert not ended or run_stopped(again) == 0, again.said()
        assert content(out) == whole


def test_export(tmp_path, result):
    out = tmp_path / "out"
    check_sizes(["export", result, "--as", "csv", "--as", "eaf", "--out", out], out)


def test_report(tmp_path, result):
    out = tmp_path / "out"
    check_sizes(["report", result, "--out", out], out)


def test_align(tmp_path):
    book, film = write_pair(tmp_path)
    out = tmp_path / "out"
    check_sizes(["align", book, film, "--preset", "fast", "--out", out], out)


def test_corpus_build(tmp_path):
    write_novels(tmp_path / "books", range(2), words=1600)
    out = tmp_path / "corpus"
    words = ["corpus", "build", tmp_path / "books", "--out", out, "--min-words", 1500]
    check_sizes([*words, "--workers", 1], out)


@pytest.mark.parametrize("size", [1, 300, 2000])
def test_corpus_index(tmp_path, size):
    """The word index is written by a library that is not in Python."""
    write_tales(tmp_path / "books")
    corpus = tmp_path / "corpus"
    build = ["corpus", "build", tmp_path / "books", "--out", corpus, "--min-words", 20]
    assert run_stopped(Command(*build, "--workers", 1)) == 0
    index = ["corpus", "index", corpus, "--workers", 1]
    limited = Command(*index, largest_file=size)
    ended, said = run_stopped(limited), limited.said()
    assert ended == 1, said
    assert "Traceback" not in said
    assert len([line for line in said.splitlines() if line.startswith("folioreel: ")]) == 1, said
    again = Command(*index)
    assert run_stopped(again) == 0, again.said()
    assert len(WordIndex(corpus / "search" / "words").search("captain", 5)) == 1


def test_a_cache_that_is_full_or_cannot_be_written_does_not_matter(tmp_path, monkeypatch):
    book, film = write_pair(tmp_path)
    words = ["align", book, film, "--preset", "fast"]
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    limited = Command(*words, largest_file=50)
    assert run_stopped(limited) == 0, limited.said()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    monkeypatch.setenv("FOLIOREEL_CACHE", str(book / "cache"))  # below a file
    assert run_stopped(Command(*words)) == 0


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    size = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.getuid() != 0 or subprocess.run(["mount", *size], capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path) -> None:
    with (disk / "filling").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(1024)):
                pass
        except OSError:
            return


def test_a_disk_that_is_really_full(small_disk, result):
    fill(small_disk)
    for words in (
        ["export", result, "--out", small_disk / "out"],
        ["report", result, "--out", small_disk / "report"],
    ):
        full = Command(*words)
        assert run_stopped(full) == 1
        said = full.said()
        assert "No space left on device" in said
        assert "Traceback" not in said
    (small_disk / "filling").unlink()
    assert run_stopped(Command("export", result, "--as", "csv", "--out", small_disk / "out")) == 0


def test_judging_on_a_disk_that_is_really_full(small_disk, result):
    """A judgement that cannot be kept is refused, and the next one is not said to be late."""
    shutil.copytree(result.parent, small_disk / "library")
    session = open_session(small_disk / "library" / "result")
    session.judge(0, {"moment": 0, "verdict": "none"})
    journal = small_disk / "library" / "result" / "judged" / "journal.jsonl"
    before = journal.read_bytes()
    fill(small_disk)
    told = []
    for moment in (1, 2, 3) * 20:  # the last block of the journal may have room for some
        revision = session.judgements.revision
        judgement = {"moment": moment, "verdict": "match", "sentence": revision % 9}
        told.append(refusal(session.judge, revision, judgement))
    assert {"No space left on device" in line for line in told if line} == {True}
    lines = journal.read_bytes().splitlines()
    assert journal.read_bytes().startswith(before)
    assert len(lines) == 1 + session.judgements.revision
    (small_disk / "filling").unlink()
    judgement = {"moment": 0, "verdict": "match", "sentence": 1}
    answer = session.judge(session.judgements.revision, judgement)
    assert answer["revision"] == len(lines)
    session.close()
    assert open_session(small_disk / "library" / "result").judgements.revision == len(lines)
