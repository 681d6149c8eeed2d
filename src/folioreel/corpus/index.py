"""A corpus → a store in which any of its sentences can be found (search.py).

Books that are new or changed are read by the sentence encoder, which is what takes long, over
several processes or a cluster; the words of each are then indexed here, in the corpus's order.
Vectors are kept book by book as they come, and every few books all that is done is made to count:
a run that was stopped or killed leaves a store that works, and the next one goes on from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from folioreel.corpus.book_file import BookText
from folioreel.corpus.lock import locked
from folioreel.corpus.passages import pack_passages
from folioreel.corpus.reader import Corpus, open_corpus
from folioreel.corpus.readings import text_path
from folioreel.corpus.store import (
    IndexedBook,
    StoreRecord,
    passage_file,
    passages_folder,
    read_record,
    vector_file,
    vectors_folder,
    words_folder,
    write_record,
)
from folioreel.corpus.vectors import VectorFile, pack_vectors
from folioreel.corpus.words import WordIndex, WordWriter
from folioreel.engines.batch import EngineName, run_many
from folioreel.errors import ConfigError, InputError
from folioreel.files import UNFINISHED, file_sha256, make_folder, write_whole
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.text import dominant_script

_STEP_SENTENCES = 200_000
"""After so many sentences all that is done is made to count."""
_SCRIPT_SENTENCES = 500
"""By so many sentences a book's script is told."""


@dataclass(frozen=True, kw_only=True)
class IndexConfig:
    """How a corpus is indexed."""

    encoder: str = "student"
    """What turns sentences into vectors, as `load_encoder` takes it."""
    engine: EngineName = "local"
    workers: int | None = None
    """Books that are read at once; one a core if it is None."""


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """What came of indexing a corpus."""

    books: int
    sentences: int
    added: int
    """Books that were not in the store before, or with another text or encoder."""
    removed: int
    """Books that are no longer in the corpus."""
    failures: tuple[tuple[str, str], ...]
    """Path and reason of each book that could not be indexed; the next run tries it again."""


@dataclass(frozen=True, kw_only=True)
class EmbedTask:
    """The sentences of one book, and what turns them into vectors."""

    book_id: str
    texts: tuple[str, ...]
    encoder: str
    fingerprint: str


