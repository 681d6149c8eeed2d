"""The sentence vectors of one book on disk: their signs, and each number as one byte.

`search/vectors/<key>.bin` holds, for N sentences of U numbers each,

```
signs     N × W × 8 bytes   one bit a number: whether it is above 0; W = U / 64, rounded up
vectors   N × U bytes       each row scaled so that its largest number is ±127
digest    32 bytes          SHA-256 of all that is before it
```
The key is a hash of the text and of the encoder, so that a file is never taken for another's. A
row's scale is not kept: only its direction counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.ingest.source import read_bytes

_LARGEST = 127
_DIGEST_BYTES = hashlib.sha256().digest_size
MEND = "index the corpus again to mend it"


@dataclass(frozen=True, kw_only=True)
class VectorFile:
    """Where the vectors of one book lie, and how many there are."""

    path: Path
    sentences: int
    units: int

    @property
    def words(self) -> int:
        """The 64-bit words that the signs of one sentence fill."""
        return count_words(self.units)

    @property
    def size(self) -> int:
        """How many bytes the file must have."""
        return self.sentences * (8 * self.words + self.units) + _DIGEST_BYTES

    def is_whole(self) -> bool:
        """Whether all of it is there, as it was written."""
        return has_digest(self.path, self.size)

    def read_signs(self, out: NDArray[np.uint64]) -> None:
        """Read the signs of all sentences into an array: (N, W).

        Raises:
            InputError: The file is missing or not as long as it should be.
        """
        try:
            if self.path.stat().st_size != self.size:
                raise InputError(f"is cut short or damaged; {MEND}", self.path)
            with self.path.open("rb") as file:
                out[:] = np.fromfile(file, np.uint64, out.size).reshape(out.shape)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror}); {MEND}", self.path) from error

    def read_rows(self, rows: Iterable[int]) -> list[bytes]:
        """Some sentences' vectors as they are stored, U bytes each.

        Raises:
            InputError: The file is missing or cut short.
        """
        start = self.sentences * 8 * self.words
        found = []
        try:
            with FileIO(self.path) as file:
                for row in rows:
                    file.seek(start + row * self.units)
                    found.append(file.read(self.units))
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror}); {MEND}", self.path) from error
        if any(len(row) != self.units for row in found):
            raise InputError(f"is cut short or damaged; {MEND}", self.path)
        return found


def pack_vectors(vectors: NDArray[np.float32]) -> bytes:
    """The bytes of a book's file, from one row a sentence."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    largest[largest == 0] = 1
    rows = np.rint(vectors * (_LARGEST / largest)).astype(np.int8)
    body: bytes = pack_signs(vectors).tobytes() + rows.tobytes()
    return with_digest(body)


def unpack_vectors(file: VectorFile) -> NDArray[np.int8]:
    """All rows of a file as they are stored: (N, U)."""
    start = file.sentences * 8 * file.words
    body = read_bytes(file.path)[start:-_DIGEST_BYTES]
    return np.frombuffer(body, dtype=np.int8).reshape(file.sentences, file.units)


def pack_signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit a number, which says whether it is above 0: (N, U) → (N, W)."""
    width = 8 * count_words(vectors.shape[1])
    packed = np.zeros((len(vectors), width), dtype=np.uint8)
    bits = np.packbits(vectors > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)


def with_digest(body: bytes) -> bytes:
    """Some bytes and their SHA-256 behind them."""
    return body + hashlib.sha256(body).digest()


def has_digest(path: Path, size: int | None = None) -> bool:
    """Whether a file is as `with_digest` made it, and as long as it should be."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    body = memoryview(data)[:-_DIGEST_BYTES]
    return size in (None, len(data)) and hashlib.sha256(body).digest() == data[-_DIGEST_BYTES:]


def count_words(units: int) -> int:
    """The 64-bit words for as many bits."""
    return -(-units // 64)


def scale_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row divided by its length; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: NDArray[np.float32] = vectors / lengths
    return scaled
