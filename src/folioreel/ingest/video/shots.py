"""Video -> shots: where the picture changes from one take to the next (paper, section 3).

One pass in the order of the file, without seeking: frames are decoded by several threads, made
small, and shown to a detector; a few of each shot also to a network, where that is asked for.
Times come from the frames' own stamps, so a variable frame rate does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.ingest.video.container import find_video_stream, length_s, open_container, origin_s
from folioreel.ingest.video.shot_detectors import (
    SHORTEST_SHOT_S,
    CutDetector,
    DetectorName,
    make_detector,
)
from folioreel.ingest.video.watch import FrameEncoder, ShotWatcher
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Shot, ShotFeatures

_STAGE = "finding shots"
_REPORT_EVERY_S = 5.0


@dataclass(frozen=True, kw_only=True)
class VideoScan:
    """What one pass over a video found."""

    shots: tuple[Shot, ...]
    end_s: float
    """When the last picture goes."""
    frames: int
    notes: tuple[str, ...] = ()
    features: ShotFeatures | None = None


def detect_shots(
    video: Path | str,
    progress: ProgressCallback | None = None,
    detector: DetectorName = "adaptive",
) -> tuple[Shot, ...]:
    """Find the shots of a video.

    Args:
        video: Any file that FFmpeg decodes.
        progress: Told how far the film has been read, in seconds.
        detector: `adaptive`, or `transnetv2` where that package is installed.

    Raises:
        InputError: The file has no moving pictures that can be decoded.
        ConfigError: The detector is not installed.
    """
    return scan_video(video, progress, detector).shots


def scan_video(
    video: Path | str,
    progress: ProgressCallback | None = None,
    detector: DetectorName = "adaptive",
    encoder: FrameEncoder | None = None,
) -> VideoScan:
    """Find the shots of a video, and say what was noticed on the way; see `detect_shots`.

    Args:
        video: Any file that FFmpeg decodes.
        progress: Told how far the film has been read, in seconds.
        detector: What finds the shots.
        encoder: What looks at some frames of each shot, beside the decoder.
    """
    video, cuts = Path(video), make_detector(detector)
    with open_container(video) as container, ShotWatcher(encoder) as watcher:
        stream = find_video_stream(container, video)
        clock = _Clock(origin_s=origin_s(container), rate=float(stream.average_rate or 25))
        total_s = length_s(container, stream)
        report = _Reporter(progress or ignore_progress, total_s)
        pixel_shape = float(stream.sample_aspect_ratio or 1)
        for time_s, frame, pixels in _small_frames(container, stream, cuts, clock):
            cuts.add(time_s, pixels)
            watcher.look(time_s, frame, pixel_shape, cuts.latest_cut_s())
            report.at(time_s)
        if clock.frames == 0:
            raise InputError(
                f"none of its pictures can be decoded ({stream.codec_context.name}); "
                "convert it to H.264 with ffmpeg or HandBrake",
                video,
            )
        shots = _between(cuts.finish(), clock.start_s, clock.end_s)
        features = watcher.finish(shots)
    report.end(clock.end_s)
    return VideoScan(
        shots=shots,
        end_s=clock.end_s,
        frames=clock.frames,
        notes=tuple(clock.describe_damage(total_s)),
        features=features,
    )


@dataclass
class _Reporter:
    """Tells how far the film has been read, not too often."""

    progress: ProgressCallback
    total_s: float
    _last_s: float = 0.0

    def at(self, time_s: float) -> None:
        """The frame of this time is done."""
        if time_s - self._last_s >= _REPORT_EVERY_S:
            self._last_s = time_s
            done_s = min(time_s, self.total_s)
            self.progress(Progress(stage=_STAGE, done=done_s, total=self.total_s))

    def end(self, end_s: float) -> None:
        """All is done."""
        self.progress(Progress(stage=_STAGE, done=end_s, total=end_s))


@dataclass
class _Clock:
    """The times of the frames as they come, mended where the file gives none or goes back."""

    origin_s: float
    rate: float
    frames: int = 0
    start_s: float = 0.0
    end_s: float = 0.0
    broken_pieces: int = 0
    broke_off: bool = False
    _last_s: float = field(default=-1.0)

    def read(self, frame: Any) -> float:
        """The time of the next frame; it never goes back."""
        step_s = 1.0 / self.rate
        time_s = self._last_s + step_s if frame.time is None else frame.time - self.origin_s
        time_s = max(time_s, 0.0, self._last_s + 1e-6)
        shown_s = float(frame.duration * frame.time_base) if frame.duration else step_s
        self.start_s = time_s if self.frames == 0 else self.start_s
        self.end_s = time_s + shown_s
        self._last_s, self.frames = time_s, self.frames + 1
        return time_s

    def describe_damage(self, total_s: float) -> Iterator[str]:
        """What the user should know about a file that is not whole."""
        if self.broke_off or self.end_s < total_s - max(5.0, 0.03 * total_s):
            yield (
                f"the video can be decoded until {self.end_s:.0f} s of {total_s:.0f} s only; "
                "is the file cut short?"
            )
        if self.broken_pieces == 1:
            yield "a damaged piece of the video was passed over"
        elif self.broken_pieces:
            yield f"{self.broken_pieces} damaged pieces of the video were passed over"


def _small_frames(
    container: Any, stream: Any, cuts: CutDetector, clock: _Clock
) -> Iterator[tuple[float, Any, NDArray[np.uint8]]]:
    """The frames of a stream with their times and small pictures of them."""
    stream.thread_type = "AUTO"
    # Smoothing block edges takes a fifth of the decoding, and does not show in a small picture.
    stream.codec_context.options = {"skip_loop_filter": "all"}
    reformatter = VideoReformatter()
    size: tuple[int, int] | None = None
    for frame in _frames(container, stream, clock):
        size = size or _small_size(frame, cuts)
        small = reformatter.reformat(
            frame,
            width=size[0],
            height=size[1],
            format=cuts.pixel_format,
            interpolation="AREA",
            threads=1,
        )
        yield clock.read(frame), frame, _pixels(small)


def _pixels(small: Any) -> NDArray[np.uint8]:
    """The numbers of a small picture; of YUV 4:2:0, the planes one below the other."""
    if small.format.name != "yuv420p":
        return np.asarray(small.to_ndarray(), dtype=np.uint8)
    # As PyAV gives them, in a quarter of the time: there are a hundred thousand in a film.
    planes = []
    for plane in small.planes:
        rows = np.frombuffer(plane, dtype=np.uint8).reshape(plane.height, plane.line_size)
        planes.append(rows[:, : plane.width].reshape(-1, small.width))
    return np.concatenate(planes)


def _frames(container: Any, stream: Any, clock: _Clock) -> Iterator[Any]:
    """The frames that can be decoded; what cannot is counted and passed over."""
    packets = container.demux(stream)
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
                    clock.broken_pieces += 1
                else:
                    yield frame
        except av.FFmpegError:
            clock.broken_pieces += 1


def _small_size(frame: Any, cuts: CutDetector) -> tuple[int, int]:
    """The size of the small pictures: even numbers, as half-size colour planes need."""
    width = cuts.width_px
    if cuts.height_px is not None:
        return width, cuts.height_px
    return width, max(16, round(frame.height * width / frame.width / 4) * 4)


def _between(cuts: list[float], start_s: float, end_s: float) -> tuple[Shot, ...]:
    """The stretches between cuts; the first begins with the first picture."""
    starts = [start_s]
    for cut in cuts:
        if cut - starts[-1] >= SHORTEST_SHOT_S and end_s - cut >= SHORTEST_SHOT_S / 2:
            starts.append(cut)
    return tuple(
        Shot(index=index, start_s=begin, end_s=end)
        for index, (begin, end) in enumerate(zip(starts, [*starts[1:], end_s], strict=True))
    )
