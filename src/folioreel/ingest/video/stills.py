"""Video -> one small picture a shot, quickly: any picture of the shot will do.

Most shots begin with a key frame, or hold one; that is decoded alone. Only where a shot has none
are the frames before it decoded, as many as `_MOST_FRAMES`.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from folioreel.ingest.video.container import find_video_stream, open_container, origin_s
from folioreel.ingest.video.frames import to_rgb
from folioreel.types import Shot

_MOST_FRAMES = 300


class Stills:
    """The pictures of one video; it stays open between them. Not for two threads at once."""

    def __init__(self, video: Path, width_px: int) -> None:
        """Open the video.

        Raises:
            InputError: It is missing or damaged, or has no moving pictures.
        """
        self._opened = open_container(video)
        self._container = self._opened.__enter__()
        try:
            self._stream = find_video_stream(self._container, video)
        except BaseException:
            self.close()
            raise
        self._width_px = width_px
        # Frame by frame on one core: threads would decode frames that nobody asks for.
        self._stream.thread_type = "SLICE"

    def picture(self, shot: Shot) -> NDArray[np.uint8] | None:
        """A picture of a shot as RGB (height, width, 3); None where none can be decoded."""
        origin = origin_s(self._container)
        try:
            middle_s = (shot.start_s + shot.end_s) / 2 + origin
            self._container.seek(int(middle_s * av.time_base), backward=True)
            frame = self._first_since(shot.start_s + origin)
        except av.FFmpegError:
            return None
        if frame is None:
            return None
        return to_rgb(frame, self._width_px, float(self._stream.sample_aspect_ratio or 1))

    def _first_since(self, start_s: float) -> Any:
        """The first frame in the shot, counted from the key frame before; else the last one met."""
        frame = None
        for count, frame in enumerate(self._container.decode(self._stream)):
            if frame.time is None or frame.time >= start_s or count == _MOST_FRAMES:
                break
        return frame

    def close(self) -> None:
        """Close the video."""
        self._opened.__exit__(None, None, None)

    def __enter__(self) -> Stills:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
