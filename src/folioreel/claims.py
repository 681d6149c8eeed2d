"""Two processes at one file: whoever writes it holds a lock, which ends with the process.

The lock is on the file itself (`flock`), so that nothing is left after a kill. Where there is no
such lock, as on Windows and some network disks, files are still written whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from folioreel.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Most files take milliseconds to write; a picture or an edition of a long book takes seconds.
_PATIENCE_S, _PAUSE_S = 20.0, 0.05
# A link or a pipe that a stranger has put there is neither followed nor waited for.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Create an empty file that no other process writes to; what a killed one has left is removed.

    It is ours until the end of the block, also under another name.

    Raises:
        InputError: Another process has been writing it for too long.
        OSError: It cannot be created.
    """
    until_s = time.monotonic() + _PATIENCE_S
    while (descriptor := _claim(path)) is None:
        if time.monotonic() > until_s:
            raise InputError("is being written by another folioreel; try again later", path)
        time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _claim(path: Path) -> int | None:
    """A descriptor of the new file that holds the lock; None if another process has it."""
    if is_held(path):
        return None
    # A link or a pipe that a stranger has put there is removed, not written to.
    path.unlink(missing_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return None
    if fcntl is None:
        os.close(descriptor)  # no file that is open can be renamed there
        return -1
    if _lock(descriptor) and _is_still(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether nobody has removed the file before it was locked."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except OSError:
        return False


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock of a file."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return False
    try:
        # Shared, so that two who look do not take each other for one who writes, and because
        # network disks give no other lock on a file that is open for reading.
        return not _lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock a file until it is closed; False if another process has done so."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        pass
    return True
