"""One run at a time writes to one corpus: a lock that the system lets go of with the process."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from folioreel.errors import InputError

LOCK = ".lock"
"""The file that is locked. It stays: were it removed, two runs could lock two files of one name."""

_LOG = logging.getLogger(__name__)


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold a corpus's folder, which must exist, against other runs.

    Raises:
        InputError: Another run holds it, or it cannot be written.
    """
    try:
        file = (out / LOCK).open("ab")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", out / LOCK) from error
    with file:  # closing it lets go of the lock
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):  # POSIX, Windows
            raise InputError(f"another run is writing to {out}; wait for it to end") from None
        except OSError as error:
            # Some network drives know no locks; there it is left to the user, as it must be.
            _LOG.warning("%s cannot be locked (%s); start one run at a time", out, error.strerror)
        yield


def _lock(file: IO[bytes]) -> None:
    """Lock a file without waiting, or raise; no lock where the system has none."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        return
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
