"""Encoders over word vectors as they are worked on: by name or folder, and joined to one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from folioreel.errors import ConfigError
from folioreel.models.folders import builtin_folder
from folioreel.models.sentence_encoder import BUILT_IN, PRETRAINED
from folioreel.models.store import EncoderModel, is_encoder_folder, load_encoder_model


def open_encoder_model(name_or_folder: str) -> EncoderModel:
    """The word vectors and graphs of an encoder that comes with the package, or lies in a folder.

    Raises:
        ConfigError: There is no such encoder, or it has no word vectors.
        ModelFolderError: Its folder is damaged.
    """
    known = ", ".join(BUILT_IN)
    if name_or_folder in BUILT_IN:
        model = load_encoder_model(builtin_folder(BUILT_IN[name_or_folder]))
        parts = tuple(part for part in model.parts if part.name == name_or_folder)
        return replace(model, name=name_or_folder, parts=parts) if parts else model
    folder = Path(os.path.expanduser(name_or_folder))
    is_export = (folder / "tokenizer.json").is_file() and not is_encoder_folder(folder)
    if name_or_folder == PRETRAINED or is_export:
        raise ConfigError(
            f"{name_or_folder} reads pieces of words and has no word vectors; give one of {known},"
            " or a folder of their kind"
        )
    if not folder.is_dir():
        raise ConfigError(
            f"unknown sentence encoder {name_or_folder!r}; choose from {known}, or give a folder"
        )
    if not is_encoder_folder(folder) and is_encoder_folder(folder / "encoder"):
        raise ConfigError(
            f"{name_or_folder} is a training run and no encoder; give {folder / 'encoder'}"
        )
    return load_encoder_model(folder)


def combine_encoders(models: Sequence[EncoderModel], name: str) -> EncoderModel:
    """One encoder whose vectors are those of several, joined: uni- and bi-skip are combine-skip.

    Args:
        models: Encoders that read the same words, in the order in which they are joined.
        name: What the new one is called.

    Raises:
        ConfigError: They do not read sentences alike, or two have a part of the same name.
    """
    if len(models) < 2:
        raise ValueError("it takes two encoders or more to combine")
    first = models[0]
    for model in models[1:]:
        if model.vocabulary.words != first.vocabulary.words:
            raise ConfigError(
                f"{first.name} and {model.name} know different words ({len(first.vocabulary):,} "
                f"and {len(model.vocabulary):,}); combine encoders of one vocabulary"
            )
        for setting in ("longest", "normalize", "back_off"):
            ours, theirs = getattr(first, setting), getattr(model, setting)
            if ours != theirs:
                raise ConfigError(
                    f"{first.name} and {model.name} differ in {setting} ({ours} and {theirs}); "
                    "combine encoders that read sentences alike"
                )
    parts = tuple(part for model in models for part in model.parts)
    names = [part.name for part in parts]
    twice = next((part for part in names if names.count(part) > 1), None)
    if twice is not None:
        raise ConfigError(f"two of the encoders have a part {twice}; combine different ones")
    # Parts of one built-in model come with one card and one account of their training.
    cards = dict.fromkeys(model.card.strip() for model in models)
    return replace(
        first,
        name=name,
        parts=parts,
        training={"combined": [{"name": m.name, "training": m.training} for m in models]},
        card="\n\n".join([f"# {name}\n\nThe vectors of {_listed(models)}, joined.", *cards]) + "\n",
    )


def _listed(models: Sequence[EncoderModel]) -> str:
    names = [model.name for model in models]
    return f"{', '.join(names[:-1])} and {names[-1]}"
