"""When somebody speaks in a film, by its sound: voice activity, 50 times per second.

The detector is WebRTC's, which telephony uses to save bandwidth. It is fast and rough: it takes
some music and noise for speech. That is enough to find out whether subtitles are on time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import av
import numpy as np
from av.stream import Disposition
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.ingest.video.container import OpenVideo
from folioreel.progress import Progress, ProgressCallback, ignore_progress

FRAMES_PER_S = 50
_VERSION = 1  # of what is computed below, for the cache
# Telephone quality: the detector knows no higher frequencies than this rate has.
_SAMPLE_RATE = 8000
_FRAME = _SAMPLE_RATE // FRAMES_PER_S
# How strict the detector is, from 0 to 3. Over quiet music the right shift of the subtitles stands
# out by 16 standard deviations with 3, and by 9 with less; without music all are alike.
_STRICTNESS = 3
# Timestamps of sound jitter by milliseconds; a larger step is a gap in the recording.
_GAP = _SAMPLE_RATE // 10
_MINUTE = 60 * _SAMPLE_RATE
_STAGE = "listening for speech"


def find_voice(
    video: OpenVideo, sha256: str, progress: ProgressCallback | None = None
) -> NDArray[np.bool_] | None:
    """Whether there is a voice, frame by frame from the film's time zero; cached.

    None if the video has no sound. Where the file breaks off, so does the array.
    """
    stream = _choose_stream(video)
    if stream is None:
        return None
    key = hashlib.sha256(f"voice {_VERSION} {sha256} {stream.index}".encode()).hexdigest()
    index = stream.index

    def listen() -> NDArray[np.uint8]:
        found = np.fromiter(_detect(video, index, progress or ignore_progress), np.bool_)
        return np.packbits(found)

    return np.unpackbits(cached_array(key, listen)).astype(np.bool_)


def _choose_stream(video: OpenVideo) -> Any:
    """The sound track that is most likely the film's own."""
    streams = [s for s in video.container.streams.audio if s.codec_context is not None]
    if not streams:
        return None
    extras = Disposition.comment | Disposition.visual_impaired | Disposition.karaoke
    return min(
        streams,
        key=lambda s: (bool(s.disposition & extras), not s.disposition & Disposition.default),
    )


def _detect(video: OpenVideo, index: int, progress: ProgressCallback) -> Iterator[bool]:
    import webrtcvad

    detector = webrtcvad.Vad(_STRICTNESS)
    rest = b""
    for samples in _decode(video, index, progress):
        data = rest + samples
        whole = len(data) - len(data) % (2 * _FRAME)
        for first in range(0, whole, 2 * _FRAME):
            yield detector.is_speech(data[first : first + 2 * _FRAME], _SAMPLE_RATE)
        rest = data[whole:]


def _decode(video: OpenVideo, index: int, progress: ProgressCallback) -> Iterator[bytes]:
    """The sound from time zero without gaps: 16-bit samples of one channel."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=_SAMPLE_RATE)
    origin_s, total_s, filled = video.origin_s, video.file_length_s, 0
    limit_s = video.limit_s
    for frame in _frames(video, index):
        start_s = None if frame.time is None else min(frame.time - origin_s, limit_s)
        if start_s is not None and (gap := round(start_s * _SAMPLE_RATE) - filled) > _GAP:
            filled += gap
            # A minute at a time: a wrong timestamp may be hours ahead.
            for first in range(0, gap, _MINUTE):
                yield bytes(2 * min(_MINUTE, gap - first))
        frame.pts = None  # gaps are filled here; the resampler would count them once more
        try:
            pieces = resampler.resample(frame)
        except ValueError:  # the sound changes its format, as recordings of broadcasts do
            resampler = av.AudioResampler(format="s16", layout="mono", rate=_SAMPLE_RATE)
            pieces = resampler.resample(frame)
        for piece in pieces:
            filled += piece.samples
            yield bytes(piece.planes[0])[: 2 * piece.samples]
        done_s = min(filled / _SAMPLE_RATE, total_s)
        progress(Progress(stage=_STAGE, done=done_s, total=total_s))


def _frames(video: OpenVideo, index: int) -> Iterator[Any]:
    """The decoded frames of a sound track; damaged ones are skipped."""
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
