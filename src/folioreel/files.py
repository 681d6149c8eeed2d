"""Reading and writing files safely: atomic writes, overwrite checks and content hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from folioreel.errors import InputError
from folioreel.reading import open_file

UNFINISHED = ".part"  # how the name of a file ends while it is being written


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it replaces `path` if the block succeeds.

    A crash or a full disk therefore never leaves a half-written `path`.
    """
    # A fixed name, not a random one, so that the next run cleans up after a killed one.
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


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


def file_sha256(path: Path) -> str:
    """The SHA-256 hash of a file's content, in hexadecimal digits."""
    with open_file(path) as file:
        return hashlib.file_digest(cast(Any, file), "sha256").hexdigest()


def check_output_file(path: Path, *, force: bool | None = None) -> None:
    """Stop before any work is done if a file or folder would be overwritten.

    `force` is the user's --force; None for commands that never overwrite.
    """
    # A dangling link does not "exist", but writing would still replace it.
    if not force and (path.exists() or path.is_symlink()):
        advice = "choose another path" + ("" if force is None else ", or add --force to replace it")
        raise InputError(f"already exists; {advice}", path)


def check_output_folder(
    folder: Path, names: Iterable[str] | None = None, *, force: bool = False
) -> None:
    """Stop before any work is done if files in an output folder would be overwritten.

    `names` are the files to be written: other files in the folder do not matter. Without names
    any file at all is in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; choose a folder", folder)
    if force or not folder.exists():
        return
    there = sorted(path.name for path in folder.iterdir())
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
