"""Opening videos: what every reader of a video checks before it decodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
from av.stream import Disposition

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.source import describe_file, describe_video

# FFmpeg opens single pictures, and text files as the output of a terminal.
_STILLS = re.compile(r"_pipe$|^image2|^tty$|^gif$|^apng$|^bin$|^ico$|^alias_pix")


@contextmanager
def open_container(path: Path) -> Iterator[Any]:
    """Open a video, or say in one line why that cannot be.

    Raises:
        InputError: The file is missing, empty, a folder, or damaged.
        UnknownFormatError: The file is no video.
    """
    _check_readable(path)
    try:
        container = av.open(str(path), metadata_errors="replace")
    except av.FFmpegError as error:
        raise _explain(path) from error
    try:
        if _STILLS.search(container.format.name):
            raise _explain(path)
        yield container
    finally:
        container.close()


def _explain(path: Path) -> InputError:
    """Why a file cannot be opened as a video."""
    with path.open("rb") as file:
        head = file.read(4096)
    if (video := describe_video(head)) is not None:
        return InputError(f"is {video} that is damaged or cut short; get it again", path)
    return UnknownFormatError(
        f"is no video but seems to be {describe_file(head)}; give a video or a subtitle file", path
    )


def find_video_stream(container: Any, path: Path) -> Any:
    """The moving pictures of a file; a cover picture is none.

    Raises:
        InputError: The file has sound alone, or sound with a cover.
    """
    streams = container.streams.video
    moving = [s for s in streams if not s.disposition & Disposition.attached_pic]
    moving = [s for s in moving if s.codec_context is not None]
    if moving:
        return max(moving, key=lambda s: bool(s.disposition & Disposition.default))
    if streams:
        raise InputError("has a cover picture and no film; give the video itself", path)
    if container.streams.audio:
        raise InputError("has sound and no pictures; give the video, or its subtitles alone", path)
    raise InputError("has no pictures; give a video or a subtitle file", path)


def length_s(container: Any, stream: Any) -> float:
    """How long a stream lasts by its own account, else the file; 0 where neither is said.

    The file may last longer than its pictures, as where a subtitle track runs on.
    """
    if stream.duration:
        return float(stream.duration * stream.time_base)
    tag = re.match(r"(\d+):(\d+):(\d+(?:\.\d+)?)", str(stream.metadata.get("DURATION", "")))
    if tag is not None:
        return int(tag.group(1)) * 3600 + int(tag.group(2)) * 60 + float(tag.group(3))
    return float(container.duration or 0) / av.time_base


def origin_s(container: Any) -> float:
    """The time at which the file's clock starts: the film's zero."""
    return float(container.start_time or 0) / av.time_base


def _check_readable(path: Path) -> None:
    """The same messages as for every other file."""
    if path.is_dir():
        raise InputError("is a folder; give one file", path)
    try:
        if path.stat().st_size == 0:
            raise InputError("the file is empty; was its download or copy cut short?", path)
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise InputError("no such file; check the path", path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path) from error
