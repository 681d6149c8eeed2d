"""A folder of books → a corpus on disk (paper, section 3: the BookCorpus dataset).

Four steps: hash every file, including those in archives; read the files that no earlier run has
read; select; write `corpus.json` and remove what it no longer names. manifest.py shows the files.

Every file is written under a temporary name and then renamed, so a killed run resumes where it
stopped. The result depends on the books and the settings alone: not on the order in which they
were read, the number of processes, or what earlier runs found. The one exception is a reader that
crashes; the next run tries that book again.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from folioreel.corpus.manifest import (
    FORMAT,
    LOCK,
    MANIFEST,
    BookRecord,
    HeldOutRecord,
    Manifest,
    Status,
    locked,
    reading_path,
    scratch_path,
    text_path,
    write_manifest,
)
from folioreel.corpus.readings import Reading, ReadTask, find_reading, has_text, read_for_corpus
from folioreel.corpus.selection import (
    CorpusConfig,
    SurveyedFile,
    describe_held_out,
    select_books,
)
from folioreel.corpus.sources import BookFolder, FoundFile
from folioreel.engines.batch import count_cores, run_many
from folioreel.errors import InputError, WorkError
from folioreel.files import UNFINISHED, make_folder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, track

__all__ = ["CorpusConfig", "CorpusReport", "build_corpus"]


@dataclass(frozen=True, kw_only=True)
class CorpusReport:
    """The result of building a corpus."""

    books: tuple[BookRecord, ...]
    """Every book that was found, sorted by path."""
    held_out: tuple[HeldOutRecord, ...]
    files_read: int
    """Files that this run read; the others were known already."""
    other_files: int
    """Files that are not books, judging by their names."""

    def with_status(self, status: Status) -> tuple[BookRecord, ...]:
        """The books with one status: `kept`, `short`, `duplicate`, `held out`, `unreadable`."""
        return tuple(book for book in self.books if book.status == status)

    @property
    def kept(self) -> tuple[BookRecord, ...]:
        """The books of the corpus."""
        return self.with_status("kept")

    @property
    def left_out(self) -> tuple[BookRecord, ...]:
        """The other books, each with the reason."""
        return tuple(book for book in self.books if book.status != "kept")


def build_corpus(
    folder: Path,
    out: Path,
    config: CorpusConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> CorpusReport:
    """Turn a folder of books into a corpus, or update an existing corpus from it.

    Args:
        folder: Books in every format that `load_book` reads, at any depth and in archives.
        out: The corpus; may exist, and may lie inside `folder`.
        config: Which books are kept (default: the paper's bounds).
        progress: Called as files are found and books are read.

    Raises:
        InputError: A folder is missing, or `out` cannot be written, is not a corpus, or is being
            written by another process. An unreadable book is not an error: the report names it.
    """
    config = config or CorpusConfig()
    survey = _survey_folders(folder, config.exclude, out, progress)
    _check_ours(out)
    make_folder(out)
    with locked(out):
        return _build_locked(survey, out, config, progress)


@dataclass(frozen=True, kw_only=True)
class _Survey:
    """Every file that was found, with its hash."""

    folders: tuple[BookFolder, ...]
    """The first is the corpus's own; the books of the others must stay out."""
    found: tuple[tuple[SurveyedFile, ...], ...]
    """By folder, sorted by path."""

    @property
    def books(self) -> tuple[SurveyedFile, ...]:
        return self.found[0]

    @property
    def held_out(self) -> tuple[SurveyedFile, ...]:
        return _in_order(chain.from_iterable(self.found[1:]))

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all contents, held out or not."""
        return frozenset(file.id for files in self.found for file in files if file.id)


def _survey_folders(
    folder: Path, exclude: Sequence[Path], out: Path, progress: ProgressCallback
) -> _Survey:
    folders = [BookFolder.open(folder, skip=out)]
    for excluded in exclude:
        taken = {each.prefix for each in folders}
        name = excluded.resolve().name
        # Folders with the same name become test, test-2, test-3 …
        prefixes = chain([f"{name}/"], (f"{name}-{number}/" for number in count(2)))
        prefix = next(prefix for prefix in prefixes if prefix not in taken)
        folders.append(BookFolder.open(excluded, prefix=prefix, skip=out))
    for each in folders:
        if not each.files:
            raise InputError("holds no books and no archives of books", each.folder)
    found: dict[str, list[SurveyedFile]] = {each.prefix: [] for each in folders}
    files = [(each, path) for each in folders for path in each.files]
    for each, path in track(files, "looking for books", progress):
        found[each.prefix] += map(_survey_file, each.read_file(path))
    return _Survey(folders=tuple(folders), found=tuple(map(_in_order, found.values())))


def _survey_file(file: FoundFile) -> SurveyedFile:
    if file.problem:
        return SurveyedFile(path=file.path, problem=file.problem)
    return SurveyedFile(path=file.path, id=file.id, sha256=file.sha256)


def _in_order(files: Iterator[SurveyedFile] | list[SurveyedFile]) -> tuple[SurveyedFile, ...]:
    return tuple(sorted(files, key=lambda file: (file.path, file.sha256)))


def _build_locked(
    survey: _Survey, out: Path, config: CorpusConfig, progress: ProgressCallback
) -> CorpusReport:
    _prepare_folder(out)
    failures: dict[str, Reading] = {}

    def get_reading(book_id: str) -> Reading:
        reading = failures.get(book_id) or find_reading(out, book_id)
        if reading is None:
            raise InputError("disappeared while the corpus was built", reading_path(out, book_id))
        return reading

    wanted = {book_id for book_id in survey.ids if find_reading(out, book_id) is None}
    tried: set[str] = set()
    while True:
        failures |= _read_books(survey, wanted, out, config, progress)
        tried |= wanted
        books = tuple(select_books(survey.books, survey.held_out, get_reading, config))
        kept = {book.id for book in books if book.status == "kept"}
        # A text is missing if an earlier run left out what this one keeps, or if it is damaged.
        # Should such a book turn out to be unreadable now, another edition may take its place.
        textless = {book_id for book_id in kept if not has_text(out, book_id, get_reading(book_id))}
        wanted = textless - tried
        if not wanted:
            break
    held_out = tuple(describe_held_out(survey.held_out, get_reading))
    write_manifest(out, Manifest(config=config.settings(), books=books, held_out=held_out))
    _sweep(out, kept, survey.ids)
    return CorpusReport(
        books=books,
        held_out=held_out,
        files_read=len(tried),
        other_files=survey.folders[0].other_files,
    )


def _check_ours(out: Path) -> None:
    """Stop if a folder is not a corpus: `_sweep` must never delete anybody else's files."""
    manifest = out / MANIFEST
    try:
        ours = not out.exists() or scratch_path(out).exists()
        ours = ours or all(path.name == LOCK for path in out.iterdir())
        if manifest.is_file():
            ours = FORMAT.encode() in manifest.read_bytes()[:200]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", out) from error
    if not ours:
        raise InputError("is not empty and not a corpus; choose another folder", out)


def _prepare_folder(out: Path) -> None:
    """Make the corpus's folders, and remove what a killed run left behind."""
    # The scratch folder is made first and removed last: while it exists, `out` is ours.
    for path in (scratch_path(out), text_path(out, "").parent, reading_path(out, "").parent):
        make_folder(path)
    for unfinished in scratch_path(out).iterdir():
        shutil.rmtree(unfinished, ignore_errors=True)


def _read_books(
    survey: _Survey,
    wanted: Collection[str],
    out: Path,
    config: CorpusConfig,
    progress: ProgressCallback,
) -> dict[str, Reading]:
    """Read the files with the wanted ids in several processes; returns the reader's failures.

    A failure counts for this run only and is not stored: it says nothing about the book.
    """
    workers = min(config.workers or count_cores(), max(1, len(wanted)))
    tasks = _find_tasks(survey, wanted, out, config.min_words)
    failures: dict[str, Reading] = {}
    for done, outcome in enumerate(run_many(read_for_corpus, tasks, workers=workers), 1):
        if isinstance(outcome.failure, WorkError):
            failures[outcome.item.file.id] = Reading(
                problem=f"could not be read this time: {outcome.failure}; the next build tries it "
                "again, or convert it to EPUB or plain text"
            )
        elif outcome.failure is not None:
            raise outcome.failure
        progress(Progress(stage="reading books", done=done, total=len(wanted)))
    return failures


def _find_tasks(
    survey: _Survey, wanted: Collection[str], out: Path, min_words: int
) -> Iterator[ReadTask]:
    """The files with the wanted ids, each content once.

    Raises:
        InputError: A file has changed since it was hashed.
    """
    missing = set(wanted)
    for number, (folder, found) in enumerate(zip(survey.folders, survey.found, strict=True)):
        paths = {file.path for file in found if file.id in missing}
        for file in folder.read(paths):
            if file.problem or file.id not in missing:
                continue
            missing.remove(file.id)
            text_from = min_words if number == 0 else None
            yield ReadTask(file=file, out=out, text_from=text_from)
    if missing:
        message = f"{len(missing)} files changed while they were read; build the corpus again"
        raise InputError(message, survey.folders[0].folder)


def _sweep(out: Path, kept: Collection[str], known: Collection[str]) -> None:
    """Remove the texts and readings that `corpus.json` does not name, and unfinished files."""
    named = {text_path(out, book_id) for book_id in kept}
    named |= {reading_path(out, book_id) for book_id in known}
    for folder in (text_path(out, "").parent, reading_path(out, "").parent):
        for path in folder.iterdir():
            if path not in named and path.name.endswith((".tsv.gz", ".json", UNFINISHED)):
                path.unlink()
    shutil.rmtree(scratch_path(out), ignore_errors=True)
