"""A folder of books to look in: each is skimmed, and read when it is wanted.

To skim a book is to count its words, which is several times as fast as to read it, and is cached by
content. A book that cannot be read is listed, and the work goes on without it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

from folioreel import __version__
from folioreel.cache import cached_array
from folioreel.corpus.sources import FoundFile, files_in, is_archive, is_book_name, list_files
from folioreel.engines.batch import EngineName, run_many
from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.book import load_book, skim_book
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tfidf import Bag, make_bag
from folioreel.types import Book

_SKIMMED = f"skimmed 1 {__version__}"
"""What the words of a book hang on besides its content."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A book that the work went on without."""

    path: str
    problem: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LibraryBook:
    """One book of a library: where it lies, and its words."""

    path: str
    """Relative to the folder; a book in an archive has the archive's path before its own."""
    sha256: str
    bag: Bag


@dataclass(frozen=True, kw_only=True, eq=False)
class Library:
    """The books of a folder in the order of their paths, each content once."""

    folder: Path
    files: tuple[Path, ...]
    """Books and archives."""
    books: tuple[LibraryBook, ...]
    failures: tuple[Failure, ...]

    def find_files(self, paths: Collection[str]) -> Iterator[FoundFile]:
        """The files of some books, in the order in which they lie there."""
        for file in self.files:
            yield from files_in(self.folder, file, paths)


def open_library(
    folder: Path | str,
    progress: ProgressCallback = ignore_progress,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
) -> Library:
    """Skim every book in a folder, in the folders below it, and in the archives there.

    Raises:
        InputError: The folder is missing, or holds no book that can be read.
    """
    folder = Path(folder)
    files = tuple(
        path for path in list_files(folder) if is_archive(path.name) or is_book_name(path.name)
    )
    books: list[LibraryBook] = []
    failures: list[Failure] = []

    def found_files() -> Iterator[FoundFile]:
        for number, path in enumerate(files):
            progress(Progress(stage="skimming", done=number, total=len(files)))
            yield from files_in(folder, path)

    for outcome in run_many(_skim_file, found_files(), engine=engine, workers=workers):
        if outcome.failure is not None:
            problem = describe_problem(outcome.failure)
            failures.append(Failure(path=outcome.item.path, problem=problem))
        else:
            books.append(outcome.get())
    progress(Progress(stage="skimming", done=len(files), total=len(files)))
    if not books:
        raise InputError(describe_empty(failures), folder)
    first: dict[str, LibraryBook] = {}
    for book in sorted(books, key=lambda book: book.path):
        first.setdefault(book.sha256, book)
    return Library(
        folder=folder,
        files=files,
        books=tuple(first.values()),
        failures=tuple(sorted(failures, key=lambda failure: failure.path)),
    )


def read_book(found: FoundFile) -> Book:
    """Read a book that may lie in an archive.

    Raises:
        InputError: It cannot be read.
    """
    with _as_file(found) as path:
        return load_book(path)


class BookWork(Protocol):
    """Something to be done with one book, sent to a worker."""

    @property
    def found(self) -> FoundFile:
        """The book's file."""


_Work = TypeVar("_Work", bound=BookWork)
_Result = TypeVar("_Result")


def work_on_books(
    function: Callable[[_Work], _Result],
    items: Iterable[_Work],
    stage: str,
    total: int,
    progress: ProgressCallback = ignore_progress,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
) -> tuple[dict[str, _Result], tuple[Failure, ...]]:
    """What comes of each book, by its path, and the books that nothing comes of."""
    results: dict[str, _Result] = {}
    failures: list[Failure] = []
    progress(Progress(stage=stage, done=0, total=total))
    for outcome in run_many(function, items, engine=engine, workers=workers):
        path = outcome.item.found.path
        if outcome.failure is not None:
            failures.append(Failure(path=path, problem=describe_problem(outcome.failure)))
        else:
            results[path] = outcome.get()
        progress(Progress(stage=stage, done=len(results) + len(failures), total=total))
    return results, tuple(sorted(failures, key=lambda failure: failure.path))


def describe_problem(error: FolioReelError) -> str:
    """What is wrong with a book, without the path of the file that it was read from."""
    return error.message if isinstance(error, InputError) else str(error)


def _skim_file(found: FoundFile) -> LibraryBook:
    """Count a book's words, or take them from the cache."""
    if found.problem:
        raise InputError(found.problem, found.path)
    sha256 = hashlib.sha256(found.data).hexdigest()
    # What is plain text and what is Markdown is told by the name.
    key = hashlib.sha256(f"{_SKIMMED} {found.suffix} {sha256}".encode()).hexdigest()

    def skim() -> Bag:
        with _as_file(found) as path:
            return make_bag(skim_book(path))

    return LibraryBook(path=found.path, sha256=sha256, bag=cached_array(key, skim))


@contextmanager
def _as_file(found: FoundFile) -> Iterator[Path]:
    """A file of its own by the book's name, as readers take files and titles come from names."""
    with tempfile.TemporaryDirectory(prefix="folioreel-") as folder:
        path = Path(folder, PurePosixPath(found.path).name)
        path.write_bytes(found.data)
        yield path


def describe_empty(failures: list[Failure]) -> str:
    """Why a folder has no book to work with."""
    if not failures:
        return "holds no book; give a folder of EPUB, PDF, FB2, HTML, Markdown or text files"
    first = failures[0]
    return (
        f"holds no book that can be read; the first of {len(failures)}: "
        f"{first.path}: {first.problem}"
    )
