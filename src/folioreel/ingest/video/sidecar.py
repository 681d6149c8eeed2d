"""Subtitle files that lie beside a video: `film.srt`, `film.en.srt`, `film.en.sdh.srt`."""

from __future__ import annotations

import re
from pathlib import Path

from folioreel.ingest.source import describe_bitmap_subtitles
from folioreel.ingest.video.languages import language_code

_SUFFIXES = (".srt", ".vtt", ".ass", ".ssa", ".ttml", ".dfxp", ".smi", ".sami", ".sub", ".sbv")
_MARKS = {"sdh": "sdh", "cc": "sdh", "hi": "sdh", "forced": "forced", "foreign": "forced"}


def find_sidecar(video: Path) -> Path | None:
    """The best text subtitle file of a video's name in its folder, or None.

    The whole dialogue comes before forced files, English or no language before other languages, and
    no SDH where there is a choice.
    """
    ranked = []
    try:
        beside = sorted(video.parent.iterdir())
    except OSError:
        return None  # a folder that may be entered but not listed
    for path in beside:
        rank = _rank(path, video)
        if rank is not None and path.is_file() and not _is_bitmap(path):
            ranked.append((rank, path))
    return min(ranked)[1] if ranked else None


def _rank(path: Path, video: Path) -> tuple[bool, bool, bool, int] | None:
    """What to prefer, or None for a file that does not belong to the video."""
    if path.suffix.lower() not in _SUFFIXES or not path.name.startswith(video.stem):
        return None
    middle = path.name[len(video.stem) : -len(path.suffix)]
    if middle and middle[0] not in "._- ":
        return None
    words = [word for word in re.split(r"[._\s-]+", middle.casefold()) if word]
    marks = {_MARKS[word] for word in words if word in _MARKS}
    languages = {code for word in words if word not in _MARKS and (code := language_code(word))}
    if len(words) > len(languages) + len([word for word in words if word in _MARKS]) + 1:
        return None  # `film 2.srt` may be, `film a long other name.srt` is not, of this video
    is_foreign = bool(languages) and "en" not in languages
    return "forced" in marks, is_foreign, "sdh" in marks, _SUFFIXES.index(path.suffix.lower())


def _is_bitmap(path: Path) -> bool:
    """Whether a file holds pictures of text, or nothing that we may read."""
    try:
        with path.open("rb") as file:
            return describe_bitmap_subtitles(file.read(64)) is not None
    except OSError:
        return True
