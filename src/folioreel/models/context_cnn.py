"""The context model as a folder on disk and as users run it (paper, section 4.3).

`config.json` holds the measures that the model reads, its halo, how it was trained, and the sha256
of the other files: `context.onnx` the graph, and `README.md`, the card.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.errors import InputError, ModelFolderError
from folioreel.files import UNFINISHED, make_folder
from folioreel.models.inference import open_session
from folioreel.models.store import builtin_folder

FORMAT = "folioreel-context-model"
VERSION = 1
CONFIG, GRAPH, CARD = "config.json", "context.onnx", "README.md"


@dataclass(frozen=True, kw_only=True, eq=False)
class ContextModel:
    """A network from the measures around a cell to the log-odds that it is right."""

    name: str
    measures: tuple[str, ...]
    """In the order in which the graph takes them."""
    halo: tuple[int, int]
    """Moments above and below, sentences left and right, that a score depends on."""
    graph: bytes
    """ONNX: `planes` (N, M, R, C) gives `log_odds` (N, 1, R - 2 · halo, C - 2 · halo)."""
    training: dict[str, Any] = field(default_factory=dict)
    card: str = ""

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        return open_session(self.graph)

    def log_odds(self, planes: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores of a block: (M, rows + 2 · halo, J) → (rows, J).

        Rows come with their halo; sentences beyond the ends of the book are zeros.
        """
        width = self.halo[1]
        padded = np.pad(planes, ((0, 0), (0, 0), (width, width)))[None]
        found: NDArray[np.float32] = self._session.run(None, {"planes": padded})[0][0, 0]
        return found


def load_context_model(name_or_folder: str | Path) -> ContextModel:
    """The context model that comes with the package by this name, or lies in a folder.

    Raises:
        ModelFolderError: It is missing, damaged, of a newer version, or something else.
    """
    folder = builtin_folder(str(name_or_folder))
    if not (isinstance(name_or_folder, str) and (folder / CONFIG).is_file()):
        folder = Path(name_or_folder).expanduser()
    config = _read_config(folder)
    try:
        hashes = dict(config["sha256"])
        files = {name: _read_file(folder, name, hashes[name]) for name in (GRAPH, CARD)}
        rows, columns = config["halo"]
        model = ContextModel(
            name=str(config["name"]),
            measures=tuple(map(str, config["measures"])),
            halo=(int(rows), int(columns)),
            graph=files[GRAPH],
            training=dict(config["training"]),
            card=files[CARD].decode("utf-8"),
        )
        taken = model._session.get_inputs()[0].shape[1]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {_advice(folder)}") from error
    if taken != len(model.measures):
        raise ModelFolderError(
            f"{folder}: {GRAPH} takes {taken} measures, {CONFIG} names {len(model.measures)};"
            f" {_advice(folder)}"
        )
    return model


def save_context_model(model: ContextModel, folder: Path, *, replace: bool = False) -> None:
    """Write a model folder, whole or not at all.

    Raises:
        ModelFolderError: The name is taken, or the disk cannot be written.
    """
    if folder.is_symlink() or folder.exists():
        if folder.is_symlink() or _format(folder) != FORMAT:
            raise ModelFolderError(
                f"{folder}: is something else than a context model; choose another name"
            )
        if not replace:
            raise ModelFolderError(
                f"{folder}: holds a context model already; choose another name, or ask to replace"
            )
    unfinished = folder.with_name(f".{folder.name}{UNFINISHED}")
    old = folder.with_name(f".{folder.name}.old")
    try:
        make_folder(folder.parent)
        for left in (unfinished, old):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        unfinished.mkdir()
        _write_files(model, unfinished)
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


def _write_files(model: ContextModel, folder: Path) -> None:
    files = {GRAPH: model.graph, CARD: model.card.encode("utf-8")}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    config = {
        "format": FORMAT,
        "version": VERSION,
        "name": model.name,
        "package_version": __version__,
        "measures": list(model.measures),
        "halo": list(model.halo),
        "training": model.training,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    text = json.dumps(config, ensure_ascii=False, indent=1)
    (folder / CONFIG).write_bytes(f"{text}\n".encode())


def _format(folder: Path) -> str | None:
    """What a folder says that it holds."""
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return config.get("format") if isinstance(config, dict) else None


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise ModelFolderError(f"{folder}: {CONFIG} {reason}; {_advice(folder)}") from error
    except ValueError as error:
        raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {_advice(folder)}") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ModelFolderError(f"{folder}: is no context model; give the folder of one")
    version = config.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelFolderError(
            f"{folder}: is of version {version}, this folioreel reads up to {VERSION};"
            " run: pip install --upgrade folioreel"
        )
    return config


def _read_file(folder: Path, name: str, sha256: str) -> bytes:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else error.strerror
        raise ModelFolderError(f"{folder}: {name} {reason}; {_advice(folder)}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelFolderError(f"{folder}: {name} is damaged; {_advice(folder)}")
    return data


def _advice(folder: Path) -> str:
    if folder.parent == builtin_folder(folder.name).parent:
        return "run: pip install --force-reinstall folioreel"
    return "copy the folder again from where it came, or train it again"
