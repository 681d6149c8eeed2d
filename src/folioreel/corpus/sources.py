"""Finding books in a folder and in the archives there, one at a time and nothing unpacked."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from folioreel.errors import InputError

BOOK_SUFFIXES = frozenset(".txt .text .md .markdown .html .htm .xhtml .epub .fb2 .fbz .pdf".split())
"""How the names of books end; what they hold is for `load_book` to tell."""
_FOREIGN_SUFFIXES = frozenset(
    ".mobi .azw .azw3 .prc .doc .docx .rtf .odt .djvu .chm .lit .gz .rar .7z".split()
)
"""Books of kinds that we do not read: they are handed on, so that the report names them."""
_TAR_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_ZIP_ENDINGS = (".zip",)
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    IndexError,
    KeyError,
)
"""What Python's readers of archives raise at a damaged one."""
_LARGEST_BOOK = 200 * 2**20
"""Bytes of one file at most, so that memory stays flat."""
_CUT_SHORT = "is cut short or damaged; download or copy it again"


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file that may be a book, or why it cannot even be opened."""

    path: str
    """Relative to the folder; a file in an archive has the archive's path before its own."""
    data: bytes = b""
    problem: str = ""

    @property
    def suffix(self) -> str:
        """How its name ends, in lower case."""
        return PurePosixPath(self.path).suffix.lower()


def list_files(folder: Path, skip: Path | None = None) -> list[Path]:
    """The files below a folder in path order, without hidden ones and without `skip`.

    Raises:
        InputError: The folder is missing or cannot be read.
    """
    if not folder.is_dir():
        raise InputError("is no folder; give a folder of books", folder)

    def fail(error: OSError) -> None:
        raise InputError(f"cannot be read ({error.strerror or error})", error.filename or folder)

    skipped = skip.resolve() if skip is not None else None
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=fail):
        here = Path(place)
        folders[:] = [
            name for name in folders if name[0] != "." and (here / name).resolve() != skipped
        ]
        found += [here / name for name in names if name[0] != "."]
    return sorted(found, key=lambda path: _label(folder, path))


def is_archive(name: str) -> bool:
    """Whether a file is opened as an archive of books."""
    return name.lower().endswith(_TAR_ENDINGS + _ZIP_ENDINGS)


def is_book_name(name: str) -> bool:
    """Whether a file is taken for a book by its name."""
    return PurePosixPath(name).suffix.lower() in BOOK_SUFFIXES | _FOREIGN_SUFFIXES


def files_in(
    folder: Path, path: Path, wanted: Collection[str] | None = None
) -> Iterator[FoundFile]:
    """The books that one file is or holds, in the order in which they lie there.

    Args:
        folder: The folder that their paths are relative to.
        path: A book or an archive.
        wanted: The paths to read, where not all are; archives without any are not opened.
    """
    label = _label(folder, path)
    if is_archive(path.name):
        if wanted is not None and not any(name.startswith(f"{label}/") for name in wanted):
            return
        read = _files_in_tar if path.name.lower().endswith(_TAR_ENDINGS) else _files_in_zip
        yield from read(path, label, wanted)
    elif is_book_name(path.name) and (wanted is None or label in wanted):
        yield _loose_file(path, label)


def _loose_file(path: Path, label: str) -> FoundFile:
    try:
        if path.stat().st_size > _LARGEST_BOOK:
            return FoundFile(path=label, problem=_too_large())
        return FoundFile(path=label, data=path.read_bytes())
    except OSError as error:
        return FoundFile(path=label, problem=f"cannot be read ({error.strerror or error})")


def _files_in_tar(path: Path, label: str, wanted: Collection[str] | None) -> Iterator[FoundFile]:
    try:
        with _open_plain(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                inner = f"{label}/{_clean(member.name)}"
                if not member.isfile() or not _is_wanted(inner, wanted):
                    continue
                if problem := _problem_of_member(inner, member.size):
                    yield FoundFile(path=inner, problem=problem)
                    continue
                file = archive.extractfile(member)
                yield FoundFile(path=inner, data=file.read() if file else b"")
    except _BROKEN:
        yield FoundFile(path=label, problem=_CUT_SHORT)


def _open_plain(path: Path) -> IO[bytes]:
    """A tar's bytes without their compression.

    tarfile could undo it too, but takes an archive that was cut short for one that ends there.
    """
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path))
    if magic.startswith(b"\xfd7zXZ"):
        return lzma.open(path)
    return bz2.open(path) if magic.startswith(b"BZh") else path.open("rb")


def _files_in_zip(path: Path, label: str, wanted: Collection[str] | None) -> Iterator[FoundFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            if "META-INF/container.xml" in archive.namelist():
                yield _loose_file(path, label)  # an EPUB by another name
                return
            for member in archive.infolist():
                inner = f"{label}/{_clean(member.filename)}"
                if member.is_dir() or not _is_wanted(inner, wanted):
                    continue
                yield _zip_member(archive, member, inner)
    except _BROKEN:
        yield FoundFile(path=label, problem=_CUT_SHORT)


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, inner: str) -> FoundFile:
    """One file of a ZIP; a damaged one does not hinder the others."""
    if problem := _problem_of_member(inner, member.file_size):
        return FoundFile(path=inner, problem=problem)
    if member.flag_bits & 1:
        return FoundFile(path=inner, problem="is behind a password; unpack it")
    try:
        return FoundFile(path=inner, data=archive.read(member))
    except _BROKEN:
        return FoundFile(path=inner, problem=_CUT_SHORT)


def _is_wanted(inner: str, wanted: Collection[str] | None) -> bool:
    parts = PurePosixPath(inner).parts
    hidden = any(part[0] == "." or part == "__MACOSX" for part in parts)
    if hidden or not (is_book_name(inner) or is_archive(inner)):
        return False
    return wanted is None or inner in wanted


def _problem_of_member(inner: str, size: int) -> str:
    if is_archive(inner):
        return "is an archive inside an archive; unpack it"
    return _too_large() if size > _LARGEST_BOOK else ""


def _too_large() -> str:
    return f"is larger than {_LARGEST_BOOK // 2**20} MB; a book is not"


def _label(folder: Path, path: Path) -> str:
    return _clean(path.relative_to(folder).as_posix())


def _clean(name: str) -> str:
    """A name that can be written as UTF-8, without a leading `./` or `/`."""
    plain = name.encode("utf-8", errors="backslashreplace").decode("utf-8")
    return PurePosixPath(plain).as_posix().lstrip("/")
