"""Pictures as RGB arrays: image files, and one still of each shot of a film."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Self

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from folioreel.errors import InputError
from folioreel.ingest.video.container import OpenVideo
from folioreel.reading import read_whole
from folioreel.types import Film, Shot

Pixels = NDArray[np.uint8]  # (height, width, 3), RGB

# 360 MB as RGB, what the largest cameras take. Larger files are scans or decompression bombs, and
# nothing here needs the detail.
_MOST_PIXELS = 120_000_000
# Frames to decode, at most, to reach a shot that has no key frame. Encoders set one at least every
# 250 frames by default; in a film with fewer, the last frame decoded has to do.
_MOST_FRAMES = 300
_NEAR_S = 0.4  # how far from the middle of a shot a sharp frame may be
_SMALL_PX = 160  # the width at which frames are compared: noise is averaged away


def read_picture(source: Path | bytes, name: str = "") -> Pixels:
    """The pixels of a picture file (or of its bytes, called `name` in messages), upright."""
    place = source if isinstance(source, Path) else Path(name) if name else None
    try:
        data = read_whole(source) if isinstance(source, Path) else source
        with warnings.catch_warnings():
            # We have a limit of our own.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            opened = Image.open(io.BytesIO(data))
        with opened:
            if opened.width * opened.height > _MOST_PIXELS:
                most = f"{_MOST_PIXELS // 10**6} million pixels"
                raise InputError(f"is a picture of more than {most}; make it smaller", place)
            return np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))
    except InputError:
        raise
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot be read ({error.strerror})", place) from error
        raise InputError("is not a readable picture; give a JPEG, PNG or WebP", place) from error
    except (ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError("is a damaged picture", place) from error


def square(pixels: Pixels, size_px: int) -> Pixels:
    """The whole picture, squeezed into a square."""
    return np.asarray(Image.fromarray(pixels).resize((size_px,) * 2, Image.Resampling.BICUBIC))


def middle(pixels: Pixels) -> Pixels:
    """The largest square in the middle of a picture."""
    height, width = pixels.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return pixels[top : top + side, left : left + side]


class Stills(OpenVideo):
    """One picture of each shot of a video, quickly: any frame of the shot will do.

    Most shots begin with a key frame or contain one, which can be decoded alone. Only where a shot
    has none are the frames before it decoded too.
    """

    def __init__(self, video: Path, width_px: int, file: BinaryIO | None = None) -> None:
        """Open a video; as in `OpenVideo`, the opened file may be given with it."""
        super().__init__(video, file)
        self._width_px = width_px
        # Frame threads would decode frames ahead that nobody asks for.
        self.stream.thread_type = "SLICE"

    def picture(self, shot: Shot) -> Pixels | None:
        """A picture of a shot, or None where no frame can be decoded."""
        try:
            middle_s = (shot.start_s + shot.end_s) / 2 + self.origin_s
            self.container.seek(int(middle_s * av.time_base), backward=True)
            frame = self._first_since(shot.start_s + self.origin_s)
        except av.FFmpegError:
            return None
        return None if frame is None else _to_rgb(frame, self._width_px, self.pixel_shape)

    def sharpest(self, shot: Shot) -> Pixels | None:
        """The sharpest frame near the middle of a shot, to look at; None as in `picture`.

        All frames from the key frame before on are decoded, so it takes longer. Black frames and
        those in a dissolve or in quick motion are the least sharp.
        """
        middle_s = (shot.start_s + shot.end_s) / 2 + self.origin_s
        first_s = max(shot.start_s + self.origin_s, middle_s - _NEAR_S)
        last_s = min(shot.end_s + self.origin_s, middle_s + _NEAR_S)
        best, sharpest, before = None, -1.0, None
        try:
            self.container.seek(int(first_s * av.time_base), backward=True)
            for count, frame in enumerate(self.container.decode(self.stream)):
                if frame.time is not None and frame.time < first_s:
                    before = frame
                elif best is not None and (frame.time is None or frame.time >= last_s):
                    break
                elif (sharpness := _sharpness(frame)) > sharpest:
                    best, sharpest = frame, sharpness
                if count == _MOST_FRAMES:
                    break
        except av.FFmpegError:
            pass  # what was decoded before the damage will do
        best = best or before
        if best is None:
            return None
        whole_px = max(1, round(best.width * self.pixel_shape))  # more would only be blurred
        return _to_rgb(best, min(self._width_px, whole_px), self.pixel_shape)

    def _first_since(self, start_s: float) -> Any:
        """The first frame in the shot, from the key frame before on; else the last one decoded."""
        frame = None
        for count, frame in enumerate(self.container.decode(self.stream)):
            if frame.time is None or frame.time >= start_s or count == _MOST_FRAMES:
                break
        return frame


class FilmStills:
    """`Stills` of a film, whichever of its files a shot is in; each is opened when needed.

    Raises:
        InputError: A file is missing or cannot be opened, when its first picture is asked for.
    """

    def __init__(
        self, film: Film, width_px: int, open_file: Callable[[int], BinaryIO] | None = None
    ) -> None:
        """The stills of a film; `open_file` opens one of its files, where a path will not do."""
        self._film = film
        self._width_px = width_px
        self._open_file = open_file
        self._opened: dict[int, Stills] = {}
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files; they are opened again if another picture is asked for."""
        self._opened.clear()
        self._closing.close()

    def picture(self, shot: Shot) -> Pixels | None:
        """A picture of a shot; None where no frame can be decoded, or there is no video."""
        stills, local = self._find(shot)
        return None if stills is None else stills.picture(local)

    def sharpest(self, shot: Shot) -> Pixels | None:
        """The sharpest frame near the middle of a shot; None as in `picture`."""
        stills, local = self._find(shot)
        return None if stills is None else stills.sharpest(local)

    def _find(self, shot: Shot) -> tuple[Stills | None, Shot]:
        """The file that a shot is in, if it has pictures, and the shot with the times in it."""
        file, start_s = self._film.locate(shot.start_s)
        end_s = shot.end_s - (shot.start_s - start_s)
        local = replace(shot, start_s=start_s, end_s=end_s)
        video = self._film.files[file].video
        if video is None:
            return None, local
        if file not in self._opened:
            with ExitStack() as opening:
                given = None
                if self._open_file is not None:
                    given = opening.enter_context(self._open_file(file))
                stills = opening.enter_context(Stills(video, self._width_px, given))
                self._closing.push(opening.pop_all())
            self._opened[file] = stills
        return self._opened[file], local


def _sharpness(frame: Any) -> float:
    """How much neighbouring pixels differ from their mean: the variance of the Laplacian."""
    height = max(3, round(_SMALL_PX * frame.height / frame.width))
    small = frame.reformat(width=_SMALL_PX, height=height, format="gray", interpolation="AREA")
    grey = small.to_ndarray().astype(np.float32)
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4 * grey[1:-1, 1:-1]))


def _to_rgb(frame: Any, width_px: int, pixel_shape: float) -> Pixels:
    """Scale a frame to a width, with square pixels and the right way up."""
    shape = frame.height / (frame.width * pixel_shape)
    quarter_turns = round((frame.rotation or 0) / 90) % 4
    size = {"width": width_px, "height": max(1, round(width_px * shape))}
    if quarter_turns % 2:
        size = {"width": max(1, round(width_px / shape)), "height": width_px}
    picture = frame.reformat(**size, format="rgb24", interpolation="AREA").to_ndarray()
    return np.ascontiguousarray(np.rot90(picture, quarter_turns))
