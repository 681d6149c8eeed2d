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
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from folioreel.corpus import manifest
from folioreel.corpus.readings import Reading, ReadTask, find_reading, has_text, read_for_corpus
from folioreel.corpus.selection import CorpusConfig, describe_held_out, select_books
from folioreel.corpus.sources import BookFolder, FoundFile
from folioreel.engines.batch import count_cores, run_many
from folioreel.errors import InputError, WorkError
from folioreel.files import UNFINISHED, make_folder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, track
from folioreel.reading import read_plain

__all__ = ["CorpusConfig", "CorpusReport", "build_corpus"]


@dataclass(frozen=True, kw_only=True)
class CorpusReport(manifest.Manifest):
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
    build = _Build(folder, out, config or CorpusConfig(), progress)
    _check_ours(out)
    make_folder(out)
    with manifest.locked(out):
        return build.run()


class _Build:
    """One run over a folder: the files that were found, hashed, and what is done with them."""

    def __init__(
        self, folder: Path, out: Path, config: CorpusConfig, progress: ProgressCallback
    ) -> None:
        self.out, self.config, self.progress = out, config, progress
        # The corpus's own, which has no prefix, and those whose books must stay out.
        self.folders = [BookFolder.open(folder, skip=out)]
        for excluded in config.exclude:
            taken = {each.prefix for each in self.folders}
            name = excluded.resolve().name
            # Folders with the same name become test, test-2, test-3 …
            prefixes = chain([f"{name}/"], (f"{name}-{number}/" for number in count(2)))
            prefix = next(prefix for prefix in prefixes if prefix not in taken)
            self.folders.append(BookFolder.open(excluded, prefix=prefix, skip=out))
        for each in self.folders:
            if not each.files:
                raise InputError("holds no books and no archives of books", each.folder)
        self.books: list[FoundFile] = []
        self.held_out: list[FoundFile] = []
        files = [(each, path) for each in self.folders for path in each.files]
        for each, path in track(files, "looking for books", progress, name=lambda at: at[1].name):
            # Without their data: all books together need not fit into memory.
            found = (replace(file, data=b"") for file in each.read_file(path))
            (self.held_out if each.prefix else self.books).extend(found)
        for group in (self.books, self.held_out):
            group.sort(key=lambda file: (file.path, file.sha256))
        self.ids = {file.id for file in self.books + self.held_out if file.id}
        self.failures: dict[str, Reading] = {}

    def run(self) -> CorpusReport:
        """Read what is new, select, and write; the corpus must be locked."""
        _prepare_folder(self.out)
        wanted = {book_id for book_id in self.ids if find_reading(self.out, book_id) is None}
        tried: set[str] = set()
        while True:
            self._read_books(wanted)
            tried |= wanted
            books = tuple(select_books(self.books, self.held_out, self._get_reading, self.config))
            kept = {book.id for book in books if book.status == "kept"}
            # A text is missing if an earlier run left out what this one keeps, or if it is damaged.
            # Should such a book turn out to be unreadable now, another edition may take its place.
            wanted = {book_id for book_id in kept if not has_text(self.out, book_id)} - tried
            if not wanted:
                break
        report = CorpusReport(
            config=self.config.settings(),
            books=books,
            held_out=tuple(describe_held_out(self.held_out, self._get_reading)),
            files_read=len(tried),
            other_files=self.folders[0].other_files,
        )
        manifest.write_manifest(self.out, report)
        self._sweep(kept)
        return report

    def _get_reading(self, file: FoundFile) -> Reading:
        if file.problem:
            return Reading(problem=file.problem)
        reading = self.failures.get(file.id) or find_reading(self.out, file.id)
        if reading is None:
            path = manifest.reading_path(self.out, file.id)
            raise InputError("disappeared while the corpus was built", path)
        return reading

    def _read_books(self, wanted: Collection[str]) -> None:
        """Read the files with the wanted ids in several processes.

        A failure of the reader counts for this run only and is not stored: it says nothing about
        the book.
        """
        workers = min(self.config.workers or count_cores(), max(1, len(wanted)))
        outcomes = run_many(read_for_corpus, self._find_tasks(wanted), workers=workers)
        for done, outcome in enumerate(outcomes, 1):
            if isinstance(outcome.failure, WorkError):
                self.failures[outcome.item.file.id] = Reading(
                    problem=f"could not be read this time: {outcome.failure}; the next build tries "
                    "it again, or convert it to EPUB or plain text"
                )
            elif outcome.failure is not None:
                raise outcome.failure
            self.progress(Progress(stage="reading books", done=done, total=len(wanted)))

    def _find_tasks(self, wanted: Collection[str]) -> Iterator[ReadTask]:
        """The files with the wanted ids, each content once."""
        missing = set(wanted)
        for folder in self.folders:
            paths = {file.path for file in self.books + self.held_out if file.id in missing}
            for file in folder.read(paths):
                if file.id in missing:
                    missing.remove(file.id)
                    text_from = None if folder.prefix else self.config.min_words
                    yield ReadTask(file=file, out=self.out, text_from=text_from)
        if missing:
            message = f"{len(missing)} files changed while they were read; build the corpus again"
            raise InputError(message, self.folders[0].folder)

    def _sweep(self, kept: Collection[str]) -> None:
        """Remove the texts and readings that `corpus.json` does not name, and unfinished files."""
        named = {manifest.text_path(self.out, book_id) for book_id in kept}
        named |= {manifest.reading_path(self.out, book_id) for book_id in self.ids}
        for folder in (self.out / "books", self.out / "readings"):
            for path in folder.iterdir():
                if path not in named and path.name.endswith((".tsv.gz", ".json", UNFINISHED)):
                    path.unlink()
        shutil.rmtree(manifest.scratch_path(self.out), ignore_errors=True)


def _check_ours(out: Path) -> None:
    """Stop if a folder is not a corpus: `_sweep` must never delete anybody else's files."""
    try:
        ours = not out.exists() or manifest.scratch_path(out).exists()
        ours = ours or all(path.name == manifest.LOCK for path in out.iterdir())
        if (record := out / manifest.MANIFEST).is_file():
            ours = manifest.FORMAT.encode() in read_plain(record)[:200]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", out) from error
    if not ours:
        raise InputError("is not empty and not a corpus; choose another folder", out)


def _prepare_folder(out: Path) -> None:
    """Make the corpus's folders, and remove what a killed run left behind."""
    # The scratch folder is made first and removed last: while it exists, `out` is ours.
    scratch = manifest.scratch_path(out)
    for path in (scratch, out / "books", out / "readings"):
        make_folder(path)
    for unfinished in scratch.iterdir():
        shutil.rmtree(unfinished, ignore_errors=True)
