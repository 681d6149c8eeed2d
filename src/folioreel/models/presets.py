"""Presets: the settings and learned numbers of a whole aligner, as a file.

`config.json` in a folder of its own with a card, like every model (STYLE: the model folder).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.config import AlignConfig, ChainConfig, PicturesConfig, StepsConfig
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.files import make_folder, write_text

FORMAT = "folioreel-preset"
VERSION = 1
PRESETS = ("default", "paper")

_DATA = Path(__file__).parent / "data" / "presets"


def load_preset(name_or_folder: str) -> AlignConfig:
    """The settings of a preset, by its name or its folder.

    Raises:
        ConfigError: There is no such preset.
        ModelFolderError: Its folder is damaged.
    """
    folder = _DATA / name_or_folder if name_or_folder in PRESETS else Path(name_or_folder)
    if not folder.is_dir():
        raise ConfigError(
            f"unknown preset {name_or_folder!r}; choose from {', '.join(PRESETS)}, or give a folder"
        )
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{folder}: holds no readable config.json of a preset") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ModelFolderError(f"{folder}: is no preset; give the folder of one")
    if not isinstance(found.get("version"), int) or found["version"] > VERSION:
        raise ModelFolderError(
            f"{folder}: is of a newer version; run: pip install --upgrade folioreel"
        )
    try:
        return config_from_dict(found["config"])
    except (ConfigError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelFolderError(f"{folder}: config.json is damaged; {error}") from error


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds anything but a preset: nothing else is ever replaced."""
    if folder.is_dir() and any(folder.iterdir()):
        # By its whole path: a folder may have the name of a preset that comes with the package.
        load_preset(str(folder.absolute()))
    elif folder.exists() and not folder.is_dir():
        raise InputError("is a file; give a folder for the preset", folder)


def save_preset(config: AlignConfig, folder: Path, card: str, training: dict[str, Any]) -> None:
    """Write a preset's folder; one that is there is replaced only if it holds a preset."""
    path = folder / "config.json"
    check_replaceable(folder)
    make_folder(folder)
    found = {
        "format": FORMAT,
        "version": VERSION,
        "package_version": __version__,
        "config": asdict(config),
        "training": training,
    }
    write_text(folder / "README.md", card)
    write_text(path, json.dumps(found, ensure_ascii=False, indent=1) + "\n")


def config_from_dict(values: dict[str, Any]) -> AlignConfig:
    """The settings that `asdict` wrote."""
    steps, slope_offset = values["steps"], values["calibration"]
    pictures = values.get("pictures")  # presets learned before there were any have none
    return AlignConfig(
        **{key: value for key, value in values.items() if key not in _NESTED},
        chain=ChainConfig(**values["chain"]),
        steps=None if steps is None else StepsConfig(**steps),
        pictures=None if pictures is None else PicturesConfig(**pictures),
        calibration=(float(slope_offset[0]), float(slope_offset[1])),
    )


_NESTED = ("chain", "steps", "pictures", "calibration")
