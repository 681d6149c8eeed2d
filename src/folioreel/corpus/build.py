"""A folder of books → a corpus on disk (paper, section 3: the BookCorpus dataset).

```
OUT/corpus.json            what is kept, what is left out and why    (records.py)
OUT/books/<id>.tsv.gz      the sentences of each kept book, in order (book_file.py)
OUT/readings/<id>.json     what came of reading each file            (readings.py)
```
`<id>` is the first 16 digits of the file's SHA-256 and its suffix: `9c56cc51b374c3ba-txt`.

Four steps: hash every file, also those in archives; read those that no earlier run has read;
select; write `corpus.json` and remove what is no longer named in it. Each file is written beside
its place and renamed into it, so that a run which was killed is taken up where it was. What comes
out hangs on the books and the settings alone: not on the order in which they were read, the number
of processes, or what earlier runs found; but for a reader that fails, which the next run tries
again. One build at a time may run on one folder, for which it holds `OUT/.lock` (lock.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from folioreel.corpus.config import CorpusConfig
from folioreel.corpus.lock import LOCK, locked
from folioreel.corpus.readings import (
    ReadTask,
    find_reading,
    get_reading,
    has_text,
    note_failure,
    read_for_corpus,
    reading_path,
    scratch_path,
    text_path,
)
from folioreel.corpus.records import (
    FORMAT,
    MANIFEST,
    BookRecord,
    HeldOutRecord,
    Manifest,
    Status,
    write_manifest,
)
from folioreel.corpus.selection import describe_held_out, select_books
from folioreel.corpus.survey import Survey, find_tasks, survey_folders
from folioreel.engines.batch import count_cores, run_many
from folioreel.errors import InputError, WorkError
from folioreel.files import UNFINISHED, make_folder
from folioreel.progress import Progress, ProgressCallback, ignore_progress

__all__ = ["CorpusConfig", "CorpusReport", "build_corpus"]


@dataclass(frozen=True, kw_only=True)
class CorpusReport:
    """What came of building a corpus."""

    books: tuple[BookRecord, ...]
    """Every book that was found, in path order."""
    held_out: tuple[HeldOutRecord, ...]
    files_read: int
    """Files that this run read; the others were known."""
    other_files: int
    """Files that are no books by their names."""

    def with_status(self, status: Status) -> tuple[BookRecord, ...]:
        """The books that met one end: `kept`, `short`, `duplicate`, `held out`, `unreadable`."""
        return tuple(book for book in self.books if book.status == status)

    @property
    def kept(self) -> tuple[BookRecord, ...]:
        """The books of the corpus."""
        return self.with_status("kept")

    @property
    def left_out(self) -> tuple[BookRecord, ...]:
        """The books that were left out, each with its reason."""
        return tuple(book for book in self.books if book.status != "kept")


def build_corpus(
    folder: Path,
    out: Path,
    config: CorpusConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> CorpusReport:
    """Turn a folder of books into a corpus, or bring an older corpus up to date with it.

    Args:
        folder: Books of every format that `load_book` reads, at any depth, also in tar and ZIP
            archives.
        out: The corpus; may exist, and may lie inside `folder`.
        config: What is kept; the paper's bounds if it is None.
        progress: Called as files are found and books are read.

    Raises:
        InputError: A folder is missing, or `out` cannot be written, is something else or is being
            built. A book that cannot be read is no error: the report names it.
    """
    config = config or CorpusConfig()
    survey = survey_folders(folder, config.exclude, out, progress)
    _check_ours(out)
    make_folder(out)
    with locked(out):
        return _build_locked(survey, out, config, progress)


def _build_locked(
    survey: Survey, out: Path, config: CorpusConfig, progress: ProgressCallback
) -> CorpusReport:
    _open_out(out)
    wanted = {book_id for book_id in survey.ids if find_reading(out, book_id) is None}
    find = partial(get_reading, out)
    tried: set[str] = set()
    while True:
        _read_books(survey, wanted, out, config, progress)
        tried |= wanted
        books = tuple(select_books(survey.books, survey.held_out, find, config))
        kept = {book.id for book in books if book.status == "kept"}
        # A text is missing where an earlier run left out what this one keeps, or where it is
        # damaged. If that book cannot be read now, another edition may take its place.
        textless = {book_id for book_id in kept if not has_text(out, book_id, find(book_id))}
        wanted = textless - tried
        if not wanted:
            break
    held_out = tuple(describe_held_out(survey.held_out, find))
    write_manifest(out, Manifest(config=config.settings(), books=books, held_out=held_out))
    _sweep(out, kept, survey.ids)
    return CorpusReport(
        books=books,
        held_out=held_out,
        files_read=len(tried),
        other_files=survey.places[0].other_files,
    )


def _check_ours(out: Path) -> None:
    """Refuse a folder that is no corpus: what is not ours must not be swept."""
    manifest = out / MANIFEST
    try:
        ours = not out.exists() or scratch_path(out).exists()
        ours = ours or all(path.name == LOCK for path in out.iterdir())
        if manifest.is_file():
            ours = FORMAT.encode() in manifest.read_bytes()[:200]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", out) from error
    if not ours:
        raise InputError("is not empty and no corpus; give a folder of its own", out)


def _open_out(out: Path) -> None:
    """Make the corpus's folders, and clear away what a killed run left."""
    # The folder of files that are being read comes first and goes last: it marks what is ours.
    for path in (scratch_path(out), text_path(out, "").parent, reading_path(out, "").parent):
        make_folder(path)
    for unfinished in scratch_path(out).iterdir():
        if unfinished.is_dir():
            shutil.rmtree(unfinished, ignore_errors=True)
        else:
            unfinished.unlink()


def _read_books(
    survey: Survey,
    wanted: Collection[str],
    out: Path,
    config: CorpusConfig,
    progress: ProgressCallback,
) -> None:
    """Read the files with some ids, over several processes."""
    workers = min(config.workers or count_cores(), max(1, len(wanted)))
    tasks = find_tasks(survey, wanted, out, config.min_words)
    for done, outcome in enumerate(run_many(read_for_corpus, tasks, workers=workers), 1):
        if isinstance(outcome.failure, WorkError):
            _note_crash(outcome.item)
        elif outcome.failure is not None:
            raise outcome.failure
        progress(Progress(stage="reading books", done=done, total=len(wanted)))


def _note_crash(task: ReadTask) -> None:
    shutil.rmtree(scratch_path(task.out) / task.id, ignore_errors=True)
    note_failure(
        task,
        "the reader crashed; the next build tries it again, or convert it to EPUB or plain text",
    )


def _sweep(out: Path, kept: Collection[str], known: Collection[str]) -> None:
    """Remove what `corpus.json` does not speak of: texts, readings, what killed runs left."""
    named = {text_path(out, book_id) for book_id in kept}
    named |= {reading_path(out, book_id) for book_id in known}
    for folder in (text_path(out, "").parent, reading_path(out, "").parent):
        for path in folder.iterdir():
            if path not in named and path.name.endswith((".tsv.gz", ".json", UNFINISHED)):
                path.unlink()
    shutil.rmtree(scratch_path(out), ignore_errors=True)
