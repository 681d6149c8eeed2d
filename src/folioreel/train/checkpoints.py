"""Runs on disk: everything that is needed to go on as if nothing had happened."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import torch

from folioreel.errors import ConfigError, InputError
from folioreel.files import replacing


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a run's state, whole or not at all; its settings are under `config`.

    Raises:
        InputError: The disk is full, or the folder cannot be written; what was there stays.
    """
    with replacing(path) as unfinished:
        try:
            torch.save(state, unfinished)
        except RuntimeError as error:
            # A failed write; other failures, as of the GPU, are not for the disk to mend.
            if "inline_container" not in str(error):
                raise
            raise InputError("cannot be written; free some disk space", path) from error


def load_checkpoint(path: Path, config: dict[str, Any], device: torch.device) -> dict[str, Any]:
    """Read a run's state; a checkpoint of other settings is refused.

    Raises:
        BadZipFile: The file is damaged; PyTorch itself does not look at the checksums.
        ConfigError: It is of another configuration.
    """
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"bad checksum of {damaged}")
    state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    differing = _differences(state["config"], config)
    if differing:
        raise ConfigError(
            f"{path} is a checkpoint of another configuration ({'; '.join(differing)}); "
            "give the same settings, another --out, or remove it"
        )
    return state


def _differences(theirs: dict[str, Any], ours: dict[str, Any], inside: str = "") -> list[str]:
    """Each setting that is not the same, as `model.units: 32 there, 64 here`."""
    found: list[str] = []
    for key, value in ours.items():
        other = theirs.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            found += _differences(other, value, f"{inside}{key}.")
        elif value != other:
            found.append(f"{inside}{key}: {other} there, {value} here")
    return found
