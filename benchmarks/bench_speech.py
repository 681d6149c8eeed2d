"""Seconds of listening per minute of film, beside faster-whisper called alone (`make bench`).

All three hear the same two minutes, spoken by a synthetic voice, with the same model in memory:
folioreel in blocks of a minute that it can resume, and faster-whisper with the whole sound at once,
by its batched pipeline and one window after the other. The best of three runs each, taken in turns,
by the clock and by the time of all cores, which says the same on a busy machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from speech import make_film

FILM_S = 120.0
RUNS = 3


def listen_alone(transcribe: Callable[..., Any], film: Path, **options: Any) -> int:
    """The number of words that faster-whisper finds."""
    segments, _ = transcribe(str(film), language="en", word_timestamps=True, **options)
    return sum(len(segment.words) for segment in segments)


def listen_with_folioreel(recogniser: Any, film: Path) -> int:
    """The number of words that we find, with nothing in the cache."""
    from folioreel.ingest.speech.listen import listen
    from folioreel.ingest.video.audio import choose_audio
    from folioreel.ingest.video.container import OpenVideo

    with tempfile.TemporaryDirectory() as folder, OpenVideo(film) as video:
        os.environ["FOLIOREEL_CACHE"] = folder
        return len(listen(video, choose_audio(video).index, recogniser, "en").words)


def main() -> None:
    """Print one line for each of the three, and how they compare."""
    engine = next((name for name in ("flite", "espeak-ng") if shutil.which(name)), None)
    if engine is None:
        print("skipped: install flite or espeak-ng, which speak for the film")
        return
    from folioreel.errors import ConfigError
    from folioreel.ingest.speech.model_files import find_model
    from folioreel.ingest.speech.whisper import load_whisper

    try:
        name, folder = find_model()
    except ConfigError as error:
        print(f"skipped: {error}")
        return
    recogniser = load_whisper(name, folder)
    alone, batched = recogniser._model, recogniser._batched
    with tempfile.TemporaryDirectory() as place:
        film = make_film(engine.partition("-")[0], Path(place) / "film.mkv", FILM_S)
        listeners: dict[str, Callable[[], int]] = {
            "folioreel": partial(listen_with_folioreel, recogniser, film),
            "faster-whisper, batched": partial(listen_alone, batched.transcribe, film),
            "faster-whisper, in turn": partial(
                listen_alone, alone.transcribe, film, vad_filter=True
            ),
        }
        clock: dict[str, list[float]] = {who: [] for who in listeners}
        cores: dict[str, list[float]] = {who: [] for who in listeners}
        words = dict.fromkeys(listeners, 0)
        for _ in range(RUNS):
            for who, hear in listeners.items():
                start_s, start_cores_s = time.perf_counter(), time.process_time()
                words[who] = hear()
                clock[who].append(time.perf_counter() - start_s)
                cores[who].append(time.process_time() - start_cores_s)
    minutes = FILM_S / 60
    for who in listeners:
        print(
            f"{who} ({name}): {min(clock[who]) / minutes:.2f} s per minute of film, "
            f"{min(cores[who]) / minutes:.2f} s of all cores, {words[who]} words"
        )
    for who in list(listeners)[1:]:
        by_clock = min(clock["folioreel"]) / min(clock[who])
        by_cores = min(cores["folioreel"]) / min(cores[who])
        print(f"folioreel : {who} = {by_clock:.2f} by the clock, {by_cores:.2f} by all cores")


if __name__ == "__main__":
    main()
