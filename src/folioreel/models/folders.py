"""Model folders: how every trained model is stored on disk, found by name, read and written.

A model folder holds `config.json`, `README.md` (the model card), and the model's own files: ONNX
graphs, `*.safetensors`, `vocabulary.txt`. `config.json` names the format and its version, and has
the sha256 of every other file, so that a damaged copy is noticed instead of giving wrong numbers.

Each kind of model declares its `ModelFormat` once, and loads and saves itself through it:

    FORMAT = ModelFormat(name="folioreel-captioner", version=1, what="captioner")

    with FORMAT.open("captioner") as folder:       # a shipped model's name, or a path
        beam = int(folder.config["beam"])          # a bad field raises ModelFolderError
        weights = folder.arrays("weights.safetensors")

    FORMAT.save(path, {"beam": 5}, {"weights.safetensors": weights, CARD: "# Mine"})

`save` adds the format, the versions and the hashes to the configuration. A file's content may be
bytes, text, a vocabulary or arrays by name.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from folioreel import __version__
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.files import UNFINISHED, make_folder
from folioreel.json_input import parse_json
from folioreel.models.vocabulary import Vocabulary
from folioreel.reading import read_plain

CONFIG, CARD, VOCABULARY = "config.json", "README.md", "vocabulary.txt"
DATA = Path(__file__).parent / "data"  # the models that ship with the package

# Models of one loader that stay in memory: an alignment uses two encoders at most, and the rest
# leaves room for a comparison of some. Each takes some tens of megabytes.
_KEPT = 4

# What a file of a model folder can be made from.
Content = bytes | str | Vocabulary | Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class ModelFormat:
    """A kind of model folder."""

    name: str  # `format` in config.json
    version: int  # the newest version that this package reads; it writes this one
    what: str  # what messages call such a model, for example "captioner"
    below: str = ""  # the subfolder of the package's data that shipped models of this kind are in

    def find(self, name_or_folder: str | Path) -> Path:
        """The folder of the shipped model with this name, or else the user's own folder."""
        if isinstance(name_or_folder, str):
            shipped = DATA / self.below / name_or_folder
            if (shipped / CONFIG).is_file():
                return shipped
        return Path(os.path.expanduser(name_or_folder))

    def shipped(self) -> tuple[str, ...]:
        """The names of the models of this kind that ship with the package."""
        folders = (path.parent for path in (DATA / self.below).glob(f"*/{CONFIG}"))
        return tuple(sorted(folder.name for folder in folders if self.is_in(folder)))

    def is_in(self, folder: Path) -> bool:
        """Whether a folder says that it holds such a model."""
        try:
            config = parse_json(read_plain(folder / CONFIG))
        except (OSError, ValueError):
            return False
        return isinstance(config, dict) and config.get("format") == self.name

    @contextmanager
    def open(self, name_or_folder: str | Path) -> Iterator[ModelFolder]:
        """Read a model folder; what goes wrong while its fields are used is damage to it.

        Raises:
            ModelFolderError: It is missing, damaged, of a newer version, or another kind of model.
        """
        path = self.find(name_or_folder)
        folder = ModelFolder(path, self._read_config(path))
        try:
            yield folder
        except _DAMAGE as error:
            first_line = (str(error).splitlines() or [type(error).__name__])[0]
            reason = f"{error} is missing" if isinstance(error, KeyError) else first_line
            raise _damaged(path, f"{CONFIG} is damaged ({reason})") from error

    def save(
        self,
        folder: Path,
        config: Mapping[str, Any],
        files: Mapping[str, Content],
        *,
        replace: bool = False,
    ) -> None:
        """Write a model folder under a temporary name and rename it: all of it, or nothing.

        With `replace`, a model of the same kind is replaced, and never anything else.
        """
        if folder.is_symlink() or (folder.exists() and not self.is_in(folder)):
            raise ModelFolderError(
                f"{folder}: holds something else than a {self.what}; choose another name"
            )
        if folder.exists() and not replace:
            raise ModelFolderError(
                f"{folder}: already holds a {self.what}; choose another name, or ask to replace it"
            )
        packed = {name: _pack(content) for name, content in sorted(files.items())}
        packed[CONFIG] = self.pack_config(config, packed)
        _write_folder(folder, packed)

    def pack_config(self, config: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
        """The content of config.json: the fields, and the hashes of the other files."""
        header = {"format": self.name, "version": self.version, "package_version": __version__}
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        text = json.dumps({**header, **config, "sha256": hashes}, ensure_ascii=False, indent=1)
        return f"{text}\n".encode()

    def _read_config(self, folder: Path) -> dict[str, Any]:
        try:
            config = parse_json(_read(folder, CONFIG))
        except ValueError as error:
            raise _damaged(folder, f"{CONFIG} is damaged") from error
        if not isinstance(config, dict) or config.get("format") != self.name:
            raise ModelFolderError(f"{folder}: is not a {self.what}; give the folder of one")
        version = config.get("version")
        if not isinstance(version, int) or version > self.version:
            raise ModelFolderError(
                f"{folder}: was written by a newer folioreel (version {version} of its format, this"
                f" one reads up to {self.version}); run: pip install --upgrade folioreel"
            )
        return config


@dataclass(frozen=True)
class ModelFolder:
    """A model folder that was opened; every file is checked against its hash when it is read."""

    path: Path
    config: dict[str, Any]

    @property
    def card(self) -> str:
        """The model card, in Markdown."""
        return self.read(CARD).decode("utf-8")

    def read(self, name: str) -> bytes:
        """The content of a file; an error if it is not what it was when it was written."""
        expected = self.config["sha256"][name]
        data = _read(self.path, name)
        if hashlib.sha256(data).hexdigest() != expected:
            raise _damaged(self.path, f"{name} is damaged")
        return data

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of a safetensors file."""
        return dict(safetensors.numpy.load(self.read(name)))

    def vocabulary(self) -> Vocabulary:
        """The words of `vocabulary.txt`."""
        return Vocabulary.parse(self.read(VOCABULARY), self.path / VOCABULARY)


Options = TypeVarTuple("Options")
Model = TypeVar("Model")


def load_once(load: Callable[[Path, *Options], Model]) -> Callable[[Path, *Options], Model]:
    """Make a loader keep what it loaded from a folder or file until something there changes.

    Each step of an alignment asks for its models itself, and an evaluation does so for every pair;
    to read, hash and open a shipped encoder again takes 0.2 to 0.4 s.
    """

    @lru_cache(maxsize=_KEPT)
    def load_unchanged(folder: Path, _stamp: object, *options: *Options) -> Model:
        return load(folder, *options)

    def load_or_reuse(folder: Path, /, *options: *Options) -> Model:
        return load_unchanged(folder, (folder.absolute(), _file_stamps(folder)), *options)

    return load_or_reuse


def builtin_folder(name: str) -> Path:
    """The folder of a model that ships with the package."""
    return DATA / name


# What reading fields of a wrong type, or values that a model refuses, can raise.
_WRONG_FIELD = (LookupError, TypeError, ValueError, AttributeError)
_DAMAGE = (*_WRONG_FIELD, InputError, ConfigError, SafetensorError)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    unfinished = folder.with_name(f".{folder.name}{UNFINISHED}")
    old = folder.with_name(f".{folder.name}.old")
    try:
        make_folder(folder.parent)
        for left in (unfinished, old):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        unfinished.mkdir()
        for name, data in files.items():
            (unfinished / name).write_bytes(data)
        # A folder cannot be renamed onto one that is not empty, so the old one steps aside.
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


def _pack(content: Content) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode("utf-8")
    if isinstance(content, Vocabulary):
        return content.pack()
    # safetensors would write the memory of a transposed array as it lies, in the wrong order.
    contiguous = {name: np.ascontiguousarray(array) for name, array in content.items()}
    return bytes(safetensors.numpy.save(contiguous))


def _read(folder: Path, name: str) -> bytes:
    try:
        return read_plain(folder / name)
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise _damaged(folder, f"{name} {reason}") from error


def _damaged(folder: Path, problem: str) -> ModelFolderError:
    remedy = "copy the folder again from its source, or train the model again"
    if DATA in folder.parents:
        remedy = "run: pip install --force-reinstall folioreel"
    return ModelFolderError(f"{folder}: {problem}; {remedy}")


def _file_stamps(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """What changes when a file of a folder (or the file itself) is edited, added or removed."""
    stamps = []
    # No model has files deeper than this, and a wrong path may be that of a whole disk.
    inside = sorted([*folder.glob("*"), *folder.glob("*/*")])
    for path in (folder, *inside):
        try:
            status = path.stat()
        except OSError:  # a link to nowhere; the loader will say so if it needs the file
            continue
        stamps.append((path.name, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(stamps)
