"""Bitmap subtitles → lines of dark text on white, each a picture for a recogniser.

    packets → display sets      FFmpeg's decoders of PGS, VobSub and DVB subtitles
    display set → ink           how much of each pixel is letter, whatever its colours are
    ink → lines                 by the rows without ink between them

The letters of a subtitle are drawn in one colour inside an outline or a box of another. What
touches the transparent surroundings is the outline; ink is what differs from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from folioreel.errors import InputError
from folioreel.reading import megabytes

Ink = NDArray[np.uint8]
"""Letters are 255, all else 0, with the shades of smooth edges in between."""
Colours = NDArray[np.uint8]
"""Brightness, Cr, Cb and alpha of each pixel, or of each number of a palette."""

# Pixels with less ink are the faint ends of smooth edges.
_INKED = 96
# Share of the edge that is dark if letters have a dark outline or shadow, at least on one side.
_DARK_EDGE = 0.15
_DARK = 96.0
# Colours closer than this, of 255, are one colour; letters without an outline have no second.
_ONE_COLOUR = 48.0
# A screen of 3,840 by 2,160, and half of one: no text covers more.
_MOST_PIXELS, _MOST_COVERED = 8 * 2**20, 4 * 2**20
# Bytes of all pictures: those of a long film have a few hundred million. A small file can hold any
# number of large ones.
_LARGEST_TRACK = 2 * 2**30
# Pixels of all pictures, which take the time: so many, and so many more for each byte. A line of
# text has 20 or 30 per byte, and a screen of one colour, made to take long, has 600.
_FREE_PIXELS, _PIXELS_PER_BYTE = 400_000_000, 60
# FFmpeg's value for a display set that stays until the next one.
_UNTIL_NEXT_MS = 2**32 - 1
# How a segment of DVB subtitles begins, and the kind that is a palette (ETSI EN 300 743).
_SEGMENT, _PALETTE = b"\x0f", 0x12


@dataclass(frozen=True, kw_only=True)
class TextPicture:
    """The letters that are on screen for some time."""

    start_s: float
    end_s: float
    ink: Ink


def read_pictures(packets: Iterable[tuple[Any, float]]) -> list[TextPicture]:
    """Decode the packets of a bitmap track, each with its time.

    A display set stays until the next one, which may be empty, or for as long as it says. Those
    that show the same again (broadcasts repeat them for viewers who tune in) are joined.

    Raises:
        InputError: The pictures would fill the memory, or take very long.
    """
    shown: list[TextPicture] = []
    size, pixels = 0, -_FREE_PIXELS
    for packet, start_s in packets:
        pixels -= _PIXELS_PER_BYTE * packet.size
        display_set, ink = None, np.zeros((0, 0), np.uint8)
        with suppress(av.FFmpegError, ValueError, IndexError):  # damage costs one picture
            display_set = packet.stream.codec_context.decode2(packet)
            if display_set is not None and len(display_set):
                picture = _compose(display_set)
                pixels += picture.shape[0] * picture.shape[1]
                ink = find_ink(picture)
        if pixels > 0:
            message = "its subtitles are pictures of whole screens, not of text; give others"
            raise InputError(message, packet.stream.container.name)
        if display_set is None:  # the parts of a PGS file: the last one brings the picture
            continue
        if shown and shown[-1].end_s > start_s:
            shown[-1] = replace(shown[-1], end_s=start_s)
        if not ink.size:
            continue
        stay_ms = display_set.end_display_time
        end_s = start_s + stay_ms / 1000 if 0 < stay_ms < _UNTIL_NEXT_MS else float("inf")
        last = shown[-1] if shown else None
        if last is not None and last.end_s >= start_s and np.array_equal(last.ink, ink):
            shown[-1] = replace(last, end_s=end_s)
        else:
            shown.append(TextPicture(start_s=start_s, end_s=end_s, ink=ink))
            size += ink.size
            if size > _LARGEST_TRACK:
                message = f"its subtitles are pictures of more than {megabytes(_LARGEST_TRACK)}"
                raise InputError(f"{message}; give others", packet.stream.container.name)
    return [picture for picture in shown if picture.end_s > picture.start_s]


def _compose(display_set: Any) -> Colours:
    """The parts of a display set in one picture."""
    rects = list(display_set)
    left, top = min(rect.x for rect in rects), min(rect.y for rect in rects)
    right = max(rect.x + rect.width for rect in rects)
    bottom = max(rect.y + rect.height for rect in rects)
    if (bottom - top) * (right - left) > _MOST_PIXELS:
        raise ValueError("larger than any screen")
    whole = np.zeros((bottom - top, right - left, 4), np.uint8)
    # Not strict: after the palettes come the pixels, in segments that may be longer than they say.
    for rect, palette in zip(rects, _palettes(display_set), strict=False):
        numbers = np.frombuffer(rect.planes[0], np.uint8).reshape(rect.height, -1)
        y, x = rect.y - top, rect.x - left
        whole[y : y + rect.height, x : x + rect.width] = palette[numbers[:, : rect.width]]
    return whole


def _palettes(display_set: Any) -> Iterator[Colours]:
    """The palette of each part of a display set.

    PyAV hands over the numbers of the colours, but not the palettes. FFmpeg's encoder for DVB takes
    what any of its decoders made, and writes the palettes as they are: here they are read from.
    """
    coded = bytes(av.CodecContext.create("dvbsub", "w").encode_subtitle(display_set))
    position = coded.index(_SEGMENT)
    while coded.startswith(_SEGMENT, position):
        kind, size = coded[position + 1], int.from_bytes(coded[position + 4 : position + 6], "big")
        content = coded[position + 6 : position + 6 + size]
        if kind == _PALETTE:
            # After two bytes: number, flags, brightness, Cr, Cb and transparency of each colour.
            rows = np.frombuffer(content[2:], np.uint8).reshape(-1, 6)
            palette = np.zeros((256, 4), np.uint8)
            palette[rows[:, 0], :3], palette[rows[:, 0], 3] = rows[:, 2:5], 255 - rows[:, 5]
            yield palette
        position += 6 + size


def find_ink(picture: Colours) -> Ink:
    """How much of each pixel is letter; cropped to the letters.

    Raises:
        ValueError: It covers more of the screen than any text.
    """
    picture = picture[_bounds(picture[..., 3] > 0)]
    if picture.shape[0] * picture.shape[1] > _MOST_COVERED:
        raise ValueError("larger than any text")
    alpha = np.pad(picture[..., 3].astype(np.float32), 1)
    colours = np.pad(picture[..., :3].astype(np.float32), ((1, 1), (1, 1), (0, 0)))
    covered = alpha > 128
    if not covered.any():
        covered = alpha > 0
    inside = covered.copy()
    for axis in (0, 1):
        for step in (-1, 1):
            inside &= np.roll(covered, step, axis)
    edge = colours[covered & ~inside]  # (pixels, 3)
    if not len(edge):
        return np.zeros((0, 0), np.uint8)
    dark = edge[:, 0] < _DARK
    around = np.median(edge[dark] if dark.mean() > _DARK_EDGE else edge, axis=0)
    distance = np.abs(colours - around).max(axis=2)
    far = float(np.percentile(distance[covered], 99))
    value = alpha if far < _ONE_COLOUR else alpha * np.minimum(distance / far, 1.0)
    return _crop(value.astype(np.uint8))


def _crop(ink: Ink) -> Ink:
    return ink[_bounds(ink > _INKED)]


def _bounds(mask: NDArray[np.bool_]) -> tuple[slice, slice]:
    """The rows and columns around all that is marked; empty if nothing is."""
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return slice(0), slice(0)
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)


def line_height(pictures: Iterable[Ink]) -> int:
    """How high the lines of a track are, from the top of its tall letters to the lowest tails.

    Lines that touch are rare, and so are lines without tall letters: the middle one is right.
    """
    heights = np.array([stop - start for ink in pictures for start, stop in _runs(ink)])
    if not len(heights):
        return 1
    # Full stops, dashes and accents that stand apart are no lines. They are measured by the middle
    # one too, as the highest may be a logo.
    tall = heights[heights > 0.4 * np.median(heights)]
    return round(float(np.median(tall)))


def split_lines(ink: Ink, height: int) -> list[Ink]:
    """The lines of a picture from top to bottom, each cropped to its letters.

    Args:
        ink: The letters of a whole picture.
        height: How high the lines of this track usually are.
    """
    runs: list[tuple[int, int]] = []
    for start, stop in _runs(ink):
        # An accent, or the dots of a line of small letters, belongs to the line below.
        is_part = runs and (runs[-1][1] - runs[-1][0] < 0.4 * height or stop - start < 0.2 * height)
        if is_part and start - runs[-1][1] < 0.3 * height and stop - runs[-1][0] < 1.4 * height:
            runs[-1] = (runs[-1][0], stop)
        else:
            runs.append((start, stop))
    pieces = [piece for run in runs for piece in _divide(ink, *run, height)]
    return [line for start, stop in pieces if (line := _crop(ink[start:stop])).size]


def _runs(ink: Ink) -> Iterator[tuple[int, int]]:
    """The stretches of rows with ink."""
    inked = np.concatenate([[False], (ink > _INKED).any(axis=1), [False]])
    changes = np.flatnonzero(inked[1:] != inked[:-1])
    return zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)


def _divide(ink: Ink, start: int, stop: int, height: int) -> Iterator[tuple[int, int]]:
    """Divide lines that touch at the row with the least ink near each expected gap."""
    count = max(1, round((stop - start) / (1.15 * height))) if stop - start > 1.7 * height else 1
    filled = (ink > _INKED).sum(axis=1)
    cuts = [start]
    for number in range(1, count):
        middle = start + round((stop - start) * number / count)
        first = max(middle - height // 3, cuts[-1] + 1)
        cuts.append(first + int(np.argmin(filled[first : middle + height // 3 + 1])))
    return pairwise([*cuts, stop])
