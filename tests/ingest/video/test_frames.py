"""Single pictures at given times, upright and in shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn_films import RATE, draw_film, draw_sound, scene

from folioreel.errors import InputError
from folioreel.ingest.video.frames import decode_frame, decode_frames

COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]


def flat(colour: tuple[int, int, int]) -> np.ndarray:
    return np.full((120, 160, 3), colour, np.uint8)


@pytest.fixture(scope="module")
def flat_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [flat(colour) for colour in COLOURS for _ in range(RATE)]
    return draw_film(tmp_path_factory.mktemp("film") / "film.mp4", pictures)


@pytest.mark.parametrize("time_s", [0.0, 0.5, 0.99, 1.0, 2.5, 3.99, 99.0])
def test_the_picture_on_screen(flat_film: Path, time_s: float) -> None:
    picture = decode_frame(flat_film, time_s, 80)
    assert picture.shape == (60, 80, 3)
    assert picture.dtype == np.uint8
    expected = COLOURS[min(int(time_s), 3)]
    assert np.abs(picture.mean(axis=(0, 1)) - expected).max() < 12


def test_many_pictures_in_any_order(flat_film: Path) -> None:
    for picture, number in zip(
        decode_frames(flat_film, [3.5, 0.5, 2.5], 40), (3, 0, 2), strict=True
    ):
        assert np.abs(picture.mean(axis=(0, 1)) - COLOURS[number]).max() < 12


def test_a_rotated_film_is_turned_upright(tmp_path: Path) -> None:
    picture = flat((30, 30, 30))
    picture[:, :40] = (220, 220, 220)  # bright at the left of what is stored
    upright = decode_frame(draw_film(tmp_path / "a.mp4", [picture] * 5), 0, 160)
    turned = decode_frame(draw_film(tmp_path / "b.mp4", [picture] * 5, rotation=90), 0, 120)
    assert upright.shape == (120, 160, 3)
    assert turned.shape == (160, 120, 3)
    # Turned a quarter counterclockwise, the left side comes to lie below.
    assert turned[-20:].mean() > 180 > 90 > turned[:20].mean()


def test_no_picture(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sound and no pictures"):
        decode_frame(draw_sound(tmp_path / "talk.wav", "pcm_s16le"), 0, 80)
    with pytest.raises(ValueError, match="width_px"):
        decode_frame(draw_film(tmp_path / "film.mp4", [scene(1)]), 0, 0)
