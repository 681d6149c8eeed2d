"""What lies in the folders of a corpus: every file's path and hash, and the files themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from folioreel.corpus.readings import ReadTask
from folioreel.corpus.selection import Candidate
from folioreel.corpus.sources import FoundFile, files_in, is_archive, is_book_name, list_files
from folioreel.errors import InputError
from folioreel.progress import Progress, ProgressCallback


@dataclass(frozen=True, kw_only=True)
class Place:
    """A folder of books, and the files in it that are books or archives."""

    folder: Path
    prefix: str
    """What stands before the paths of its books; nothing for the corpus's own folder."""
    held_out: bool
    files: tuple[Path, ...]
    other_files: int


@dataclass(frozen=True, kw_only=True)
class Survey:
    """All that was found, in path order."""

    places: tuple[Place, ...]
    books: tuple[Candidate, ...]
    held_out: tuple[Candidate, ...]

    @property
    def ids(self) -> frozenset[str]:
        """The names of all contents, held out or not."""
        return frozenset(found.id for found in self.books + self.held_out if found.id)


def survey_folders(
    folder: Path, exclude: Sequence[Path], out: Path, progress: ProgressCallback
) -> Survey:
    """Hash every book in a folder, and in those whose books must stay out.

    Raises:
        InputError: A folder is missing or holds no books.
    """
    places = [_open_place(folder, "", out)]
    for excluded in exclude:
        taken = {place.prefix for place in places}
        names = (f"{excluded.resolve().name}{mark}/" for mark in _marks())
        prefix = next(name for name in names if name not in taken)
        places.append(_open_place(excluded, prefix, out))
    total = sum(len(place.files) for place in places)
    books: list[Candidate] = []
    held_out: list[Candidate] = []
    done = 0
    for place in places:
        for path in place.files:
            found = (_candidate(file, place.prefix) for file in files_in(place.folder, path))
            (held_out if place.held_out else books).extend(found)
            done += 1
            progress(Progress(stage="looking for books", done=done, total=total))

    def in_order(found: list[Candidate]) -> tuple[Candidate, ...]:
        return tuple(sorted(found, key=lambda candidate: (candidate.path, candidate.sha256)))

    return Survey(places=tuple(places), books=in_order(books), held_out=in_order(held_out))


def find_tasks(
    survey: Survey, wanted: Collection[str], out: Path, text_from: int
) -> Iterator[ReadTask]:
    """The files with some ids, each once, as tasks for the readers.

    Args:
        survey: Where they were found.
        wanted: The ids.
        out: The corpus.
        text_from: Words from which a book's text is kept.

    Raises:
        InputError: A file has changed since it was found.
    """
    remaining = set(wanted)
    for place in survey.places:
        candidates = survey.held_out if place.held_out else survey.books
        paths = {
            candidate.path.removeprefix(place.prefix)
            for candidate in candidates
            if candidate.id in remaining and candidate.path.startswith(place.prefix)
        }
        for path in place.files:
            for file in files_in(place.folder, path, paths):
                book_id = "" if file.problem else name_content(file)[0]
                if book_id in remaining:
                    remaining.remove(book_id)
                    yield ReadTask(
                        id=book_id,
                        data=file.data,
                        suffix=file.suffix,
                        out=out,
                        text_from=None if place.held_out else text_from,
                    )
    if remaining:
        message = f"{len(remaining)} files changed while they were read; build the corpus again"
        raise InputError(message, survey.places[0].folder)


def name_content(file: FoundFile) -> tuple[str, str]:
    """The id and the SHA-256 of a file; the suffix counts, as it may decide on the format."""
    sha256 = hashlib.sha256(file.data).hexdigest()
    return f"{sha256[:16]}-{file.suffix.lstrip('.')}", sha256


def _open_place(folder: Path, prefix: str, out: Path) -> Place:
    found = list_files(folder, skip=out)
    files = tuple(path for path in found if is_archive(path.name) or is_book_name(path.name))
    if not files:
        raise InputError("holds no books and no archives of books", folder)
    return Place(
        folder=folder,
        prefix=prefix,
        held_out=bool(prefix),
        files=files,
        other_files=len(found) - len(files),
    )


def _candidate(file: FoundFile, prefix: str) -> Candidate:
    path = prefix + file.path
    if file.problem:
        return Candidate(path=path, problem=file.problem)
    book_id, sha256 = name_content(file)
    return Candidate(path=path, id=book_id, sha256=sha256)


def _marks() -> Iterator[str]:
    """Nothing, then -2, -3 …: what tells folders of one name apart."""
    yield ""
    number = 2
    while True:
        yield f"-{number}"
        number += 1
