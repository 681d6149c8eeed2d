"""Subtitles that are part of the picture → dialogue (`--subtitles burned`).

    the film → its band         where RapidOCR finds text in frames from all over the film
    the band → stretches        a few frames a second; a text stays until its pixels change
    a stretch → a cue           the mean of its frames is read: what moves behind the text blurs
    cues → cues                 neighbours that say the same are one

Searching a picture for text is slow. While a text is on screen it is enough to compare its pixels,
and where nothing was and nothing changed there is still nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from importlib import metadata
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from folioreel.cache import cached_json
from folioreel.errors import InputError, UnreadableWordsError
from folioreel.ingest.ocr.reading import mend
from folioreel.ingest.ocr.recognisers import INSTALL, Reading, has_rapidocr, load_network
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import Dialogue, build_dialogue
from folioreel.ingest.video.container import LONGEST_WAIT_S, OpenVideo
from folioreel.progress import Progress, ProgressCallback, ignore_progress

Grey = NDArray[np.uint8]

_STAGE = "reading burned-in subtitles"
# Part of the cache key. Add one when the same film would be read differently.
_CACHE_VERSION = 2
# Frames a second that are looked at. A cue stays for a second at least, and its times are off by
# half of this at most.
_RATE = 4.0
# What is lost at most when a run is stopped.
_PIECE_S = 60.0
# Frames in which the band is looked for, spread over the film; a third of them should have text.
_PROBES = 40
# Pictures are scaled to this width: the letters of subtitles are then 15 to 40 pixels high.
_WIDTH = 960
# No picture is so much higher than wide that it makes more of these rows.
_HIGHEST = 4 * _WIDTH
# For finding text two thirds of that are enough, and take half the time.
_SEARCH_WIDTH = 640
# Subtitles are in the lower part of the picture, their lines centred to within a quarter of it.
_TOP, _OFF_CENTRE = 0.5, 0.25
# Lines this high, as shares of the picture's width, are subtitles; posters have higher letters.
_LINE_HEIGHTS = (0.015, 0.08)
# Correlation of a text's fine details with those of its first frame. If it is set too high, a text
# is read twice and joined again; if too low, two texts that follow at once become one.
_SAME_TEXT = 0.7
# An empty band is unchanged if no square of it, as large as a letter, changed by more on average.
_SAME_GREY, _SQUARE = 8.0, 32
# Lines of which the recogniser is less sure are patterns of the picture.
_LEAST_CONFIDENCE = 0.8
# Neighbours that agree in this share of their letters are one text.
_SAME_LETTERS = 0.8


def read_burned(
    video: OpenVideo, progress: ProgressCallback | None = None, language: str | None = None
) -> Dialogue:
    """Find subtitles in the picture of a film and read them.

    Raises:
        UnreadableWordsError: RapidOCR is not installed.
        InputError: There are no subtitles in the picture.
    """
    if not has_rapidocr():
        raise UnreadableWordsError(f"to read its picture: {INSTALL}", video.path)
    cues = tuple(find_burned_cues(video, progress))
    if not cues:
        raise InputError("the text in its picture could not be read; give subtitles", video.path)
    note = "burned-in subtitles have errors where the picture behind them is bright or busy"
    parsed = ParsedCues(format="burned", cues=cues, notes=(note,))
    return replace(build_dialogue(parsed, language), source="burned")


def find_burned_cues(video: OpenVideo, progress: ProgressCallback | None = None) -> list[Cue]:
    """The cues as they were read, piece by piece, from the cache where it has them."""
    progress = progress or ignore_progress
    sha256, length_s = video.sha256, min(video.length_s, video.limit_s)
    opened = av.open(str(video.path), metadata_errors="replace", timeout=LONGEST_WAIT_S)
    with closing(opened) as container:
        film = _Film(container, video.stream.index, video.origin_s)
        progress(Progress(stage=_STAGE, done=0, total=length_s))
        place = cached_json(
            _cache_key(sha256, "band"), list[int], lambda: _find_band(film, length_s)
        )
        if len(place) != 3:
            raise InputError(
                "no subtitles were found in its picture; are they a track (--subtitles TRACK)?",
                video.path,
            )
        band = _Band(*place)
        cues: list[Cue] = []
        for start_s in np.arange(0.0, length_s, _PIECE_S).tolist():
            key = _cache_key(sha256, f"{band} {start_s}")
            stop_s = start_s + _PIECE_S
            rows = cached_json(
                key,
                list[tuple[float, float, str]],
                lambda a=start_s, b=stop_s: _rows(_read(film, band, a, b)),  # type: ignore[misc]
            )
            cues += [Cue(start_s=begin, end_s=end, text=text) for begin, end, text in rows]
            progress(Progress(stage=_STAGE, done=min(stop_s, length_s), total=length_s))
    return list(_join(cues))


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def down(self, rows: int) -> _Box:
        return replace(self, top=self.top + rows, bottom=self.bottom + rows)


@dataclass(frozen=True)
class _Band:
    """The rows of the scaled picture that have subtitles, and how high a line is."""

    top: int
    bottom: int
    height: int

    def fits(self, box: _Box) -> bool:
        """Whether a line is as high as those of the subtitles; tails make some higher."""
        return 0.65 < (box.bottom - box.top) / self.height < 1.5


class _Film:
    """The frames of a film from any time on, grey and scaled to one width."""

    def __init__(self, container: Any, index: int, origin_s: float) -> None:
        self._container, self._origin_s = container, origin_s
        self._stream = container.streams[index]
        self._stream.thread_type = "AUTO"

    def frames(self, start_s: float, step_s: float) -> Iterator[tuple[float, Grey]]:
        """The first frame after the start, and then one after each step."""
        offset = int((start_s + self._origin_s) / self._stream.time_base)
        try:
            self._container.seek(max(offset, 0), stream=self._stream)
        except av.FFmpegError:
            self._container.seek(0)
        due_s = start_s
        try:
            for frame in self._container.decode(self._stream):
                time_s = (frame.time or 0.0) - self._origin_s
                if time_s >= due_s - 1e-3:
                    due_s = max(due_s + step_s, time_s + step_s / 2)
                    height = min(round(frame.height * _WIDTH / frame.width / 2) * 2, _HIGHEST)
                    height = max(height, 2)
                    scaled = frame.reformat(_WIDTH, height, "gray", interpolation="AREA")
                    yield time_s, scaled.to_ndarray()
        except av.FFmpegError:
            return  # damaged or cut short: what comes before was read


def _find_band(film: _Film, length_s: float) -> list[int]:
    """The numbers of a `_Band`; empty if there are no subtitles."""
    lowest: list[_Box] = []
    ends: list[int] = []  # how high the pictures are that they were found in
    probes = max(4, min(_PROBES, round(length_s)))  # closer ones show the same
    for start_s in np.linspace(0.02, 0.98, probes) * length_s:
        found = next(film.frames(float(start_s), 1.0), None)
        if found is not None:
            first = int(found[1].shape[0] * _TOP)
            boxes = [box.down(first) for box in _search(found[1][first:])[-1:]]
            lowest += boxes
            ends += [found[1].shape[0]] * len(boxes)
    if len(lowest) < 2:
        return []
    # The last lines of cues end on the same row, and signs and titles anywhere.
    bottoms = np.array([box.bottom for box in lowest])
    heights = bottoms - [box.top for box in lowest]
    together = np.abs(bottoms[:, None] - bottoms) < np.median(heights) / 2  # (boxes, boxes)
    chosen = together[np.argmax(together.sum(axis=1))]
    bottom, height = bottoms[chosen].max(), np.median(heights[chosen])
    # Room for two lines. The boxes overlap, as they reach a little beyond the letters.
    end = min(bottom + 0.5 * height, np.array(ends)[chosen].min())
    return [round(float(row)) for row in (bottom - 2.3 * height, end, height)]


def _search(picture: Grey) -> list[_Box]:
    """The lines of text in a picture that may be subtitles, from top to bottom."""
    import cv2

    scale = _SEARCH_WIDTH / picture.shape[1]
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    found = _engine()(cv2.cvtColor(small, cv2.COLOR_GRAY2BGR), use_det=True, use_rec=False)
    boxes = []
    for corners in found.boxes if found.boxes is not None else ():
        (left, top), (right, bottom) = corners.min(axis=0) / scale, corners.max(axis=0) / scale
        off_centre = abs((left + right) / 2 / picture.shape[1] - 0.5)
        low, high = _LINE_HEIGHTS
        if off_centre < _OFF_CENTRE and low < (bottom - top) / picture.shape[1] < high:
            boxes.append(_Box(left, top, right, bottom))
    return sorted(boxes, key=lambda box: box.top)


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": _SEARCH_WIDTH,
        }
    )


class _Stretch:
    """A text on screen: where it is, its fine details, and the mean of its frames."""

    def __init__(self, time_s: float, rows: Grey, boxes: Sequence[_Box], band: _Band) -> None:
        self._band = band
        margin = round(0.3 * (boxes[0].bottom - boxes[0].top))
        top, bottom = min(box.top for box in boxes), max(box.bottom for box in boxes)
        left, right = min(box.left for box in boxes), max(box.right for box in boxes)
        self._rows = slice(max(0, int(top) - margin), int(bottom) + margin)
        self._columns = slice(max(0, int(left) - margin), int(right) + margin)
        self.start_s = self.last_s = time_s
        part = rows[self._rows, self._columns]
        self._details, self._sum, self._count = _details(part), part.astype(np.float32), 1

    def goes_on(self, time_s: float, rows: Grey) -> bool:
        """Whether the text is still there; if so, the frame is added."""
        part = rows[self._rows, self._columns]
        details = _details(part)
        size = float(np.linalg.norm(details) * np.linalg.norm(self._details))
        if size == 0 or float((details * self._details).sum()) < _SAME_TEXT * size:
            return False
        self._sum += part
        self.last_s, self._count = time_s, self._count + 1
        return True

    def read(self) -> list[Reading]:
        """The lines and how sure the recogniser is of them."""
        mean = (self._sum / self._count).astype(np.uint8)
        whole = np.zeros((mean.shape[0], _WIDTH), np.uint8)  # as the search expects it
        left = (_WIDTH - mean.shape[1]) // 2
        whole[:, left : left + mean.shape[1]] = mean
        boxes = [box for box in _search(whole) if self._band.fits(box)]
        return load_network().read_pictures(
            [whole[int(b.top) : int(b.bottom) + 1, int(b.left) : int(b.right) + 1] for b in boxes]
        )


def _details(part: Grey) -> NDArray[np.float32]:
    """What is finer than letters are wide: their strokes, but not the shapes of the scene."""
    import cv2

    values = part.astype(np.float32)
    return np.asarray(values - cv2.blur(values, (9, 9)), np.float32)


def _read(film: _Film, band: _Band, start_s: float, stop_s: float) -> list[Cue]:
    """The cues of a piece of the film; one that goes on after it is cut there."""
    current: _Stretch | None = None
    empty: Grey | None = None
    cues: list[Cue] = []
    for time_s, picture in film.frames(start_s, 1 / _RATE):
        if time_s >= stop_s:
            break
        rows = picture[band.top : band.bottom]
        if len(rows) < band.bottom - band.top:
            continue  # the picture's shape has changed, as in recordings of broadcasts
        if current is not None:
            if current.goes_on(time_s, rows):
                continue
            cues += _to_cue(current)
            current = None
        elif empty is not None and _is_unchanged(rows, empty):
            continue
        boxes = [box for box in _search(rows) if band.fits(box)]
        if boxes:
            current, empty = _Stretch(time_s, rows, boxes, band), None
        else:
            empty = rows
    return [*cues, *(_to_cue(current) if current is not None else ())]


def _is_unchanged(rows: Grey, before: Grey) -> bool:
    import cv2

    scale = 1 / _SQUARE
    changes = cv2.absdiff(rows, before)
    squares = cv2.resize(changes, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return bool(squares.max() < _SAME_GREY)


def _to_cue(stretch: _Stretch) -> Iterator[Cue]:
    lines = [line.text for line in stretch.read() if line.confidence >= _LEAST_CONFIDENCE]
    text = mend("\n".join(lines)).strip()
    if any(character.isalpha() for character in text):
        # The text came and went between two frames that were looked at.
        start_s, end_s = max(0.0, stretch.start_s - 0.5 / _RATE), stretch.last_s + 0.5 / _RATE
        yield Cue(start_s=start_s, end_s=end_s, text=text)


def _join(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Join neighbours that say the same, in the words of the longer one."""
    current: Cue | None = None
    for cue in cues:
        if current is not None and cue.start_s - current.end_s < 2 / _RATE and _alike(current, cue):
            is_longer = cue.end_s - cue.start_s > current.end_s - current.start_s
            text = cue.text if is_longer else current.text
            current = replace(current, end_s=cue.end_s, text=text)
            continue
        if current is not None:
            yield current
        current = cue
    if current is not None:
        yield current


def _alike(first: Cue, second: Cue) -> bool:
    return SequenceMatcher(None, first.text, second.text).ratio() >= _SAME_LETTERS


def _cache_key(sha256: str, part: str) -> str:
    version = f"burned {_CACHE_VERSION} rapidocr {metadata.version('rapidocr')}"
    return hashlib.sha256(f"{version} {sha256} {part}".encode()).hexdigest()


def _rows(cues: Sequence[Cue]) -> list[tuple[float, float, str]]:
    return [(cue.start_s, cue.end_s, cue.text) for cue in cues]
