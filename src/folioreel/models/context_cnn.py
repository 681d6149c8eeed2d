"""The context model as a folder on disk and as users run it (paper, section 4.3).

`config.json` holds the measures that the model reads, its halo, how it was trained, and the sha256
of the other files: `context.onnx` the graph, and `README.md`, the card.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.errors import ModelFolderError
from folioreel.models.folders import (
    CONFIG,
    advice,
    find_folder,
    read_config,
    read_file,
    write_folder,
)
from folioreel.models.inference import open_session

FORMAT = "folioreel-context-model"
VERSION = 1
GRAPH, CARD = "context.onnx", "README.md"


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
    folder = find_folder(name_or_folder)
    config = read_config(folder, FORMAT, VERSION, "context model")
    try:
        hashes = dict(config["sha256"])
        files = {name: read_file(folder, name, hashes[name]) for name in (GRAPH, CARD)}
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
        raise ModelFolderError(f"{folder}: {CONFIG} is damaged; {advice(folder)}") from error
    if taken != len(model.measures):
        raise ModelFolderError(
            f"{folder}: {GRAPH} takes {taken} measures, {CONFIG} names {len(model.measures)};"
            f" {advice(folder)}"
        )
    return model


def save_context_model(model: ContextModel, folder: Path, *, replace: bool = False) -> None:
    """Write a model folder, whole or not at all.

    Raises:
        ModelFolderError: The name is taken, or the disk cannot be written.
    """
    write_folder(
        folder, lambda new: _write_files(model, new), FORMAT, "context model", replace=replace
    )


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
