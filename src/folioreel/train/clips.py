"""Described pictures and clips as networks learn from them: features by kind, and sentences.

The data is the Flickr8k folder, of which the train and dev parts are taken, or a table of clips
and sentences (LSMDC, MPII-MD) that lies above its videos, of which each tenth clip is held out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.ingest.clip_features import ClipFeatures, PictureEncoder, see_clips, see_pictures
from folioreel.ingest.descriptions import (
    Described,
    is_flickr8k,
    read_clip_table,
    read_flickr8k,
    read_pictures,
)
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.train.names import find_names, replace_names

_FORMAT = "folioreel-described-clips"
_HELD_OUT_EVERY = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """Clips as features, and what is said of them."""

    views: tuple[ClipFeatures, ...]
    """The clips as they are, and perhaps seen otherwise; by kind: (N, units)."""
    texts: tuple[tuple[str, ...], ...]

    def features(self, kind: str) -> NDArray[np.float32]:
        """The clips as they are: (N, units)."""
        return self.views[0][kind].astype(np.float32)


@dataclass(frozen=True, kw_only=True, eq=False)
class DescribedData:
    """What is learned from, with names replaced by `someone`, and what the best is chosen by."""

    learned: Lessons
    judged: Lessons
    source: Path
    network: str
    """The name of what looked at the clips."""
    fingerprint: str
    """A hash of the same."""
    sha256: str
    """A hash of the clips' names and the sentences."""

    def identity(self) -> dict[str, Any]:
        """What a run that was begun must find again."""
        about = {"format": _FORMAT, "version": 1}
        return {**about, "sentences": self.sha256, "features": self.fingerprint}

    def account(self) -> dict[str, Any]:
        """What a report says of the data."""
        sizes = {
            "clips": len(self.learned.texts),
            "sentences": sum(map(len, self.learned.texts)),
            "held_out_clips": len(self.judged.texts),
        }
        return {
            "data": {"source": self.source.name, **sizes, "sha256": self.sha256},
            "frame_features": self.network,
            "fingerprint": self.fingerprint,
        }


def read_described(
    data: Path,
    encoder: PictureEncoder,
    progress: ProgressCallback = ignore_progress,
    *,
    views: bool = False,
) -> DescribedData:
    """Read the sentences, and look at the pictures or clips; what was seen is cached.

    Args:
        data: The folder of Flickr8k, or a table of clips and sentences.
        encoder: What looks.
        progress: Told how far it has come.
        views: Whether to look at the middle of each picture too, as a second view of it.

    Raises:
        InputError: Something is missing or broken, or there are too few clips.
    """
    if data.is_dir():
        if not is_flickr8k(data):
            raise InputError("has no captions.tsv; give the folder of Flickr8k, or a table", data)
        learned, judged = read_flickr8k(data, "train"), read_flickr8k(data, "dev")
        names = [clip.clip for clip in (*learned, *judged)]
        seen = [
            see_pictures(read_pictures(data), names, encoder, view, progress)
            for view in (("whole", "middle") if views else ("whole",))
        ]
    else:
        learned, judged = _split(read_clip_table(data), data)
        names = [clip.clip for clip in (*learned, *judged)]
        seen = [see_clips(_find_videos(data, names), encoder, progress)]
    count = len(learned)
    people = find_names(text for clip in learned for text in clip.texts)
    replaced = tuple(tuple(replace_names(t, people) for t in clip.texts) for clip in learned)
    return DescribedData(
        learned=Lessons(views=tuple(_rows(view, 0, count) for view in seen), texts=replaced),
        judged=Lessons(
            views=(_rows(seen[0], count, len(names)),), texts=tuple(clip.texts for clip in judged)
        ),
        source=data,
        network=encoder.name,
        fingerprint=encoder.fingerprint,
        sha256=_hash([*learned, *judged]),
    )


def _split(clips: Sequence[Described], table: Path) -> tuple[list[Described], list[Described]]:
    if len(clips) < _HELD_OUT_EVERY:
        raise InputError(
            f"names {len(clips)} clips; at least {_HELD_OUT_EVERY} are needed, as each tenth is"
            " held out to choose by",
            table,
        )
    last = _HELD_OUT_EVERY - 1
    judged = [clip for number, clip in enumerate(clips) if number % _HELD_OUT_EVERY == last]
    learned = [clip for number, clip in enumerate(clips) if number % _HELD_OUT_EVERY != last]
    return learned, judged


def _find_videos(table: Path, names: Sequence[str]) -> list[Path]:
    """The files of clips: named by path, or by name with or without ending, below the table."""
    there: dict[str, Path] = {}
    for path in sorted(table.parent.rglob("*")):
        if path.is_file() and path != table:
            for name in (path.relative_to(table.parent).as_posix(), path.name, path.stem):
                there.setdefault(name, path)
    missing = [name for name in names if name not in there]
    if missing:
        raise InputError(
            f"names the clip {missing[0]}, which is not in its folder ({len(missing)} in all are"
            " missing)",
            table,
        )
    return [there[name] for name in names]


def _rows(features: ClipFeatures, first: int, last: int) -> ClipFeatures:
    return {kind: rows[first:last] for kind, rows in features.items()}


def _hash(clips: Sequence[Described]) -> str:
    text = json.dumps([[clip.clip, *clip.texts] for clip in clips])
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
