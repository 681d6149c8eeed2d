"""Finding books in a folder and in the archives there, one at a time and without unpacking.

The one walk over books in this package: `corpus build` and the apps that take `--books` share it.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from folioreel.errors import InputError
from folioreel.reading import (
    LARGEST_FILE,
    STRONGEST_PACKING,
    inflates_absurdly,
    megabytes,
    read_whole,
)

BOOK_SUFFIXES = frozenset(".txt .text .md .markdown .html .htm .xhtml .epub .fb2 .fbz .pdf".split())
"""Suffixes of books; `load_book` then decides by content."""
# Books in formats that we cannot read. They are passed on so that the report names them.
_FOREIGN_SUFFIXES = frozenset(
    ".mobi .azw .azw3 .prc .doc .docx .rtf .odt .djvu .chm .lit .gz .rar .7z".split()
)
_TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
# Every task holds its whole file in memory.
_TOO_LARGE = f"is larger than {megabytes(LARGEST_FILE)}, too large for a book"
_BOMB = f"unpacks to more than {STRONGEST_PACKING} times its size; is it really a book?"
_UNPACKERS: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"\xfd7zXZ", lzma.open),
    (b"BZh", bz2.open),
)
_DAMAGED = "is cut short or damaged; download or copy it again"


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file that may be a book, or the reason why it cannot even be opened."""

    path: str  # relative to the folder; a file in an archive has the archive's path before its own
    data: bytes = field(default=b"", repr=False)
    problem: str = ""
    sha256: str = ""  # of the content; stays when `data` is dropped to save memory

    def __post_init__(self) -> None:
        if not self.sha256 and not self.problem:
            object.__setattr__(self, "sha256", hashlib.sha256(self.data).hexdigest())

    @property
    def suffix(self) -> str:
        """Its file type by name, in lower case: `.txt`."""
        return PurePosixPath(self.path).suffix.lower()

    @property
    def id(self) -> str:
        """Identifies content and suffix, which decide how it is read; empty if it cannot be."""
        return f"{self.sha256[:16]}-{self.suffix.lstrip('.')}" if self.sha256 else ""


@dataclass(frozen=True, kw_only=True)
class BookFolder:
    """A folder of books."""

    folder: Path
    files: tuple[Path, ...]
    """The files in it and below it that are books or archives by name, sorted by path."""
    other_files: int
    prefix: str = ""  # prepended to all paths, to tell the books of several folders apart

    @classmethod
    def open(cls, folder: Path, *, prefix: str = "", skip: Path | None = None) -> BookFolder:
        """List a folder, without hidden files and without the folder `skip`."""
        found = _list_files(folder, skip)
        files = tuple(path for path in found if _is_archive(path.name) or _is_book(path.name))
        others = len(found) - len(files)
        return cls(folder=folder, files=files, other_files=others, prefix=prefix)

    def read(self, wanted: Collection[str] | None = None) -> Iterator[FoundFile]:
        """All books, or those with the wanted paths."""
        for file in self.files:
            yield from self.read_file(file, wanted)

    def read_file(self, file: Path, wanted: Collection[str] | None = None) -> Iterator[FoundFile]:
        """The book that a file is, or the books that an archive holds, in their order there."""
        label = self.prefix + _clean(file.relative_to(self.folder).as_posix())
        if file.exists() and not file.is_file():  # reading a pipe or a device may never end
            yield FoundFile(path=label, problem="is a pipe or a device, not a file")
        elif _is_archive(file.name):
            # Decompressing an archive takes long: it is not opened for nothing.
            if wanted is None or any(name.startswith(f"{label}/") for name in wanted):
                is_tar = file.name.lower().endswith(_TAR_ENDINGS)
                yield from (_files_in_tar if is_tar else _files_in_zip)(file, label, wanted)
        elif wanted is None or label in wanted:
            yield _loose_file(file, label)


def _list_files(folder: Path, skip: Path | None) -> list[Path]:
    if not folder.is_dir():
        raise InputError("is not a folder; give a folder of books", folder)

    def fail(error: OSError) -> None:
        raise InputError(f"cannot be read ({error.strerror or error})", error.filename or folder)

    # Compared by real path: a corpus that lies in its own folder must not be read as books.
    skipped = skip.resolve() if skip is not None else None
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=fail):
        here = Path(place)
        folders[:] = [
            name for name in folders if name[0] != "." and (here / name).resolve() != skipped
        ]
        found += [here / name for name in names if name[0] != "."]
    return sorted(found, key=lambda path: _clean(path.relative_to(folder).as_posix()))


