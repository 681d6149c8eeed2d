"""Bitmap subtitles: when each is on screen, which pixels are letters, where its lines are."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from drawn_films import draw_film, shots_of
from drawn_subtitles import Lettering, add_bitmaps, draw_text, write_sup

from folioreel.ingest.ocr.bitmaps import TextPicture, line_height, read_pictures, split_lines

CUES = [(500, 1500, "Hello there.\n- No, you!"), (2000, 3000, "Good bye.")]


def pictures_of(path: Path) -> list[TextPicture]:
    with av.open(str(path)) as container:
        packets = container.demux(container.streams.subtitles[0])
        return read_pictures([(p, float(p.pts * p.time_base)) for p in packets if p.size])


def letters(text: str, how: Lettering) -> np.ndarray:
    """How much of each pixel is letter, from 0 to 1, as it was drawn."""
    numbers, _ = draw_text(text, how)
    if how.outline or how.box:  # the first numbers are fill, those after them outline
        numbers = np.where(numbers <= how.shades, numbers, 0)
    else:
        numbers = np.maximum(numbers, how.shades) - how.shades
    rows, columns = (np.flatnonzero((numbers / how.shades > 0.4).any(axis=k)) for k in (1, 0))
    return numbers[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] / how.shades


@pytest.mark.parametrize("codec", ["pgssub", "dvdsub", "dvbsub"])
def test_each_codec_is_decoded_with_its_times(tmp_path: Path, codec: str) -> None:
    film = draw_film(tmp_path / "film.mkv", shots_of([100]))
    how = Lettering(size=28, outline=1)
    found = pictures_of(add_bitmaps(tmp_path / "bitmaps.mkv", film, CUES, codec, how))
    # VobSub counts in hundredths of a second.
    times = [(picture.start_s, picture.end_s) for picture in found]
    assert times == [pytest.approx((0.5, 1.5), abs=0.02), pytest.approx((2.0, 3.0), abs=0.02)]
    height = line_height(picture.ink for picture in found)
    assert [len(split_lines(picture.ink, height)) for picture in found] == [2, 1]


@pytest.mark.parametrize(
    "how",
    [
        Lettering(),
        Lettering(fill=(16, 16, 16), outline_colour=(235, 235, 235)),
        Lettering(fill=(235, 235, 16), outline=0, box=True),
        Lettering(fill=(16, 200, 220), outline_colour=(16, 16, 90)),
        Lettering(outline=0),
    ],
    ids=["white in black", "black in white", "yellow on a box", "cyan in blue", "no outline"],
)
def test_ink_is_the_letters_whatever_their_colours(tmp_path: Path, how: Lettering) -> None:
    text = "Quick foxes, jumping!"
    (picture,) = pictures_of(write_sup(tmp_path / "a.sup", [(0, 1000, text)], how))
    wanted = letters(text, how)
    assert picture.ink.shape == wanted.shape
    assert np.abs(picture.ink / 255 - wanted).mean() < 0.02


def test_a_picture_that_is_sent_again_is_one(tmp_path: Path) -> None:
    cues = [(0, 1000, "Again."), (1000, 2000, "Again."), (2500, 3000, "Again.")]
    found = pictures_of(write_sup(tmp_path / "a.sup", cues))
    # An empty display set at the same instant as the next picture is no pause.
    assert [(p.start_s, p.end_s) for p in found] == [(0.0, 2.0), (2.5, 3.0)]


def test_damage_costs_one_picture(tmp_path: Path) -> None:
    sup = write_sup(tmp_path / "a.sup", [(0, 900, "One."), (1000, 1900, "Two.")])
    data = bytearray(sup.read_bytes())
    palette = data.index(b"\x14", data.index(b"PG", 60) + 10)
    data[palette + 200 : palette + 900] = bytes(700)
    sup.write_bytes(data)
    assert pictures_of(sup)[-1].start_s == 1.0


def test_a_picture_as_large_as_the_screen(tmp_path: Path) -> None:
    text = "\n".join(["Many letters fill a wide screen with noise"] * 14)
    (picture,) = pictures_of(write_sup(tmp_path / "a.sup", [(0, 900, text)], Lettering(size=56)))
    assert len(split_lines(picture.ink, 60)) == 14


def bars(*rows: tuple[int, int], height: int = 100) -> np.ndarray:
    ink = np.zeros((height, 50), np.uint8)
    for start, stop in rows:
        ink[start:stop] = 255
    return ink


@pytest.mark.parametrize(
    ("rows", "heights"),
    [
        ([(0, 30), (40, 70)], [30, 30]),
        ([(0, 6), (9, 36)], [36]),  # an accent above its line
        ([(0, 30), (40, 46), (49, 76)], [30, 36]),
        ([(0, 30), (55, 60)], [30, 5]),  # three dots on a line of their own
    ],
)
def test_lines_are_split_at_empty_rows(rows: list[tuple[int, int]], heights: list[int]) -> None:
    assert [line.shape[0] for line in split_lines(bars(*rows), 30)] == heights


def test_lines_that_touch_are_divided_at_the_thinnest_row() -> None:
    ink = bars((0, 68), height=68)
    ink[33, :] = 0
    ink[33, 20] = 255  # a tail that reaches into the next line
    assert [line.shape[0] for line in split_lines(ink, 32)] == [33, 35]


def test_a_logo_does_not_change_how_high_a_line_is() -> None:
    pictures = [bars((0, 30), (40, 70))] * 4 + [bars((0, 28), (40, 44)), bars((0, 300), height=300)]
    assert line_height(pictures) == 30


def test_nothing_is_no_line() -> None:
    assert split_lines(np.zeros((0, 0), np.uint8), 30) == []
    assert line_height([]) == 1
