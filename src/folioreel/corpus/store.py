"""The search store of a corpus on disk: its record, and the vectors and paragraphs of each book.

```
CORPUS/search/store.json          which books can be found, and the encoder of their vectors
CORPUS/search/vectors/<key>.bin   the sentence vectors of a book
CORPUS/search/passages/<key>.bin  the paragraphs of a book
CORPUS/search/words/              the full-text index                (words.py)
```
`store.json` is written last: what it does not name does not count, so a killed run leaves the store
as it was at its last commit. A vector file holds, for N sentences of U dimensions,

```
signs     N × W × 8 bytes   one bit per dimension: whether it is above 0; W = U / 64, rounded up
vectors   N × U bytes       int8, each row scaled so that its largest entry is ±127
digest    32 bytes          SHA-256 of everything before it
```
Its key is a hash of the text and the encoder, so that no file is mistaken for another. The scale of
a row is not kept, because only its direction counts. A passage file holds

```
places    N × 8 bytes   for each sentence, where the line of its paragraph starts; little-endian
lines     JSON          one line per paragraph: chapter, its title, paragraph, first sentence, texts
digest    32 bytes      SHA-256 of everything before it
```
The corpus keeps each book as one compressed file, which must be decompressed as a whole: too slow
for ten results out of ten books. Here a paragraph is two short reads away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from io import FileIO
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.corpus.manifest import read_records, write_records
from folioreel.corpus.reader import BookText, CorpusPassage, CorpusSentence
from folioreel.errors import InputError
from folioreel.json_input import convert, parse_json
from folioreel.reading import read_plain

FORMAT = "folioreel-search"
VERSION = 1
RECORD = "store.json"

_INT8_MAX = 127
_DIGEST_BYTES = hashlib.sha256().digest_size
_PLACE_BYTES = 8
_REPAIR = "index the corpus again to repair it"


@dataclass(frozen=True, kw_only=True)
class IndexedBook:
    """One book that can be found."""

    id: str
    text_sha256: str  # of its file in the corpus; a book with another text is indexed again
    sentences: int
    script: str  # the Unicode script of most of its letters; empty if it has none
    language: str | None = None  # by whose stems it is found; None is as English


@dataclass(frozen=True, kw_only=True)
class StoreRecord:
    """The content of `store.json`."""

    encoder: str  # the name or folder from which the encoder is loaded
    fingerprint: str
    units: int  # the dimension of the sentence vectors
    books: tuple[IndexedBook, ...]
    package_version: str = __version__

    @property
    def sentences(self) -> int:
        """The number of sentences that can be found."""
        return sum(book.sentences for book in self.books)


def store_folder(corpus: Path) -> Path:
    """Where the store of a corpus lies."""
    return corpus / "search"


def words_folder(corpus: Path) -> Path:
    """Where its full-text index lies."""
    return store_folder(corpus) / "words"


def vector_file(corpus: Path, book: IndexedBook, fingerprint: str, units: int) -> VectorFile:
    """The vectors of a book by one encoder."""
    key = hashlib.sha256(f"{book.text_sha256} {fingerprint}".encode()).hexdigest()[:32]
    path = store_folder(corpus) / "vectors" / f"{key}.bin"
    return VectorFile(path=path, sentences=book.sentences, units=units)


def passage_path(corpus: Path, book: IndexedBook) -> Path:
    """Where the paragraphs of a book lie."""
    return store_folder(corpus) / "passages" / f"{book.text_sha256[:32]}.bin"


def write_record(corpus: Path, record: StoreRecord) -> None:
    """Write `store.json`."""
    head = asdict(replace(record, books=()))
    del head["books"]
    write_records(store_folder(corpus) / RECORD, FORMAT, VERSION, head, {"books": record.books})


def read_record(corpus: Path) -> StoreRecord:
    """Read `store.json`; an error says how to repair it."""
    path = store_folder(corpus) / RECORD
    repair = f"run: folioreel corpus index {corpus}"
    if not path.is_file():
        raise InputError(f"cannot be searched yet; {repair}", corpus)
    data = read_records(path, FORMAT, VERSION, repair)
    try:
        return convert(data, StoreRecord)
    except ValueError as error:
        raise InputError(f"is damaged; {repair}", path) from error


@dataclass(frozen=True, kw_only=True)
class VectorFile:
    """The vectors of one book on disk."""

    path: Path
    sentences: int
    units: int

    @property
    def size(self) -> int:
        """The number of bytes that the file must have."""
        return self._vectors_start + self.sentences * self.units + _DIGEST_BYTES

    @property
    def _vectors_start(self) -> int:
        return self.sentences * 8 * sign_words(self.units)

    def is_whole(self) -> bool:
        """Whether the file is complete and undamaged."""
        return is_whole(self.path, self.size)

    def read_signs(self, out: NDArray[np.uint64]) -> None:
        """Read the signs of all sentences into an array: (N, W)."""
        with _reading(self.path):
            if self.path.stat().st_size != self.size:
                raise ValueError
            with self.path.open("rb") as file:
                out[:] = np.fromfile(file, np.uint64, out.size).reshape(out.shape)

    def read_rows(self, rows: Iterable[int]) -> list[bytes]:
        """The vectors of some sentences as they are stored, U bytes each."""
        found = []
        # Unbuffered: rows are short and far apart, and a buffer would read 8 kB for each.
        with _reading(self.path), FileIO(self.path) as file:
            for row in rows:
                file.seek(self._vectors_start + row * self.units)
                found.append(file.read(self.units))
            if any(len(row) != self.units for row in found):
                raise ValueError
        return found

    def read_all(self) -> NDArray[np.int8]:
        """All vectors as they are stored: (N, U)."""
        with _reading(self.path):  # ours, and of any size
            body = read_plain(self.path)[self._vectors_start : -_DIGEST_BYTES]
        return np.frombuffer(body, dtype=np.int8).reshape(self.sentences, self.units)


def pack_vectors(vectors: NDArray[np.float32]) -> bytes:
    """The bytes of a vector file, from one row per sentence."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    largest[largest == 0] = 1  # a sentence without words
    rows = np.rint(vectors * (_INT8_MAX / largest)).astype(np.int8)
    body: bytes = pack_signs(vectors).tobytes() + rows.tobytes()
    return body + hashlib.sha256(body).digest()


