"""Files: hashes, whole or not at all, and nothing overwritten by accident."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from folioreel import claims
from folioreel.errors import InputError
from folioreel.files import (
    check_output_file,
    check_output_folder,
    file_sha256,
    make_folder,
    replacing,
    write_text,
    write_whole,
    writing_together,
)


def test_the_hash_is_of_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"content").hexdigest()
    with pytest.raises(InputError, match="gone: no such file"):
        file_sha256(tmp_path / "gone")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "notes.txt"
    write_text(path, "old")
    with suppress(RuntimeError), replacing(path) as unfinished:
        unfinished.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_stranger_put_in_its_place_is_not_written_to(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "out.csv"
    victim.write_text("precious")
    (tmp_path / ".out.csv.part").symlink_to(victim)
    write_whole(path, b"new")
    assert victim.read_text() == "precious"
    assert not path.is_symlink()
    assert path.read_bytes() == b"new"
    os.mkfifo(tmp_path / ".out.csv.part")
    write_whole(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_folders_that_cannot_be_created(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be created"):
        make_folder(tmp_path / "file" / "folder")


def test_a_file_is_overwritten_only_with_force(tmp_path):
    path = tmp_path / "page.html"
    check_output_file(path, force=False)
    path.touch()
    with pytest.raises(InputError, match=r"already exists; .* --force"):
        check_output_file(path, force=False)
    check_output_file(path, force=True)


def test_a_command_without_force_does_not_advise_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"link: already exists; choose another path$"):
        check_output_file(tmp_path / "link")


def test_a_folder_may_hold_other_files(tmp_path):
    check_output_folder(tmp_path / "new", ["a.json"])
    (tmp_path / "film.mkv").touch()
    check_output_folder(tmp_path, ["a.json"])
    with pytest.raises(InputError, match=r"already holds film\.mkv; .* --force"):
        check_output_folder(tmp_path)
    check_output_folder(tmp_path, force=True)
    with pytest.raises(InputError, match="is a file"):
        check_output_folder(tmp_path / "film.mkv", ["a.json"], force=True)


WRITING = """
import sys, time
from pathlib import Path
from folioreel.files import replacing, writing_together
folder = Path(sys.argv[1])
with writing_together(folder, ["one"]), replacing(folder / "one") as unfinished:
    with unfinished.open("w") as file:
        file.write("its first half")
        file.flush()
        print("writing", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that is writing the file `one`."""
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_two_processes_do_not_write_one_file(tmp_path, other, monkeypatch):
    monkeypatch.setattr("folioreel.claims._PATIENCE_S", 0.1)
    with pytest.raises(InputError, match="being written by another folioreel"):
        write_whole(tmp_path / "one", b"ours")
    with (
        pytest.raises(InputError, match="another folioreel is writing"),
        writing_together(tmp_path, ["two"]),
    ):
        pass
    with pytest.raises(InputError, match="another folioreel is writing"):
        check_output_folder(tmp_path, ["one"])
    other.communicate(timeout=60)
    assert (tmp_path / "one").read_text() == "its first half"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_what_a_killed_process_was_writing_is_replaced(tmp_path, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    check_output_folder(tmp_path)
    with writing_together(tmp_path, ["one"]):
        write_whole(tmp_path / "one", b"ours")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"ours"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_two_processes_that_begin_at_once_do_not_write_into_one_folder(tmp_path):
    """One finds the folder free, and must wait for the other, which then has it."""
    mark = tmp_path / ".results.part"
    refused = []

    def begin() -> None:
        try:
            with writing_together(tmp_path, ["one"]):
                pass
        except InputError as error:
            refused.append(str(error))

    with claims.claimed(tmp_path / f".{mark.name}.part"):
        second = threading.Thread(target=begin)
        second.start()
        time.sleep(0.2)
        (tmp_path / f".{mark.name}.part").rename(mark)
        second.join(60)
    assert ["another folioreel is writing" in message for message in refused] == [True]
    assert list(tmp_path.iterdir()) == [mark]


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_locks_on_network_disks(tmp_path, monkeypatch):
    """NFS locks a file exclusively only if it is open for writing, and otherwise only shared."""
    import fcntl

    flock = fcntl.flock

    def of_nfs(descriptor: int, how: int) -> None:
        is_written = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        if is_written is not bool(how & fcntl.LOCK_EX):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", of_nfs)
    with claims.claimed(tmp_path / "one"):
        assert claims.is_held(tmp_path / "one")
    assert not claims.is_held(tmp_path / "one")
    with (
        writing_together(tmp_path, ["one"]),
        pytest.raises(InputError, match="another folioreel is writing"),
    ):
        check_output_folder(tmp_path, ["one"])
