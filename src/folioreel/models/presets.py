"""Presets: the settings and learned numbers of a whole aligner, in a model folder.

A preset may lie among other things, for example above the context model that was trained with it.
So its two files, `config.json` and `README.md`, are replaced one by one, not the whole folder.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from folioreel.config import AlignConfig
from folioreel.errors import ConfigError, InputError
from folioreel.files import list_others, write_whole, writing_together
from folioreel.json_input import convert
from folioreel.language import are_kin
from folioreel.models.folders import CARD, CONFIG, ModelFormat
from folioreel.models.multilingual_encoder import LANGUAGES

FORMAT = ModelFormat(name="folioreel-preset", version=1, what="preset", below="presets")
PRESETS = FORMAT.shipped()
AUTO = "auto"
"""What stands for the preset that `choose_preset` chooses."""
# Settings of the chain in presets of earlier versions; without `absent` they had no effect.
_RETIRED = ("absent", "enter", "leave")


def load_preset(name_or_folder: str | Path) -> AlignConfig:
    """The settings of a preset, by its name or its folder."""
    if not FORMAT.find(name_or_folder).is_dir():
        known = ", ".join((AUTO, *PRESETS))
        raise ConfigError(
            f"unknown preset {str(name_or_folder)!r}; choose from {known}, or give a folder"
        )
    with FORMAT.open(name_or_folder) as folder:
        return config_from_dict(folder.config["config"])


def choose_preset(spoken: str | None, written: str | None, *, own_encoder: bool = False) -> str:
    """The name of the best preset for the languages of a film and a book; None: unknown.

    `default` for English, or if nothing is known; `multilingual` for another language that the
    multilingual encoder knows; `words`, which compares no sentence vectors, for one that it does
    not know; `across` for two languages. An encoder of the user's own is taken to know them all.
    """
    spoken, written = spoken or written or "en", written or spoken or "en"
    if not are_kin(spoken, written):
        return "across"
    if written == "en":
        return "default"
    return "multilingual" if own_encoder or written in LANGUAGES else "words"


@cache
def shipped_training(name: str) -> frozenset[str]:
    """The names of the pairs that a shipped preset was trained on."""
    with FORMAT.open(name) as folder:
        return frozenset(folder.config["training"]["pairs"])


def check_replaceable(folder: Path) -> None:
    """Check that a folder is free or holds a preset: nothing else is ever replaced."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; give a folder for the preset", folder)
    if folder.is_dir() and list_others(folder):
        load_preset(folder)


def save_preset(config: AlignConfig, folder: Path, card: str, training: dict[str, Any]) -> None:
    """Write the files of a preset; see `check_replaceable` for what is refused."""
    check_replaceable(folder)
    data = card.encode("utf-8")
    fields = {"config": asdict(config), "training": training}
    with writing_together(folder, [CARD, CONFIG]):
        write_whole(folder / CARD, data)
        write_whole(folder / CONFIG, FORMAT.pack_config(fields, {CARD: data}))


def config_from_dict(values: dict[str, Any]) -> AlignConfig:
    """The settings that `asdict` made these values from."""
    chain = dict(values["chain"])
    if chain.get("absent"):
        raise ConfigError('chain.absent, the state "not in the book", is no longer supported')
    for name in _RETIRED:
        chain.pop(name, None)
    calibration = values["calibration"]
    if isinstance(calibration, list | tuple):  # the slope and the offset of earlier versions
        calibration = dict(zip(("link", "bias"), calibration, strict=True))
    values = {**values, "chain": chain, "calibration": calibration}
    return convert(values, AlignConfig, known_only=True)
