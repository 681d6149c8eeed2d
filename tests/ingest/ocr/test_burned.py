"""Subtitles in the picture: found, read, timed and joined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from drawn_films import RATE, Picture, draw_film, scene, shots_of
from PIL import Image, ImageDraw, ImageFont

from folioreel.errors import InputError
from folioreel.ingest.film import load_film
from folioreel.ingest.ocr import burned as burned_module
from folioreel.ingest.ocr.burned import _join
from folioreel.ingest.subtitles.cues import Cue

CUES = [
    (0.6, 2.0, "Down to the last roll."),
    (2.6, 4.4, "Going over, with the bread,\nyou were late."),
]


def burned() -> Iterator[Picture]:
    """Six seconds of a scene that moves, with cues drawn on it."""
    font = ImageFont.load_default(22)
    background = scene(3, 640, 360)
    for number in range(6 * RATE):
        image = Image.fromarray(np.roll(background, 3 * number, axis=1))
        for start_s, end_s, text in CUES:
            if start_s <= number / RATE < end_s:
                ImageDraw.Draw(image).multiline_text(
                    (320, 345), text, "white", font, "md", align="center",
                    stroke_width=2, stroke_fill="black",
                )  # fmt: skip
        yield np.asarray(image)


def test_drawn_subtitles_are_read(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs RapidOCR: pip install 'folioreel[ocr]'")
    video = draw_film(tmp_path / "film.mkv", burned())
    film = load_film(video, subtitles="burned", shots=False)
    texts = [subtitle.text for subtitle in film.subtitles]
    assert texts == ["Down to the last roll.", "Going over, with the bread, you were late."]
    for subtitle, (start_s, end_s, _) in zip(film.subtitles, CUES, strict=True):
        assert subtitle.start_s == pytest.approx(start_s, abs=0.25)
        assert subtitle.end_s == pytest.approx(end_s, abs=0.25)


def test_a_film_without_text_says_so(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs RapidOCR: pip install 'folioreel[ocr]'")
    video = draw_film(tmp_path / "film.mkv", shots_of([50]))
    with pytest.raises(InputError, match="no subtitles were found in its picture"):
        load_film(video, subtitles="burned", shots=False)


def test_frames_of_another_shape_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broadcast:
        def frames(self, start_s: float, step_s: float) -> Iterator[tuple[float, np.ndarray]]:
            for k, height in enumerate([540, 400, 480, 540, 540]):
                yield k * step_s, np.zeros((height, 960), np.uint8)

    searched: list[tuple[int, ...]] = []
    monkeypatch.setattr(burned_module, "_search", lambda rows: searched.append(rows.shape) or [])
    band = burned_module._Band(440, 520, 30)
    assert burned_module._read(Broadcast(), band, 0.0, 60.0) == []  # type: ignore[arg-type]
    assert searched == [(80, 960)]  # the others are unchanged


def test_neighbours_that_say_the_same_are_one() -> None:
    cues = [
        Cue(start_s=0, end_s=1, text="I've witten it down."),
        Cue(start_s=1, end_s=3, text="I've written it down."),
        Cue(start_s=3, end_s=4, text="It's the same thing."),
        Cue(start_s=6, end_s=7, text="It's the same thing."),
    ]
    joined = list(_join(cues))
    assert [(cue.start_s, cue.end_s, cue.text) for cue in joined] == [
        (0, 3, "I've written it down."),
        (3, 4, "It's the same thing."),
        (6, 7, "It's the same thing."),
    ]
