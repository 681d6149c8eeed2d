"""Video → shots: where one take ends and the next begins (paper, section 3).

One pass over the file, without seeking: frames are decoded by several threads, scaled down, and
shown to a cut detector; with an encoder, a few frames of each shot are also turned into feature
vectors. Times come from the frames' own timestamps, so a variable frame rate does no harm.
What a pass with an encoder found is cached by the content of the video.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from folioreel.cache import find_array, store_array
from folioreel.errors import InputError
from folioreel.ingest.parts import join_features, split_parts
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shot_detectors import SHORTEST_SHOT_S, DetectorName, make_detector
from folioreel.ingest.video.watch import FRAMES_A_SHOT, FrameEncoder, ShotWatcher
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Film, Shot, ShotFeatures

SCANNING = "finding shots"
# Seconds of film between two reports: a progress bar does not need one for every frame.
_REPORT_EVERY_S = 5.0
# Part of the cache key. Add one when a pass would find something else in the same video.
_CACHE_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class VideoScan:
    """What one pass over a video found."""

    shots: tuple[Shot, ...]
    end_s: float  # when the last frame leaves the screen
    frames: int = 0
    notes: tuple[str, ...] = ()  # damage, in words for the user
    features: ShotFeatures | None = None


def scan_video(
    video: OpenVideo,
    detector: DetectorName = "adaptive",
    encoder: FrameEncoder | None = None,
    progress: ProgressCallback | None = None,
) -> VideoScan:
    """Find the shots of a video and, with an encoder, their feature vectors."""
    cuts = make_detector(detector)
    shrink = _shrinker(cuts.width_px, cuts.height_px, cuts.pixel_format)
    clock = _FrameClock(origin_s=video.origin_s, rate=video.frame_rate or 25.0)
    total_s, reported_s = video.length_s, 0.0
    progress = progress or ignore_progress
    with ShotWatcher(encoder) as watcher:
        for frame in _decode(video, clock):
            time_s = clock.read(frame)
            cuts.add(time_s, _pixels(shrink(frame)))
            watcher.look(time_s, frame, video.pixel_shape, cuts.latest_cut_s())
            if time_s - reported_s >= _REPORT_EVERY_S:
                reported_s = time_s
                progress(Progress(stage=SCANNING, done=min(time_s, total_s), total=total_s))
        if clock.frames == 0:
            raise InputError(
                f"none of its frames can be decoded ({video.stream.codec_context.name}); "
                "convert it to H.264 with ffmpeg or HandBrake",
                video.path,
            )
        shots = _between(cuts.finish(), clock.start_s, clock.end_s)
        features = watcher.finish(shots)
    progress(Progress(stage=SCANNING, done=clock.end_s, total=clock.end_s))
    return VideoScan(
        shots=shots,
        end_s=clock.end_s,
        frames=clock.frames,
        notes=tuple(clock.describe_damage(total_s)),
        features=features,
    )


def scan_cached(
    video: OpenVideo,
    sha256: str,
    detector: DetectorName,
    encoder: FrameEncoder | None,
    progress: ProgressCallback | None = None,
) -> VideoScan:
    """`scan_video`, or what an earlier pass over the same content with this encoder found."""
    if encoder is None:
        return scan_video(video, detector, progress=progress)
    key = _cache_key(sha256, detector, encoder)
    found = _recall(key, encoder)
    if found is None:
        found = scan_video(video, detector, encoder, progress)
        store_array(key, _pack(found))
    return found


def recall_features(film: Film, encoder: FrameEncoder | None) -> Film:
    """The film with the features of its shots if they are in the cache, else as it is."""
    if film.features is not None or film.sha256 is None or encoder is None:
        return film
    if film.parts:
        recalled = [recall_features(part, encoder) for part in split_parts(film)]
        return replace(film, features=join_features([part.features for part in recalled]))
    for detector in get_args(DetectorName):
        scan = _recall(_cache_key(film.sha256, detector, encoder), encoder)
        if scan is not None and same_shots(scan.shots, film.shots):
            return replace(film, features=scan.features)
    return film


def same_shots(found: Sequence[Shot], known: Sequence[Shot]) -> bool:
    """Whether shots are the same ones; in a part of a film, times may be off by a rounding."""
    return len(found) == len(known) and all(
        abs(a.start_s - b.start_s) < 1e-6 and abs(a.end_s - b.end_s) < 1e-6
        for a, b in zip(found, known, strict=True)
    )


@dataclass
class _FrameClock:
    """The times of the frames as they come, repaired where the file gives none or goes back."""

    origin_s: float
    rate: float
    frames: int = 0
    start_s: float = 0.0
    end_s: float = 0.0
    damaged: int = 0
    broke_off: bool = False
    _last_s: float = -1.0

    def read(self, frame: Any) -> float:
        """The time of the next frame; it never goes back."""
        step_s = 1.0 / self.rate
        time_s = self._last_s + step_s if frame.time is None else frame.time - self.origin_s
        # A microsecond apart at least, so that no two frames share a time.
        time_s = max(time_s, 0.0, self._last_s + 1e-6)
        shown_s = float(frame.duration * frame.time_base) if frame.duration else step_s
        self.start_s = time_s if self.frames == 0 else self.start_s
        self.end_s = time_s + shown_s
        self._last_s, self.frames = time_s, self.frames + 1
        return time_s

    def describe_damage(self, total_s: float) -> Iterator[str]:
        """What the user should know about a file that is not intact."""
        # Headers are often a few seconds off, in long films more than in short ones.
        if self.broke_off or self.end_s < total_s - max(5.0, 0.03 * total_s):
            yield (
                f"only the first {self.end_s:.0f} s of {total_s:.0f} s of video can be decoded; "
                "is the file cut short?"
            )
        if self.damaged:
            frames = "frame" if self.damaged == 1 else "frames"
            yield f"skipped {self.damaged} damaged {frames} of the video"


def _shrinker(width: int, height: int | None, pixel_format: str) -> Callable[[Any], Any]:
    """A function that scales frames down to a size; without a height, that of the first frame."""
    reformatter = VideoReformatter()

    def shrink(frame: Any) -> Any:
        nonlocal height
        # Half-size colour planes need rows in multiples of four.
        height = height or max(16, round(frame.height * width / frame.width / 4) * 4)
        return reformatter.reformat(
            frame, width, height, pixel_format, interpolation="AREA", threads=1
        )

    return shrink


def _decode(video: OpenVideo, clock: _FrameClock) -> Iterator[Any]:
    """The frames that can be decoded; the others are counted and skipped."""
    packets = video.packets(video.stream.index)
    video.stream.thread_type = "AUTO"
    # Smoothing block edges takes a fifth of the decoding time and is invisible in a small picture.
    video.stream.codec_context.options = {"skip_loop_filter": "all"}
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            clock.broke_off = True
            return
        if packet is None:
            return
        try:
            for frame in packet.decode():
                if frame.is_corrupt:
                    clock.damaged += 1
                else:
                    yield frame
        except av.FFmpegError:
            clock.damaged += 1


def _pixels(small: Any) -> NDArray[np.uint8]:
    """The values of a small picture; the planes of YUV 4:2:0 are stacked below one another."""
    if small.format.name != "yuv420p":
        return np.asarray(small.to_ndarray(), dtype=np.uint8)
    # The same array as PyAV's `to_ndarray`, in a quarter of the time: a film has 150,000 frames.
    planes = []
    for plane in small.planes:
        rows = np.frombuffer(plane, dtype=np.uint8).reshape(plane.height, plane.line_size)
        planes.append(rows[:, : plane.width].reshape(-1, small.width))
    return np.concatenate(planes)


def _between(cuts: list[float], start_s: float, end_s: float) -> tuple[Shot, ...]:
    """The shots between the cuts; the first begins with the first frame."""
    starts = [start_s]
    for cut in cuts:
        # The last shot may be shorter: films do end, or are cut off, soon after a cut.
        if cut - starts[-1] >= SHORTEST_SHOT_S and end_s - cut >= SHORTEST_SHOT_S / 2:
            starts.append(cut)
    return _to_shots(zip(starts, [*starts[1:], end_s], strict=True))


def _to_shots(times_s: Iterable[tuple[float, float]]) -> tuple[Shot, ...]:
    return tuple(
        Shot(index=index, start_s=start_s, end_s=end_s)
        for index, (start_s, end_s) in enumerate(times_s)
    )


def _cache_key(sha256: str, detector: str, encoder: FrameEncoder) -> str:
    settings = [_CACHE_VERSION, sha256, detector, encoder.fingerprint, FRAMES_A_SHOT]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def _pack(scan: VideoScan) -> NDArray[np.uint8]:
    """A scan as the bytes of an .npz file: the cache holds arrays."""
    assert scan.features is not None
    about = {"end_s": scan.end_s, "frames": scan.frames, "notes": scan.notes}
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        "times_s": np.array([(shot.start_s, shot.end_s) for shot in scan.shots]),
        **{f"kind_{kind}": rows for kind, rows in scan.features.vectors.items()},
    }
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return np.frombuffer(stream.getvalue(), dtype=np.uint8)


def _recall(key: str, encoder: FrameEncoder) -> VideoScan | None:
    """The scan that is in the cache, if it is and can be read."""
    found = find_array(key)
    try:
        return None if found is None else _unpack(found, encoder)
    except (ValueError, LookupError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        return None


def _unpack(data: NDArray[Any], encoder: FrameEncoder) -> VideoScan:
    """The scan that `_pack` wrote."""
    with np.load(io.BytesIO(data.tobytes()), allow_pickle=False) as file:
        about = json.loads(file["about"].tobytes())
        shots = _to_shots(file["times_s"].tolist())
        kinds = [name for name in file if name.startswith("kind_")]
        vectors = {kind.removeprefix("kind_"): file[kind] for kind in kinds}
    return VideoScan(
        shots=shots,
        end_s=about["end_s"],
        frames=about["frames"],
        notes=tuple(about["notes"]),
        features=ShotFeatures(
            network=encoder.name, fingerprint=encoder.fingerprint, vectors=vectors
        ),
    )
