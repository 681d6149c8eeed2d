"""Subtitles that are late, early or made for another frame rate, against a film's sound."""

from __future__ import annotations

import shutil
import subprocess
import wave
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_films import DrawnTrack, draw_film, scene
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.ingest import film as film_module
from folioreel.ingest.film import load_film
from folioreel.ingest.subtitles.dialogue import Dialogue
from folioreel.ingest.sync import Timing, describe_timing, find_timing, parse_rates, retime
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.voice import FRAMES_PER_S, find_voice
from folioreel.types import Film, Subtitle

SAMPLE_RATE = 8000
PAL = 25 / (24000 / 1001)
Spans = list[tuple[float, float]]


def speak(count: int, seed: int = 0) -> Spans:
    """When people speak: sentences of some seconds, with short and long pauses."""
    rng = np.random.default_rng(seed)
    spans, time_s = [], 5.0
    for _ in range(count):
        time_s += rng.choice([0.3, rng.exponential(3), rng.exponential(20)], p=[0.5, 0.4, 0.1])
        length_s = rng.uniform(0.8, 4)
        spans.append((time_s, time_s + length_s))
        time_s += length_s
    return spans


def subtitles_of(spans: Spans, stretch: float = 1.0, offset_s: float = 0.0) -> list[Subtitle]:
    """Cues that begin with the voice and stay a little longer."""
    return [
        Subtitle(
            index=k,
            start_s=max(0, a * stretch + offset_s),
            end_s=(b + 0.5) * stretch + offset_s,
            text="x" * round(14 * (b - a)),
        )
        for k, (a, b) in enumerate(spans)
    ]


def voice_of(spans: Spans, seed: int = 1, error: float = 0.2) -> NDArray[np.bool_]:
    """What a detector hears that is wrong in some of its frames."""
    heard = np.zeros(round((spans[-1][1] + 60) * FRAMES_PER_S), np.bool_)
    for a, b in spans:
        heard[round(a * FRAMES_PER_S) : round(b * FRAMES_PER_S)] = True
    return heard ^ (np.random.default_rng(seed).random(len(heard)) < error)


@pytest.mark.parametrize(
    ("stretch", "offset_s"),
    [(1, 2.4), (1, -0.9), (1, 45), (1 / PAL, 0), (PAL, 0), (24 / 25, -3), (1 / PAL, 8)],
)
def test_wrong_times_are_found(stretch: float, offset_s: float) -> None:
    spans = speak(300)
    found = find_timing(subtitles_of(spans, stretch, offset_s), voice_of(spans))
    assert found is not None
    assert found.stretch == pytest.approx(1 / stretch, abs=1e-6)
    assert found.offset_s == pytest.approx(-offset_s / stretch, abs=0.3)


@pytest.mark.parametrize("count", [25, 80, 300])
def test_right_times_and_slightly_wrong_ones_stay(count: int) -> None:
    spans = speak(count, seed=count)
    for offset_s in (0.0, 0.3, -0.3):
        assert find_timing(subtitles_of(spans, offset_s=offset_s), voice_of(spans)) is None


@pytest.mark.parametrize("seed", range(6))
def test_sound_that_has_nothing_to_do_with_the_cues_changes_nothing(seed: int) -> None:
    """Another film's voices, noise, silence, and a voice throughout."""
    cues = subtitles_of(speak(120, seed))
    rng = np.random.default_rng(seed)
    assert find_timing(cues, voice_of(speak(120, seed + 100))) is None
    assert find_timing(cues, rng.random(40_000) < 0.5) is None
    assert find_timing(cues, np.zeros(40_000, np.bool_)) is None
    assert find_timing(cues, np.ones(40_000, np.bool_)) is None


def test_another_cut_is_left_alone() -> None:
    """One shift would mend half of the film and spoil the other."""
    spans = speak(300)
    cues = subtitles_of(spans[:150]) + subtitles_of(spans[150:], offset_s=20)
    assert find_timing(cues, voice_of(spans)) is None


def test_a_few_cues_are_too_few() -> None:
    spans = speak(12)
    assert find_timing(subtitles_of(spans, offset_s=5), voice_of(spans)) is None


