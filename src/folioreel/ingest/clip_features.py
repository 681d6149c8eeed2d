"""What pictures and clips look like to a network: a row of features each, cached by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.errors import InputError
from folioreel.files import file_sha256
from folioreel.ingest.picture import Pixels, middle, read_picture, square
from folioreel.ingest.video.container import open_video
from folioreel.ingest.video.shots import scan_cached
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress

View = Literal["whole", "middle"]
"""The whole picture, or the square in its middle."""
ClipFeatures = dict[str, NDArray[np.float16]]
"""By kind: (N, units)."""

_CHUNK = 256  # pictures that are kept together: what a run that is stopped loses at most
_BATCH = 32
_VERSION = 1  # counts changes of what is made of the same pictures


class PictureEncoder(FrameEncoder, Protocol):
    """What turns pictures into vectors, and says how long they are."""

    units: Mapping[str, int]


def see_pictures(
    pictures: Iterable[tuple[str, bytes]],
    names: Sequence[str],
    encoder: PictureEncoder,
    view: View = "whole",
    progress: ProgressCallback = ignore_progress,
) -> ClipFeatures:
    """The features of some pictures, in the order of their names.

    Args:
        pictures: Names and files; those that are not asked for are passed over.
        names: The pictures that are asked for.
        encoder: What looks at them.
        view: How much of a picture it is shown.
        progress: Told of the pictures that were seen.

    Raises:
        InputError: A picture is missing or damaged.
    """
    rows = {name: row for row, name in enumerate(names)}
    found = {
        kind: np.zeros((len(names), units), dtype=np.float16)
        for kind, units in encoder.units.items()
    }
    done: set[str] = set()
    for chunk in _chunks(picture for picture in pictures if picture[0] in rows):
        numbers = [rows[name] for name, _ in chunk]
        for kind, values in _split(_chunk_features(chunk, encoder, view), encoder):
            found[kind][numbers] = values
        done.update(name for name, _ in chunk)
        progress(Progress(stage="seeing pictures", done=len(done), total=len(names)))
    missing = [name for name in names if name not in done]
    if missing:
        raise InputError(f"the picture {missing[0]} is missing ({len(missing)} in all)")
    return found


def see_clips(
    videos: Sequence[Path], encoder: PictureEncoder, progress: ProgressCallback = ignore_progress
) -> ClipFeatures:
    """The features of some clips: the mean over the shots of each.

    Raises:
        InputError: A clip is missing, or none of its pictures can be decoded.
    """
    found = {
        kind: np.zeros((len(videos), units), dtype=np.float16)
        for kind, units in encoder.units.items()
    }
    for row, path in enumerate(videos):
        with open_video(path) as video:
            scan = scan_cached(video, file_sha256(path), "adaptive", encoder)
        for kind, values in (scan.features.vectors if scan.features else {}).items():
            found[kind][row] = values.mean(axis=0, dtype=np.float32)
        progress(Progress(stage="seeing clips", done=row + 1, total=len(videos)))
    return found


def _chunks(pictures: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    chunk: list[tuple[str, bytes]] = []
    for picture in pictures:
        chunk.append(picture)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _chunk_features(
    chunk: list[tuple[str, bytes]], encoder: PictureEncoder, view: View
) -> NDArray[np.float16]:
    """All kinds side by side: (N, units of all kinds)."""
    digests = [hashlib.sha256(data).hexdigest() for _, data in chunk]
    settings = json.dumps([_VERSION, encoder.fingerprint, view, digests])

    def make() -> NDArray[np.float16]:
        squares = [_prepare(data, name, encoder.size_px, view) for name, data in chunk]
        seen = [
            encoder.encode(np.stack(squares[first : first + _BATCH]))
            for first in range(0, len(squares), _BATCH)
        ]
        rows = [np.hstack([batch[kind] for kind in encoder.units]) for batch in seen]
        return np.concatenate(rows).astype(np.float16)

    return cached_array(hashlib.sha256(settings.encode()).hexdigest(), make)


def _prepare(data: bytes, name: str, size_px: int, view: View) -> Pixels:
    pixels = read_picture(data, name)
    return square(middle(pixels) if view == "middle" else pixels, size_px)


def _split(
    rows: NDArray[np.float16], encoder: PictureEncoder
) -> Iterator[tuple[str, NDArray[np.float16]]]:
    ends = np.cumsum(list(encoder.units.values()))[:-1]
    return zip(encoder.units, np.split(rows, ends, axis=1), strict=True)
