"""Arrays that took long to compute, kept on disk by what they were computed from.

The cache lies in $FOLIOREEL_CACHE, or where the system keeps such files. It may be deleted at any
time, and a cache that cannot be written is simply not used.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.files import make_folder, write_whole

LIMIT_BYTES = 2_000_000_000
"""When the cache grows above this, what was longest unused goes."""

_KEY = re.compile(r"[0-9a-f]{16,}")
_HASH_BYTES = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where the cache lies."""
    chosen = os.environ.get("FOLIOREEL_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen))
    import platformdirs  # a bare training machine has no need of it

    return Path(platformdirs.user_cache_dir("folioreel", appauthor=False))


def cached_array(
    key: str, make: Callable[[], NDArray[Any]], *, limit_bytes: int = LIMIT_BYTES
) -> NDArray[Any]:
    """The array of a key: from the cache, or made and then kept there.

    Args:
        key: A hash, in hexadecimal digits, of all that the array depends on.
        make: Computes it. What it returns is kept in its own type.
        limit_bytes: How large the cache may be.
    """
    path = _path(key)
    found = _read(path)
    if found is not None:
        return found
    made = make()
    with suppress(InputError):  # no place to write is no reason to fail
        make_folder(path.parent)
        write_whole(path, _pack(made))
        _evict(path.parent, limit_bytes)
    return made


def find_array(key: str) -> NDArray[Any] | None:
    """The array of a key, where the cache has it."""
    return _read(_path(key))


def _path(key: str) -> Path:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no hash")
    return cache_folder() / f"{key}.npy"


def _pack(array: NDArray[Any]) -> bytes:
    """The array as .npy, and a hash of that behind it, where NumPy does not look."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    stream.write(hashlib.sha256(stream.getbuffer()).digest())
    return stream.getvalue()


def _read(path: Path) -> NDArray[Any] | None:
    """The array in a file; None if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = memoryview(data)[:-_HASH_BYTES]
    if hashlib.sha256(body).digest() != data[-_HASH_BYTES:]:
        return None
    with suppress(OSError):
        os.utime(path)  # it was used just now
    try:
        array: NDArray[Any] = np.load(io.BytesIO(body), allow_pickle=False)
    except ValueError:
        return None
    return array


def _evict(folder: Path, limit_bytes: int) -> None:
    """Remove what was longest unused until the rest is within the limit."""
    entries: list[tuple[int, int, Path]] = []
    with suppress(OSError):
        for path in folder.iterdir():
            # Unfinished files, which a killed run leaves, are removed in the same way.
            if path.name.endswith((".npy", ".npy.part")):
                with suppress(OSError):
                    status = path.stat()
                    entries.append((status.st_mtime_ns, status.st_size, path))
    size = sum(entry[1] for entry in entries)
    for _, entry_size, path in sorted(entries):
        if size <= limit_bytes:
            return
        with suppress(OSError):
            path.unlink()
            size -= entry_size
