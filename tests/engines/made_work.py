"""Work for the tests of the engines: importable by their processes."""

import hashlib
import os
import tempfile
import time
from pathlib import Path

from folioreel.errors import InputError


def square(number: int) -> int:
    """Fails in each way that work can fail, at certain numbers."""
    if number == 7:
        os._exit(3)
    if number == 8:
        raise InputError("cannot be read", Path("eight.txt"), line=8)
    if number == 9:
        raise ValueError("nobody foresaw nine")
    return number * number


def digest_slowly(folder_and_number: tuple[Path, int]) -> tuple[int, bytes]:
    """Some bytes; the process that begins each is written down, and the first ones wait."""
    folder, number = folder_and_number
    begun = folder / f"{number}-{os.getpid()}"
    first = not any(folder.glob(f"{number}-*"))
    begun.touch()
    if first and number < 2:
        time.sleep(30 if number == 0 else 0.5)  # the first is killed in its sleep
    return number, hashlib.sha256(str(number).encode()).digest() * 1000


def pause(seconds: float) -> str:
    """A task that leaves a temporary file behind if it is killed."""
    Path(tempfile.mkdtemp(), "left").touch()
    time.sleep(seconds)
    return tempfile.gettempdir()


def wait_for(file: Path) -> str:
    """The content of a file, once it is there; the process that waits is written beside it."""
    file.with_suffix(f".{os.getpid()}").touch()
    while not file.exists():
        time.sleep(0.02)
    return file.read_text()
