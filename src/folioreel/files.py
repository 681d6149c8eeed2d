"""Writing files so that a kill or a full disk leaves none of them half-written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from folioreel.errors import InputError

UNFINISHED = ".part"
"""How the name of a file ends while it is being written."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place when all went well.

    The unfinished file has one name, so that the next run writes over what a killed one left.

    Raises:
        InputError: The disk is full, or the folder cannot be written.
    """
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    write_whole(path, text.encode("utf-8"))


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror or error})", path) from error
