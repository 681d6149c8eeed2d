"""Formats that pysubs2 reads (ASS, SSA, MicroDVD, MPL2, TMP) and JSON transcripts → cues."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import pysubs2
from pysubs2.formats.substation import parse_tags

from folioreel.ingest.subtitles.cues import Cue, ParsedCues

# For MicroDVD files that state no frame rate and come without a video: films on disc run at this.
_DEFAULT_FRAME_RATE = 24000 / 1001

MICRODVD_LINE = re.compile(r"^\s*+\{\s*+(\d+)\s*+\}\s*+\{\s*+(\d*)\s*+\}")
MPL2_LINE = re.compile(r"^\[(-?\d+)\]\[(-?\d*)\]")
TMP_LINE = re.compile(r"^(\d{1,2}:\d{2}:\d{2})(?:,\d)?[:=](?!\d\d\b)")
DIALOGUE_LINE = re.compile(
    r"^Dialogue:[^,]*,\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*,"
    r"\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*(?:,[^,\n]*){6},"
)
# By convention, typesetters give these names to styles for what is written or sung on screen.
_UNSPOKEN_STYLE = re.compile(
    r"(?:^|[^a-z])(?:signs?|songs?|karaoke|kara|lyrics|op|ed|opening|ending|credits?|staff|titles?|"
    r"typeset(?:ting)?|ts|note|romaji|kanji)(?:[^a-z]|$)",
    re.IGNORECASE,
)


def parse_substation(text: str, frame_rate: float | None = None) -> ParsedCues:
    """ASS and SSA: the readable dialogue lines, without drawings, signs and songs."""
    lines = [line.strip("\ufeff ") for line in text.split("\n")]
    dialogue = [line for line in lines if line.startswith("Dialogue:")]
    readable = [line for line in dialogue if DIALOGUE_LINE.match(line)]
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


def parse_microdvd(text: str, frame_rate: float | None = None) -> ParsedCues:
    """MicroDVD counts frames; the rate is in the first line, or the video's, or assumed."""

    def complete(match: re.Match[str]) -> str:
        # Without an end, the cue ends at its start; its length is repaired later.
        return f"{{{match[1]}}}{{{match[2] or match[1]}}}"

    lines = [MICRODVD_LINE.sub(complete, line) for line in text.split("\n")]
    stated = re.match(
        r"^\{[01]\}\{[0-9]{1,2}\}\s*(\d{2,3}(?:[.,]\d+)?)\s*$", lines[0].strip("\ufeff ")
    )
    rate = frame_rate or _DEFAULT_FRAME_RATE
    note = f"but state no rate; {rate:.3f} was assumed"
    if stated is not None:
        rate, lines = float(stated.group(1).replace(",", ".")), lines[1:]
        note = f"and state {rate:g} per second"
    elif frame_rate is not None:
        note = f"and state no rate; used the video's {rate:.3f} per second"
    subs = pysubs2.SSAFile.from_string("\n".join(lines), format_="microdvd", fps=rate)
    return ParsedCues(cues=tuple(_to_cues(subs)), notes=(f"the subtitles count frames {note}",))


def parse_mpl2(text: str) -> list[Cue]:
    """MPL2: `[10][25]Hello.`, in tenths of a second."""
    lines = [re.sub(r"^\[(-?\d+)\]\[\]", r"[\1][\1]", line) for line in text.split("\n")]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="mpl2"))


def parse_tmp(text: str) -> list[Cue]:
    """TMP: `00:00:01:Hello.`, without an end."""
    lines = [TMP_LINE.sub(r"\1:", line) for line in text.split("\n")]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="tmp"))


def parse_json(text: str) -> list[Cue]:
    """The JSON that pysubs2 itself writes."""
    return _to_cues(pysubs2.SSAFile.from_string(text, format_="json"))


def parse_whisper(text: str) -> list[Cue]:
    """A transcript by Whisper: `{"segments": [{"start", "end", "text"}, …]}`."""
    return [
        Cue(start_s=float(s["start"]), end_s=float(s["end"]), text=str(s["text"]).strip())
        for s in json.loads(text)["segments"]
        if isinstance(s, dict) and {"start", "end", "text"} <= s.keys()
    ]


def parse_json3(text: str) -> list[Cue]:
    """YouTube's own format: events of timed pieces of text."""
    cues = []
    for event in json.loads(text)["events"]:
        said = "".join(str(piece.get("utf8", "")) for piece in event.get("segs") or ()).strip()
        if said and "tStartMs" in event:
            start_s = float(event["tStartMs"]) / 1000
            end_s = start_s + float(event.get("dDurationMs", 0)) / 1000
            cues.append(Cue(start_s=start_s, end_s=end_s, text=said))
    return cues


def json_kind(text: str) -> str | None:
    """The format of JSON subtitles, or None if the text is something else."""
    try:
        data = json.loads(text) if text.startswith("{") else None
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


def _to_cues(subs: Any) -> list[Cue]:
    """Events of pysubs2 → cues, without comments and drawings."""
    cues = []
    for event in subs:
        # The text between override codes, without vector drawings.
        shown = "".join(piece for piece, style in parse_tags(event.text) if not style.drawing)
        if shown.strip() and not event.is_comment:
            start_s, end_s = event.start / 1000, event.end / 1000
            speaker = event.name.strip() or None
            cues.append(Cue(start_s=start_s, end_s=end_s, text=shown, speaker=speaker))
    return cues
