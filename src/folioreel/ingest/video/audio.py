"""The sound of a film in mono, a minute at a time, on the film's own clock.

Only one block is held in memory. Where the file has no sound, or its timestamps jump, the gap is
filled with silence: sample `k` is always heard `k / rate` seconds into the film.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import av
import numpy as np
from av.audio.resampler import AudioResampler
from av.stream import Disposition
from numpy.typing import NDArray

from folioreel.ingest.video.container import OpenVideo
from folioreel.language import language_code

Samples = NDArray[np.float32]

BLOCK_S = 60.0
# Timestamps are rounded to the time base of the file; only longer gaps are real.
_TOLERANCE_S = 0.1
_NOT_THE_FILM = Disposition.comment | Disposition.visual_impaired | Disposition.descriptions
_NOT_THE_FILM_TITLE = re.compile(
    r"\b(?:commentary|comments?|descripti(?:ve|on)|isolated|score)\b", re.I
)


def choose_audio(video: OpenVideo, language: str | None = None) -> Any | None:
    """The audio stream to listen to, or None if the video has no sound.

    The film's own sound comes before commentaries and audio description, the given language before
    others, English before other languages, and then the stream marked as default.
    """
    streams = [s for s in video.container.streams.audio if s.codec_context is not None]
    return min(streams, key=lambda stream: _rank(stream, language), default=None)


def _rank(stream: Any, wanted: str | None) -> tuple[bool, bool, bool, bool, int]:
    title = str(stream.metadata.get("title") or "")
    code = language_code(stream.metadata.get("language")) or language_code(title)
    return (
        bool(stream.disposition & _NOT_THE_FILM or _NOT_THE_FILM_TITLE.search(title)),
        wanted is not None and code != wanted,
        code not in (None, "en"),
        not stream.disposition & Disposition.default,
        stream.index,
    )


def read_blocks(
    video: OpenVideo, stream: int, rate: int, start_s: float = 0.0
) -> Iterator[Samples]:
    """The sound from a time on, in blocks of `BLOCK_S`; the last one may be shorter.

    The rate is in samples per second.
    What comes before is decoded as well, which takes seconds: seeking is exact in few formats.
    """
    size, skip = round(BLOCK_S * rate), round(start_s * rate)
    parts: list[Samples] = []
    held = 0
    for samples in _on_film_clock(video, stream, rate):
        dropped = min(skip, len(samples))
        skip -= dropped
        parts.append(samples[dropped:])
        held += len(samples) - dropped
        if held >= size:
            joined = np.concatenate(parts)
            whole = held - held % size
            yield from joined[:whole].reshape(-1, size)
            parts, held = [joined[whole:].copy()], held - whole
    if held:
        yield np.concatenate(parts)


def _on_film_clock(video: OpenVideo, index: int, rate: int) -> Iterator[Samples]:
    """All samples, with silence where there are gaps."""
    position, tolerance, size = 0, round(_TOLERANCE_S * rate), round(BLOCK_S * rate)
    for time_s, samples in _resampled(video, index, rate):
        if time_s is not None:
            ahead = round(time_s * rate) - position
            if ahead > tolerance:
                # A block at a time: a wrong timestamp may be hours ahead.
                for begin in range(0, ahead, size):
                    yield np.zeros(min(size, ahead - begin), np.float32)
                position += ahead
            elif ahead < -tolerance:
                samples = samples[-ahead:]  # before the film begins, or heard already
        position += len(samples)
        yield samples


def _resampled(video: OpenVideo, index: int, rate: int) -> Iterator[tuple[float | None, Samples]]:
    """When each decoded frame is heard, and its samples."""
    resampler = _make_resampler(rate)
    for frame in _decode(video, index):
        time_s = None if frame.time is None else min(frame.time - video.origin_s, video.limit_s)
        frame.pts = None  # the clock is ours
        try:
            resampled = resampler.resample(frame)
        except ValueError:  # the layout changes within the film, as in recordings of broadcasts
            resampler = _make_resampler(rate)
            resampled = resampler.resample(frame)
        for part in resampled:
            yield time_s, _values(part)
            time_s = None
    for part in resampler.resample(None):
        yield None, _values(part)


def _make_resampler(rate: int) -> Any:
    return AudioResampler(format="flt", layout="mono", rate=rate)


def _values(frame: Any) -> Samples:
    return np.asarray(frame.to_ndarray(), dtype=np.float32).reshape(-1)


def _decode(video: OpenVideo, index: int) -> Iterator[Any]:
    """The frames that can be decoded; damaged ones leave a gap."""
    packets = video.packets(index)
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            return  # the file breaks off
        if packet is None:
            return
        try:
            yield from packet.decode()
        except av.FFmpegError:
            continue
