"""Frame features of pictures and clips: a row for each, cached by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.errors import InputError
from folioreel.files import file_sha256
from folioreel.ingest.picture import middle, read_picture, square
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shots import scan_cached
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, track

View = Literal["whole", "middle"]  # the whole picture, or the square in its middle
ClipFeatures = dict[str, NDArray[np.float16]]  # by kind: (N, units)

_CHUNK = 256  # pictures that are cached together: what a run that is stopped loses at most
_BATCH = 32
_VERSION = 1  # to be raised whenever the same pictures would give other features


class PictureEncoder(FrameEncoder, Protocol):
    """Turns pictures into vectors, and says how long they are."""

    units: Mapping[str, int]


def picture_features(
    pictures: Iterable[tuple[str, bytes]],
    names: Sequence[str],
    encoder: PictureEncoder,
    view: View = "whole",
    progress: ProgressCallback = ignore_progress,
) -> ClipFeatures:
    """The features of some pictures, in the order of their names.

    `pictures` are names and contents, also of pictures that are not wanted.
    """
    rows = {name: row for row, name in enumerate(names)}
    found = np.zeros((len(names), sum(encoder.units.values())), dtype=np.float16)
    done: set[str] = set()
    wanted = (picture for picture in pictures if picture[0] in rows)
    while chunk := list(islice(wanted, _CHUNK)):
        found[[rows[name] for name, _ in chunk]] = _chunk_features(chunk, encoder, view)
        done.update(name for name, _ in chunk)
        progress(Progress(stage="reading pictures", done=len(done), total=len(names)))
    missing = [name for name in names if name not in done]
    if missing:
        raise InputError(f"the picture {missing[0]} is missing ({len(missing)} in all)")
    ends = np.cumsum(list(encoder.units.values()))[:-1]
    return dict(zip(encoder.units, np.split(found, ends, axis=1), strict=True))


def video_features(
    videos: Sequence[Path], encoder: PictureEncoder, progress: ProgressCallback = ignore_progress
) -> ClipFeatures:
    """The features of some clips: the mean over the shots of each."""
    count, units = len(videos), encoder.units
    found = {kind: np.zeros((count, units[kind]), dtype=np.float16) for kind in units}
    tracked = track(videos, "reading clips", progress, name=lambda path: path.name)
    for row, path in enumerate(tracked):
        with OpenVideo(path) as video:
            scan = scan_cached(video, file_sha256(path), "adaptive", encoder)
        for kind, values in (scan.features.vectors if scan.features else {}).items():
            found[kind][row] = values.mean(axis=0, dtype=np.float32)
    return found


def _chunk_features(
    chunk: list[tuple[str, bytes]], encoder: PictureEncoder, view: View
) -> NDArray[np.float16]:
    """All kinds side by side: (N, units of all kinds)."""
    digests = [hashlib.sha256(data).hexdigest() for _, data in chunk]
    settings = json.dumps([_VERSION, encoder.fingerprint, view, digests])

    def make() -> NDArray[np.float16]:
        rows = []
        for first in range(0, len(chunk), _BATCH):
            pixels = [read_picture(data, name) for name, data in chunk[first : first + _BATCH]]
            seen = map(middle, pixels) if view == "middle" else pixels
            batch = encoder.encode(np.stack([square(part, encoder.size_px) for part in seen]))
            rows.append(np.hstack([batch[kind] for kind in encoder.units]))
        return np.concatenate(rows).astype(np.float16)

    return cached_array(hashlib.sha256(settings.encode()).hexdigest(), make)