def index_corpus(
    folder: Path | str,
    config: IndexConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> IndexReport:
    """Make a corpus searchable, or bring its store up to date with it.

    Args:
        folder: A corpus that `build_corpus` wrote; the store is kept inside it.
        config: The encoder and where it runs; the built-in student on this machine if it is None.
        progress: Called as books are done.

    Raises:
        InputError: The folder is no corpus, holds no books, cannot be written, or is being written
            by another run. A book that cannot be read is no error: the report names it.
        ConfigError: There is no such encoder or engine.
    """
    folder = Path(folder)
    config = config or IndexConfig()
    open_corpus(folder)
    with locked(folder):
        corpus = open_corpus(folder)
        if not corpus.books:
            raise InputError("holds no books; build it from a folder that has some", folder)
        encoder = load_encoder(config.encoder)
        make_folder(vectors_folder(folder))
        make_folder(passages_folder(folder))
        return _Run(corpus, encoder, config, progress).finish()


def embed_book(task: EmbedTask) -> bytes:
    """The file of a book's vectors; runs on any engine.

    Raises:
        ConfigError: The encoder here is not the one that was asked for.
    """
    encoder = _load_once(task.encoder)
    if encoder.fingerprint != task.fingerprint:
        raise ConfigError(
            f"a worker has another encoder {task.encoder}; install the same version of folioreel "
            "on all machines"
        )
    return pack_vectors(encoder.encode(task.texts))


@cache
def _load_once(name: str) -> SentenceEncoder:
    return load_encoder(name)


class _Run:
    """One run over a corpus: what is there already, what is to be done, what is done."""

    def __init__(
        self,
        corpus: Corpus,
        encoder: SentenceEncoder,
        config: IndexConfig,
        progress: ProgressCallback,
    ) -> None:
        self._corpus = corpus
        self._encoder = encoder
        self._config = config
        self._progress = progress
        self._records = {record.id: record for record in corpus.books}
        self._failures: dict[str, str] = {}
        old = _read_old(corpus.folder)
        self._before = {book.id: book for book in old.books} if old is not None else {}
        self._wanted = self._survey()
        self._done = {
            book.id: book
            for book in self._wanted.values()
            if book == self._before.get(book.id)
            and self._file(book).is_whole()
            and passage_file(corpus.folder, book).is_whole()
        }
        self._todo = [book for book in self._wanted.values() if book.id not in self._done]
        self._settled = 0
        """How many of the books to do have their words in, or have failed."""
        self._uncounted = 0
        """Sentences that were added since what was done was last made to count."""

    def finish(self) -> IndexReport:
        """Do all that is to be done."""
        words = WordWriter(words_folder(self._corpus.folder))
        gone = set(self._before) - set(self._wanted)
        for book_id in gone:
            words.remove_book(book_id)
        ready: set[str] = set()
        outcomes = run_many(
            embed_book,
            self._tasks(ready),
            engine=self._config.engine,
            workers=self._config.workers,
        )
        for outcome in outcomes:
            book = self._wanted[outcome.item.book_id]
            if outcome.failure is None:
                write_whole(self._file(book).path, outcome.get())
                ready.add(book.id)
            else:
                self._failures[book.id] = str(outcome.failure)
            self._add_words(words, ready)
        self._add_words(words, ready)
        self._make_count(words)
        words.close()
        self._sweep()
        added = sum(book.id in self._done for book in self._todo)
        return self._report(added=added, removed=len(gone))

    def _survey(self) -> dict[str, IndexedBook]:
        """Every book of the corpus whose text is there, with what is known of it."""
        found: dict[str, IndexedBook] = {}
        for record in self._corpus.books:
            path = text_path(self._corpus.folder, record.id)
            try:
                digest = file_sha256(path)
            except InputError as error:
                self._failures[record.id] = error.message
                continue
            before = self._before.get(record.id)
            same = before is not None and before.text_sha256 == digest
            found[record.id] = IndexedBook(
                id=record.id,
                text_sha256=digest,
                sentences=record.sentences,
                script=before.script if same and before is not None else "",
            )
        return found

    def _tasks(self, ready: set[str]) -> Iterator[EmbedTask]:
        """The books that have no vectors yet; those that have them are ready as they are."""
        for book in self._todo:
            if self._file(book).is_whole():
                ready.add(book.id)
                continue
            try:
                texts = self._read_text(book).texts
            except InputError as error:
                self._failures[book.id] = error.message
                continue
            yield EmbedTask(
                book_id=book.id,
                texts=texts,
                encoder=self._config.encoder,
                fingerprint=self._encoder.fingerprint,
            )

    def _add_words(self, words: WordWriter, ready: Collection[str]) -> None:
        """Index the words of the next books that are ready, in the corpus's order."""
        while self._settled < len(self._todo):
            book = self._todo[self._settled]
            if book.id in ready:
                self._add_book(words, book)
            elif book.id not in self._failures:
                break
            self._settled += 1
            self._show_progress()
            if self._uncounted >= _STEP_SENTENCES:
                self._make_count(words)

    def _add_book(self, words: WordWriter, book: IndexedBook) -> None:
        try:
            text = self._read_text(book)
        except InputError as error:
            self._failures[book.id] = error.message
            return
        write_whole(passage_file(self._corpus.folder, book).path, pack_passages(text))
        words.add_book(book.id, text.texts)
        script = dominant_script(" ".join(text.texts[:_SCRIPT_SENTENCES])) or ""
        self._done[book.id] = replace(book, script=script)
        self._uncounted += book.sentences

    def _make_count(self, words: WordWriter) -> None:
        """Let all that is done last: first the words, then the record that names the books."""
        words.commit()
        record = StoreRecord(
            encoder=self._config.encoder,
            fingerprint=self._encoder.fingerprint,
            units=self._encoder.units,
            books=tuple(self._done[book_id] for book_id in self._wanted if book_id in self._done),
        )
        write_record(self._corpus.folder, record)
        self._uncounted = 0

    def _sweep(self) -> None:
        """Remove the files that no book of the store has, and what killed runs left."""
        folder = self._corpus.folder
        named = {self._file(book).path for book in self._done.values()}
        named |= {passage_file(folder, book).path for book in self._done.values()}
        for part in (vectors_folder(folder), passages_folder(folder)):
            for path in part.iterdir():
                if path not in named and path.name.endswith((".bin", UNFINISHED)):
                    path.unlink()

    def _report(self, added: int, removed: int) -> IndexReport:
        return IndexReport(
            books=len(self._done),
            sentences=sum(book.sentences for book in self._done.values()),
            added=added,
            removed=removed,
            failures=tuple(
                sorted((self._records[key].path, why) for key, why in self._failures.items())
            ),
        )

    def _read_text(self, book: IndexedBook) -> BookText:
        return self._corpus.read(self._records[book.id]).text

    def _file(self, book: IndexedBook) -> VectorFile:
        encoder = self._encoder
        return vector_file(self._corpus.folder, book, encoder.fingerprint, encoder.units)

    def _show_progress(self) -> None:
        done = sum(book.sentences for book in self._todo[: self._settled])
        total = sum(book.sentences for book in self._todo)
        self._progress(Progress(stage="indexing", done=done, total=total))


def _read_old(folder: Path) -> StoreRecord | None:
    """What is in the store; None if there is none, or none that can be built on."""
    try:
        record = read_record(folder)
        WordIndex(words_folder(folder))
    except InputError:
        shutil.rmtree(words_folder(folder), ignore_errors=True)
        return None
    return record
