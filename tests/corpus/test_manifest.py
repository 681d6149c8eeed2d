"""Two builds at once into one folder: one goes on, the other says so and touches nothing."""

import errno
import os
from pathlib import Path

import pytest
from made_books import ALONE, snapshot, snapshot_of_fresh_build, write_novels

from folioreel.corpus.build import build_corpus
from folioreel.corpus.manifest import LOCK, locked
from folioreel.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_novels(tmp_path / "library", range(2))
    return tmp_path / "library"


def test_a_second_build_is_refused_and_harms_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused = []

    def build_again(progress) -> None:
        if progress.stage == "reading books" and not refused:
            (out / ".scratch" / "half").mkdir()
            with pytest.raises(InputError) as error:
                build_corpus(folder, out, ALONE)
            assert (out / ".scratch" / "half").exists()
            refused.append(str(error.value))

    assert len(build_corpus(folder, out, ALONE, build_again).kept) == 2
    assert refused == [f"another process is writing to {out}; wait until it has finished"]
    assert snapshot(out) == snapshot_of_fresh_build(folder, tmp_path)


def test_the_lock_is_let_go_of_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="any"), locked(tmp_path):
        raise ValueError("any")
    with locked(tmp_path):
        pass


def test_a_run_killed_right_after_locking_leaves_a_folder_of_ours(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LOCK).touch()
    assert len(build_corpus(folder, tmp_path / "out", ALONE).kept) == 2


@pytest.mark.skipif(os.name != "posix", reason="takes away the locks of POSIX")
def test_where_nothing_can_be_locked_the_build_goes_on(
    folder: Path, tmp_path: Path, monkeypatch, caplog
) -> None:
    def no_locks(file, operation) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    assert len(build_corpus(folder, tmp_path / "out", ALONE).kept) == 2
    assert "cannot be locked (No locks available)" in caplog.text
