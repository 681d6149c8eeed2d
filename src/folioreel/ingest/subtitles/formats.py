"""Text of any subtitle format -> cues; the content tells the format, not the file's name."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pysubs2
from pysubs2.formats.substation import parse_tags

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.source import describe_file
from folioreel.ingest.subtitles.cues import Cue
from folioreel.ingest.subtitles.sami import parse_sami
from folioreel.ingest.subtitles.subrip import TIMING, parse_subrip, parse_webvtt
from folioreel.ingest.subtitles.ttml import parse_ttml

DEFAULT_FRAME_RATE = 24000 / 1001
"""For MicroDVD files that state no frame rate and come without a video: film on disc."""

_MICRODVD = re.compile(r"^\s*\{\s*(\d+)\s*\}\s*\{\s*(\d*)\s*\}")
_MPL2 = re.compile(r"^\[(-?\d+)\]\[(-?\d*)\]")
_TMP = re.compile(r"^(\d{1,2}:\d{2}:\d{2})(?:,\d)?[:=](?!\d\d\b)")
_DIALOGUE = re.compile(
    r"^Dialogue:[^,]*,\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*,"
    r"\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*(?:,[^,\n]*){6},"
)
_FEWEST_TIMES = 0.03
"""How many of a subtitle file's lines are times, at the least."""
# Styles that show what is written or sung on screen, in the habit of those who typeset ASS.
_UNSPOKEN_STYLE = re.compile(
    r"(?:^|[^a-z])(?:signs?|songs?|karaoke|kara|lyrics|op|ed|opening|ending|credits?|staff|titles?|"
    r"typeset(?:ting)?|ts|note|romaji|kanji)(?:[^a-z]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class ParsedCues:
    """The cues of a file in its own order, and how they were read."""

    format: str
    cues: tuple[Cue, ...]
    notes: tuple[str, ...] = ()


def parse_cues(text: str, path: Path, frame_rate: float | None = None) -> ParsedCues:
    """Read subtitle text of any known format.

    Args:
        text: The content of the file.
        path: Where it comes from, for messages.
        frame_rate: The video's, for formats that count frames and do not state it.

    Raises:
        UnknownFormatError: The text is no subtitle file.
        InputError: It is one, but broken.
    """
    format_ = guess_format(text)
    if format_ is None:
        raise UnknownFormatError(
            f"is no subtitle file but seems to be {describe_file(text[:4096].encode())}; "
            "give a video or subtitles (.srt, .vtt, .ass, .ttml …)",
            path,
        )
    if format_ == "microdvd":
        return _parse_microdvd(text, frame_rate)
    if format_ == "ass":
        return parse_substation(text)
    if format_ == "ttml":
        return ParsedCues(format=format_, cues=tuple(parse_ttml(text, path)))
    return ParsedCues(format=format_, cues=tuple(_PARSERS[format_](text)))


def guess_format(text: str) -> str | None:
    """The format of subtitle text by its content, or None if it is none."""
    head = text.lstrip("\ufeff \n\t")[:4096]
    if head.startswith("WEBVTT"):
        return "vtt"
    if re.search(r"^\[Script Info\]|^\[V4\+? Styles\]", text, re.MULTILINE | re.IGNORECASE):
        return "ass"
    if re.search(r"<(?:\w+:)?tt[\s>]", head):
        return "ttml"
    if re.search(r"<sami\b|<sync\b", head, re.IGNORECASE):
        return "sami"
    if head.startswith(("{", "[")) and (found := _guess_json(text)):
        return found
    return _guess_by_lines(text)


def _guess_by_lines(text: str) -> str | None:
    """The format that most of the first lines look like."""
    votes: Counter[str] = Counter()
    patterns = {
        "srt": TIMING, "microdvd": _MICRODVD, "mpl2": _MPL2, "tmp": _TMP, "ass": _DIALOGUE,
    }  # fmt: skip
    lines = [line for line in text[:200_000].split("\n") if line.strip()]
    for line in lines:
        votes.update([name for name, pattern in patterns.items() if pattern.match(line)][:1])
    best, count = max(votes.items(), key=lambda vote: vote[1], default=("", 0))
    # A book may hold such a line too, but not many.
    return best if count > _FEWEST_TIMES * len(lines) else None


def _guess_json(text: str) -> str | None:
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("segments"), list):
        return "whisper"
    events = data.get("events")
    if isinstance(events, list) and events and isinstance(events[0], dict):
        return "json3" if any("tStartMs" in event for event in events) else "json"
    return None


