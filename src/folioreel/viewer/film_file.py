"""The film's file, as it was when the page was opened: nothing that takes its place is served."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from folioreel.errors import InputError

# A named pipe would block until somebody writes to it, and a link may lead to any file.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class FilmFile:
    """A film that is opened for each request, and checked after it was opened."""

    def __init__(self, path: Path) -> None:
        """Remember which file it is; links are followed now, and never again."""
        try:
            self.path = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:  # a RuntimeError is a circle of links
            raise InputError("the film has been moved or deleted", path) from error
        with _open_regular(self.path) as file:
            self._identity = _identity(file)

    def open(self) -> BinaryIO:
        """The film, opened.

        Raises:
            InputError: It is not there, or not the same file.
        """
        file = _open_regular(self.path)
        if _identity(file) != self._identity:
            file.close()
            raise InputError("the film has been replaced or changed; start `folioreel view` again")
        return file


def _open_regular(path: Path) -> BinaryIO:
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise InputError("the film has been moved or deleted") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError("the film is no longer a file")
    return os.fdopen(descriptor, "rb")


def _identity(file: BinaryIO) -> tuple[int, ...]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
