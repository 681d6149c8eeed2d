"""Shards: the sentences of many books as flat arrays of token ids, to train on.

A shard is a `.npz` file with the arrays

```
tokens     uint16 (tokens,)     the ids of all sentences, one after the other, without end marks
lengths    uint16 (sentences,)  the number of tokens of each sentence
books      int64  (books + 1,)  where each book begins among the shard's sentences, and the end
book_ids   str    (books,)      the books' ids in the corpus
firsts     int64  (books,)      the index, in its book, of each book's first sentence here
```
A book lies in one shard, unless it is larger than a shard. Sentences are in the order of the book.

Imports nothing but NumPy, the standard library and this package's errors, so that it runs on a
bare GPU machine.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.reading import read_plain

_ARRAYS = ("tokens", "lengths", "books", "book_ids", "firsts")


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """Sentences of whole books, as token ids."""

    tokens: NDArray[np.uint16]
    lengths: NDArray[np.uint16]
    books: NDArray[np.int64]
    book_ids: NDArray[np.str_]
    firsts: NDArray[np.int64]

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sentence begins in `tokens`, and the end: (sentences + 1,)."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        return np.concatenate([np.zeros(1, dtype=np.int64), ends])

    def sentence(self, index: int) -> NDArray[np.uint16]:
        """The ids of one sentence."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]


def load_shard(path: Path | str) -> Shard:
    """Read a shard."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays = [np.asarray(found[name]) for name in _ARRAYS]
            shard = Shard(**dict(zip(_ARRAYS, arrays, strict=True)))
    except Exception as error:  # NumPy and `zipfile` raise a dozen kinds on damaged files
        raise InputError(f"cannot be read as a shard ({error})", path) from error
    kinds = "".join(array.dtype.kind for array in arrays)
    whole = (
        kinds == "uuiUi"
        and all(array.ndim == 1 for array in arrays)
        and shard.tokens.dtype == np.uint16
        and shard.offsets[-1] == len(shard.tokens)
        and len(shard.books) > 0
        and shard.books[0] == 0
        and bool((np.diff(shard.books) >= 0).all())
        and shard.books[-1] == len(shard.lengths)
        and len(shard.books) - 1 == len(shard.book_ids) == len(shard.firsts)
    )
    if not whole:
        raise InputError("is damaged: its arrays do not fit one another", path)
    return shard


def encode_shard(shard: Shard, *, compress: bool = True) -> bytes:
    """A shard as the bytes of its file; equal shards give equal bytes."""
    buffer = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(buffer, **{name: getattr(shard, name) for name in _ARRAYS})
    return buffer.getvalue()


def is_packed(pack: Path) -> bool:
    """Whether packing was finished, and no file has been removed or truncated since."""
    sizes = _shard_sizes(pack)
    files = {path.name: path.stat().st_size for path in pack.glob("shard-*.npz")}
    return bool(sizes) and sizes == files and (pack / "vocabulary.txt").is_file()


def read_pack(pack: Path) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.int64]]:
    """All shards of a pack as one.

    Returns:
        The token ids of all sentences; where each begins, and the end; the book of each, from 0.
    """
    shards = [load_shard(pack / name) for name in _shard_sizes(pack)]
    lengths = np.concatenate([shard.lengths for shard in shards])
    # A book that is larger than a shard continues in the next one, under the same id.
    ids = np.concatenate([np.repeat(shard.book_ids, np.diff(shard.books)) for shard in shards])
    changes = np.concatenate([[False], ids[1:] != ids[:-1]])
    return (
        np.concatenate([shard.tokens for shard in shards]),
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        np.cumsum(changes, dtype=np.int64),
    )


def _shard_sizes(pack: Path) -> dict[str, int]:
    """The name and bytes of each shard, in order; empty if packing was not finished."""
    try:
        shards = json.loads(read_plain(pack / "pack.json"))["shards"]
        return {str(shard["file"]): int(shard["bytes"]) for shard in shards}
    except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError):
        return {}