def test_times_are_stretched_and_then_shifted() -> None:
    said = [Subtitle(index=k, start_s=10.0 * k, end_s=10.0 * k + 2, text="x") for k in range(3)]
    dialogue = Dialogue(subtitles=tuple(said), first_cue_s=0, last_cue_s=22)
    moved = retime(dialogue, Timing(offset_s=-3, stretch=1.1))
    assert [(s.index, s.start_s, s.end_s) for s in moved.subtitles] == [
        (0, pytest.approx(8), pytest.approx(10.2)),
        (1, pytest.approx(19), pytest.approx(21.2)),
    ]
    assert moved.last_cue_s == pytest.approx(21.2)
    assert "1 sentences left out" in moved.notes[0]


def test_frame_rates() -> None:
    assert parse_rates("25:23.976") == pytest.approx(PAL, abs=1e-9)
    assert parse_rates("23.976:24") == pytest.approx(1000 / 1001, abs=1e-9)
    assert parse_rates("29.97:25") == pytest.approx(30000 / 1001 / 25, abs=1e-9)
    for wrong in ("25", "a:b", "25:24:23", "0:25", "25:-1", "inf:25", "25:nan"):
        with pytest.raises(ConfigError, match="frame rates"):
            parse_rates(wrong)
    with pytest.raises(ConfigError, match="near 1"):
        Timing(stretch=25)
    for wrong_s in (float("nan"), float("inf"), -1e9):
        with pytest.raises(ConfigError, match=r"an offset of .* give seconds"):
            Timing(offset_s=wrong_s)


def test_what_is_said_about_it() -> None:
    assert describe_timing(Timing(offset_s=-2.4), 6000) == "the subtitles are 2.4 s late: shifted"
    text = describe_timing(Timing(offset_s=1, stretch=PAL), 6000)
    assert text == (
        "the subtitles run 4.3% faster than the film (the ratio of 25 to 23.976 frames per "
        "second): stretched by 1.0427 (up to 256 s); they are 1.0 s early: shifted"
    )
    slower = describe_timing(Timing(stretch=24 / 25), 6000)
    assert "run 4.0% slower than the film (the ratio of 24 to 25 frames" in slower


def babble(spans: Spans) -> NDArray[np.int16]:
    """A buzz like that of vocal cords, four syllables per second, where somebody speaks."""
    times = np.arange(round((spans[-1][1] + 10) * SAMPLE_RATE)) / SAMPLE_RATE
    pitch = 120 + 25 * np.sin(2 * np.pi * 0.7 * times)
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    buzz = sum(np.sin(k * phase) / (1 + abs(k - 5)) for k in range(1, 20))
    is_on = np.zeros(len(times))
    for a, b in spans:
        is_on[round(a * SAMPLE_RATE) : round(b * SAMPLE_RATE)] = 1
    noise = np.random.default_rng(0).normal(0, 20, len(times))
    return (4000 * is_on * buzz * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * times)) + noise).astype(
        np.int16
    )


