"""Reading and writing files safely: atomic writes, overwrite checks and content hashes."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from folioreel.claims import claimed, is_held
from folioreel.errors import InputError
from folioreel.reading import is_folder, open_file, read_whole

UNFINISHED = ".part"  # how the name of a file ends while it is being written
_MARK = f".results{UNFINISHED}"  # in a folder while results are being written into it
_LEFT = rf"\..+{re.escape(UNFINISHED)}"
_SCRATCH, _LOCK = "folioreel-scratch-", ".lock"
# A younger folder may belong to a process that is about to lock it.
_SWEPT_AFTER_S = 60.0


@contextmanager
def replacing(path: Path, held: ExitStack | None = None) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it replaces `path` if the block succeeds.

    A crash or a full disk therefore never leaves a half-written `path`. Its lock is kept until the
    end of `held`, if that is given.
    """
    unfinished = _unfinished(path)
    try:
        with ExitStack() as block:
            (held or block).enter_context(claimed(unfinished))
            try:
                yield unfinished
                unfinished.replace(path)
            except BaseException:  # else, the last change is the one that completes the file
                with suppress(OSError):
                    unfinished.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path) from error


def _unfinished(path: Path) -> Path:
    """Where it is written to; a fixed name, so that the next run cleans up after a killed one."""
    return path.with_name(f".{path.name}{UNFINISHED}")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    # The name of a file may hold bytes that are no text; in JSON these are escapes then.
    write_whole(path, text.encode("utf-8", errors="backslashreplace"))


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be created ({error.strerror or error})", path) from error


@contextmanager
def writing_together(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Files that belong together are written into a folder, which is created.

    Until all are there, a mark in the folder lists them. After a kill or an error it stays: what it
    lists is ours, and the next run may replace it. Only one process at a time has the mark.
    """
    make_folder(folder)
    mark = folder / _MARK
    with ExitStack() as held:
        with replacing(mark, held) as unfinished:
            _check_free(mark, folder)  # here, as two processes could find it free at once
            unfinished.write_bytes(b"\0".join(map(os.fsencode, names)))
        yield
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def _check_free(mark: Path, folder: Path) -> None:
    if is_held(mark):
        message = "another folioreel is writing results here; wait for it, or choose another folder"
        raise InputError(message, folder)


def is_unfinished(folder: Path) -> bool:
    """Whether writing results into a folder was begun and never finished."""
    try:
        status = (folder / _MARK).lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == _user()


def _list_unfinished(folder: Path) -> set[str]:
    """The files that a killed run has written, or was about to write, into a folder."""
    if not is_unfinished(folder):
        return set()
    _check_free(folder / _MARK, folder)
    return {os.fsdecode(name) for name in read_whole(folder / _MARK).split(b"\0")}


def list_others(folder: Path) -> list[str]:
    """What is in a folder besides that which a killed run of ours has left."""
    ours = _list_unfinished(folder)
    names = (name for name in os.listdir(folder) if name not in ours)
    return sorted(name for name in names if not re.fullmatch(_LEFT, name))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder that is deleted at the end, and after a kill by whoever needs one next."""
    from filelock import FileLock  # imports asyncio, which most commands can do without

    _sweep_scratch()
    try:
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH))
    except OSError as error:
        place = tempfile.gettempdir()
        raise InputError(f"cannot be written ({error.strerror or error})", place) from error
    try:
        with FileLock(folder / _LOCK):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0  # as Windows calls the owner of any file


@cache
def _sweep_scratch() -> None:
    """Delete, once per process, the scratch folders of processes that are gone."""
    from filelock import FileLock, Timeout

    for left in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with suppress(OSError, Timeout):
            status = left.lstat()  # strangers may have put links there
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == _user()
            if is_ours and time.time() - status.st_mtime > _SWEPT_AFTER_S:
                with FileLock(left / _LOCK, timeout=0):  # it is free: nobody works there
                    shutil.rmtree(left)


def file_sha256(path: Path) -> str:
    """The SHA-256 hash of a file's content, in hexadecimal digits."""
    with open_file(path) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def check_output_file(path: Path, *, force: bool | None = None) -> None:
    """Stop before any work is done if a file or folder would be overwritten.

    `force` is the user's --force; None for commands that never overwrite.
    """
    # A dangling link does not "exist", but writing would still replace it.
    is_there = path.exists() or path.is_symlink()
    if is_there and not force and path.name not in _list_unfinished(path.parent):
        advice = "choose another path" + ("" if force is None else ", or add --force to replace it")
        raise InputError(f"already exists; {advice}", path)
    check_writable(path.parent)


def check_writable(folder: Path) -> None:
    """Stop before any work is done if nothing can be written into a folder.

    One that does not exist yet is made in the nearest folder above that does.
    """
    place = next((place for place in (folder, *folder.parents) if is_folder(place)), Path())
    try:
        with tempfile.TemporaryFile(dir=place):  # in most file systems, one without a name
            pass
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", place) from error


def check_output_folder(
    folder: Path, names: Iterable[str] | None = None, *, force: bool = False
) -> None:
    """Stop before any work is done if files in an output folder would be overwritten.

    `names` are the files to be written: other files in the folder do not matter. Without names
    any file at all is in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; choose a folder", folder)
    check_writable(folder)
    if force or not folder.exists():
        return
    there = list_others(folder)
    if names is not None:
        there = [name for name in names if name in there]
    if there:
        # Three names tell the user which folder this is; a hundred would bury the advice.
        named = ", ".join(there[:3]) + (" and more" if len(there) > 3 else "")
        raise InputError(
            f"already holds {named}; choose another folder, or overwrite them with --force "
            "(in Python: overwrite=True)",
            folder,
        )
