"""Stills of shots, upright and in shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drawn_films import RATE, draw_film, draw_sound

from folioreel.errors import InputError
from folioreel.ingest.picture import Pixels, Stills
from folioreel.types import Shot

COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]


def flat(colour: tuple[int, int, int]) -> np.ndarray:
    return np.full((120, 160, 3), colour, np.uint8)


@pytest.fixture(scope="module")
def flat_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pictures = [flat(colour) for colour in COLOURS for _ in range(RATE)]
    return draw_film(tmp_path_factory.mktemp("film") / "film.mp4", pictures)


def still(video: Path, start_s: float, end_s: float, width_px: int) -> Pixels:
    with Stills(video, width_px) as stills:
        picture = stills.picture(Shot(index=0, start_s=start_s, end_s=end_s))
    assert picture is not None
    return picture


@pytest.mark.parametrize("number", range(4))
def test_a_still_shows_its_shot(flat_film: Path, number: int) -> None:
    picture = still(flat_film, number, number + 1, 80)
    assert picture.shape == (60, 80, 3)
    assert picture.dtype == np.uint8
    assert np.abs(picture.mean(axis=(0, 1)) - COLOURS[number]).max() < 12


def test_many_stills_in_any_order(flat_film: Path) -> None:
    with Stills(flat_film, 40) as stills:
        for number in (3, 0, 2):
            picture = stills.picture(Shot(index=number, start_s=number, end_s=number + 1))
            assert picture is not None
            assert np.abs(picture.mean(axis=(0, 1)) - COLOURS[number]).max() < 12


def test_beyond_the_end_the_last_picture_is_given(flat_film: Path) -> None:
    picture = still(flat_film, 99, 100, 80)
    assert np.abs(picture.mean(axis=(0, 1)) - COLOURS[3]).max() < 12


def test_a_rotated_film_is_turned_upright(tmp_path: Path) -> None:
    picture = flat((30, 30, 30))
    picture[:, :40] = (220, 220, 220)  # bright at the left of what is stored
    upright = still(draw_film(tmp_path / "a.mp4", [picture] * 5), 0, 0.2, 160)
    turned = still(draw_film(tmp_path / "b.mp4", [picture] * 5, rotation=90), 0, 0.2, 120)
    assert upright.shape == (120, 160, 3)
    assert turned.shape == (160, 120, 3)
    # Turned a quarter counterclockwise, the left side comes to lie below.
    assert turned[-20:].mean() > 180 > 90 > turned[:20].mean()


def test_sound_has_no_stills(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sound but no pictures"):
        Stills(draw_sound(tmp_path / "talk.wav", "pcm_s16le"), 80)
