"""A training run's own folder: which data it is about, its checkpoint, and how it is taken up."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, Protocol
from zipfile import BadZipFile

from folioreel.errors import ConfigError, InputError
from folioreel.files import make_folder, write_text

DeviceName = Literal["auto", "cpu", "cuda"]

_HASH = re.compile(r"[0-9a-f]{64}")
_DAMAGED = (OSError, EOFError, KeyError, RuntimeError, ValueError, UnpicklingError, BadZipFile)
"""What is raised over a checkpoint that is not whole."""


class Resumable(Protocol):
    """A run that can be taken up."""

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""


def check_pytorch() -> None:
    """Say how to get PyTorch where it is missing.

    Raises:
        ConfigError: It is.
    """
    if find_spec("torch") is None:
        raise ConfigError('training needs PyTorch; run: pip install "folioreel[train]"')


def open_run(out: Path, data: dict[str, Any], made_of_it: Path | None = None) -> None:
    """Make a run's folder, or see that it is one, and of the same data if it was begun.

    Args:
        out: The folder.
        data: What tells this data from other.
        made_of_it: A file that is removed if it was made of other data.

    Raises:
        InputError: The folder holds something else, or cannot be written.
        ConfigError: It has a checkpoint that was trained on other data.
    """
    path = out / "data.json"
    make_folder(out)
    if not path.is_file() and any(out.iterdir()):
        raise InputError("is not empty and no training run; give a folder of its own", out)
    found = read_json(path)
    if found == data:
        return
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        differing = [
            f"other {key}" if _is_hash(value) else f"{key}: {found.get(key)} there, {value} here"
            for key, value in data.items()
            if found.get(key) != value
        ]
        raise ConfigError(
            f"{checkpoint} was trained on other data ({'; '.join(differing)}); "
            "give another folder with --out, or remove that file"
        )
    if made_of_it is not None:
        made_of_it.unlink(missing_ok=True)
    write_text(path, json.dumps(data, indent=1) + "\n")


def take_up(training: Resumable, checkpoint: Path) -> None:
    """Go on from a checkpoint where there is one.

    Raises:
        InputError: It is damaged.
        ConfigError: It is of other settings.
    """
    if not checkpoint.exists():
        return
    try:
        training.load(checkpoint)
    except _DAMAGED as error:
        raise InputError("is damaged; remove it to begin anew", checkpoint) from error


@contextmanager
def explaining_memory() -> Iterator[None]:
    """Say what to do where the memory is too small."""
    try:
        yield
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        raise ConfigError("memory is too small for this; give a smaller batch or units") from error


def read_json(path: Path) -> dict[str, Any]:
    """What a file of ours says; nothing if it is missing or damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def training_seconds(minutes: float | None) -> float:
    """How long a run may take.

    Raises:
        ConfigError: Not at all.
    """
    if minutes is not None and not minutes > 0:
        raise ConfigError(f"minutes must be above 0, not {minutes}")
    return math.inf if minutes is None else 60 * minutes
