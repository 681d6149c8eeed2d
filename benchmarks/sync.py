"""How often wrong times of subtitles are found by the sound (docs/explanation/warnings.md).

    python benchmarks/sync.py FILM.srt OTHER.srt [--minutes M] [--trials N]

Two films are spoken by espeak-ng, line by line with pauses. Pieces of them are given right times,
shifted ones, and the times of the other film.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import wave
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from folioreel.ingest.film import load_film
from folioreel.ingest.sync import find_timing
from folioreel.ingest.video.voice import FRAMES_PER_S
from folioreel.types import Subtitle

RATE = 8000
CUES = (22, 40, 80, 160)
Sound = NDArray[np.float32]


def speak(text: str) -> Sound:
    """A line by espeak-ng."""
    command = ["espeak-ng", "--stdout", text]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(data)) as opened:
        rate = opened.getframerate()
        samples = np.frombuffer(opened.readframes(10**9), np.int16).astype(np.float32)
    samples = np.trim_zeros(samples)
    times = np.arange(0, len(samples) / rate, 1 / RATE)
    return np.interp(times, np.arange(len(samples)) / rate, samples).astype(np.float32)


def perform(path: Path, length_s: float, rng: np.random.Generator) -> tuple[Sound, list[Subtitle]]:
    """The sound of a film, and cues that are a little off, as those of real films are."""
    sound = np.zeros(round(length_s * RATE), np.float32)
    cues: list[Subtitle] = []
    time_s = 8.0
    for said in load_film(path).subtitles:
        pauses = [0.2, rng.exponential(3), rng.exponential(25)]
        time_s += rng.choice(pauses, p=[0.5, 0.4, 0.1])
        line = speak(said.text[:200])
        end_s = time_s + len(line) / RATE
        if end_s > length_s - 5:
            break
        first = round(time_s * RATE)
        sound[first : first + len(line)] += line * rng.uniform(0.4, 1)
        begin, stay = rng.uniform(-0.15, 0.15), rng.uniform(0.1, 1.2)
        cues.append(replace(said, index=len(cues), start_s=time_s + begin, end_s=end_s + stay))
        time_s = end_s
    return sound, cues


def play(length: int, rng: np.random.Generator) -> Sound:
    """Notes with harmonics, at a level of 1."""
    sound = np.zeros(length, np.float32)
    first = 0
    while first < length:
        times = np.arange(round(rng.choice([0.25, 0.5, 1, 2]) * RATE)) / RATE
        pitch = 220 * 2 ** (rng.integers(-12, 18) / 12)
        note = sum(np.sin(2 * np.pi * pitch * k * times) / k for k in range(1, 5))
        last = min(length, first + len(times))
        sound[first:last] += (note * np.exp(-2 * times))[: last - first]
        first += round(len(times) * rng.choice([1, 0.5], p=[0.67, 0.33]))
    return sound / np.sqrt((sound**2).mean())


def detect(sound: Sound) -> NDArray[np.bool_]:
    """Voice activity, as in folioreel.ingest.video.voice."""
    detector = webrtcvad.Vad(3)
    data = sound.clip(-32000, 32000).astype(np.int16).tobytes()
    size = 2 * RATE // FRAMES_PER_S
    frames = range(0, len(data) - size + 1, size)
    return np.array([detector.is_speech(data[k : k + size], RATE) for k in frames])


def shift(cues: list[Subtitle], offset_s: float) -> list[Subtitle]:
    """Cues at other times."""
    return [
        replace(cue, start_s=max(0, cue.start_s + offset_s), end_s=max(0.01, cue.end_s + offset_s))
        for cue in cues
    ]


def main() -> None:
    """Print how often each kind of times is changed, and how."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("films", type=Path, nargs=2)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--trials", type=int, default=240)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    films = [perform(path, 60 * options.minutes, rng) for path in options.films]
    counts: Counter[tuple[str, int, str]] = Counter()
    for name, level in (("clean", 0.0), ("music", 0.5)):
        voices = []
        for sound, _ in films:
            loud = np.sqrt((sound[sound != 0] ** 2).mean())
            voices.append(detect(sound + level * loud * play(len(sound), rng)))
        for _ in range(options.trials):
            which, count = int(rng.integers(2)), int(rng.choice(CUES))
            first = int(rng.integers(0, len(films[which][1]) - count))
            cues = films[which][1][first : first + count]
            begin_s, end_s = max(0, cues[0].start_s - 20), cues[-1].end_s + 20
            part = slice(round(begin_s * FRAMES_PER_S), round(end_s * FRAMES_PER_S))
            cues = shift(cues, -begin_s)
            offset_s = float(rng.choice([-1, 1]) * rng.uniform(0.7, 15.7))
            found = find_timing(shift(cues, offset_s), voices[which][part])
            is_right = found is not None and found.stretch == 1
            is_right = is_right and abs(found.offset_s + offset_s) < 0.3
            counts[name, count, "trials"] += 1
            counts[name, count, "shifted: mended"] += is_right
            counts[name, count, "shifted: wrongly"] += found is not None and not is_right
            unneeded = find_timing(cues, voices[which][part]) is not None
            counts[name, count, "right: changed"] += unneeded
            other = find_timing(cues, voices[1 - which][part]) is not None
            counts[name, count, "other film: changed"] += other
    for (name, count, what), number in sorted(counts.items()):
        print(f"| {name} | {count} cues | {what} | {number} |")


if __name__ == "__main__":
    main()
