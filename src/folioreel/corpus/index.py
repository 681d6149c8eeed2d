"""Make a corpus searchable: sentence vectors and a full-text index (search.py).

Encoding the sentences of new and changed books is what takes long; it runs in several processes or
on a cluster. The words of each book are then indexed here, in the order of the corpus. Vectors are
saved book by book as they arrive, and every few books everything so far is committed: a run that
is stopped or killed leaves a store that works, and the next one continues from there.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from folioreel.corpus import store
from folioreel.corpus.manifest import BookRecord, locked, text_path
from folioreel.corpus.reader import BookText, Corpus, open_corpus
from folioreel.corpus.store import IndexedBook, StoreRecord, VectorFile
from folioreel.corpus.words import WordIndex, WordWriter
from folioreel.engines.batch import EngineName, run_many
from folioreel.errors import ConfigError, InputError
from folioreel.files import UNFINISHED, file_sha256, make_folder, write_whole
from folioreel.models.multilingual_encoder import reads_language
from folioreel.models.sentence_encoder import MULTILINGUAL, SentenceEncoder, load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.text import dominant_script

# Sentences between two commits: about thirty novels. A kill costs the word index of at most this
# many; committing more often would leave Tantivy with many small segments to merge.
_COMMIT_SENTENCES = 200_000
_ENGLISH = "student"  # the encoder for books in English
SCRIPT_SENTENCES = 500
"""Sentences that decide on a book's script: enough that a foreign motto or title page does not."""


@dataclass(frozen=True, kw_only=True)
class IndexConfig:
    """How a corpus is indexed."""

    encoder: str | None = None
    """The sentence encoder, as `load_encoder` takes it (default: by the languages of the books)."""
    engine: EngineName = "local"
    workers: int | None = 1  # number of books that are encoded in parallel; see `run_many`


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """The result of indexing a corpus."""

    books: int
    sentences: int
    added: int  # books that are new in the store, or that have another text or encoder than before
    removed: int  # books that are no longer in the corpus
    failures: tuple[tuple[str, str], ...]
    """Path and reason of each book that could not be indexed; the next run tries it again."""
    encoder: str  # its name or folder
    by_words: dict[str, int]
    """Languages that the encoder does not know, and how many books are in each: they are found by
    their words alone."""


@dataclass(frozen=True, kw_only=True)
class EmbedTask:
    """The sentences of one book, and the encoder for them."""

    book_id: str
    texts: tuple[str, ...]
    encoder: str
    fingerprint: str


