"""The program as a user runs it: closed and full streams, missing packages, Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import write_pair

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell of POSIX")


def folioreel(*arguments: object, program: tuple[str, ...] = ("-m", "folioreel"), **streams):
    environment = {**os.environ, **streams.pop("env", {})}
    environment.pop("PYTHONUNBUFFERED", None)
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.run(command, **given, text=True, env=environment, timeout=120)


def assert_one_line(result, says: str, code: int = 1) -> None:
    assert result.returncode == code, result.stderr
    assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr), result.stderr
    assert says in result.stderr


@needs_full
@pytest.mark.parametrize("unbuffered", [(), ("-u",)])
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["inspect", "BOOK", "--json"]])
def test_a_full_disk_behind_stdout_is_one_line(tmp_path, unbuffered, arguments):
    book = write_pair(tmp_path)[0]
    given = [book if word == "BOOK" else word for word in arguments]
    with FULL.open("w") as full:
        result = folioreel(*given, program=(*unbuffered, "-m", "folioreel"), stdout=full)
    assert_one_line(result, "No space left on device")


@posix
def test_streams_that_are_closed(tmp_path):
    book = write_pair(tmp_path)[0]
    command = f"{sys.executable} -m folioreel inspect"
    silent = subprocess.run(f"{command} {book} 2>&-", shell=True, capture_output=True, text=True)
    assert silent.returncode == 0
    assert "book.txt" in silent.stdout
    missing = f"{command} {tmp_path / 'nothing.txt'} 2>&- >&- <&-"
    assert subprocess.run(missing, shell=True).returncode == 1
    unread = subprocess.run(
        f"{command} {book} --json | true", shell=True, capture_output=True, text=True
    )
    assert unread.stderr == ""


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_that_end_it_are_one_line(tmp_path, name):
    """They come while it waits for the words of a pipe."""
    film = write_pair(tmp_path)[1]
    os.mkfifo(tmp_path / "book.fifo")
    command = [sys.executable, "-m", "folioreel", "align", tmp_path / "book.fifo", film]
    given = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([*map(str, command), "--out", str(tmp_path / "out")], **given) as process,
        (tmp_path / "book.fifo").open("w") as pipe,  # once the program has opened it
    ):
        pipe.write("The ferry crossed")
        pipe.flush()
        time.sleep(0.2)
        process.send_signal(getattr(signal, name))
        assert process.communicate(timeout=60) == ("", "folioreel: stopped\n")
    assert process.returncode == 128 + getattr(signal, name)
    assert not (tmp_path / "out").exists()


@posix
def test_nohup_is_heeded(tmp_path):
    book = write_pair(tmp_path)[0]
    command = f"trap '' HUP; {sys.executable} -m folioreel inspect {book} & kill -HUP $!; wait $!"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_that_is_missing_or_too_old_is_one_line(tmp_path):
    """As in an environment that was made before a dependency was added."""
    (tmp_path / "msgspec.py").write_text("raise ModuleNotFoundError(\"No module named 'msgspec'\")")
    book = write_pair(tmp_path)[0]
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    result = folioreel("inspect", book, env={"PYTHONPATH": path})
    assert_one_line(result, "No module named 'msgspec'")
    assert "pip install" in result.stderr


@posix
def test_a_signal_at_the_very_end_is_one_line(tmp_path):
    program = """
import os, signal
from folioreel import __main__ as program
program._run = lambda received: 0
program._flush = lambda code: os.kill(os.getpid(), signal.SIGTERM)
program.main()
"""
    result = folioreel(program=("-c", program))
    assert_one_line(result, "stopped", 128 + signal.SIGTERM)
