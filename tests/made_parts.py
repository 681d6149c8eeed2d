"""A film in two parts beside the same film in one file, and a book for both."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from conftest import SENTENCES
from drawn_films import RATE, Coding, draw_film, shots_of

SHOT_FRAMES = (75, 50, 50, 75, 50, 100)
SPLIT_SHOTS = 3
SPLIT_S = sum(SHOT_FRAMES[:SPLIT_SHOTS]) / RATE
CUES = (
    (0.4, 2.2, "Sixty-one kilos."),
    (3.2, 4.4, "He said nothing at all."),
    (7.5, 9.0, "Did you hear the band in the malt-house?"),
    (10.2, 11.6, "Who opened the hoarding?"),
    (12.5, 14.5, "Only trampled grass behind the planks."),
)
PLAYED = Coding(codec="libx264", options={"preset": "ultrafast"})  # as browsers can play it


def write_parts(folder: Path, coding: Coding | None = None) -> tuple[Path, list[Path], Path]:
    """The book, the parts and the whole film; each film has its subtitles beside it."""
    (folder / "parts").mkdir(parents=True)
    book = folder / "book.txt"
    book.write_text("\n\n".join(SENTENCES), encoding="utf-8")
    pictures = list(shots_of(SHOT_FRAMES))
    first = round(SPLIT_S * RATE)
    whole = draw_film(folder / "whole.mp4", pictures, coding=coding)
    write_srt(whole.with_suffix(".srt"), CUES)
    parts = [folder / "parts" / f"Ferry.CD{k}.mp4" for k in (1, 2)]
    draw_film(parts[0], islice(pictures, first), coding=coding)
    draw_film(parts[1], islice(pictures, first, None), coding=coding)
    for part, cues in zip(parts, split_cues(CUES, SPLIT_S), strict=True):
        write_srt(part.with_suffix(".srt"), cues)
    return book, parts, whole


def split_cues(cues, split_s):
    """The cues before a time, and those after it with their own times."""
    return (
        [cue for cue in cues if cue[0] < split_s],
        [(a - split_s, b - split_s, text) for a, b, text in cues if a >= split_s],
    )


def write_srt(path: Path, cues) -> Path:
    text = "\n".join(
        f"{k}\n{_stamp(a)} --> {_stamp(b)}\n{text}\n" for k, (a, b, text) in enumerate(cues, 1)
    )
    path.write_text(text, encoding="utf-8")
    return path


def _stamp(time_s: float) -> str:
    seconds, milliseconds = divmod(round(1000 * time_s), 1000)
    return f"00:{seconds // 60:02}:{seconds % 60:02},{milliseconds:03}"
