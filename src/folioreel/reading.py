"""The user's files as bytes: whatever a path leads to, reading it ends, and within a limit.

A pipe (`<(cat book.txt)`, `/dev/stdin`) gives its bytes only once, so they are read whole and
remembered: whoever opens the same path again, to recognise the file or to hash it, gets the same.
A device (`/dev/zero`) may never end, and is refused.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from folioreel.errors import InputError

LARGEST_FILE = 200 * 2**20
"""Bytes of a file that is read whole: even a scanned PDF is rarely larger."""
LARGEST_TEXT = 64 * 2**20
"""Bytes of text or markup: the longest novels have 10 MB."""
STRONGEST_PACKING = 40
"""How many bytes may come out of a packed one: of text three, of wordy markup fifteen, and of
archives that are made to fill the memory a thousand."""
# Below this size it does not matter.
_FREELY_UNPACKED = 4 * 2**20
# How long a pipe may stay without a writer, and how long a writer may be silent: a program that
# unpacks or downloads the file may need a while.
_WRITER_S = 2.0
_SILENCE_S = 30.0
_REMEMBERED_PIPES = 4

_pipes: dict[tuple[int, int, int], bytes] = {}


def megabytes(size: int) -> str:
    """A limit in words: `200 MB`."""
    return f"{size // 2**20} MB"


def inflates_absurdly(packed: int, unpacked: int) -> bool:
    """Whether so many bytes come out of so few that somebody wants to fill our memory."""
    return unpacked > max(_FREELY_UNPACKED, STRONGEST_PACKING * packed)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """A file or a pipe, to read from its beginning; never blocks for long.

    Raises:
        InputError: It is missing, a folder, a device, or a pipe that nothing comes out of.
    """
    try:
        with open(_open_at_once(path), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                yield file
            elif stat.S_ISFIFO(status.st_mode):
                yield io.BytesIO(_read_pipe(file.fileno(), path))
            else:
                raise InputError("is a device, not a file; give a file", path)
    except FileNotFoundError:
        raise InputError("no such file; check the path", path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path) from error


def _open_at_once(path: Path) -> int:
    """A descriptor of a file; opening a pipe does not wait until somebody writes to it."""
    if path.is_dir():
        raise InputError("is a folder; give one file", path)
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags)
    except ValueError as error:  # a NUL in the name
        raise InputError("is not the name of a file", repr(str(path))) from error


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that is too long is none either."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; a name that is too long is none either."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_some(file: BinaryIO, size: int, path: Path) -> bytes:
    """The next bytes of an open file, fewer than `size` at its end alone."""
    data: bytes | None = file.read(size)
    if data is None:  # a file of the system that is waiting for something, such as /proc/kmsg
        raise InputError("has nothing to read; give another file", path)
    return data


def read_rest(file: BinaryIO, path: Path, limit: int = LARGEST_FILE) -> bytes:
    """What is left of an open file, up to a limit."""
    data = read_some(file, limit + 1, path)
    if len(data) > limit:
        raise InputError(f"is larger than {megabytes(limit)}; is it the right file?", path)
    return data


def read_whole(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """The bytes of a file or a pipe; errors as `open_file` and `read_rest` have them."""
    with open_file(path) as file:
        return read_rest(file, path, limit)


def read_plain(path: Path) -> bytes:
    """The bytes of a file in a folder of ours; whatever else has its name is an `OSError`."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "is not a file")
        return file.read()


def read_utf8(path: Path) -> str:
    """The text of a table or list in UTF-8, with plain newlines; errors as `read_whole` has."""
    try:
        text = read_whole(path, LARGEST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text; save it as such", path) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_pipe(descriptor: int, path: Path) -> bytes:
    """All that comes out of a pipe, now or the first time."""
    if (found := _pipes.get(_identity(descriptor))) is not None:
        return found
    parts: list[bytes] = []
    size, deadline = 0, time.monotonic() + _WRITER_S
    while size <= LARGEST_FILE:
        try:
            part = os.read(descriptor, 2**20)
        except BlockingIOError:  # somebody will write to it, but has not yet
            if not select.select([descriptor], [], [], _SILENCE_S)[0]:
                message = f"is a pipe that is silent for {_SILENCE_S:.0f} s; write a file instead"
                raise InputError(message, path) from None
            continue
        if not part and not parts and time.monotonic() < deadline:
            time.sleep(0.01)  # nobody writes to it, perhaps not yet
            continue
        if not part:
            break
        parts.append(part)
        size += len(part)
    if not parts:
        raise InputError("is a pipe that nothing comes out of; give a file", path)
    data = b"".join(parts)
    if len(_pipes) >= _REMEMBERED_PIPES:
        del _pipes[next(iter(_pipes))]
    _pipes[_identity(descriptor)] = data
    return data


def _identity(descriptor: int) -> tuple[int, int, int]:
    """Tells a pipe and what was written to it from others."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_mtime_ns