def index_corpus(
    folder: Path | str,
    config: IndexConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> IndexReport:
    """Make a corpus searchable, or update its store.

    Args:
        folder: A corpus that `build_corpus` wrote; the store is kept inside it.
        config: The encoder and where it runs (default: `student` if all books are in English,
            `use-multilingual` if not, on this machine).
        progress: Called as books are done.

    Raises:
        InputError: The folder is not a corpus, holds no books, is not writable, or is being written
            by another process. An unreadable book is not an error: the report names it.
        ConfigError: There is no such encoder or engine.
    """
    folder = Path(folder)
    config = config or IndexConfig()
    open_corpus(folder)  # no lock file is left in a folder that is not a corpus
    with locked(folder):
        corpus = open_corpus(folder)
        if not corpus.books:
            raise InputError("holds no books; build it from a folder that has some", folder)
        config = replace(config, encoder=config.encoder or choose_encoder(corpus.books))
        return _IndexRun(corpus, config, progress).finish()


def choose_encoder(books: Iterable[BookRecord]) -> str:
    """The encoder for some books: the multilingual one, unless all are in English or unknown."""
    is_english = all(book.language in (None, "en") for book in books)
    return _ENGLISH if is_english else MULTILINGUAL


def embed_book(task: EmbedTask) -> bytes:
    """The vector file of a book; runs on any engine."""
    encoder = load_encoder(task.encoder)
    if encoder.fingerprint != task.fingerprint:
        raise ConfigError(
            f"a worker has another encoder {task.encoder}; install the same version of folioreel "
            "on all machines"
        )
    return store.pack_vectors(encoder.encode(task.texts))


class _IndexRun:
    """One run over a corpus.

    A book passes through three states: `todo`, encoded (its vectors are saved), and `done` (its
    words and passages are saved as well). Books become done in the order of the corpus, so that the
    full-text index does not depend on which worker was faster. A book in a language that the
    encoder does not know gets no vectors: what they say is chance.
    """

    def __init__(
        self,
        corpus: Corpus,
        config: IndexConfig,
        progress: ProgressCallback,
    ) -> None:
        self._corpus = corpus
        self._encoder_name = str(config.encoder)
        self._encoder: SentenceEncoder = load_encoder(self._encoder_name)
        self._config = config
        self._progress = progress
        self._records = {record.id: record for record in corpus.books}
        self._failures: dict[str, str] = {}
        self._before = _read_previous(corpus.folder)
        self._wanted = self._survey()
        self._done = {
            book.id: book
            for book in self._wanted.values()
            if book == self._before.get(book.id)
            and self._is_encoded(book)
            and store.is_whole(store.passage_path(corpus.folder, book))
        }
        self._todo = [book for book in self._wanted.values() if book.id not in self._done]
        self._settled = 0  # how many of the books in `todo` are done or have failed
        self._uncommitted = 0  # sentences since the last commit

    def finish(self) -> IndexReport:
        """Do all that is to be done."""
        for part in ("vectors", "passages"):
            make_folder(store.store_folder(self._corpus.folder) / part)
        words = WordWriter(store.words_folder(self._corpus.folder))
        gone = set(self._before) - set(self._wanted)
        for book_id in gone:
            words.remove_book(book_id)
        # A killed run may have saved vectors that were not committed.
        encoded = {book.id for book in self._todo if self._is_encoded(book)}
        self._add_words(words, encoded)
        tasks = self._embed_tasks([book for book in self._todo if book.id not in encoded])
        engine, workers = self._config.engine, self._config.workers
        for outcome in run_many(embed_book, tasks, engine=engine, workers=workers):
            book = self._wanted[outcome.item.book_id]
            if outcome.failure is None:
                write_whole(self._vectors(book).path, outcome.get())
                encoded.add(book.id)
            else:
                self._failures[book.id] = str(outcome.failure)
            self._add_words(words, encoded)
        self._add_words(words, encoded)  # for failures after the last outcome
        self._commit(words)
        words.close()
        self._sweep()
        unread = Counter(
            str(book.language) for book in self._done.values() if not self._has_vectors(book)
        )
        return IndexReport(
            books=len(self._done),
            sentences=sum(book.sentences for book in self._done.values()),
            added=sum(book.id in self._done for book in self._todo),
            removed=len(gone),
            failures=tuple(
                sorted((self._records[key].path, why) for key, why in self._failures.items())
            ),
            encoder=self._encoder_name,
            by_words=dict(sorted(unread.items())),
        )

    def _survey(self) -> dict[str, IndexedBook]:
        """Every book of the corpus whose text is there, with what is known about it."""
        found: dict[str, IndexedBook] = {}
        for record in self._corpus.books:
            try:
                digest = file_sha256(text_path(self._corpus.folder, record.id))
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
                language=record.language,
            )
        return found

    def _embed_tasks(self, books: list[IndexedBook]) -> Iterator[EmbedTask]:
        """The books to encode; texts are read only as fast as the workers need them."""
        for book in books:
            try:
                texts = self._read_text(book).texts
            except InputError as error:
                self._failures[book.id] = error.message
                continue
            yield EmbedTask(
                book_id=book.id,
                texts=texts,
                encoder=self._encoder_name,
                fingerprint=self._encoder.fingerprint,
            )

    def _add_words(self, words: WordWriter, encoded: Collection[str]) -> None:
        """Index the words of the next books that are encoded, in the order of the corpus."""
        while self._settled < len(self._todo):
            book = self._todo[self._settled]
            if book.id in encoded:
                self._add_book(words, book)
            elif book.id not in self._failures:
                break
            self._settled += 1
            done = sum(book.sentences for book in self._todo[: self._settled])
            total = sum(book.sentences for book in self._todo)
            self._progress(Progress(stage="indexing", done=done, total=total))
            if self._uncommitted >= _COMMIT_SENTENCES:
                self._commit(words)

    def _add_book(self, words: WordWriter, book: IndexedBook) -> None:
        try:
            text = self._read_text(book)
        except InputError as error:
            self._failures[book.id] = error.message
            return
        write_whole(store.passage_path(self._corpus.folder, book), store.pack_passages(text))
        words.add_book(book.id, text.texts, book.language)
        script = dominant_script(" ".join(text.texts[:SCRIPT_SENTENCES])) or ""
        self._done[book.id] = replace(book, script=script)
        self._uncommitted += book.sentences

    def _commit(self, words: WordWriter) -> None:
        """Commit everything so far: the words first, then the record that names their books."""
        words.commit()
        record = StoreRecord(
            encoder=self._encoder_name,
            fingerprint=self._encoder.fingerprint,
            units=self._encoder.units,
            books=tuple(self._done[book_id] for book_id in self._wanted if book_id in self._done),
        )
        store.write_record(self._corpus.folder, record)
        self._uncommitted = 0

    def _sweep(self) -> None:
        """Remove the files that belong to no book of the store, and unfinished ones."""
        folder = self._corpus.folder
        named = {self._vectors(book).path for book in self._done.values()}
        named |= {store.passage_path(folder, book) for book in self._done.values()}
        for part in ("vectors", "passages"):
            for path in (store.store_folder(folder) / part).iterdir():
                if path not in named and path.name.endswith((".bin", UNFINISHED)):
                    path.unlink()

    def _read_text(self, book: IndexedBook) -> BookText:
        return self._corpus.read(self._records[book.id]).text

    def _has_vectors(self, book: IndexedBook) -> bool:
        return reads_language(self._encoder_name, book.language)

    def _is_encoded(self, book: IndexedBook) -> bool:
        return not self._has_vectors(book) or self._vectors(book).is_whole()

    def _vectors(self, book: IndexedBook) -> VectorFile:
        encoder = self._encoder
        return store.vector_file(self._corpus.folder, book, encoder.fingerprint, encoder.units)


def _read_previous(folder: Path) -> dict[str, IndexedBook]:
    """The books of the store as it is; nothing if there is none, or none to build on."""
    try:
        record = store.read_record(folder)
        if not WordIndex(store.words_folder(folder)).has_stems:
            raise InputError("was made for English books alone", folder)
    except InputError:
        shutil.rmtree(store.words_folder(folder), ignore_errors=True)
        return {}
    return {book.id: book for book in record.books}
