"""Films with sound made by code, and a recogniser that hears words coded as loudness."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.stream import Disposition
from drawn_films import draw_film, shots_of

from folioreel.ingest.speech.listen import RATE, Word

LEVEL = 1 / 1000  # word `w7` is half a second of the constant value 7/1000
WORD_S = 0.5


def code_words(times_s: dict[int, float], length_s: float) -> np.ndarray:
    """Sound in which word `w<k>` is heard at `times_s[k]`."""
    sound = np.zeros(round(length_s * RATE), np.float32)
    for word, start_s in times_s.items():
        begin = round(start_s * RATE)
        sound[begin : begin + round(WORD_S * RATE)] = word * LEVEL
    return sound


class CodedWords:
    """A recogniser of `code_words`; it counts what it is asked to do."""

    name = "coded words"
    languages = ("en",)

    def __init__(self, fingerprint: str = "coded", stop_at: int | None = None) -> None:
        self.fingerprint = fingerprint
        self.stop_at = stop_at
        self.asked: list[str] = []
        self.calls = 0
        self.lengths_s: list[float] = []

    def find_speech(self, samples: np.ndarray) -> list[tuple[int, int]]:
        """Runs of samples that are not silent, a little widened, as a voice detector does it."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], samples != 0, [0]])))
        wider = round(0.05 * RATE)
        return [
            (max(0, int(a) - wider), min(len(samples), int(b) + wider))
            for a, b in edges.reshape(-1, 2)
        ]

    def detect_language(self, windows: list[np.ndarray]) -> str:
        """English, always."""
        self.asked.append("language")
        return "en"

    def recognise(self, windows: list[np.ndarray], language: str) -> list[list[Word]]:
        """A word per run; the user presses Ctrl-C at call `stop_at`."""
        self.calls += 1
        if self.calls == self.stop_at:
            raise KeyboardInterrupt
        self.lengths_s += [len(window) / RATE for window in windows]
        return [self._words(window) for window in windows]

    def _words(self, window: np.ndarray) -> list[Word]:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], window != 0, [0]])))
        return [
            Word(begin / RATE, end / RATE, f" w{round(float(window[begin]) / LEVEL)}.")
            for begin, end in edges.reshape(-1, 2).tolist()
        ]


def add_sound(
    film: Path,
    sounds: list[tuple[np.ndarray, float]],
    *,
    language: str = "eng",
    title: str = "",
    more: tuple[tuple[str, str, Disposition], ...] = (),
) -> Path:
    """A copy of a film with a sound track made of (samples, start in seconds), beside it.

    `more` are further tracks of silence: language, title and marks.
    """
    path = film.with_name(f"{film.stem}-sound.mkv")
    with av.open(str(film)) as source, av.open(str(path), "w") as out:
        pictures: Any = out.add_stream_from_template(source.streams.video[0])
        audio: Any = out.add_stream("pcm_s16le", rate=RATE)
        audio.metadata.update({"language": language, "title": title})
        tracks = [(audio, sounds)]
        for code, name, marks in more:
            other: Any = out.add_stream("pcm_s16le", rate=RATE)
            other.metadata.update({"language": code, "title": name})
            other.disposition = marks
            tracks.append((other, [(np.zeros(RATE, np.float32), 0.0)]))
        packets = [p for p in source.demux(source.streams.video[0]) if p.dts is not None]
        for packet in packets:
            packet.stream = pictures
        for stream, parts in tracks:
            packets += _encode(stream, parts)
        for packet in sorted(packets, key=lambda packet: packet.pts * packet.time_base):
            out.mux(packet)
    return path


def _encode(stream: Any, parts: list[tuple[np.ndarray, float]]) -> list[Any]:
    packets = []
    for samples, start_s in parts:
        values = (samples * 32767).round().astype(np.int16)
        for begin in range(0, len(values), 4096):
            frame = av.AudioFrame.from_ndarray(
                values[np.newaxis, begin : begin + 4096], format="s16", layout="mono"
            )
            frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
            frame.pts = round(start_s * RATE) + begin
            packets += stream.encode(frame)
    return [*packets, *stream.encode(None)]


def spoken_film(folder: Path, times_s: dict[int, float], length_s: float) -> Path:
    """A film of two shots in which coded words are heard."""
    film = draw_film(folder / "film.mkv", shots_of([25, 25]))
    return add_sound(film, [(code_words(times_s, length_s), 0.0)])
