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
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from folioreel.corpus.manifest import (
    FORMAT,
    LOCK,
    MANIFEST,
    Manifest,
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
from folioreel.corpus.sources import BookFolder
from folioreel.engines.batch import count_cores, run_many
from folioreel.errors import InputError, WorkError
from folioreel.files import UNFINISHED, make_folder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, track

__all__ = ["CorpusConfig", "CorpusReport", "build_corpus"]


@dataclass(frozen=True, kw_only=True)
class CorpusReport(Manifest):
    """What is in the corpus now, and what this run did."""

    files_read: int  # files that this run read; the others were known already
    other_files: int  # files that are not books, judging by their names


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
class _SurveyedFolders:
    """Every file that was found, with its hash, sorted by path."""

    folders: tuple[BookFolder, ...]
    """The corpus's own, without a prefix, and those whose books must stay out."""
    books: tuple[SurveyedFile, ...]
    held_out: tuple[SurveyedFile, ...]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all contents, held out or not."""
        return frozenset(file.id for file in self.books + self.held_out if file.id)


def _survey_folders(
    folder: Path, exclude: Sequence[Path], out: Path, progress: ProgressCallback
) -> _SurveyedFolders:
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
    books: list[SurveyedFile] = []
    held_out: list[SurveyedFile] = []
    files = [(each, path) for each in folders for path in each.files]
    for each, path in track(files, "looking for books", progress):
        for file in each.read_file(path):
            surveyed = SurveyedFile(path=file.path, problem=file.problem)
            if not file.problem:
                surveyed = replace(surveyed, id=file.id, sha256=file.sha256)
            (held_out if each.prefix else books).append(surveyed)

    def in_order(found: list[SurveyedFile]) -> tuple[SurveyedFile, ...]:
        return tuple(sorted(found, key=lambda file: (file.path, file.sha256)))

    return _SurveyedFolders(
        folders=tuple(folders), books=in_order(books), held_out=in_order(held_out)
    )


def _build_locked(
    survey: _SurveyedFolders, out: Path, config: CorpusConfig, progress: ProgressCallback
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
    report = CorpusReport(
        config=config.settings(),
        books=books,
        held_out=tuple(describe_held_out(survey.held_out, get_reading)),
        files_read=len(tried),
        other_files=survey.folders[0].other_files,
    )
    write_manifest(out, report)
    _sweep(out, kept, survey.ids)
    return report


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
    survey: _SurveyedFolders,
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
    survey: _SurveyedFolders, wanted: Collection[str], out: Path, min_words: int
) -> Iterator[ReadTask]:
    """The files with the wanted ids, each content once.

    Raises:
        InputError: A file has changed since it was hashed.
    """
    missing = set(wanted)
    for folder in survey.folders:
        paths = {file.path for file in survey.books + survey.held_out if file.id in missing}
        for file in folder.read(paths):
            if file.problem or file.id not in missing:
                continue
            missing.remove(file.id)
            text_from = None if folder.prefix else min_words
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
