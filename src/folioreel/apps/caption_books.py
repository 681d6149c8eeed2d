"""Where captions find their neighbours: an indexed corpus, or a plain folder of books.

A corpus has its vectors on disk and holds millions of sentences. Of a folder every book is read and
encoded, with the vectors kept in the cache by content, and all of them are held in memory: for some
hundred books.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.apps.library import Failure, describe_empty, describe_problem, read_book
from folioreel.corpus.book_file import BookText, text_of_book
from folioreel.corpus.reader import open_corpus
from folioreel.corpus.records import MANIFEST
from folioreel.corpus.search import SearchStore, check_query
from folioreel.corpus.sources import FoundFile, files_in, is_archive, is_book_name, list_files
from folioreel.engines.batch import run_many
from folioreel.errors import ConfigError, InputError
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import SentenceEncoder, encode_cached, load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.text import dominant_script

DEFAULT_ENCODER = "student"

_SCRIPT_SENTENCES = 500
"""By so many sentences a book's script is told."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A sentence of a book that is near to a vector."""

    title: str
    """Of the book."""
    path: str
    """Of the book, relative to the folder."""
    text: BookText
    """The whole book."""
    index: int
    """The sentence's place in it, counted from 0."""
    similarity: float
    """The cosine."""

    @property
    def sentence(self) -> str:
        """The sentence itself."""
        return self.text.texts[self.index]


class Books(Protocol):
    """Books whose sentences have vectors."""

    encoder: SentenceEncoder
    failures: tuple[Failure, ...]
    """Books that the work goes on without."""

    def check_query(self, query: str) -> None:
        """Refuse a query without words, or in another script than all books."""
        ...

    def nearest(self, vectors: Floats, count: int) -> list[list[Neighbour]]:
        """For each of some vectors the sentences that are nearest, the nearest first."""
        ...

    def mean_vector(self) -> Floats:
        """The mean of all sentences' vectors, each of length 1."""
        ...


def open_books(
    folder: Path | str,
    encoder: str | None = None,
    progress: ProgressCallback = ignore_progress,
    *,
    workers: int | None = None,
) -> Books:
    """Open a corpus that was indexed, or read and encode a folder of books.

    Args:
        folder: A corpus, or a folder with books and archives of books in it and below it.
        encoder: What gives the vectors, as `load_encoder` takes it; that of the corpus's index,
            or else the built-in student, if it is None.
        progress: Told of the files that are read.
        workers: Books that are read at once; one a core if it is None.

    Raises:
        InputError: The folder is missing, holds no book that can be read, or is a corpus that was
            not indexed.
        ConfigError: There is no such encoder, or the corpus was indexed with another.
    """
    folder = Path(folder)
    if (folder / MANIFEST).is_file():
        return _Indexed(folder, encoder)
    return _Encoded(folder, encoder or DEFAULT_ENCODER, progress, workers)


class _Indexed:
    """A corpus with its search store."""

    failures: tuple[Failure, ...] = ()

    def __init__(self, folder: Path, encoder: str | None) -> None:
        self._store = SearchStore.open(folder)
        self._corpus = open_corpus(folder)
        self._records = {record.id: record for record in self._corpus.books}
        self.encoder = self._store.encoder
        if encoder and load_encoder(encoder).fingerprint != self.encoder.fingerprint:
            raise ConfigError(
                f"{folder} was indexed with {self.encoder.name}; leave --encoder out, or run: "
                f"folioreel corpus index {folder} --encoder {encoder}"
            )
        if not self._store.sentences:
            raise InputError("holds no books; build it from a folder that has some", folder)

    def check_query(self, query: str) -> None:
        self._store.check_query(query)

    def nearest(self, vectors: Floats, count: int) -> list[list[Neighbour]]:
        return [self._nearest(vector, count) for vector in vectors]

    def mean_vector(self) -> Floats:
        return self._store.mean_vector()

    def _nearest(self, vector: Floats, count: int) -> list[Neighbour]:
        found = []
        for (book_id, index), similarity in self._store.nearest_to(vector, count).items():
            record = self._records[book_id]
            text = self._corpus.read(record).text
            found.append(
                Neighbour(
                    title=record.title,
                    path=record.path,
                    text=text,
                    index=index,
                    similarity=similarity,
                )
            )
        return found


