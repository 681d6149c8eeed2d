"""What one pass over a video found, kept by the video's content: a film is watched once."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array, find_array
from folioreel.ingest.video import watch
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.ingest.video.shots import VideoScan, scan_video
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import ProgressCallback
from folioreel.types import Film, Shot, ShotFeatures

_VERSION = 1  # counts changes of what a pass finds in the same video


def scan_cached(
    video: Path,
    sha256: str,
    detector: DetectorName,
    encoder: FrameEncoder,
    progress: ProgressCallback | None = None,
) -> VideoScan:
    """The shots of a video and what they look like, from the cache where it was watched before."""
    key = _key(sha256, detector, encoder)
    found = cached_array(key, lambda: _pack(scan_video(video, progress, detector, encoder)))
    return _unpack(found)


def recall_features(film: Film, encoder: FrameEncoder | None) -> Film:
    """The film with the features of its shots, where they are still in the cache."""
    if film.features is not None or film.sha256 is None or encoder is None:
        return film
    for detector in get_args(DetectorName):
        found = find_array(_key(film.sha256, detector, encoder))
        scan = None if found is None else _unpack(found)
        if scan is not None and scan.shots == film.shots:
            return replace(film, features=scan.features)
    return film


def _key(sha256: str, detector: str, encoder: FrameEncoder) -> str:
    settings = [_VERSION, sha256, detector, encoder.fingerprint, watch.FRAMES_A_SHOT]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def _pack(scan: VideoScan) -> NDArray[np.uint8]:
    """A scan as the bytes of an .npz file."""
    assert scan.features is not None
    about = {
        "end_s": scan.end_s,
        "frames": scan.frames,
        "notes": scan.notes,
        "network": scan.features.network,
        "fingerprint": scan.features.fingerprint,
    }
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        "times_s": np.array([(shot.start_s, shot.end_s) for shot in scan.shots]),
        **{f"kind_{kind}": rows for kind, rows in scan.features.vectors.items()},
    }
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return np.frombuffer(stream.getvalue(), dtype=np.uint8)


def _unpack(data: NDArray[Any]) -> VideoScan:
    """The scan that `_pack` wrote."""
    with np.load(io.BytesIO(data.tobytes()), allow_pickle=False) as file:
        about = json.loads(file["about"].tobytes())
        times_s = file["times_s"].tolist()
        vectors = {
            name.removeprefix("kind_"): file[name] for name in file if name.startswith("kind_")
        }
    return VideoScan(
        shots=tuple(
            Shot(index=index, start_s=start_s, end_s=end_s)
            for index, (start_s, end_s) in enumerate(times_s)
        ),
        end_s=about["end_s"],
        frames=about["frames"],
        notes=tuple(about["notes"]),
        features=ShotFeatures(
            network=about["network"], fingerprint=about["fingerprint"], vectors=vectors
        ),
    )
