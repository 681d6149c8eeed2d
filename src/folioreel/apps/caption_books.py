"""The books that captions are compared with: an indexed corpus, or a plain folder of books.

A corpus has its vectors on disk, for millions of sentences. The books of a folder are read and
encoded when they are needed, with the vectors cached by content, and all of them are kept in
memory: this is meant for some hundred books.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.apps.library import Failure, LibraryBook, process_folder, read_book
from folioreel.corpus.index import SCRIPT_SENTENCES
from folioreel.corpus.manifest import MANIFEST
from folioreel.corpus.reader import BookText, CorpusPassage, open_corpus
from folioreel.corpus.search import SearchStore, check_query
from folioreel.corpus.sources import BookFolder, FoundFile
from folioreel.errors import ConfigError, InputError
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import SentenceEncoder, encode_cached, load_encoder
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import dominant_script

DEFAULT_ENCODER = "student"  # ships with the package, and is what `corpus index` uses

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class NearSentence:
    """A sentence near a query vector, with the sentences around it."""

    title: str  # of the book
    path: str  # of the book, relative to the folder
    passage: CorpusPassage
    similarity: float  # the cosine of the two vectors


class SearchableBooks(Protocol):
    """Books whose sentences have vectors."""

    encoder: SentenceEncoder
    failures: tuple[Failure, ...]  # books that were skipped

    def check_query(self, query: str) -> None:
        """Raise an InputError for a query without words, or in another script than all books."""
        ...

    def nearest(self, vectors: Floats, count: int) -> list[list[NearSentence]]:
        """The nearest sentences to each vector, best first."""
        ...

    def mean_vector(self) -> Floats:
        """The mean of the unit vectors of sentences."""
        ...


def open_books(
    folder: Path | str,
    encoder: str | None = None,
    progress: ProgressCallback = ignore_progress,
    *,
    workers: int | None = None,
) -> SearchableBooks:
    """Open an indexed corpus, or read and encode a folder of books.

    Args:
        folder: A corpus, or a folder with books and archives in it and below it.
        encoder: The sentence encoder, as `load_encoder` takes it (default: the one that the corpus
            was indexed with, or `student`).
        progress: Called as files are read.
        workers: Number of books that are read in parallel (default: one per core).
    """
    folder = Path(folder)
    if (folder / MANIFEST).is_file():
        return IndexedCorpus(folder, encoder)
    return EncodedFolder(folder, encoder or DEFAULT_ENCODER, progress, workers)


class IndexedCorpus:
    """A corpus with its search store."""

    failures: tuple[Failure, ...] = ()

    def __init__(self, folder: Path, encoder: str | None) -> None:
        self._store = SearchStore.open(folder)
        self._corpus = open_corpus(folder)
        self._records = {record.id: record for record in self._corpus.books}
        self.encoder = self._store.encoder
        if encoder and load_encoder(encoder).fingerprint != self.encoder.fingerprint:
            raise ConfigError(
                f"{folder} was indexed with {self.encoder.name}; drop --encoder, or run: "
                f"folioreel corpus index {folder} --encoder {encoder}"
            )
        if not self._store.sentences:
            raise InputError("holds no books; build it from a folder that has some", folder)
        if not self._store.has_vectors:
            raise InputError(
                f"has no sentence in a language that the encoder {self.encoder.name} knows", folder
            )
        self.check_query = self._store.check_query
        self.mean_vector = self._store.mean_vector

    def nearest(self, vectors: Floats, count: int) -> list[list[NearSentence]]:
        """The nearest sentences to each vector, best first."""
        return [
            [
                NearSentence(
                    title=self._records[book_id].title,
                    path=self._records[book_id].path,
                    passage=self._corpus.passage(book_id, index),
                    similarity=similarity,
                )
                for (book_id, index), similarity in self._store.nearest_to(vector, count).items()
            ]
            for vector in vectors
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedBook(LibraryBook):
    """One book of a folder with its vectors."""

    title: str
    text: BookText
    vectors: NDArray[np.float16]  # (J, units), each of length 1


class EncodedFolder:
    """The books of a folder, each content once, with all vectors in memory."""

    def __init__(
        self, folder: Path, encoder: str, progress: ProgressCallback, workers: int | None
    ) -> None:
        self.encoder = load_encoder(encoder)  # reports a wrong name before any book is read
        self.books, self.failures = process_folder(
            partial(_encode_book, encoder),
            BookFolder.open(folder),
            "reading books",
            progress,
            workers=workers,
        )

    def check_query(self, query: str) -> None:
        """Raise an InputError for a query without words, or in another script than all books."""
        texts = (" ".join(book.text.texts[:SCRIPT_SENTENCES]) for book in self.books)
        check_query(query, {script for script in map(dominant_script, texts) if script})

    def nearest(self, vectors: Floats, count: int) -> list[list[NearSentence]]:
        """The nearest sentences to each vector, best first."""
        found: list[list[tuple[float, EncodedBook, int]]] = [[] for _ in vectors]
        queries = unit_rows(vectors)
        for book in self.books:
            # One book at a time: half precision becomes single only for its own vectors.
            cosines = queries @ book.vectors.astype(np.float32).T  # (N, J)
            for best, row in zip(found, cosines, strict=True):
                nearest = np.argsort(-row, kind="stable")[:count]
                best += [(float(row[index]), book, int(index)) for index in nearest]
                best.sort(key=lambda each: -each[0])
                del best[count:]
        return [
            [
                NearSentence(
                    title=book.title,
                    path=book.path,
                    passage=book.text.passage(index),
                    similarity=similarity,
                )
                for similarity, book, index in best
            ]
            for best in found
        ]

    def mean_vector(self) -> Floats:
        """The mean of the unit vectors of all sentences."""
        total = sum(book.vectors.sum(axis=0, dtype=np.float64) for book in self.books)
        mean = np.asarray(total / sum(len(book.vectors) for book in self.books))
        return mean.astype(np.float32)


def _encode_book(encoder: str, found: FoundFile) -> EncodedBook:
    """Read a book, and encode its sentences or take their vectors from the cache."""
    book = read_book(found)
    text = BookText.of(book)
    vectors = unit_rows(encode_cached(load_encoder(encoder), text.texts))
    return EncodedBook(
        path=found.path,
        sha256=found.sha256,
        title=book.title,
        text=text,
        # Half precision: memory holds all vectors, and ranks hardly depend on the fourth digit.
        vectors=vectors.astype(np.float16),
    )
