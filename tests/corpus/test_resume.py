"""Runs that were killed or ran out of disk: nothing is half-written, and the next one goes on."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from made_books import ALONE, snapshot, snapshot_of_fresh_build, write_library, write_novels

from folioreel.corpus.build import build_corpus
from folioreel.corpus.reader import open_corpus
from folioreel.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_library(tmp_path / "library")


KILLED = """
import multiprocessing, os, signal, sys
from pathlib import Path
from folioreel.corpus.build import CorpusConfig, build_corpus

def kill(progress):
    if progress.stage == "reading books" and progress.done == 4:
        pids = [child.pid for child in multiprocessing.active_children()]
        print(*pids, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

config = CorpusConfig(min_words=1500, workers=int(sys.argv[3]))
build_corpus(Path(sys.argv[1]), Path(sys.argv[2]), config, kill)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_is_taken_up(folder: Path, tmp_path: Path, workers: int) -> None:
    write_novels(folder / "shelf", range(3, 8))
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(folder), str(out), str(workers)]
    killed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with pytest.raises(InputError, match="no corpus"):
        open_corpus(out)
    for pid in map(int, killed.stdout.split()):
        wait_for_end(pid)
    done = len(list((out / "readings").glob("[!.]*.json")))
    assert 4 <= done < 16
    report = build_corpus(folder, out, ALONE)
    assert report.files_read == 16 - done
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path)


def wait_for_end(pid: int) -> None:
    """The processes of a killed run must not live on."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        status = Path(f"/proc/{pid}/stat")
        if status.exists() and ") Z " in status.read_text():
            return  # ended, and nobody has asked for it
        time.sleep(0.1)
    pytest.fail(f"process {pid} lives on")


def test_what_a_killed_run_left_is_removed(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / ".scratch" / "0123-txt").mkdir(parents=True)
    (out / ".scratch" / "0123-txt" / "folioreel-untitled.txt").write_bytes(b"half a bo")
    (out / "books").mkdir()
    (out / "books" / ".0123-txt.tsv.gz.part").write_bytes(b"half")
    build_corpus(folder, out, ALONE)
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path)


def test_a_full_disk_ends_the_run_and_leaves_nothing_half_written(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    out = tmp_path / "out"
    write_bytes = Path.write_bytes
    calls = []

    def write_until_full(path: Path, data: bytes) -> int:
        if path.name.endswith(".part"):
            calls.append(path)
            if len(calls) > 6:
                write_bytes(path, data[: len(data) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_until_full)
        with pytest.raises(InputError, match="No space left"):
            build_corpus(folder, out, ALONE)
    assert not list(out.rglob("*.part"))
    build_corpus(folder, out, ALONE)
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path)
