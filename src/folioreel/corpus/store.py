"""What a search store holds: `store.json` and where its parts lie.

```
CORPUS/search/store.json          which books can be found, and by which encoder
CORPUS/search/vectors/<key>.bin   the sentence vectors of a book     (vectors.py)
CORPUS/search/passages/<key>.bin  the paragraphs of a book           (passages.py)
CORPUS/search/words/              the full-text index                (words.py)
```
`store.json` is written last, whole: what it does not name does not count, so that a run which was
killed leaves the store as it was at its last step.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.corpus.passages import PassageFile
from folioreel.corpus.vectors import VectorFile
from folioreel.errors import InputError
from folioreel.files import write_whole
from folioreel.ingest.source import read_bytes

FORMAT = "folioreel-search"
VERSION = 1
RECORD = "store.json"


@dataclass(frozen=True, kw_only=True)
class IndexedBook:
    """One book that can be found."""

    id: str
    text_sha256: str
    """Of its file in the corpus: another text is indexed anew."""
    sentences: int
    script: str
    """The Unicode script that most of it is written in; empty if it has no letters."""


@dataclass(frozen=True, kw_only=True)
class StoreRecord:
    """All that `store.json` says."""

    encoder: str
    """The name or folder by which the encoder is loaded."""
    fingerprint: str
    units: int
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


def vectors_folder(corpus: Path) -> Path:
    """Where its vectors lie."""
    return store_folder(corpus) / "vectors"


def vector_file(corpus: Path, book: IndexedBook, fingerprint: str, units: int) -> VectorFile:
    """The file of a book's vectors: its name says of what text, and by which encoder."""
    key = hashlib.sha256(f"{book.text_sha256} {fingerprint}".encode()).hexdigest()[:32]
    path = vectors_folder(corpus) / f"{key}.bin"
    return VectorFile(path=path, sentences=book.sentences, units=units)


def passages_folder(corpus: Path) -> Path:
    """Where its paragraphs lie."""
    return store_folder(corpus) / "passages"


def passage_file(corpus: Path, book: IndexedBook) -> PassageFile:
    """The file of a book's paragraphs: its name says of what text."""
    return PassageFile(path=passages_folder(corpus) / f"{book.text_sha256[:32]}.bin")


def write_record(corpus: Path, record: StoreRecord) -> None:
    """Write `store.json`, one line a book."""
    head = {"format": FORMAT, "version": VERSION, **asdict(record)}
    del head["books"]
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    books = ",\n  ".join(json.dumps(asdict(book)) for book in record.books)
    text = "{" + ",\n ".join([*lines, f'"books": [\n  {books}]']) + "}\n"
    write_whole(store_folder(corpus) / RECORD, text.encode("utf-8"))


def read_record(corpus: Path) -> StoreRecord:
    """Read `store.json`.

    Raises:
        InputError: There is no store, or one of another version, or it is damaged.
    """
    path = store_folder(corpus) / RECORD
    again = f"run: folioreel corpus index {corpus}"
    if not path.is_file():
        raise InputError(f"cannot be searched yet; {again}", corpus)
    try:
        data = json.loads(read_bytes(path))
        if data["format"] != FORMAT:
            raise InputError(f"does not describe a search store; {again}", path)
        if data["version"] != VERSION:
            raise InputError(
                f"is of version {data['version']}, and this folioreel reads version {VERSION}; "
                + again,
                path,
            )
        return StoreRecord(
            encoder=_typed(data["encoder"], str),
            fingerprint=_typed(data["fingerprint"], str),
            units=_typed(data["units"], int),
            books=tuple(_parse_book(row) for row in data["books"]),
            package_version=_typed(data["package_version"], str),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is damaged; {again}", path) from error


def _parse_book(row: dict[str, Any]) -> IndexedBook:
    return IndexedBook(
        id=_typed(row["id"], str),
        text_sha256=_typed(row["text_sha256"], str),
        sentences=_typed(row["sentences"], int),
        script=_typed(row["script"], str),
    )


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
