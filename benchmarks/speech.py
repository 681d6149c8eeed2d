"""How well a film is aligned by its recognised speech instead of its subtitles, on the demo.

The demo's film has no sound: a synthetic voice speaks its lines at their times, a voice of its own
for each character. The voices are Debian's `flite` or `espeak-ng`.

    python benchmarks/speech.py --voices flite
    python benchmarks/speech.py --voices espeak --model tiny.en
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
import tempfile
import wave
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle
from math import gcd
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

RATE = 16_000
# The women of the demo; everybody else speaks with a man's voice.
WOMEN = ("PETRA", "GRETA", "MISS ABLE")
CAST = {
    "flite": {"women": ("slt",), "men": ("rms", "awb")},
    "espeak": {"women": ("en-us+f3", "en-gb+f3"), "men": ("en-us", "en-gb", "en-us+m3")},
}
# From slow to fast: the first that fits between the times of the line is used.
SPEEDS = {"flite": (1.0, 0.9, 0.8, 0.7, 0.6), "espeak": (150, 175, 200, 230, 260)}

Samples = NDArray[np.float32]


def speak(engine: str, voice: str, text: str, room_s: float) -> Samples:
    """A line in a voice, fast enough for the time that it has."""
    for speed in SPEEDS[engine]:
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            commands = {
                "flite": ["flite", "-voice", voice, "--setf", f"duration_stretch={speed}",
                          "-t", text, "-o", file.name],
                "espeak": ["espeak-ng", "-v", voice, "-s", str(speed), "-w", file.name, text],
            }  # fmt: skip
            subprocess.run(commands[engine], check=True, capture_output=True)
            samples = read_wave(Path(file.name).read_bytes())
        if len(samples) <= room_s * RATE:
            break
    return samples


def read_wave(data: bytes) -> Samples:
    """A mono WAV file at our rate."""
    with wave.open(io.BytesIO(data)) as file:
        rate = file.getframerate()
        values = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    common = gcd(RATE, rate)
    resampled = resample_poly(values / 32768, RATE // common, rate // common)
    return np.asarray(resampled, dtype=np.float32)


def read_lines() -> list[dict[str, str]]:
    """The judged lines of the demo, with their speakers and times."""
    from folioreel.apps.demo import demo_folder

    with (demo_folder() / "film_sentences.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def speak_lines(engine: str, lines: Sequence[dict[str, str]], length_s: float) -> Samples:
    """The sound of the film: each line at its time."""
    voices = {sex: cycle(names) for sex, names in CAST[engine].items()}
    cast: dict[str, str] = {}
    sound = np.zeros(round(length_s * RATE), np.float32)
    for line in lines:
        speaker = line["speaker"]
        if speaker not in cast:
            cast[speaker] = next(voices["women" if speaker in WOMEN else "men"])
        start_s, end_s = float(line["start_s"]), float(line["end_s"])
        # Lines are at least 0.08 s apart; a little overlap is natural.
        samples = speak(engine, cast[speaker], line["text"], end_s - start_s + 0.2)
        begin = round(start_s * RATE)
        room = sound[begin : begin + len(samples)]
        room += samples[: len(room)]
    return np.clip(sound, -1, 1)


def make_film(engine: str, path: Path, length_s: float | None = None) -> Path:
    """The demo's film with a sound track and without subtitles; by default the whole film."""
    from folioreel.apps.demo import demo_folder

    with av.open(str(demo_folder() / "film.mp4")) as film, av.open(str(path), "w") as out:
        length_s = length_s or float(film.duration / av.time_base)
        lines = [line for line in read_lines() if float(line["end_s"]) < length_s]
        sound = speak_lines(engine, lines, length_s)
        pictures: Any = out.add_stream_from_template(film.streams.video[0])
        audio: Any = out.add_stream("flac", rate=RATE)
        for packet in film.demux(film.streams.video[0]):
            if packet.dts is not None and packet.pts * packet.time_base < length_s:
                packet.stream = pictures
                out.mux(packet)
        values = (sound * 32767).astype(np.int16)
        for begin in range(0, len(values), 4096):
            part = values[np.newaxis, begin : begin + 4096]
            frame = av.AudioFrame.from_ndarray(part, format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = RATE, begin, Fraction(1, RATE)
            out.mux(audio.encode(frame))
        out.mux(audio.encode(None))
    return path


def word_error_rate(truth: str, heard: str) -> float:
    """Wrong, missing and added words in percent of the true ones (edit distance)."""
    true, found = ([*re.findall(r"[a-z0-9']+", text.lower())] for text in (truth, heard))
    here = np.arange(len(found) + 1)
    columns = np.arange(len(found) + 1)
    for row, word in enumerate(true, 1):
        changed = here[:-1] + np.array([other != word for other in found])
        best = np.minimum(np.concatenate([[row], changed]), here + 1)
        here = np.minimum.accumulate(best - columns) + columns  # insertions
    return 100 * float(here[-1]) / len(true)


def main() -> None:
    """Make the film, align it both ways, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--voices", choices=CAST, default="flite")
    parser.add_argument("--model", default="base")
    parser.add_argument("--keep", type=Path, help="where to keep the film with sound")
    arguments = parser.parse_args()

    from folioreel.alignment.align import align
    from folioreel.apps.demo import demo_folder
    from folioreel.config import SpeechConfig
    from folioreel.evaluate.dataset import load_pair
    from folioreel.evaluate.metrics import placed_links, score_links

    pair = load_pair(demo_folder())
    with tempfile.TemporaryDirectory() as folder:
        film = (arguments.keep or Path(folder)) / f"demo-{arguments.voices}.mkv"
        if not film.exists():
            film.parent.mkdir(parents=True, exist_ok=True)
            make_film(arguments.voices, film)
        speech = SpeechConfig(model=arguments.model)
        for subtitles in (demo_folder() / "film.srt", "speech"):
            alignment = align(pair.book, film, subtitles=subtitles, speech=speech)
            scores = score_links(pair, placed_links(alignment))
            said = [subtitle.text for subtitle in alignment.film.subtitles]
            error = word_error_rate(" ".join(x["text"] for x in read_lines()), " ".join(said))
            print(
                f"{'speech' if subtitles == 'speech' else 'subtitles':10} {len(said)} sentences, "
                f"word error rate {error:.1f} %; near {scores.near:.1f}, recall "
                f"{scores.recall:.1f}, strict {scores.strict:.1f}, ap {scores.ap:.1f}"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
