"""Video -> pictures: single frames at given times, upright and in the film's true shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.ingest.video.container import find_video_stream, open_container, origin_s


def decode_frame(video: Path | str, time_s: float, width_px: int) -> NDArray[np.uint8]:
    """The picture on screen at a time, as RGB (height, width, 3).

    Args:
        video: Any file that FFmpeg decodes.
        time_s: Seconds from the film's beginning; beyond its end, the last picture is given.
        width_px: The width of the result; the height follows from the film's shape.

    Raises:
        InputError: No picture can be decoded there.
    """
    return next(decode_frames(video, [time_s], width_px))


def decode_frames(
    video: Path | str, times_s: Iterable[float], width_px: int
) -> Iterator[NDArray[np.uint8]]:
    """The pictures on screen at several times, in the order of the times; see `decode_frame`."""
    if width_px < 1:
        raise ValueError(f"width_px must be positive, not {width_px}")
    video = Path(video)
    with open_container(video) as container:
        stream = find_video_stream(container, video)
        stream.thread_type = "AUTO"
        for time_s in times_s:
            frame = _frame_at(container, stream, max(time_s, 0.0) + origin_s(container))
            if frame is None:
                raise InputError(f"no picture can be decoded at {time_s:.1f} s", video)
            yield to_rgb(frame, width_px, float(stream.sample_aspect_ratio or 1))


def _frame_at(container: Any, stream: Any, time_s: float) -> Any:
    """The last frame that begins at a time or before it."""
    # Half a millisecond late is not late: stamps in some files are whole milliseconds.
    due_s = time_s + 0.0005
    for target_s in (time_s, time_s - 10.0, float("-inf")):
        start_s = max(target_s, origin_s(container))
        with suppress(av.FFmpegError):
            container.seek(int(start_s * av.time_base), backward=True)
        found = _last_before(container, stream, due_s)
        if found is not None and (found.time is None or found.time <= due_s):
            return found
    return found


def _last_before(container: Any, stream: Any, due_s: float) -> Any:
    """Decode on until the time is passed; the first frame at all if it lies behind the time."""
    found = None
    try:
        for frame in container.decode(stream):
            if frame.time is not None and frame.time > due_s:
                return found if found is not None else frame
            found = frame
    except av.FFmpegError:
        return found  # the file breaks off here; what came before is the last picture
    return found


def to_rgb(frame: Any, width_px: int, pixel_shape: float) -> NDArray[np.uint8]:
    """Scale to a width, with square pixels and the right way up."""
    shape = frame.height / (frame.width * pixel_shape)
    quarter_turns = round((frame.rotation or 0) / 90) % 4
    if quarter_turns % 2:
        height_px, across_px = width_px, max(1, round(width_px / shape))
    else:
        height_px, across_px = max(1, round(width_px * shape)), width_px
    picture = frame.reformat(
        width=across_px, height=height_px, format="rgb24", interpolation="AREA"
    ).to_ndarray()
    turned: NDArray[np.uint8] = np.ascontiguousarray(np.rot90(picture, quarter_turns))
    return turned
