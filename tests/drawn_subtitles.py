"""Bitmap subtitles drawn by code, so that what they say is known: PGS, VobSub and DVB.

Text is drawn with Pillow and written as PGS segments by this module, as FFmpeg has no encoder for
them. FFmpeg turns PGS into the other two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

SCREENS = {"pgssub": (1920, 1080), "dvbsub": (720, 576), "dvdsub": (720, 576)}
Pixels = NDArray[np.uint8]  # one byte for each pixel: the number of its colour
Colour = tuple[int, int, int]
Cues = Sequence[tuple[int, int, str]]  # start and end in milliseconds, lines


@dataclass(frozen=True, kw_only=True)
class Lettering:
    """How text is drawn. An outline of 0 pixels is none."""

    font: str = ""  # a TrueType file; without one, the font that Pillow carries
    size: int = 48
    fill: Colour = (235, 235, 235)
    outline: int = 3
    outline_colour: Colour = (16, 16, 16)
    box: bool = False  # on a box of the outline's colour, as broadcasters do
    shades: int = 16  # between fill and outline, and between outline and nothing


def draw_text(text: str, how: Lettering) -> tuple[Pixels, list[tuple[int, int, int, int]]]:
    """Some lines of text, and the palette: red, green, blue and alpha of each number."""
    font: Any = ImageFont.truetype(how.font, how.size) if how.font else None
    font = font or ImageFont.load_default(how.size)
    lines = {"spacing": how.size // 5, "align": "center"}
    left, top, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).multiline_textbbox(
        (0, 0), text, font, stroke_width=how.outline, **lines
    )
    size = (int(right - left) + 16, int(bottom - top) + 12)
    place = (8 - left, 6 - top)
    layers = []
    for outline in (0, how.outline):
        image = Image.new("L", size)
        ImageDraw.Draw(image).multiline_text(place, text, 255, font, stroke_width=outline, **lines)
        layers.append(np.rint(np.asarray(image, float) / 255 * how.shades).astype(int))
    ink, cover = layers
    if how.box:
        cover[:] = how.shades
    has_outline = how.box or how.outline > 0
    edge = how.outline_colour if has_outline else how.fill
    parts = [k / how.shades for k in range(1, how.shades + 1)]
    mixed = [
        tuple(round(a + (b - a) * part) for a, b in zip(edge, how.fill, strict=True))
        for part in parts
    ]
    palette = [(0, 0, 0, 0), *((*colour, 255) for colour in mixed)]
    palette += [(*edge, round(255 * part)) for part in parts]
    numbers = np.where(cover > 0, how.shades + cover, 0)
    if has_outline:
        numbers = np.where(ink > 0, ink, numbers)
    return numbers.astype(np.uint8), palette  # type: ignore[return-value]


def write_sup(
    path: Path, cues: Cues, how: Lettering | None = None, screen: tuple[int, int] = (1920, 1080)
) -> Path:
    """Write cues as a PGS file."""
    segments = []
    for number, (start_ms, end_ms, text) in enumerate(cues):
        for time_ms, words in ((start_ms, text), (end_ms, "")):
            for kind, data in _display_set(words, how or Lettering(), screen, number):
                head = struct.pack(">2sIIBH", b"PG", time_ms * 90, 0, kind, len(data))
                segments.append(head + data)
    path.write_bytes(b"".join(segments))
    return path


def add_bitmaps(
    path: Path,
    film: Path,
    cues: Cues,
    codec: str = "pgssub",
    how: Lettering | None = None,
    language: str = "eng",
) -> Path:
    """Copy a film with its tracks and add one with pictures of cues."""
    sup = write_sup(path.with_suffix(".sup"), cues, how, SCREENS[codec])
    with av.open(str(film)) as source, av.open(str(sup)) as drawn, av.open(str(path), "w") as out:
        copies = {s.index: out.add_stream_from_template(s) for s in source.streams}
        for stream in source.streams:
            copies[stream.index].disposition = stream.disposition
        pictures = drawn.streams.subtitles[0]
        track = _add_track(out, pictures, codec)
        track.metadata["language"] = language
        packets = []
        for packet in source.demux():
            if packet.dts is not None:
                packet.stream = copies[packet.stream.index]
                packets.append(packet)
        for packet in drawn.demux(pictures):
            if packet.pts is not None:
                packets += _transcode(packet, track, codec, cues)
        out.start_encoding()
        for packet in sorted(packets, key=lambda p: p.dts * p.time_base):
            out.mux(packet)
    sup.unlink()
    return path


def write_vobsub(path: Path, film: Path, cues: Cues, how: Lettering) -> Path:
    """Write cues as an index and, beside it, a `.sub` file with the pictures."""
    video = add_bitmaps(path.with_suffix(".mkv"), film, cues, "dvdsub", how)
    pictures = path.with_suffix(".sub")
    with av.open(str(video)) as source, av.open(str(pictures), "w", format="vob") as out:
        track = source.streams.subtitles[0]
        colours = track.codec_context.extradata.decode().strip()
        copy = out.add_stream_from_template(track)
        for packet in source.demux(track):
            if packet.pts is not None:
                packet.stream = copy
                out.mux(packet)
    with av.open(str(pictures)) as written:
        places = [packet.pos for packet in written.demux() if packet.size and packet.pos]
    times = [
        f"{s // 3_600_000:02}:{s // 60_000 % 60:02}:{s // 1000 % 60:02}:{s % 1000:03}"
        for s, _, _ in cues
    ]
    rows = [f"timestamp: {t}, filepos: {p:09x}" for t, p in zip(times, places, strict=True)]
    head = ["# VobSub index file, v7 (do not modify this line!)", colours, "id: en, index: 0"]
    path.write_text("\n".join([*head, *rows, ""]), encoding="utf-8")
    video.unlink()
    return path


def _add_track(out: Any, pictures: Any, codec: str) -> Any:
    if codec == "pgssub":
        return out.add_stream_from_template(pictures)
    track = out.add_stream(codec)
    track.time_base = Fraction(1, 1000)
    return track


def _transcode(packet: Any, track: Any, codec: str, cues: Cues) -> Iterator[Any]:
    """The packet in another codec; nothing for segments before the end of a display set."""
    start_ms = round(packet.pts * packet.time_base * 1000)
    if codec != "pgssub":
        shown = packet.stream.codec_context.decode2(packet)
        ends = {start: end for start, end, _ in cues}
        if shown is None or (codec == "dvdsub" and start_ms not in ends):
            return
        shown.end_display_time = ends.get(start_ms, start_ms) - start_ms
        packet = track.codec_context.encode_subtitle(shown)
    packet.stream, packet.time_base = track, Fraction(1, 1000)
    packet.pts = packet.dts = start_ms
    yield packet


def _display_set(
    text: str, how: Lettering, screen: tuple[int, int], number: int
) -> Iterator[tuple[int, bytes]]:
    """The segments that show a text, or with an empty one, nothing."""
    count = 1 if text else 0
    composition = struct.pack(">HHBHBBBB", *screen, 0x10, number, 0x80, 0, 0, count)
    if not text:
        yield 0x16, composition
        yield 0x80, b""
        return
    pixels, palette = draw_text(text, how)
    height, width = pixels.shape
    left, top = (screen[0] - width) // 2, screen[1] - height - screen[1] // 20
    assert left >= 0 <= top, f"does not fit on the screen: {text!r}"
    yield 0x16, composition + struct.pack(">HBBHH", 0, 0, 0, left, top)
    yield 0x17, struct.pack(">BBHHHH", 1, 0, left, top, width, height)
    rows = [_palette_row(k, *colour) for k, colour in enumerate(palette)]
    yield 0x14, b"\x00\x00" + b"".join(rows)
    data = struct.pack(">HH", width, height) + b"".join(map(_run_lengths, pixels))
    pieces = [data[k : k + 60_000] for k in range(0, len(data), 60_000)]
    for k, piece in enumerate(pieces):
        place = 0x80 * (k == 0) | 0x40 * (k == len(pieces) - 1)
        size = len(data).to_bytes(3, "big") if k == 0 else b""
        yield 0x15, struct.pack(">HBB", 0, 0, place) + size + piece
    yield 0x80, b""


def _palette_row(number: int, red: int, green: int, blue: int, alpha: int) -> bytes:
    """A colour as PGS has it: brightness, red and blue difference (BT.709, studio range)."""
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    red_part, blue_part = (red - light) / 1.5748, (blue - light) / 1.8556
    row = [16 + light * 219 / 255, 128 + red_part * 224 / 255, 128 + blue_part * 224 / 255]
    return bytes([number, *map(round, row), alpha])


def _run_lengths(row: Pixels) -> bytes:
    coded = bytearray()
    for colour, run in groupby(row.tolist()):
        left = len(list(run))
        if left < 3 and colour:
            coded += bytes([colour] * left)
            continue
        high = 0x80 if colour else 0
        length = bytes([high | left]) if left < 64 else struct.pack(">H", (high | 0x40) << 8 | left)
        coded += b"\x00" + length + (bytes([colour]) if colour else b"")
    return bytes(coded + b"\x00\x00")
