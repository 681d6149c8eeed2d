"""Running a command in a process of its own, which is stopped at a change of a file."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from folioreel import files
from folioreel.cli import main

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
EVERY_CHANGE = "FOLIOREEL_EVERY_CHANGE"
"""Set in the environment, tests stop commands at every change of a file, and not at some alone."""


def run_stopped(
    work: Callable[[], object],
    after: int = 0,
    how: signal.Signals = signal.SIGKILL,
    told: int | None = None,
) -> int:
    """Run in a process of its own, which gets a signal at a change; 0 if it came to its end.

    `told` is a pipe that gets a byte for each change.
    """

    def child() -> None:
        changes = 0

        def count(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal changes
            is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3 > 0
            if not is_write and event not in CHANGES:
                return
            changes += 1
            if told is not None:
                os.write(told, b".")
            if changes == after:
                changes += 1  # `os.kill` is an event as well
                os.kill(os.getpid(), how)

        files._sweep_scratch.cache_clear()
        sys.addaudithook(count)
        work()

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(120)
    assert process.exitcode is not None
    return process.exitcode


def count_changes(work: Callable[[], object]) -> int:
    """Run to the end in a process of its own, and count the changes of files."""
    receiving, sending = os.pipe()
    assert run_stopped(work, told=sending) == 0
    os.close(sending)
    with open(receiving, "rb") as pipe:
        return len(pipe.read())


class Command:
    """A command as work for `run_stopped`; what it prints on stderr is sent through a pipe."""

    def __init__(self, *arguments: object, largest_file: int | None = None) -> None:
        """`largest_file`: how many bytes fit into a file before the disk is full."""
        self._arguments = [str(argument) for argument in arguments]
        self._largest_file = largest_file
        self._receiving, self._sending = os.pipe()
        os.set_blocking(self._receiving, False)

    def __call__(self) -> None:
        """Run it."""
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        if self._largest_file is not None:
            import resource

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails instead
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._largest_file, most))
        try:
            main(self._arguments)
        except Exception:
            traceback.print_exc()
            raise
        finally:
            os.write(self._sending, sys.stderr.getvalue().encode()[-60_000:])

    def said(self) -> str:
        """What was printed on stderr since this was last asked."""
        try:
            return os.read(self._receiving, 2**16).decode()
        except BlockingIOError:
            return ""


def content(folder: Path) -> dict[str, bytes]:
    """All files below a folder by name."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