def _parse_microdvd(text: str, frame_rate: float | None) -> ParsedCues:
    """Frame numbers; the rate stands in the first line, or is the video's, or is assumed."""
    # An empty end is the same as none; the cue is mended later.
    lines = [_MICRODVD.sub(_complete_frames, line) for line in text.split("\n")]
    stated = re.match(
        r"^\{[01]\}\{[0-9]{1,2}\}\s*(\d{2,3}(?:[.,]\d+)?)\s*$", lines[0].strip("\ufeff ")
    )
    notes: tuple[str, ...] = ()
    if stated is not None:
        rate, lines = float(stated.group(1).replace(",", ".")), lines[1:]
        notes = (f"the subtitles count frames, and state {rate:g} a second",)
    elif frame_rate is not None:
        rate = frame_rate
        notes = (f"the subtitles count frames; the video's {rate:.3f} a second was taken",)
    else:
        rate = DEFAULT_FRAME_RATE
        notes = (f"the subtitles count frames and do not state the rate; {rate:.3f} was assumed",)
    subs = pysubs2.SSAFile.from_string("\n".join(lines), format_="microdvd", fps=rate)
    return ParsedCues(format="microdvd", cues=tuple(_to_cues(subs)), notes=notes)


def _complete_frames(match: re.Match[str]) -> str:
    start, end = match.groups()
    return f"{{{start}}}{{{end or start}}}"


def parse_substation(text: str) -> ParsedCues:
    """ASS and SSA: only the dialogue lines that can be read, without drawings, signs and songs."""
    lines = [line.strip("\ufeff ") for line in text.split("\n")]
    dialogue = [line for line in lines if line.startswith("Dialogue:")]
    readable = [line for line in dialogue if _DIALOGUE.match(line)]
    kind = "ssa" if any("Marked=" in line[:20] for line in readable) else "ass"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subs = pysubs2.SSAFile.from_string("\n".join(readable), format_=kind)
    spoken = [event for event in subs if not _UNSPOKEN_STYLE.search(event.style)]
    notes = []
    if len(readable) < len(dialogue):
        notes.append(f"{len(dialogue) - len(readable)} dialogue lines could not be read")
    if spoken and len(spoken) < len(subs):
        notes.append(f"{len(subs) - len(spoken)} cues in styles for signs and songs were left out")
    subs.events = spoken or list(subs)
    return ParsedCues(format=kind, cues=tuple(_to_cues(subs)), notes=tuple(notes))


def _parse_mpl2(text: str) -> list[Cue]:
    lines = [re.sub(r"^\[(-?\d+)\]\[\]", r"[\1][\1]", line) for line in text.split("\n")]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="mpl2"))


def _parse_tmp(text: str) -> list[Cue]:
    lines = [_TMP.sub(r"\1:", line) for line in text.split("\n")]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="tmp"))


def _parse_json(text: str) -> list[Cue]:
    try:
        return _to_cues(pysubs2.SSAFile.from_string(text, format_="json"))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is JSON, but not as pysubs2 writes it ({error})") from error


def _parse_whisper(text: str) -> list[Cue]:
    """A transcript by Whisper: `{"segments": [{"start", "end", "text"}, …]}`."""
    segments = json.loads(text)["segments"]
    return [
        Cue(start_s=float(s["start"]), end_s=float(s["end"]), text=str(s["text"]).strip())
        for s in segments
        if isinstance(s, dict) and {"start", "end", "text"} <= s.keys()
    ]


def _parse_json3(text: str) -> list[Cue]:
    """YouTube's own format: events of timed pieces of text."""
    cues = []
    for event in json.loads(text)["events"]:
        said = "".join(str(piece.get("utf8", "")) for piece in event.get("segs") or ()).strip()
        if said and "tStartMs" in event:
            start_s = float(event["tStartMs"]) / 1000
            end_s = start_s + float(event.get("dDurationMs", 0)) / 1000
            cues.append(Cue(start_s=start_s, end_s=end_s, text=said))
    return cues


def _to_cues(subs: Any) -> list[Cue]:
    """pysubs2's events -> cues, without comments and drawings."""
    cues = []
    for event in subs:
        if event.is_comment:
            continue
        # The text between override codes, less what is drawn and not written.
        shown = "".join(piece for piece, style in parse_tags(event.text) if not style.drawing)
        if shown.strip():
            name = event.name.strip() or None
            cues.append(
                Cue(start_s=event.start / 1000, end_s=event.end / 1000, text=shown, speaker=name)
            )
    return cues


_PARSERS: dict[str, Callable[[str], list[Cue]]] = {
    "srt": parse_subrip,
    "vtt": parse_webvtt,
    "sami": parse_sami,
    "mpl2": _parse_mpl2,
    "tmp": _parse_tmp,
    "json": _parse_json,
    "json3": _parse_json3,
    "whisper": _parse_whisper,
}
