"""Feature vectors of shots: a few frames of each, encoded while the decoder goes on (section 4.2).

A cut is recognised only a few frames after it. So evenly spaced frames of the current shot are kept
at the encoder's size, and three of them are encoded once the shot has ended. Which network encodes
them is up to the caller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, Self

import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from folioreel.types import Shot, ShotFeatures

# One near the beginning, one in the middle, one near the end. Part of the cache key.
FRAMES_A_SHOT = 3
# Wider frames lose their sides, and frames narrower than the inverse lose top and bottom. Encoders
# take squares. A frame of 16:9 is squeezed into one whole; with 2.39:1, the distortion would be too
# strong.
WIDEST = 16 / 9
# Between two kept frames. Shorter than the shortest shot (0.3 s), so that each shot has one.
_CLOSEST_S = 0.25
_MOST_KEPT = 6  # of the current shot: twice what is encoded, so that thinning leaves enough
_BATCH_SIZE = 8
# Batches that may queue for the encoder before the decoder has to wait; bounds the memory.
_MOST_WAITING = 3

Picture = NDArray[np.uint8]  # (size_px, size_px, 3), RGB


class FrameEncoder(Protocol):
    """Turns frames into vectors, like `models.frame_features.FrameFeatures`."""

    name: str
    size_px: int
    fingerprint: str

    def encode(self, frames: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        """The vectors of some frames (N, size_px, size_px, 3), by kind: (N, units)."""


class ShotWatcher:
    """Encodes frames of each shot in a thread of its own; without an encoder it does nothing."""

    def __init__(self, encoder: FrameEncoder | None) -> None:
        self._encoder = encoder
        self._pool = ThreadPoolExecutor(1)
        self._shot = _CurrentShot()
        self._reformatter = VideoReformatter()
        self._batch: list[Picture] = []
        self._times: list[float] = []
        self._waiting: deque[Future[dict[str, NDArray[np.float32]]]] = deque()
        self._encoded: list[dict[str, NDArray[np.float16]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def look(self, time_s: float, frame: Any, pixel_shape: float, cut_s: float) -> None:
        """Take the next frame; `cut_s` is the latest cut known so far."""
        if self._encoder is None:
            return
        self._add(self._shot.cut(cut_s))
        if self._shot.wants(time_s):
            size_px = self._encoder.size_px
            self._shot.keep(time_s, to_square(frame, size_px, pixel_shape, self._reformatter))

    def finish(self, shots: Sequence[Shot]) -> ShotFeatures | None:
        """The mean vectors of each shot."""
        if self._encoder is None:
            return None
        self._add(self._shot.cut(float("inf")))
        self._send()
        while self._waiting:
            self._collect()
        starts = [shot.start_s for shot in shots]
        owners = np.maximum(np.searchsorted(starts, self._times, side="right") - 1, 0)
        vectors = {
            kind: _mean_rows(np.concatenate([b[kind] for b in self._encoded]), owners, len(shots))
            for kind in (self._encoded[0] if self._encoded else ())
        }
        return ShotFeatures(
            network=self._encoder.name, fingerprint=self._encoder.fingerprint, vectors=vectors
        )

    def _add(self, chosen: list[tuple[float, Picture]]) -> None:
        for time_s, picture in chosen:
            self._times.append(time_s)
            self._batch.append(picture)
            if len(self._batch) == _BATCH_SIZE:
                self._send()

    def _send(self) -> None:
        """Hand the batch to the encoder; wait where it lags behind the decoder."""
        if self._batch and self._encoder is not None:
            self._waiting.append(self._pool.submit(self._encoder.encode, np.stack(self._batch)))
            self._batch = []
        while len(self._waiting) > _MOST_WAITING:
            self._collect()

    def _collect(self) -> None:
        found = self._waiting.popleft().result()
        self._encoded.append({kind: rows.astype(np.float16) for kind, rows in found.items()})


class _CurrentShot:
    """Evenly spaced frames of the shot being read: at most `_MOST_KEPT`, however long it is."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, Picture]] = []
        self._gap_s = _CLOSEST_S
        self._start_s = 0.0

    def wants(self, time_s: float) -> bool:
        """Whether a frame at this time is far enough from the last one kept."""
        return not self._kept or time_s - self._kept[-1][0] >= self._gap_s

    def keep(self, time_s: float, picture: Picture) -> None:
        """Keep a frame; once there are too many, drop every second one and double the gap."""
        self._kept.append((time_s, picture))
        if len(self._kept) > _MOST_KEPT:
            self._kept = self._kept[::2]
            self._gap_s *= 2

    def cut(self, cut_s: float) -> list[tuple[float, Picture]]:
        """If this cut is new, end the shot before it and choose its frames."""
        if cut_s <= self._start_s:
            return []
        ended = [kept for kept in self._kept if kept[0] < cut_s]
        self._kept = [kept for kept in self._kept if kept[0] >= cut_s]
        self._gap_s, self._start_s = _CLOSEST_S, cut_s
        count = min(FRAMES_A_SHOT, len(ended))
        # The middles of `count` equal parts.
        return [ended[(2 * k + 1) * len(ended) // (2 * count)] for k in range(count)]


def to_square(
    frame: Any, size_px: int, pixel_shape: float, reformatter: VideoReformatter
) -> Picture:
    """A frame as an upright square; what is wider than `WIDEST` loses its sides."""
    shape = frame.width * pixel_shape / frame.height
    width = max(size_px, round(size_px * shape / WIDEST))
    height = max(size_px, round(size_px / shape / WIDEST))
    small = reformatter.reformat(
        frame, width=width, height=height, format="rgb24", interpolation="AREA", threads=1
    ).to_ndarray()
    left, top = (width - size_px) // 2, (height - size_px) // 2
    middle = small[top : top + size_px, left : left + size_px]
    return np.ascontiguousarray(np.rot90(middle, round((frame.rotation or 0) / 90) % 4))


def _mean_rows(
    rows: NDArray[np.float16], owners: NDArray[np.int64], count: int
) -> NDArray[np.float16]:
    """The mean of each shot's rows; zeros where it has none."""
    sums = np.zeros((count, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, owners, rows.astype(np.float32))
    counts = np.bincount(owners, minlength=count)
    return (sums / np.maximum(counts, 1)[:, None]).astype(np.float16)