@dataclass(frozen=True, kw_only=True)
class _Task:
    found: FoundFile
    encoder: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Encoding:
    """One book of a folder with its vectors."""

    path: str
    title: str
    sha256: str
    text: BookText
    vectors: NDArray[np.float16]
    """(J, units), each of length 1."""


class _Encoded:
    """The books of a folder, each content once, with all vectors in memory."""

    def __init__(
        self, folder: Path, encoder: str, progress: ProgressCallback, workers: int | None
    ) -> None:
        self.encoder = load_encoder(encoder)  # a wrong one is refused before the books are read
        books: dict[str, _Encoding] = {}
        failures: list[Failure] = []
        tasks = _find_tasks(folder, encoder, progress)
        for outcome in run_many(_encode_book, tasks, workers=workers):
            if outcome.failure is not None:
                problem = describe_problem(outcome.failure)
                failures.append(Failure(path=outcome.item.found.path, problem=problem))
            else:
                book = outcome.get()
                books[book.path] = book
        first = {book.sha256: book for _, book in sorted(books.items(), reverse=True)}
        self._books = sorted(first.values(), key=lambda book: book.path)
        self.failures = tuple(sorted(failures, key=lambda failure: failure.path))
        if not self._books:
            raise InputError(describe_empty(list(self.failures)), folder)

    def check_query(self, query: str) -> None:
        texts = (" ".join(book.text.texts[:_SCRIPT_SENTENCES]) for book in self._books)
        check_query(query, {script for script in map(dominant_script, texts) if script})

    def nearest(self, vectors: Floats, count: int) -> list[list[Neighbour]]:
        found: list[list[Neighbour]] = [[] for _ in vectors]
        queries = unit_rows(vectors)
        for book in self._books:
            cosines = queries @ book.vectors.astype(np.float32).T  # (N, J)
            for neighbours, row in zip(found, cosines, strict=True):
                best = np.argsort(-row, kind="stable")[:count]
                neighbours += [
                    Neighbour(
                        title=book.title,
                        path=book.path,
                        text=book.text,
                        index=int(index),
                        similarity=float(row[index]),
                    )
                    for index in best
                ]
                neighbours.sort(key=lambda neighbour: -neighbour.similarity)
                del neighbours[count:]
        return found

    def mean_vector(self) -> Floats:
        total = sum(book.vectors.sum(axis=0, dtype=np.float64) for book in self._books)
        mean = np.asarray(total / sum(len(book.vectors) for book in self._books))
        return mean.astype(np.float32)


def _find_tasks(folder: Path, encoder: str, progress: ProgressCallback) -> Iterator[_Task]:
    files = [
        path for path in list_files(folder) if is_archive(path.name) or is_book_name(path.name)
    ]
    for number, path in enumerate(files):
        progress(Progress(stage="reading books", done=number, total=len(files)))
        for found in files_in(folder, path):
            yield _Task(found=found, encoder=encoder)
    progress(Progress(stage="reading books", done=len(files), total=len(files)))


def _encode_book(task: _Task) -> _Encoding:
    """Read a book, and encode its sentences or take their vectors from the cache."""
    if task.found.problem:
        raise InputError(task.found.problem, task.found.path)
    book = read_book(task.found)
    text = text_of_book(book)
    return _Encoding(
        path=task.found.path,
        title=book.title,
        sha256=hashlib.sha256(task.found.data).hexdigest(),
        text=text,
        vectors=unit_rows(encode_cached(_load_once(task.encoder), text.texts)).astype(np.float16),
    )


@cache
def _load_once(name: str) -> SentenceEncoder:
    return load_encoder(name)
