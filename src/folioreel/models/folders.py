"""What all model folders share: a checked `config.json`, checked files, whole or not at all.

STYLE: the model folder. `config.json` names the format and its version, and holds the sha256 of
every other file.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from folioreel.errors import InputError, ModelFolderError
from folioreel.files import UNFINISHED, make_folder

CONFIG = "config.json"
DATA = Path(__file__).parent / "data"
"""Where the models lie that come with the package."""


def builtin_folder(name: str) -> Path:
    """Where a model that comes with the package lies."""
    return DATA / name


def find_folder(name_or_folder: str | Path) -> Path:
    """The folder of a model that comes with the package by this name, or else of the user's own."""
    folder = builtin_folder(str(name_or_folder))
    if isinstance(name_or_folder, str) and (folder / CONFIG).is_file():
        return folder
    return Path(name_or_folder).expanduser()


def builtin_of_format(form: str) -> tuple[str, ...]:
    """The names of the models of one format that come with the package."""
    folders = (path.parent for path in DATA.glob(f"*/{CONFIG}"))
    return tuple(sorted(folder.name for folder in folders if folder_format(folder) == form))


def folder_format(folder: Path) -> str | None:
    """What a folder says that it holds."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return config.get("format") if isinstance(config, dict) else None


def read_config(folder: Path, form: str, version: int, what: str) -> dict[str, Any]:
    """A folder's `config.json`.

    Raises:
        ModelFolderError: It is missing, damaged, of a newer version, or of another format.
    """
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise ModelFolderError(f"{folder}: {CONFIG} {reason}; {advice(folder)}") from error
    except ValueError as error:
        raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {advice(folder)}") from error
    if not isinstance(config, dict) or config.get("format") != form:
        raise ModelFolderError(f"{folder}: is no {what}; give the folder of one")
    found = config.get("version")
    if not isinstance(found, int) or found > version:
        raise ModelFolderError(
            f"{folder}: is of version {found}, this folioreel reads up to {version};"
            " run: pip install --upgrade folioreel"
        )
    return config


def read_file(folder: Path, name: str, sha256: str) -> bytes:
    """A file whose content is what it was when it was written.

    Raises:
        ModelFolderError: It is missing or damaged.
    """
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise ModelFolderError(f"{folder}: {name} {reason}; {advice(folder)}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelFolderError(f"{folder}: {name} is damaged; {advice(folder)}")
    return data


def write_folder(
    folder: Path, write: Callable[[Path], None], form: str, what: str, *, replace: bool
) -> None:
    """Write a folder whole or not at all; one of the same format is replaced where asked for.

    Raises:
        ModelFolderError: The name is taken, or the disk cannot be written.
    """
    _check_free(folder, form, what, replace)
    unfinished = folder.with_name(f".{folder.name}{UNFINISHED}")
    old = folder.with_name(f".{folder.name}.old")
    try:
        make_folder(folder.parent)
        for left in (unfinished, old):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        unfinished.mkdir()
        write(unfinished)
        if folder.exists():
            folder.rename(old)
        unfinished.rename(folder)
    except (OSError, InputError) as error:
        if old.exists() and not folder.exists():
            old.rename(folder)
        reason = getattr(error, "strerror", None) or error
        raise ModelFolderError(f"{folder}: cannot be written ({reason})") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def advice(folder: Path) -> str:
    """What to do about a damaged folder."""
    if folder.parent == DATA:
        return "run: pip install --force-reinstall folioreel"
    return "copy the folder again from where it came, or train it again"


def _check_free(folder: Path, form: str, what: str, replace: bool) -> None:
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or folder_format(folder) != form:
        raise ModelFolderError(f"{folder}: is something else than a {what}; choose another name")
    if not replace:
        raise ModelFolderError(
            f"{folder}: holds a {what} already; choose another name, or ask to replace it"
        )