def melody(seconds: float) -> NDArray[np.int16]:
    """Notes of half a second, without end."""
    times = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    notes = np.random.default_rng(2).integers(-12, 13, len(times) // 4000 + 1)
    pitch = 330 * 2 ** (np.repeat(notes, 4000)[: len(times)] / 12)
    wave_form = np.sin(2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE) * np.exp(-3 * (times % 0.5))
    return (9000 * wave_form).astype(np.int16)


def film_with(
    folder: Path, sound: NDArray[np.int16] | None, tracks: Sequence[DrawnTrack] = (), name="film"
) -> Path:
    """A still picture with sound."""
    times_ms = list(range(0, 420_000, 10_000))
    pictures = [scene(1)] * len(times_ms)
    return draw_film(
        folder / f"{name}.mkv", pictures, times_ms=times_ms, tracks=tracks, sound=sound
    )


def write_srt(path: Path, cues: Sequence[Subtitle]) -> Path:
    blocks = [
        f"{s.index + 1}\n{_srt_clock(s.start_s)} --> {_srt_clock(s.end_s)}\n"
        f"This is sentence {s.index} of a long talk.\n"
        for s in cues
    ]
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def _srt_clock(time_s: float) -> str:
    milliseconds = round(time_s * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02},{rest % 1000:03}"


@pytest.fixture(scope="module")
def spans() -> Spans:
    return speak(90, seed=3)


def starts(film: Film) -> list[float]:
    return [said.start_s for said in film.subtitles]


def test_a_film_mends_the_file_beside_it(tmp_path: Path, spans: Spans) -> None:
    video = film_with(tmp_path, babble(spans))
    with OpenVideo(video) as opened:
        voice = find_voice(opened, "0" * 64)
    assert voice is not None
    truth = voice_of(spans, error=0)[: len(voice)]
    assert (voice[: len(truth)] == truth).mean() > 0.85

    write_srt(tmp_path / "film.srt", subtitles_of(spans, offset_s=2.4))
    film = load_film(video, shots=False)
    assert any("s late: shifted" in note for note in film.notes)
    assert np.abs(np.array(starts(film)) - [a for a, _ in spans]).max() < 0.35

    untouched = load_film(video, shots=False, timing=Timing(sync=False))
    assert starts(untouched) == pytest.approx([a + 2.4 for a, _ in spans], abs=0.01)
    given = load_film(video, shots=False, timing=Timing(offset_s=-1))
    assert starts(given) == pytest.approx([a + 1.4 for a, _ in spans], abs=0.01)


def test_well_timed_files_music_and_silent_films_stay(tmp_path: Path, spans: Spans) -> None:
    late = write_srt(tmp_path / "late.srt", subtitles_of(spans, offset_s=2.4))
    right = write_srt(tmp_path / "right.srt", subtitles_of(spans))
    cases: list[tuple[str, NDArray[np.int16] | None, Path]] = [
        ("well", babble(spans), right),
        ("music", melody(400), late),
        ("silent", None, late),
    ]
    for name, sound, file in cases:
        film = load_film(film_with(tmp_path, sound, name=name), subtitles=file, shots=False)
        alone = load_film(file)
        assert starts(film) == starts(alone), name
        assert not any("shifted" in note for note in film.notes)


def test_tracks_of_the_video_are_trusted(tmp_path: Path, spans: Spans) -> None:
    cues = [
        (round(1000 * s.start_s), round(1000 * s.end_s), f"This is sentence {s.index}.")
        for s in subtitles_of(spans, offset_s=2.4)
    ]
    video = film_with(tmp_path, babble(spans), [DrawnTrack(cues=cues)])
    assert starts(load_film(video, shots=False)) == pytest.approx(
        [a + 2.4 for a, _ in spans], abs=0.01
    )


def test_pictures_in_a_file_are_mended_and_what_the_film_says_itself_stays(
    tmp_path: Path, spans: Spans, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = film_with(tmp_path, babble(spans))
    late = Dialogue(subtitles=tuple(subtitles_of(spans, offset_s=2.4)), from_file=True)
    offset = Timing(offset_s=-1)
    found: list[Film] = []
    for source, timing in [("ocr", Timing()), ("ocr", offset), ("speech", offset)]:
        given = replace(late, source=source, from_file=source == "ocr")
        monkeypatch.setattr(film_module, "find_dialogue", lambda *_, given=given: given)
        found.append(load_film(video, shots=False, timing=timing))
    mended, moved, spoken = (film.subtitles[0].start_s - spans[0][0] for film in found)
    assert mended == pytest.approx(0, abs=0.35)
    assert moved == pytest.approx(1.4)
    assert spoken == pytest.approx(2.4)
    assert any("recognised speech are the film's own" in note for note in found[-1].notes)


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs espeak-ng")
def test_a_synthetic_voice(tmp_path: Path) -> None:
    """The subtitles of a 25 fps release, for a film at 23.976."""
    pieces: list[NDArray[np.int16]] = []
    found: Spans = []
    rng = np.random.default_rng(4)
    time_s = 0.0
    for k in range(90):
        file = tmp_path / "line.wav"
        text = f"This is sentence number {k} of what she said to {['him', 'the old man'][k % 2]}."
        subprocess.run(["espeak-ng", "-w", str(file), text], check=True)
        with wave.open(str(file)) as opened:
            data = np.frombuffer(opened.readframes(opened.getnframes()), np.int16)
            rate = opened.getframerate()
        at = np.arange(0, len(data) / rate, 1 / SAMPLE_RATE)
        line = np.interp(at, np.arange(len(data)) / rate, data).astype(np.int16)
        pause = np.zeros(round(rng.choice([0.3, 2.0, 9.0]) * SAMPLE_RATE), np.int16)
        time_s += len(pause) / SAMPLE_RATE
        found.append((time_s, time_s + len(line) / SAMPLE_RATE))
        time_s += len(line) / SAMPLE_RATE
        pieces += [pause, line]
    video = film_with(tmp_path, np.concatenate(pieces))
    write_srt(tmp_path / "film.srt", subtitles_of(found, stretch=1 / PAL))
    film = load_film(video, shots=False)
    assert any("the ratio of 25 to 23.976 frames" in note for note in film.notes)
    assert np.abs(np.array(starts(film)) - [a for a, _ in found]).max() < 0.4
