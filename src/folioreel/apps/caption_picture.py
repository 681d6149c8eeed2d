"""Picture files → sentences that tell what they show (the first step of CoCoBook)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from folioreel.ingest.picture import read_picture, square
from folioreel.models.captioner import Caption, Captioner
from folioreel.models.frame_features import DEFAULT, load_frame_features


def caption_pictures(
    pictures: Sequence[Path | str], *, count: int = 1, captioner: str | Path = "captioner"
) -> list[list[Caption]]:
    """Sentences for each picture, the likeliest first.

    Args:
        pictures: Files: JPEG, PNG, WebP and the like.
        count: How many sentences for each, at most.
        captioner: The name of a captioner, or its folder.

    Raises:
        InputError: A file cannot be read or is no picture.
        ModelFolderError: The captioner is missing or damaged.
    """
    writer = Captioner.load(captioner)
    network = load_frame_features(str(writer.training.get("frame_features", DEFAULT)))
    found = []
    for picture in pictures:
        frame = square(read_picture(Path(picture)), network.size_px)
        seen = network.encode(frame[None])
        features = np.hstack([seen[kind] for kind in writer.features])
        found += writer.captions(features, count)
    return found
