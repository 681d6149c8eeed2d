"""Subtitle files -> spoken sentences: any format and encoding, cleaned of all that nobody says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.source import (
    decode_text,
    describe_bitmap_subtitles,
    describe_file,
    describe_video,
    read_bytes,
    read_head,
)
from folioreel.ingest.subtitles.credits import is_credit
from folioreel.ingest.subtitles.cues import Cue, mend_cues
from folioreel.ingest.subtitles.formats import parse_cues
from folioreel.ingest.subtitles.habits import is_closed, observe_habits
from folioreel.ingest.subtitles.markup import plain_lines
from folioreel.ingest.subtitles.speech import Turn, find_turns
from folioreel.ingest.subtitles.spoken import join_turns
from folioreel.types import Subtitle

_SUFFIX_LIST = """
    .ass .dfxp .idx .mpl .mpl2 .sami .sbv .smi .srt .ssa .sub .sup .tmp .ttml .vtt .webvtt .xml
"""
SUBTITLE_SUFFIXES = frozenset(_SUFFIX_LIST.split())
"""What subtitle files are called; their content tells the format."""

_DROPPED = ("duplicate", "outside the film", "credits or adverts", "notes or songs")


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """What is said in a film, and how it was found."""

    subtitles: tuple[Subtitle, ...]
    format: str
    cue_count: int
    first_cue_s: float
    last_cue_s: float
    """When the first cue begins and the last one ends, spoken or not."""
    notes: tuple[str, ...] = ()
    """What was mended or left out, in words for the user."""


def read_subtitles(path: Path | str, frame_rate: float | None = None) -> Dialogue:
    """Read a subtitle file into spoken sentences.

    Args:
        path: SubRip, WebVTT, ASS, SSA, TTML, DFXP, SAMI, MicroDVD, MPL2, TMP, SubViewer, SBV, or
            JSON by Whisper, YouTube or pysubs2; the content tells which.
        frame_rate: The video's frame rate, for files that count frames.

    Raises:
        InputError: The file is missing, empty, broken, without a cue, or holds pictures of text.
        UnknownFormatError: The file is no subtitle file.
    """
    path = Path(path)
    head = read_head(path)
    if (video := describe_video(head)) is not None and not describe_bitmap_subtitles(head):
        raise UnknownFormatError(f"is {video}, not a subtitle file; give .srt, .vtt …", path)
    data = read_bytes(path)
    if (kind := describe_bitmap_subtitles(data)) is not None:
        raise InputError(
            f"is {kind}: pictures of text, not text; recognise it with Subtitle Edit or "
            "pgsrip and give the .srt",
            path,
        )
    try:
        text = _decode(data, path)
    except InputError:
        raise UnknownFormatError(
            f"is no subtitle file but seems to be {describe_file(data)}; "
            "give a video or subtitles (.srt, .vtt, .ass, .ttml …)",
            path,
        ) from None
    parsed = parse_cues(text, path, frame_rate)
    if not any(cue.text.strip() for cue in parsed.cues):
        raise InputError("holds no cue; was the file cut short?", path)
    return build_dialogue(parsed.cues, parsed.format, parsed.notes)


def _decode(data: bytes, path: Path) -> str:
    """Text in any encoding, told by the lines that are not plain ASCII.

    Half of a subtitle file is numbers and times, which drown the statistics of its language.
    """
    lines = data.split(b"\n")
    telling = [number for number, line in enumerate(lines) if not line.isascii()]
    is_legacy = telling and b"\x00" not in data and not data.startswith(b"\xef\xbb\xbf")
    if not is_legacy:
        return decode_text(data, path)
    decoded = decode_text(b"\n".join(lines[number] for number in telling), path).split("\n")
    if len(decoded) != len(telling):
        return decode_text(data, path)
    texts = [line.decode("ascii", errors="replace") for line in lines]
    for number, text in zip(telling, decoded, strict=True):
        texts[number] = text
    return "\n".join(texts).replace("\r\n", "\n").replace("\r", "\n")


def build_dialogue(cues: Sequence[Cue], format_: str, notes: Sequence[str] = ()) -> Dialogue:
    """Clean cues and join them into spoken sentences.

    Args:
        cues: At least one cue, in the order of the file, with or without markup.
        format_: Where they come from, for the record.
        notes: What is already known about them.
    """
    plain = [replace(cue, text="\n".join(plain_lines(cue.text))) for cue in cues]
    mended, faults = mend_cues([cue for cue in plain if cue.text])
    spoken = [cue for cue in mended if not is_credit(cue.text.replace("\n", " "))]
    faults["credits or adverts"] = len(mended) - len(spoken)
    habits = observe_habits(spoken)
    turns: list[Turn] = []
    speaker: str | None = None
    after_close = True
    for cue in spoken:
        found = find_turns(cue, habits, after_close)
        after_close = not found or is_closed(found[-1].text)
        if found and cue.speaker != speaker:
            found[0] = replace(found[0], opens=True)
            speaker = cue.speaker
        faults["notes or songs"] += not found
        turns += found
    return Dialogue(
        subtitles=join_turns(turns, habits),
        format=format_,
        cue_count=len(cues),
        first_cue_s=min((cue.start_s for cue in mended), default=0.0),
        last_cue_s=max((cue.end_s for cue in mended), default=0.0),
        notes=(*notes, *_describe_faults(faults), *_describe_habits(habits.all_capitals)),
    )


def _describe_faults(faults: Counter[str]) -> list[str]:
    """Which cues were left out and which were mended."""
    left_out = [f"{faults[kind]} {kind}" for kind in _DROPPED if faults[kind]]
    mended = [f"{count} {kind}" for kind, count in faults.items() if count and kind not in _DROPPED]
    notes = []
    if left_out:
        notes.append("subtitle cues left out: " + ", ".join(left_out))
    if mended:
        notes.append("subtitle cues mended: " + ", ".join(mended))
    return notes


def _describe_habits(all_capitals: bool) -> list[str]:
    return ["the subtitles are all in capitals"] if all_capitals else []
