"""Where the words come from: files beside the video, and times that do not fit it."""

from __future__ import annotations

from pathlib import Path

import pytest

from folioreel.ingest.dialogue_source import check_times, find_sidecar


def test_a_folder_beside_the_video_is_no_subtitle_file(tmp_path: Path) -> None:
    (tmp_path / "film.srt").mkdir()
    assert find_sidecar(tmp_path / "film.mp4") is None


@pytest.mark.parametrize(
    ("preferred", "chosen"),
    [("en", "film.en.srt"), ("fr", "film.fr.srt"), ("de", "film.en.srt"), ("sv", "film.sv.srt")],
)
def test_the_preferred_language_then_english(tmp_path: Path, preferred: str, chosen: str) -> None:
    for language in ("en", "fr", "it", "sv"):
        (tmp_path / f"film.{language}.srt").write_text("1\n", encoding="utf-8")
    (tmp_path / "film.de.forced.srt").write_text("1\n", encoding="utf-8")
    found = find_sidecar(tmp_path / "film.mp4", preferred)
    assert found is not None
    assert found.name == chosen


HOUR = 3600.0
TIMES = [
    ("fits", (60, 5300, 5400, 25.0), None),
    ("a second over", (60, 5401, 5400, 25.0), None),
    (
        "NTSC against PAL",
        (60, 5500, 5400, 25.0),
        "23.976 or 24 frames per second while the film runs at 25",
    ),
    (
        "24 against 23.976",
        (60, 5404, 5400, 24.0),
        "23.976 frames per second while the film runs at 24",
    ),
    (
        "29.97 against 30",
        (60, 5404, 5400, 30.0),
        "29.97 frames per second while the film runs at 30",
    ),
    ("rate unknown", (60, 5500, 5400, None), "film runs at 25"),
    ("longer cut", (60, 6600, 5400, 25.0), "another cut"),
    ("longer cut of a film at 23.976", (60, 5600, 5400, 23.976), "another cut"),
    ("broadcast clock", (10 * HOUR + 60, 10 * HOUR + 5300, 5400, 25.0), "subtract 10 h"),
    ("another film", (6000, 9000, 5400, 25.0), "another film"),
    ("first half", (60, 2700, 5400, 25.0), "one part of the film"),
    ("late", (1500, 5300, 5400, 25.0), "first subtitle comes at 0:25:00"),
    ("short clip", (10, 20, 50, 25.0), None),
    ("no length", (10, 20, 0, 25.0), None),
]


@pytest.mark.parametrize(
    ("times", "words"), [row[1:] for row in TIMES], ids=[row[0] for row in TIMES]
)
def test_times_that_do_not_fit(
    times: tuple[float, float, float, float | None], words: str | None
) -> None:
    notes = list(check_times(*times))
    if words is None:
        assert notes == []
    else:
        assert len(notes) == 1
        assert words in notes[0]
