"""Watching: which frames of a film are looked at, what of them is seen, and what damage does.

The encoder of these tests gives the colours of a picture, four by four, so that every vector can
be checked against the picture that was drawn.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import av
import numpy as np
import pytest
from drawn_films import RATE, Coding, Picture, draw_film, draw_sound, scene, shots_of

from folioreel.errors import InputError
from folioreel.ingest.film import load_film
from folioreel.ingest.video import shots as shots_module
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shots import VideoScan, scan_video
from folioreel.ingest.video.watch import FRAMES_A_SHOT, FrameEncoder, _CurrentShot
from folioreel.types import Film

LENGTHS = [30, 12, 50, 25, 40]
CUTS = [0.0, *(frames / RATE for frames in accumulate(LENGTHS[:-1]))]


class Colours:
    """Mean colours of sixteen fields as `visual`, the mean of all as `scene`."""

    name, size_px, fingerprint = "colours", 64, "ab" * 32

    def __init__(self) -> None:
        self.frames = 0

    def encode(self, frames):
        assert frames.dtype == np.uint8
        assert frames.shape[1:] == (64, 64, 3)
        self.frames += len(frames)
        fields = frames.reshape(-1, 4, 16, 4, 16, 3).mean((2, 4), dtype=np.float32)
        return {
            "visual": fields.reshape(len(frames), 48),
            "scene": frames.mean((1, 2), dtype=np.float32),
        }


def colours_of(picture: Picture) -> np.ndarray:
    """The sixteen mean colours of a picture, each field to the very pixel."""
    rows = np.array_split(picture.astype(float), 4)
    fields = [part.mean((0, 1)) for row in rows for part in np.array_split(row, 4, axis=1)]
    return np.concatenate(fields)


def watch(film: Path, encoder: FrameEncoder | None = None) -> VideoScan:
    with OpenVideo(film) as video:
        return scan_video(video, encoder=encoder or Colours())


def check_fields(film: Path, pictures: list[Picture], tolerance: float = 6) -> VideoScan:
    """Each shot shows what was drawn."""
    scan = watch(film)
    assert scan.features is not None
    assert len(scan.shots) == len(pictures)
    expected = np.stack([colours_of(picture) for picture in pictures])
    np.testing.assert_allclose(scan.features.vectors["visual"], expected, atol=tolerance)
    return scan


def stills(seeds: list[int], length: int = 25) -> list[Picture]:
    return [scene(seed) for seed in seeds for _ in range(length)]


def test_each_shot_is_seen_and_no_other_with_it(tmp_path: Path) -> None:
    pictures = [scene(seed) for seed, length in enumerate(LENGTHS) for _ in range(length)]
    scan = check_fields(draw_film(tmp_path / "film.mp4", pictures), [scene(k) for k in range(5)])
    assert [shot.start_s for shot in scan.shots] == pytest.approx(CUTS, abs=0.002)
    assert scan.features is not None
    assert {kind: rows.shape for kind, rows in scan.features.vectors.items()} == {
        "visual": (5, 48),
        "scene": (5, 3),
    }
    assert all(rows.dtype == np.float16 for rows in scan.features.vectors.values())


def test_shots_are_the_same_with_and_without_watching(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mkv", shots_of(LENGTHS))
    assert watch(film).shots == load_film(film).shots


def test_a_shot_is_the_mean_of_frames_all_over_it(tmp_path: Path) -> None:
    grey = [np.full((120, 160, 3), 60 + k, np.uint8) for k in range(100)]
    scan = watch(draw_film(tmp_path / "film.mp4", grey))
    assert scan.features is not None
    assert len(scan.shots) == 1
    assert np.abs(scan.features.vectors["scene"] - 110).max() < 12


@pytest.mark.parametrize("frames", [1, 3, 8, 30, 1000])
def test_some_frames_however_long_the_shot(frames: int) -> None:
    running, kept = _CurrentShot(), 0
    for number in range(frames):
        if running.wants(number / RATE):
            running.keep(number / RATE, np.zeros((1, 1, 3), np.uint8))
            kept = max(kept, len(running._kept))
    times = [time_s for time_s, _ in running.cut(frames / RATE)]
    assert 1 <= len(times) <= FRAMES_A_SHOT
    assert kept <= 6
    if frames > 20:
        shares = np.array(times) * RATE / frames
        np.testing.assert_allclose(shares, [1 / 6, 1 / 2, 5 / 6], atol=0.2)
    assert running.cut(frames / RATE) == []


def test_frames_after_a_cut_belong_to_the_next_shot() -> None:
    running = _CurrentShot()
    for number in range(5):
        running.keep(float(number), np.full((1, 1, 3), number, np.uint8))
    assert [time_s for time_s, _ in running.cut(3.0)] == [0.0, 1.0, 2.0]
    assert [time_s for time_s, _ in running.cut(9.0)] == [3.0, 4.0]


def test_both_sides_of_a_fade_are_seen(tmp_path: Path) -> None:
    def lit(seed: int, light: float) -> Picture:
        return (scene(seed) * light).astype(np.uint8)

    pictures = [scene(1)] * 200 + [lit(1, 1 - k / 20) for k in range(20)] + [lit(1, 0)] * 10
    pictures += [lit(2, k / 20) for k in range(20)] + [scene(2)] * 20
    scan = watch(draw_film(tmp_path / "film.mp4", pictures))
    assert scan.features is not None
    assert len(scan.shots) == 2
    assert np.abs(scan.features.vectors["scene"]).min() > 20


def test_variable_frame_rate(tmp_path: Path) -> None:
    steps_ms = [40] * 25 + [100] * 25 + [20] * 25
    film = draw_film(
        tmp_path / "film.mkv", stills([1, 2, 3]), times_ms=[0, *accumulate(steps_ms[:-1])]
    )
    scan = check_fields(film, [scene(1), scene(2), scene(3)])
    assert [shot.start_s for shot in scan.shots] == pytest.approx([0, 1, 3.5], abs=0.002)


@pytest.mark.parametrize(("rotation", "turns"), [(90, 1), (180, 2), (270, 3)])
def test_rotated_pictures_are_seen_upright(tmp_path: Path, rotation: int, turns: int) -> None:
    film = draw_film(tmp_path / "film.mp4", stills([1, 2]), rotation=rotation)
    check_fields(film, [np.rot90(scene(1), turns), np.rot90(scene(2), turns)])


def test_anamorphic_pictures_are_seen_in_their_true_shape(tmp_path: Path) -> None:
    # 160 × 120 with pixels twice as wide as high is 8:3, wider than 16:9: two thirds are seen.
    wide = Coding(pixel_shape=Fraction(2))
    film = draw_film(tmp_path / "film.mkv", stills([1, 2]), coding=wide)
    middle = slice(27, 133)
    check_fields(film, [scene(1)[:, middle], scene(2)[:, middle]])
    narrow = Coding(pixel_shape=Fraction(4, 3))  # 16:9 exactly: all is seen
    film = draw_film(tmp_path / "narrow.mkv", stills([1, 2]), coding=narrow)
    check_fields(film, [scene(1), scene(2)])


def test_interlaced_fields_are_seen_together(tmp_path: Path) -> None:
    options = {"bf": "0", "flags": "+ilme+ildct", "x264-params": "tff=1:interlaced=1"}
    moving = [np.roll(scene(seed), k, axis=1) for seed in (1, 2) for k in range(-25, 25)]
    woven = []
    for first, second in zip(moving[::2], moving[1::2], strict=True):
        woven.append(first.copy())
        woven[-1][1::2] = second[1::2]
    film = draw_film(tmp_path / "film.mkv", woven, coding=Coding(codec="libx264", options=options))
    with av.open(str(film)) as container:
        assert any(frame.interlaced_frame for frame in container.decode(video=0))
    scan = check_fields(film, [scene(1), scene(2)], tolerance=45)
    assert scan.features is not None
    plain = watch(draw_film(tmp_path / "plain.mkv", moving[::2])).features
    assert plain is not None
    np.testing.assert_allclose(scan.features.vectors["visual"], plain.vectors["visual"], atol=12)


def test_ten_bits(tmp_path: Path) -> None:
    coding = Coding(codec="libx264", pixel_format="yuv420p10le", options={"bf": "0", "qp": "10"})
    film = draw_film(tmp_path / "film.mkv", stills([1, 2]), coding=coding)
    check_fields(film, [scene(1), scene(2)])


def test_a_broken_tail_keeps_what_decodes(tmp_path: Path) -> None:
    film = draw_film(tmp_path / "film.mkv", stills(list(range(1, 9)), 75))
    data = film.read_bytes()
    film.write_bytes(data[: len(data) * 6 // 10])
    scan = watch(film)
    assert scan.features is not None
    assert 3 <= len(scan.shots) < 8
    expected = np.stack([colours_of(scene(k + 1)) for k in range(len(scan.shots))])
    np.testing.assert_allclose(scan.features.vectors["visual"], expected, atol=6)
    assert any("cut short" in note for note in scan.notes)


def test_a_corrupt_frame_in_the_middle_is_skipped_and_counted(tmp_path: Path) -> None:
    coding = Coding(codec="libx264", options={"g": "1"})  # each frame by itself
    grain = np.random.default_rng(1).integers(0, 8, (100, 120, 160, 3), dtype=np.uint8)
    pictures = [still + grain[k] for k, still in enumerate(stills([1, 2], 50))]
    film = draw_film(tmp_path / "film.mkv", pictures, coding=coding)
    whole = watch(film)
    with av.open(str(film)) as container:
        packet = [p for p in container.demux(video=0) if p.size][60]
        piece = bytes(packet)[40:-8]
    data = film.read_bytes()
    assert data.count(piece) == 1
    noise = np.random.default_rng(3).integers(0, 256, len(piece), dtype=np.uint8).tobytes()
    film.write_bytes(data.replace(piece, noise))
    scan = check_fields(film, [scene(1), scene(2)])
    assert scan.frames == whole.frames - 1
    assert scan.shots == whole.shots
    assert not whole.notes
    assert scan.notes == ("skipped 1 damaged frame of the video",)


def test_sound_alone_and_covers_are_no_films(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sound but no pictures"):
        watch(draw_sound(tmp_path / "talk.wav", "pcm_s16le"))
    with pytest.raises(InputError, match="cover picture"):
        watch(draw_sound(tmp_path / "song.mp3", "mp3", cover=scene(1)))


def test_an_encoder_that_fails_is_heard(tmp_path: Path) -> None:
    class Failing(Colours):
        def encode(self, frames):
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        watch(draw_film(tmp_path / "film.mp4", stills([1, 2])), Failing())


def test_a_film_is_watched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    film = draw_film(tmp_path / "film.mp4", shots_of(LENGTHS))
    encoder = Colours()
    first = load_film(film, encoder=encoder)
    seen = encoder.frames
    again = load_film(film, encoder=encoder)
    assert 5 <= seen == encoder.frames <= 5 * FRAMES_A_SHOT
    assert first == again == load_film(film)
    check_same_features(first, again)
    (tmp_path / "copy.mp4").write_bytes(film.read_bytes())
    monkeypatch.setattr(shots_module, "_CACHE_VERSION", 2)
    check_same_features(first, load_film(tmp_path / "copy.mp4", encoder=encoder))
    assert encoder.frames == 2 * seen


def check_same_features(one: Film, two: Film) -> None:
    assert one.features is not None
    assert two.features is not None
    assert (one.features.network, one.features.fingerprint) == ("colours", "ab" * 32)
    assert one.features.vectors.keys() == two.features.vectors.keys() == {"visual", "scene"}
    for kind, rows in one.features.vectors.items():
        np.testing.assert_array_equal(rows, two.features.vectors[kind])


def test_without_an_encoder_there_are_no_features(tmp_path: Path) -> None:
    assert load_film(draw_film(tmp_path / "film.mp4", [scene(1)] * 5)).features is None
