"""Open a video once, for all who read from it: its header, its text tracks and its pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import av
from av.stream import Discard, Disposition

from folioreel.errors import InputError, UnknownFormatError
from folioreel.files import file_sha256
from folioreel.ingest.source import describe_file, describe_video, read_head
from folioreel.isolation import unhurried
from folioreel.times import parse_clock

# FFmpeg also opens single images, and reads text files as terminal recordings.
_NOT_VIDEO = re.compile(r"_pipe$|^image2|^tty$|^gif$|^apng$|^bin$|^ico$|^alias_pix")
LONGEST_WAIT_S = 60.0
"""Seconds that FFmpeg may take to open a file, or to read the next packet, before it gives up."""
# Where a film must have ended: there is no waiting for a timestamp of next year.
_LONGEST_FILM_S = 24 * 3600.0


class OpenVideo:
    """An open video file: what its header says, and its packets. One thread at a time.

    Raises:
        InputError: The file is missing, empty, a folder, damaged, or has no moving pictures.
        UnknownFormatError: The file is not a video.
    """

    def __init__(self, path: Path | str, file: BinaryIO | None = None) -> None:
        """Open a video; `file` is the same one, already open, if its path cannot be trusted."""
        self.path = Path(path)
        self._file = file
        self._is_at_start = True
        self._first_frame: tuple[Any, ...] | None = None
        self._open()

    def _open(self) -> None:
        if self._file is not None:
            self._file.seek(0)
            source: Any = self._file
            head = self._file.peek(4096)  # type: ignore[attr-defined]  # open() gives it
        else:
            source = str(self.path)
            head = read_head(self.path)  # says in the same words as for every file what is wrong
            if not self.path.is_file():
                raise InputError("is a pipe; write the video to a file, and give that", self.path)
        try:
            self.container: Any = av.open(source, metadata_errors="replace", timeout=LONGEST_WAIT_S)
        except av.FFmpegError as error:
            raise _explain(self.path, head) from error
        try:
            if _NOT_VIDEO.search(self.container.format.name):
                raise _explain(self.path, head)
            self.stream = _find_video_stream(self.container, self.path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def title(self) -> str:
        """The title in the header, or an empty string."""
        metadata = self.container.metadata
        return str(metadata.get("title") or metadata.get("TITLE") or "").strip()

    @cached_property
    def sha256(self) -> str:
        """The hash of the file's content, computed when it is first asked for."""
        with unhurried():
            return file_sha256(self.path)

    @property
    def frame_rate(self) -> float | None:
        """Frames per second on average, where the header says so."""
        rate = self.stream.average_rate
        return float(rate) if rate else None

    @property
    def pixel_shape(self) -> float:
        """The width of a pixel divided by its height; not 1 in anamorphic video."""
        return float(self.stream.sample_aspect_ratio or 1)

    @property
    def origin_s(self) -> float:
        """The first timestamp of the file, which is time zero of the film."""
        return float(self.container.start_time or 0) / av.time_base

    @property
    def file_length_s(self) -> float:
        """How long the file lasts; a subtitle track may run on after the last frame."""
        return float(self.container.duration or 0) / av.time_base

    @property
    def length_s(self) -> float:
        """How long the video stream lasts according to the header; 0 if it does not say."""
        stream = self.stream
        if stream.duration:
            return float(stream.duration * stream.time_base)
        with suppress(ValueError):  # Matroska writes the length of a stream as a tag
            return parse_clock(str(stream.metadata.get("DURATION", "")))
        return self.file_length_s

    @property
    def limit_s(self) -> float:
        """No time of the film is later than this; a timestamp that is, is wrong."""
        # The header may be wrong by a little, and a live recording has none.
        said_s = 1.1 * self.file_length_s + 60.0 if self.file_length_s > 0 else _LONGEST_FILM_S
        return min(said_s, _LONGEST_FILM_S)

    def packets(self, index: int) -> Iterator[Any]:
        """The packets of one stream from its beginning; all other streams are skipped.

        Called again, for this or another stream, it rewinds the file instead of opening it a second
        time; what the call before returned must not be used any more. Where the file breaks off,
        the iterator raises `av.FFmpegError`.
        """
        if not self._is_at_start:
            self._rewind()
        self._is_at_start = False
        wanted = {index} if self._first_frame else {index, self.stream.index}
        for stream in self.container.streams:
            stream.discard = Discard.default if stream.index in wanted else Discard.all
        return self._demux(index, [self.container.streams[number] for number in wanted])

    def _demux(self, index: int, streams: list[Any]) -> Iterator[Any]:
        for packet in self.container.demux(streams):
            if packet.stream.index == index:
                yield packet
            if packet.stream.index == self.stream.index and self._first_frame is None:
                self._first_frame = _identity(packet)
                if index != self.stream.index:
                    self.stream.discard = Discard.all

    def _rewind(self) -> None:
        """Go back to the first packet; where the index of the file is damaged, open it again."""
        try:
            self._seek_start()
            first = next(iter(self.container.demux(self.stream)))
            if self._first_frame is not None and _identity(first) == self._first_frame:
                self._seek_start()
                return
        except (av.FFmpegError, StopIteration):
            pass
        self.close()
        self._open()

    def _seek_start(self) -> None:
        # By the index of the video stream, which FFmpeg looks at only if it is not discarded: the
        # index of a subtitle track begins with its first cue, perhaps minutes into the film.
        self.stream.discard = Discard.default
        starts = [s.start_time * s.time_base for s in self.container.streams if s.start_time]
        start_s = min([0, *starts])  # a cue may come before the first frame
        offset = int(start_s / self.stream.time_base)
        self.container.seek(offset, backward=True, stream=self.stream)


def _identity(packet: Any) -> tuple[Any, ...]:
    return packet.pos, packet.pts, packet.size


def _explain(path: Path, head: bytes) -> InputError:
    """Why a file that begins with `head` cannot be opened as a video."""
    if (video := describe_video(head)) is not None:
        return InputError(f"is {video} that is damaged or cut short; get it again", path)
    return UnknownFormatError(
        f"is not a video but seems to be {describe_file(head)}; give a video or a subtitle file",
        path,
    )


def _find_video_stream(container: Any, path: Path) -> Any:
    streams = container.streams.video
    # The cover of a recording is a picture, but does not move.
    moving = [s for s in streams if not s.disposition & Disposition.attached_pic]
    moving = [s for s in moving if s.codec_context is not None]
    if moving:
        return max(moving, key=lambda s: bool(s.disposition & Disposition.default))
    if streams:
        raise InputError("has a cover picture but no film; give the video itself", path)
    if container.streams.audio:
        raise InputError("has sound but no pictures; give the video, or only its subtitles", path)
    raise InputError("has no pictures; give a video or a subtitle file", path)
