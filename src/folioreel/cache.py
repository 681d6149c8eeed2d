"""A disk cache of what is slow to compute, arrays and JSON, keyed by a hash of the inputs.

It is in $FOLIOREEL_CACHE, or in the user's cache folder. It can be deleted at any time, and if it
is not writable everything works without it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.files import make_folder, write_whole
from folioreel.json_input import parse_json
from folioreel.reading import read_whole

Shape = TypeVar("Shape")

# Above this, the least recently used arrays are deleted. The sentence vectors of a novel and the
# frame features of a film take megabytes each, so that hundreds of pairs fit.
LIMIT_BYTES = 2_000_000_000
# Keys become file names: nothing but a hash may pass, least of all a path.
_KEY = re.compile(r"[0-9a-f]{16,}")
_HASH_BYTES = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """The folder of the cache; it need not exist."""
    chosen = os.environ.get("FOLIOREEL_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen))
    import platformdirs  # here, as bare training machines may not have it

    return Path(platformdirs.user_cache_dir("folioreel", appauthor=False))


def cached_array(
    key: str, make: Callable[[], NDArray[Any]], *, limit_bytes: int = LIMIT_BYTES
) -> NDArray[Any]:
    """The array of a key: from the cache, or computed and then stored there.

    Args:
        key: A hash, in hexadecimal digits, of everything that the array depends on.
        make: Computes the array, which keeps its dtype in the cache.
        limit_bytes: How large the cache may become.
    """
    found = find_array(key)
    if found is not None:
        return found
    made = make()
    store_array(key, made, limit_bytes=limit_bytes)
    return made


def find_array(key: str) -> NDArray[Any] | None:
    """The array of a key, or None if the cache does not have it."""
    return _read(_path(key))


def store_array(key: str, array: NDArray[Any], *, limit_bytes: int = LIMIT_BYTES) -> None:
    """Store the array of a key, in place of an earlier one, if the cache is writable."""
    path = _path(key)
    with suppress(InputError):  # the result is just as good if it cannot be stored
        make_folder(path.parent)
        write_whole(path, _pack(array))
        _evict(path.parent, limit_bytes)


def cached_json(key: str, shape: type[Shape], make: Callable[[], Shape]) -> Shape:
    """As `cached_array`, for plain values in a shape that `json_input` knows."""
    found = find_json(key, shape)
    if found is None:
        found = make()
        store_json(key, found)
    return found


def find_json(key: str, shape: type[Shape]) -> Shape | None:
    """The value of a key; None if the cache does not have it, or another shape of it."""
    found = find_array(key)
    try:
        return None if found is None else parse_json(found.tobytes(), shape)
    except ValueError:
        return None


def store_json(key: str, value: Any) -> None:
    """Store a value of plain types."""
    store_array(key, np.frombuffer(json.dumps(value).encode(), np.uint8))


def _path(key: str) -> Path:
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is not a hash in hexadecimal digits")
    return cache_folder() / f"{key}.npy"


def _pack(array: NDArray[Any]) -> bytes:
    """The array in .npy format, with a hash appended, where NumPy does not look."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    stream.write(hashlib.sha256(stream.getbuffer()).digest())
    return stream.getvalue()


def _read(path: Path) -> NDArray[Any] | None:
    """The array in a file, or None if it is missing or damaged."""
    try:
        data = read_whole(path, limit=LIMIT_BYTES)
    except InputError:
        return None
    body = memoryview(data)[:-_HASH_BYTES]
    if hashlib.sha256(body).digest() != data[-_HASH_BYTES:]:
        return None
    with suppress(OSError):
        os.utime(path)  # the order of eviction is by last use
    try:
        array: NDArray[Any] = np.load(io.BytesIO(body), allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return array


def _evict(folder: Path, limit_bytes: int) -> None:
    """Delete the least recently used arrays until the rest is within the limit."""
    entries: list[tuple[int, int, Path]] = []
    with suppress(OSError):
        for path in folder.iterdir():
            # Unfinished files of killed runs are evicted in the same way.
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