def _is_archive(name: str) -> bool:
    return name.lower().endswith((*_TAR_ENDINGS, ".zip"))


def _is_book(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in BOOK_SUFFIXES | _FOREIGN_SUFFIXES


def _loose_file(path: Path, label: str) -> FoundFile:
    try:
        return FoundFile(path=label, data=read_whole(path))
    except InputError as error:
        return FoundFile(path=label, problem=error.message)


def _files_in_tar(path: Path, label: str, wanted: Collection[str] | None) -> Iterator[FoundFile]:
    try:
        # As a stream ("r|"): going back in a compressed file means decompressing it again.
        with _decompress(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                inner = f"{label}/{_clean(member.name)}"
                if not member.isfile() or not _is_wanted(label, inner, wanted):
                    continue
                # A sparse file is a few bytes that say "a gigabyte of nothing".
                if problem := _BOMB * member.issparse() or _member_problem(inner, member.size):
                    yield FoundFile(path=inner, problem=problem)
                    continue
                file = archive.extractfile(member)
                yield FoundFile(path=inner, data=file.read() if file else b"")
    except _BombError:
        yield FoundFile(path=label, problem=_BOMB)
    except Exception:  # on damaged archives Python's readers raise a dozen kinds of errors
        yield FoundFile(path=label, problem=_DAMAGED)


class _BombError(Exception):
    """An archive that is made to fill the memory, such as a header of gigabytes in a few bytes."""


class _Unpacked(io.RawIOBase):
    """What a compressed file holds, as long as it is not absurdly more than was packed."""

    def __init__(self, packed: IO[bytes], content: IO[bytes]) -> None:
        self._packed, self._content, self._size = packed, content, 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self._content.read(size)
        self._size += len(data)
        if inflates_absurdly(self._packed.tell(), self._size):
            raise _BombError
        return data


@contextmanager
def _decompress(path: Path) -> Iterator[IO[bytes]]:
    """Open a tar file without its compression.

    tarfile could do that itself, but then takes a truncated archive for one that ends there.
    """
    with path.open("rb") as file:
        magic = file.read(6)
        file.seek(0)
        unpack = next((unpack for mark, unpack in _UNPACKERS if magic.startswith(mark)), None)
        yield cast(IO[bytes], _Unpacked(file, unpack(file)) if unpack is not None else file)


def _files_in_zip(path: Path, label: str, wanted: Collection[str] | None) -> Iterator[FoundFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            if "META-INF/container.xml" in archive.namelist():
                yield _loose_file(path, label)  # an EPUB under another name
                return
            for member in archive.infolist():
                inner = f"{label}/{_clean(member.filename)}"
                if not member.is_dir() and _is_wanted(label, inner, wanted):
                    yield _zip_member(archive, member, inner)
    except Exception:  # as above
        yield FoundFile(path=label, problem=_DAMAGED)


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, inner: str) -> FoundFile:
    """One file of a ZIP; in contrast to a tar, a damaged one does not affect the others."""
    if problem := _member_problem(inner, member.file_size):
        return FoundFile(path=inner, problem=problem)
    if member.flag_bits & 1:  # the flag for encryption
        return FoundFile(path=inner, problem="is protected by a password; unpack it")
    if inflates_absurdly(member.compress_size, member.file_size):
        return FoundFile(path=inner, problem=_BOMB)
    try:
        return FoundFile(path=inner, data=archive.read(member))
    except Exception:  # as above
        return FoundFile(path=inner, problem=_DAMAGED)


def _is_wanted(label: str, inner: str, wanted: Collection[str] | None) -> bool:
    parts = PurePosixPath(inner.removeprefix(label)).parts
    # macOS adds __MACOSX to its ZIP files: metadata under the names of the books.
    hidden = any(part[0] == "." or part == "__MACOSX" for part in parts)
    if hidden or not (_is_book(inner) or _is_archive(inner)):
        return False
    return wanted is None or inner in wanted


def _member_problem(inner: str, size: int) -> str:
    if _is_archive(inner):
        return "is an archive inside an archive; unpack it"
    return _TOO_LARGE if size > LARGEST_FILE else ""


def _clean(name: str) -> str:
    """A name that UTF-8 can express, without a leading `./` or `/`."""
    plain = name.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return PurePosixPath(plain).as_posix().lstrip("/")