def pack_signs(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """One bit per dimension: whether it is above 0: (N, U) → (N, W)."""
    packed = np.zeros((len(vectors), 8 * sign_words(vectors.shape[1])), dtype=np.uint8)
    bits = np.packbits(vectors > 0, axis=1)
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.uint64)


def sign_words(units: int) -> int:
    """The number of 64-bit words that the signs of one vector fill."""
    return -(-units // 64)


def read_passage(path: Path, index: int) -> CorpusPassage:
    """The paragraph that holds a sentence of a book, from its passage file."""
    with _reading(path), path.open("rb") as file:
        file.seek(index * _PLACE_BYTES)
        file.seek(int.from_bytes(file.read(_PLACE_BYTES), "little"))
        row = parse_json(file.readline(), tuple[int, str, int, int, list[str]])
    chapter, title, paragraph, first, texts = row
    sentences = tuple(
        CorpusSentence(index=first + k, chapter=chapter, paragraph=paragraph, text=text)
        for k, text in enumerate(texts)
    )
    return CorpusPassage(chapter_title=title, centre=index, sentences=sentences)


def pack_passages(text: BookText) -> bytes:
    """The bytes of a passage file."""
    places = np.empty(len(text.texts), dtype="<u8")  # every sentence points to its paragraph
    lines: list[bytes] = []
    begin = places.nbytes
    for paragraph, group in groupby(range(len(text.texts)), key=text.paragraphs.__getitem__):
        inside = list(group)
        chapter = text.chapters[inside[0]]
        texts = [text.texts[k] for k in inside]
        row = [chapter, text.chapter_titles[chapter], paragraph, inside[0], texts]
        lines.append(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n")
        places[inside] = begin
        begin += len(lines[-1])
    body = places.tobytes() + b"".join(lines)
    return body + hashlib.sha256(body).digest()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of reading a file of the store, in words for the user."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); {_REPAIR}", path) from error
    except (ValueError, TypeError) as error:
        raise InputError(f"is cut short or damaged; {_REPAIR}", path) from error


def is_whole(path: Path, size: int | None = None) -> bool:
    """Whether a file ends with the digest of what precedes it, and has the right size."""
    try:
        data = read_plain(path)
    except OSError:
        return False
    body = memoryview(data)[:-_DIGEST_BYTES]
    return size in (None, len(data)) and hashlib.sha256(body).digest() == data[-_DIGEST_BYTES:]
