"""Bitmap subtitles of a film, or in a file of their own → dialogue.

Lines are read in chunks of a few dozen cues, and each chunk is cached by its pixels: a run that was
stopped goes on after the last chunk it finished, and the same subtitles in another file are known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import av
import numpy as np

from folioreel.cache import cached_json
from folioreel.errors import InputError, UnreadableWordsError
from folioreel.ingest.ocr.bitmaps import Ink, TextPicture, line_height, read_pictures, split_lines
from folioreel.ingest.ocr.recognisers import Reading, Recogniser, choose_recogniser
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import Dialogue, build_dialogue
from folioreel.ingest.video.container import LONGEST_WAIT_S
from folioreel.ingest.video.tracks import (
    Track,
    TrackSource,
    choose_track,
    list_tracks,
    track_packets,
)
from folioreel.language import PREFERRED
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.progress import track as track_progress
from folioreel.reading import is_file

_STAGE = "reading pictures of text"
# Part of the cache key. Add one when the same pixels would be read differently.
_CACHE_VERSION = 1
# What is lost at most when a run is stopped: a few seconds of work.
_CUES_A_CHUNK = 32
# Ornaments and logos are read as random letters; RapidOCR itself drops what is below this.
_LEAST_CONFIDENCE = 0.5


def read_bitmap_track(
    source: TrackSource,
    wanted: Track,
    progress: ProgressCallback | None = None,
    language: str | None = None,
) -> Dialogue:
    """Read a track of pictures into spoken sentences; the user may say in which `language`.

    Raises:
        UnreadableWordsError: The recogniser for the track's language is not installed.
        InputError: The track has no cues.
    """
    try:
        recogniser = choose_recogniser(language or wanted.language)
    except UnreadableWordsError as error:
        message = f"its subtitles are pictures of text: {wanted}; {error.message}"
        raise UnreadableWordsError(message, source.path) from None
    notes: list[str] = []
    packets = track_packets(source, wanted.index, progress or ignore_progress, notes)
    pictures = read_pictures(packets)
    cues, doubts = recognise(pictures, recogniser, progress, language or wanted.language)
    if not cues:
        raise InputError(f"{wanted} has no cues; choose another one", source.path)
    parsed = ParsedCues(format=wanted.codec, cues=tuple(cues), notes=(*notes, *doubts))
    return replace(build_dialogue(parsed, language, wanted.language), source="ocr")


def read_bitmap_file(
    path: Path,
    progress: ProgressCallback | None = None,
    language: str | None = None,
    preferred: str = PREFERRED,
) -> Dialogue:
    """Read a PGS (.sup) or VobSub (.idx with .sub) file into spoken sentences."""
    with OpenPictures(path) as opened:
        tracks = list_tracks(opened)
        if not tracks:
            raise InputError("has no subtitles; give .idx with .sub, or .sup", path)
        wanted, _ = choose_track(tracks, path, None, preferred)
        return replace(read_bitmap_track(opened, wanted, progress, language), from_file=True)


class OpenPictures:
    """A file that has nothing but bitmap subtitles; their times are those of the film."""

    origin_s = 0.0

    def __init__(self, path: Path) -> None:
        self.path = path
        if not is_file(path):  # FFmpeg would wait for it
            raise InputError("is a pipe; write the subtitles to a file, and give that", path)
        # The index of a VobSub pair has the times, the colours and the languages.
        is_pair = path.suffix.lower() == ".sub" and path.with_suffix(".idx").is_file()
        index = path.with_suffix(".idx") if is_pair else path
        if index.suffix.lower() == ".idx" and not _has_companion(index):
            raise InputError("its pictures are missing; put the .sub file beside it", path)
        try:
            self.container: Any = av.open(
                str(index), metadata_errors="replace", timeout=LONGEST_WAIT_S
            )
        except av.FFmpegError as error:
            message = "is not as PGS or VobSub files should be; was it cut short?"
            raise InputError(message, path) from error

    @property
    def file_length_s(self) -> float:
        """How long the subtitles last; 0 if the file does not say."""
        return float(self.container.duration or 0) / av.time_base

    def packets(self, index: int) -> Iterator[Any]:
        """The packets of a track."""
        return iter(self.container.demux(self.container.streams[index]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.container.close()


def _has_companion(index: Path) -> bool:
    return index.with_suffix(".sub").is_file() or index.with_suffix(".SUB").is_file()


def recognise(
    pictures: Sequence[TextPicture],
    recogniser: Recogniser,
    progress: ProgressCallback | None,
    language: str | None = None,
) -> tuple[list[Cue], list[str]]:
    """Read the lines of pictures into cues; notes tell what could not be read."""
    height = line_height(picture.ink for picture in pictures)
    cues: list[Cue] = []
    unread = 0
    chunks = _chunks(pictures, height, recogniser)
    report = progress or ignore_progress
    for picture, readings in track_progress(chunks, _STAGE, report, total=len(pictures)):
        confidence = min((reading.confidence for reading in readings), default=0.0)
        text = mend("\n".join(reading.text for reading in readings), language)
        if text.strip() and confidence >= _LEAST_CONFIDENCE:
            cues.append(Cue(start_s=picture.start_s, end_s=picture.end_s, text=text))
        else:
            unread += 1
    notes = [f"{unread} of {len(pictures)} pictures could not be read"] if unread else []
    return cues, [*notes, f"pictures of text were read with {recogniser.name.split()[0]}"]


def _chunks(
    pictures: Sequence[TextPicture], height: int, recogniser: Recogniser
) -> Iterator[tuple[TextPicture, list[Reading]]]:
    """Each picture with the readings of its lines, from the cache where it has them."""
    for first in range(0, len(pictures), _CUES_A_CHUNK):
        chunk = pictures[first : first + _CUES_A_CHUNK]
        split = [split_lines(picture.ink, height) for picture in chunk]
        lines = [line for picture in split for line in picture]
        rows = cached_json(
            _cache_key(lines, height, recogniser),
            list[tuple[str, float]],
            lambda lines=lines: _rows(recogniser.read(lines, height)),  # type: ignore[misc]
        )
        readings = (Reading(text=text, confidence=confidence) for text, confidence in rows)
        for picture, parts in zip(chunk, split, strict=True):
            yield picture, list(islice(readings, len(parts)))


def _cache_key(lines: Sequence[Ink], height: int, recogniser: Recogniser) -> str:
    digest = hashlib.sha256(f"ocr {_CACHE_VERSION} {recogniser.name} {height}".encode())
    for line in lines:
        digest.update(str(line.shape).encode() + np.ascontiguousarray(line).tobytes())
    return digest.hexdigest()


def _rows(readings: Sequence[Reading]) -> list[tuple[str, float]]:
    return [(reading.text, round(reading.confidence, 4)) for reading in readings]


# A capital I and a small l look alike in most fonts of subtitles. What is hardly a word is changed:
# an I after a small letter (but McIntyre, `HenryII`, and German LehrerInnen), `you'II` in English,
# and an l among capitals. Words in -ll have a vowel before it, and kings mostly have none.
_I_AFTER_SMALL = re.compile(
    r"(?<=[a-zß-öø-ÿ])(?<!\bMc)(?<!\bMac)(?!(?<![aeiou])II\b|I{3,}\b)I+(?=[a-zß-öø-ÿ]|\b)"
)
_GERMAN_WOMEN = re.compile(r"I(?:n|nnen)\b")
_SHORT_WILL = re.compile(r"(?<=\w['’])[Il]I\b|(?<=\w['’])Il\b")
_CAPITALS = re.compile(r"\b(?=\w*l)(?=(?:l*[A-Z]){2})[A-Zl]+\b")
_DOTS = re.compile(r"[.…]{2,}|…")
_EMPTY_TAG = re.compile(r"</?>")  # markup that was drawn by mistake: a thin `i` is easily lost


def mend(text: str, language: str | None = None) -> str:
    """Repair what recognisers are known to get wrong, in a language that may be unknown."""

    def small(match: re.Match[str]) -> str:
        may_be_german = language in (None, "de")
        if may_be_german and _GERMAN_WOMEN.match(text, match.start()):
            return match.group()
        return "l" * len(match.group())

    text = _I_AFTER_SMALL.sub(small, text)
    if language in (None, "en"):
        text = _SHORT_WILL.sub("ll", text)
    text = _CAPITALS.sub(lambda match: match.group().replace("l", "I"), text)
    return _EMPTY_TAG.sub("", _DOTS.sub("...", text))
