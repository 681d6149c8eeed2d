"""Films drawn by code: pictures with known cuts, subtitle tracks, sound and damage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.stream import Disposition
from av.subtitles.subtitle import SubtitleSet
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
WIDTH, HEIGHT, RATE = 160, 120, 25
_ASS_HEADER = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\n"
    b"Style: Default,Arial,20\n\n[Events]\n"
    b"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


@dataclass(frozen=True, kw_only=True)
class DrawnTrack:
    """A subtitle track to be muxed: cues are (start_ms, end_ms, text)."""

    cues: Sequence[tuple[int, int, str]]
    codec: str = "subrip"
    language: str = "eng"
    title: str = ""
    disposition: int = 0


@dataclass(frozen=True, kw_only=True)
class Coding:
    """How the pictures are coded."""

    codec: str = "mpeg4"
    pixel_format: str = "yuv420p"
    pixel_shape: Fraction = Fraction(1)
    options: dict[str, str] = field(default_factory=dict)


def scene(seed: int, width: int = WIDTH, height: int = HEIGHT) -> Picture:
    """A picture of coloured blocks; each seed gives another one."""
    blocks = np.random.default_rng(seed).integers(30, 226, size=(6, 8, 3), dtype=np.uint8)
    return np.kron(blocks, np.ones((height // 6, width // 8, 1), np.uint8)).astype(np.uint8)


def shots_of(lengths: Iterable[int]) -> Iterator[Picture]:
    """One scene after the other, each for a number of frames, with a little motion."""
    for seed, length in enumerate(lengths):
        picture = scene(seed)
        for frame in range(length):
            yield np.roll(picture, frame, axis=1)


def faded(length: int, black: int) -> Iterator[Picture]:
    """Two scenes with a fade through black between them, `length` frames each way."""
    for seed, brightness in (
        (1, [1.0] * 40 + [1 - k / length for k in range(length)] + [0.0] * black),
        (2, [k / length for k in range(length)] + [1.0] * 40),
    ):
        for light in brightness:
            yield (scene(seed) * light).astype(np.uint8)


def draw_film(
    path: Path,
    pictures: Iterable[Picture],
    *,
    tracks: Sequence[DrawnTrack] = (),
    times_ms: Sequence[int] | None = None,
    rotation: int = 0,
    metadata: dict[str, str] | None = None,
    coding: Coding | None = None,
    sound: NDArray[np.int16] | None = None,
) -> Path:
    """Write a video; `times_ms` gives each frame its own time, and `sound` is at 8 kHz."""
    coding = coding or Coding()
    with av.open(str(path), "w") as container:
        container.metadata.update(metadata or {})
        stream: Any = container.add_stream(coding.codec, rate=RATE, options=coding.options)
        stream.bit_rate = 2_000_000
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        packets: list[tuple[float, Any]] = []
        written = [(_add_track(container, track), track) for track in tracks]
        audio: Any = None
        if sound is not None:
            audio = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        for number, picture in enumerate(pictures):
            if number == 0:
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt = coding.pixel_format
                stream.codec_context.sample_aspect_ratio = coding.pixel_shape
                if rotation:
                    stream.set_display_rotation(rotation)
                container.start_encoding()
                for added, track in written:
                    packets += list(_encode_cues(added, track))
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pts = number * 1000 // RATE if times_ms is None else times_ms[number]
            frame.time_base = Fraction(1, 1000)
            packets += [(float(p.pts * p.time_base), p) for p in stream.encode(frame)]
        packets += [(float(p.pts * p.time_base), p) for p in stream.encode(None)]
        if sound is not None:
            packets += _encode_sound(audio, sound)
        for _, packet in sorted(packets, key=lambda timed: timed[0]):
            container.mux(packet)
    return path


def draw_sound(path: Path, codec: str, cover: Picture | None = None) -> Path:
    """Write a recording of one second of a tone, with or without a cover picture."""
    with av.open(str(path), "w") as container:
        audio: Any = container.add_stream(codec, rate=44100)
        image: Any = None
        if cover is not None:
            image = container.add_stream("mjpeg")
            image.height, image.width = cover.shape[:2]
            image.pix_fmt = "yuvj420p"
            image.disposition = Disposition.attached_pic
        if image is not None:
            picture = av.VideoFrame.from_ndarray(cover, "rgb24")
            for packet in [*image.encode(picture), *image.encode(None)]:
                container.mux(packet)
        wave = (8000 * np.sin(np.arange(44100) / 20)).astype(np.int16)
        samples = av.AudioFrame.from_ndarray(wave[np.newaxis], format="s16", layout="mono")
        samples.sample_rate = 44100
        for packet in [*audio.encode(samples), *audio.encode(None)]:
            container.mux(packet)
    return path


def _encode_sound(stream: Any, sound: NDArray[np.int16]) -> Iterator[tuple[float, Any]]:
    for first in range(0, len(sound), 8000):
        samples = np.ascontiguousarray(sound[np.newaxis, first : first + 8000])
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = 8000, first, Fraction(1, 8000)
        for packet in stream.encode(frame):
            yield first / 8000, packet


def _add_track(container: Any, track: DrawnTrack) -> Any:
    stream = container.add_stream(track.codec)
    stream.codec_context.subtitle_header = _ASS_HEADER
    stream.time_base = Fraction(1, 1000)
    stream.metadata["language"] = track.language
    if track.title:
        stream.metadata["title"] = track.title
    stream.disposition = Disposition(track.disposition)
    return stream


def _encode_cues(stream: Any, track: DrawnTrack) -> Iterator[tuple[float, Any]]:
    for number, (start_ms, end_ms, text) in enumerate(track.cues):
        if track.codec == "ass":
            style, words = text.split("|", 1) if "|" in text else ("Default", text)
            line = f"{number},0,{style},,0,0,0,,{words}"
            packet = av.Packet(line.encode())
        elif track.codec in ("subrip", "webvtt"):
            packet = av.Packet(text.encode())
        else:
            line = f"{number},0,Default,,0,0,0,,{text}"
            content = SubtitleSet.create(text=line.encode(), start=0, end=end_ms - start_ms)
            packet = stream.codec_context.encode_subtitle(content)
        packet.stream, packet.time_base = stream, Fraction(1, 1000)
        packet.pts = packet.dts = start_ms
        packet.duration = end_ms - start_ms
        yield start_ms / 1000, packet
