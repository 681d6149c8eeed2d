"""A folder of books for `retrieve`, `borrow` and `caption`: each book is read when it is needed.

Books are first skimmed, that is, only their words are counted. That is several times as fast as
reading them, and cached by content. An unreadable book is listed, and the work goes on without it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TypeVar

import numpy as np

from folioreel import __version__
from folioreel.cache import cached_array, cached_json
from folioreel.corpus.sources import BookFolder, FoundFile
from folioreel.engines.batch import EngineName, Outcome, run_many
from folioreel.errors import AlignmentError, ConfigError, InputError
from folioreel.files import scratch_folder
from folioreel.ingest.book import load_book, skim_book
from folioreel.language import are_kin, decide_language
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.similarity.tfidf import Bag, compare_bags, make_bag
from folioreel.types import Book, Film

_OTHER_LANGUAGE = 0.25
"""Of the shortlist: so many books are tried in each other language. Names tell a translation from
nearly all other books in its language, and each book takes seconds."""
# Part of the cache key: other versions may read a book differently.
_SKIM_VERSION = f"skimmed 1 {__version__}"

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A file that was skipped, and why."""

    path: str
    problem: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LibraryBook:
    """A book of a folder."""

    path: str  # relative to the folder; a book in an archive has the archive's path before its own
    sha256: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SkimmedBook(LibraryBook):
    """A book whose words have been counted."""

    bag: Bag
    language: str | None = None  # two letters; None if it is unknown


BookT = TypeVar("BookT", bound=LibraryBook)


@dataclass(frozen=True, kw_only=True, eq=False)
class Library:
    """The skimmed books of a folder, sorted by path, each content once."""

    folder: BookFolder
    books: tuple[SkimmedBook, ...]
    failures: tuple[Failure, ...]


@dataclass(frozen=True, kw_only=True)
class ShortlistConfig:
    """How many books are compared with a film sentence by sentence, and where that runs."""

    shortlist: int = 8
    """The number of books, the most similar by words and names. Aligning a book takes seconds,
    skimming it a small part of that, so only the likeliest are aligned."""
    engine: EngineName = "local"
    workers: int | None = 1  # number of parallel processes; see `run_many`

    def __post_init__(self) -> None:
        if self.shortlist < 1:
            raise ConfigError(f"the shortlist must have at least 1 book, not {self.shortlist}")


def open_library(
    folder: Path | str,
    progress: ProgressCallback = ignore_progress,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
) -> Library:
    """Skim every book in a folder, its subfolders and its archives."""
    opened = BookFolder.open(Path(folder))
    books, failures = process_folder(
        _skim, opened, "skimming", progress, engine=engine, workers=workers
    )
    return Library(folder=opened, books=books, failures=failures)


def process_folder(
    function: Callable[[FoundFile], BookT],
    folder: BookFolder,
    stage: str,
    progress: ProgressCallback,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
) -> tuple[tuple[BookT, ...], tuple[Failure, ...]]:
    """Apply a function to every book of a folder; of several copies the first by path is kept."""
    # Counted by files, as nobody knows how many books an archive holds before reading it.
    tracked = track(folder.files, stage, progress, name=lambda file: file.name)
    files = (found for file in tracked for found in folder.read_file(file))
    found, failures = _collect(run_many(function, files, engine=engine, workers=workers))
    if not found:
        if not failures:
            formats = "EPUB, PDF, FB2, HTML, Markdown or text files"
            raise InputError(f"holds no books; give a folder of {formats}", folder.folder)
        raise InputError(
            f"holds no readable book; the first of {len(failures)}: "
            f"{failures[0].path}: {failures[0].problem}",
            folder.folder,
        )
    first: dict[str, BookT] = {}
    for _, book in sorted(found.items()):
        first.setdefault(book.sha256, book)
    return tuple(first.values()), failures


def rank_by_words(film: Film, books: Sequence[SkimmedBook], count: int) -> dict[str, float]:
    """The books with the most similar words and names: path → similarity, best first.

    Books in the film's language share many words with it, and those in another language little but
    names. So the latter do not compete with them: of each other language, a few are added.
    """
    bag = make_bag(" ".join(subtitle.text for subtitle in film.subtitles))
    similarity = compare_bags(bag, [book.bag for book in books])
    places: Counter[str | None] = Counter()
    found = {}
    # Stable, so that of equals the first by path is taken, on every machine.
    for k in np.argsort(-similarity, kind="stable").tolist():
        own = film.language is None or are_kin(books[k].language or film.language, film.language)
        group = None if own else books[k].language
        places[group] += 1
        if places[group] <= (count if own else math.ceil(count * _OTHER_LANGUAGE)):
            found[books[k].path] = float(similarity[k])
    return found


def process_shortlist(
    function: Callable[[FoundFile], Result],
    library: Library,
    paths: Sequence[str],
    stage: str,
    config: ShortlistConfig,
    progress: ProgressCallback,
) -> tuple[dict[str, Result], tuple[Failure, ...]]:
    """Apply a function to some books of a library: path → result, and all failures so far."""
    files = library.folder.read(paths)
    outcomes = run_many(function, files, engine=config.engine, workers=config.workers)
    results, failures = _collect(track(outcomes, stage, progress, total=len(paths)))
    if not results:
        raise AlignmentError(
            f"none of the {len(paths)} most similar books can be aligned with the film; the first: "
            f"{failures[0].path}: {failures[0].problem}"
        )
    return results, (*library.failures, *failures)


def read_book(found: FoundFile) -> Book:
    """Read a book that may come from an archive."""
    with _as_file(found) as path:
        return load_book(path)


def _skim(found: FoundFile) -> SkimmedBook:
    """Count the words of a book, or take them from the cache."""

    @cache
    def read() -> str:
        with _as_file(found) as path:
            return skim_book(path)

    # The suffix tells plain text from Markdown.
    source = f"{_SKIM_VERSION} {found.suffix} {found.sha256}"
    keys = [hashlib.sha256(f"{source}{part}".encode()).hexdigest() for part in ("", " language")]
    return SkimmedBook(
        path=found.path,
        sha256=found.sha256,
        bag=cached_array(keys[0], lambda: make_bag(read())),
        language=cached_json(keys[1], str, lambda: decide_language(read()) or "") or None,
    )


@contextmanager
def _as_file(found: FoundFile) -> Iterator[Path]:
    """A temporary file with the book's own name, since a title may come from the file name."""
    if found.problem:
        raise InputError(found.problem, found.path)
    with scratch_folder() as folder:
        path = folder / PurePosixPath(found.path).name
        path.write_bytes(found.data)
        yield path


def _collect(
    outcomes: Iterable[Outcome[FoundFile, Result]],
) -> tuple[dict[str, Result], tuple[Failure, ...]]:
    """Results by path, and failures sorted by path."""
    results: dict[str, Result] = {}
    failures: list[Failure] = []
    for outcome in outcomes:
        path, error = outcome.item.path, outcome.failure
        if error is None:
            results[path] = outcome.get()
        else:
            # Without the path of the temporary file, which an InputError names.
            problem = error.message if isinstance(error, InputError) else str(error)
            failures.append(Failure(path=path, problem=problem))
    return results, tuple(sorted(failures, key=lambda failure: failure.path))
