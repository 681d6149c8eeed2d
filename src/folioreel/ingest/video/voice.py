"""When somebody speaks in a film, by its sound: voice activity, 50 times per second.

The detector is WebRTC's, which telephony uses to save bandwidth. It is fast and rough: it takes
some music and noise for speech. That is enough to find out whether subtitles are on time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_array
from folioreel.ingest.video.audio import choose_audio, read_blocks
from folioreel.ingest.video.container import OpenVideo
from folioreel.progress import Progress, ProgressCallback, ignore_progress

FRAMES_PER_S = 50
_VERSION = 2  # of what is computed below, for the cache
# Telephone quality: the detector knows no higher frequencies than this rate has.
_SAMPLE_RATE = 8000
_FRAME_BYTES = 2 * _SAMPLE_RATE // FRAMES_PER_S
# How strict the detector is, from 0 to 3. Over quiet music the right shift of the subtitles stands
# out by 16 standard deviations with 3, and by 9 with less; without music all are alike.
_STRICTNESS = 3
_STAGE = "listening for speech"


def find_voice(
    video: OpenVideo, sha256: str, progress: ProgressCallback | None = None
) -> NDArray[np.bool_] | None:
    """Whether there is a voice, frame by frame from the film's time zero; cached.

    None if the video has no sound. Where the file breaks off, so does the array.
    """
    stream = choose_audio(video)
    if stream is None:
        return None
    key = hashlib.sha256(f"voice {_VERSION} {sha256} {stream.index}".encode()).hexdigest()
    index = stream.index

    def listen() -> NDArray[np.uint8]:
        found = np.fromiter(_detect(video, index, progress or ignore_progress), np.bool_)
        return np.packbits(found)

    return np.unpackbits(cached_array(key, listen)).astype(np.bool_)


def _detect(video: OpenVideo, index: int, progress: ProgressCallback) -> Iterator[bool]:
    import webrtcvad

    detector = webrtcvad.Vad(_STRICTNESS)
    done_s, total_s = 0.0, video.file_length_s
    for block in read_blocks(video, index, _SAMPLE_RATE):  # blocks have a whole number of frames
        data = (block.clip(-1, 1) * 32767).astype(np.int16).tobytes()
        for first in range(0, len(data) - _FRAME_BYTES + 1, _FRAME_BYTES):
            yield detector.is_speech(data[first : first + _FRAME_BYTES], _SAMPLE_RATE)
        done_s += len(block) / _SAMPLE_RATE
        progress(Progress(stage=_STAGE, done=min(done_s, total_s), total=total_s))
