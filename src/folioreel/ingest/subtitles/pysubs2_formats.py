"""Formats that pysubs2 reads (ASS, SSA, MicroDVD, MPL2, TMP), LRC and JSON transcripts → cues."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import pysubs2

from folioreel.ingest.subtitles.cues import LONGEST_CUE_S, Cue, ParsedCues, note_untimed
from folioreel.json_input import convert, parse_json
from folioreel.times import parse_digits

# For MicroDVD files that state no frame rate and come without a video: films on disc run at this.
_DEFAULT_FRAME_RATE = 24000 / 1001

MICRODVD_LINE = re.compile(r"^\s*+\{\s*+(\d++)\s*+\}\s*+\{\s*+(\d*+)\s*+\}")
MPL2_LINE = re.compile(r"^\[(-?)(\d++)\]\[(-?)(\d*+)\]")
TMP_LINE = re.compile(r"^(\d{1,2}:\d{2}:\d{2})(?:,\d)?[:=](?!\d\d\b)")
# Hours or a fraction are needed: books have verses such as `[3:16]`.
LRC_LINE = re.compile(
    r"^\s*+\[(?:(\d{1,2}):(?=\d\d:)|(?=\d++:\d\d\.))(\d{1,3}):(\d\d)(\.\d{1,3})?\]"
)
DIALOGUE_LINE = re.compile(
    r"^Dialogue:[^,]*,\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*,"
    r"\s*-?\d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s*(?:,[^,\n]*){6},"
)
_COLUMNS = "layer start end style name marginl marginr marginv effect text".split()
# Some programs write no fraction, or one behind a colon.
_CLOCK = re.compile(r"\s*(-?)(\d{1,2}:\d{1,2}:\d{1,2})(?:[.:](\d{1,3}))?\s*")
_DIALOGUE = re.compile(r"^[\ufeff\s]*+Dialogue\s*+:", re.IGNORECASE)
_DRAWING_CODE = re.compile(r"\\p(\d+)")  # how finely a drawing is drawn; 0 ends it
# By convention, typesetters give these names to styles for what is written or sung on screen.
_UNSPOKEN_STYLE = re.compile(
    r"(?:^|[^a-z])(?:signs?|songs?|karaoke|kara|lyrics|op|ed|opening|ending|credits?|staff|titles?|"
    r"typeset(?:ting)?|ts|note|romaji|kanji)(?:[^a-z]|$)",
    re.IGNORECASE,
)


def _joined_lines(text: str, start: re.Pattern[str]) -> list[str]:
    """Lines that begin with a time; what stands between them belongs to the line above."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and line.strip() and not start.match(line):
            lines[-1] += f"|{line}"
        else:
            lines.append(line)
    return lines


def parse_substation(text: str, frame_rate: float | None = None) -> ParsedCues:
    """ASS and SSA: the readable dialogue lines, without drawings, signs and songs."""
    columns, dialogue, readable = _COLUMNS, 0, []
    for line in text.split("\n"):
        columns = _stated_columns(line) or columns
        if begins := _DIALOGUE.match(line):
            dialogue += 1
            if (usual := _usual_line(line[begins.end() :], columns)) is not None:
                readable.append(usual)
    kind = "ssa" if any("Marked=" in line[:20] for line in readable) else "ass"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subs = pysubs2.SSAFile.from_string("\n".join(readable), format_=kind)
    spoken = [event for event in subs if not _UNSPOKEN_STYLE.search(event.style)]
    notes = []
    if len(readable) < dialogue:
        notes.append(f"{dialogue - len(readable)} dialogue lines could not be read")
    if spoken and len(spoken) < len(subs):
        notes.append(f"{len(subs) - len(spoken)} cues in styles for signs and songs were left out")
    subs.events = spoken or list(subs)
    return ParsedCues(format=kind, cues=tuple(_to_cues(subs)), notes=tuple(notes))


def _stated_columns(line: str) -> list[str] | None:
    """The columns that a line `Format: …` states for the dialogue; None if it is another line."""
    kind, _, names = line.partition(":")
    columns = [name.strip().casefold() for name in names.split(",")]
    is_format = kind.strip("\ufeff \t").casefold() == "format" and columns[-1] == "text"
    return columns if is_format and {"start", "end"} <= {*columns} else None


def _usual_line(values: str, columns: list[str]) -> str | None:
    """A dialogue line in the usual columns, with hundredths; None if it has no times."""
    usual = f"Dialogue:{values}"
    are_usual = columns[1:4] == _COLUMNS[1:4] and len(columns) == len(_COLUMNS)
    if are_usual and DIALOGUE_LINE.match(usual):
        return usual
    fields = dict(zip(columns, values.split(",", len(columns) - 1), strict=False))
    fields.setdefault("name", fields.get("actor", ""))
    clocks = [_CLOCK.fullmatch(fields.get(name, "")) for name in ("start", "end")]
    if "text" not in fields or None in clocks:
        return None
    for name, clock in zip(("start", "end"), clocks, strict=True):
        assert clock is not None
        fields[name] = f"{clock[1]}{clock[2]}.{clock[3] or '00'}"
    fields["layer"] = "0"
    margins = dict.fromkeys(("marginl", "marginr", "marginv"), "0")
    return "Dialogue: " + ",".join((fields | margins).get(name, "") for name in _COLUMNS)


def parse_microdvd(text: str, frame_rate: float | None = None) -> ParsedCues:
    """MicroDVD counts frames; the rate is in the first line, or the video's, or assumed."""

    def complete(match: re.Match[str]) -> str:
        # Without an end, the cue ends at its start; its length is repaired later.
        return f"{{{parse_digits(match[1])}}}{{{parse_digits(match[2] or match[1])}}}"

    lines = [MICRODVD_LINE.sub(complete, line) for line in _joined_lines(text, MICRODVD_LINE)]
    stated = re.match(
        r"^\{[01]\}\{[0-9]{1,2}\}\s*(\d{2,3}(?:[.,]\d{1,9})?)\s*$", lines[0].strip("\ufeff ")
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

    def complete(match: re.Match[str]) -> str:
        sign, start, end_sign, end = match.groups()
        start = f"{sign}{parse_digits(start)}"
        return f"[{start}][{f'{end_sign}{parse_digits(end)}' if end else start}]"

    lines = [MPL2_LINE.sub(complete, line) for line in _joined_lines(text, MPL2_LINE)]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="mpl2"))


def parse_tmp(text: str) -> list[Cue]:
    """TMP: `00:00:01:Hello.`, without an end."""
    lines = [TMP_LINE.sub(r"\1:", line) for line in _joined_lines(text, TMP_LINE)]
    return _to_cues(pysubs2.SSAFile.from_string("\n".join(lines), format_="tmp"))


def parse_lrc(text: str) -> list[Cue]:
    """LRC and SubViewer 1: `[00:01.50]Hello.` or `[00:00:01]`, until the next such time.

    A line that is sung again has several times. Words before the first time are its head.
    """
    said: list[tuple[float, list[str]]] = []
    for line in text.split("\n"):
        starts: list[float] = []
        while (found := LRC_LINE.match(line)) is not None:
            hours, minutes, seconds, fraction = found.groups(default="0")
            starts.append(int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(fraction))
            line = line[found.end() :]
        if starts or (said and line.strip() and not re.match(r"\[(?i:end|[a-z]+:.*)\]", line)):
            said.extend((start_s, []) for start_s in starts)
            for _, lines in said[-max(1, len(starts)) :]:
                lines.extend(line.split("|"))
    said.sort(key=lambda cue: cue[0])
    ends = [*(start_s for start_s, _ in said[1:]), 0.0]  # the last gets the time to read it
    return [
        Cue(start_s=start_s, end_s=min(end_s, start_s + LONGEST_CUE_S), text="\n".join(lines))
        for (start_s, lines), end_s in zip(said, ends, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class _Segment:
    """What Whisper and its relatives write; some leave out the times of what they cannot place."""

    start: float | None = None
    end: float | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class _Piece:
    utf8: str = ""


@dataclass(frozen=True, kw_only=True)
class _TimedEvent:
    """An event of YouTube's format; those without a start set a style."""

    tStartMs: float | None = None  # noqa: N815  # the names are YouTube's
    dDurationMs: float = 0  # noqa: N815
    segs: list[_Piece] | None = None


@dataclass(frozen=True, kw_only=True)
class _SavedEvent:
    """An event as pysubs2 writes it, in milliseconds."""

    start: float
    end: float
    text: str
    type: str = "Dialogue"
    name: str = ""


def parse_whisper(text: str) -> ParsedCues:
    """A transcript by Whisper: `{"segments": [{"start", "end", "text"}, …]}`."""
    segments = convert(parse_json(text)["segments"], list[_Segment])
    cues = [
        Cue(start_s=s.start, end_s=s.start if s.end is None else s.end, text=s.text.strip())
        for s in segments
        if s.start is not None
    ]
    untimed = sum(s.start is None and bool(s.text.strip()) for s in segments)
    return ParsedCues(cues=tuple(cues), notes=note_untimed(untimed))


def parse_json3(text: str) -> ParsedCues:
    """YouTube's own format: events of timed pieces of text."""
    cues, untimed = [], 0
    for event in convert(parse_json(text)["events"], list[_TimedEvent]):
        said = "".join(piece.utf8 for piece in event.segs or ()).strip()
        if said and event.tStartMs is not None:
            start_s = event.tStartMs / 1000
            cues.append(Cue(start_s=start_s, end_s=start_s + event.dDurationMs / 1000, text=said))
        elif said:
            untimed += 1
    return ParsedCues(cues=tuple(cues), notes=note_untimed(untimed))


def parse_saved(text: str) -> list[Cue]:
    """The JSON that pysubs2 itself writes."""
    return _to_cues(convert(parse_json(text)["events"], list[_SavedEvent]))


def json_kind(text: str) -> str | None:
    """The format of JSON subtitles, or None if the text is something else."""
    try:
        data = parse_json(text) if text.startswith("{") else None
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("segments"), list):
        return "whisper"
    events = data.get("events")
    if isinstance(events, list) and events and isinstance(events[0], dict):
        timed = any(isinstance(event, dict) and "tStartMs" in event for event in events)
        return "json3" if timed else "json"
    return None


def _to_cues(events: Iterable[pysubs2.SSAEvent | _SavedEvent]) -> list[Cue]:
    """Events → cues, without comments and drawings."""
    cues = []
    for event in events:
        shown = _without_codes(event.text)
        if shown.strip() and event.type != "Comment":
            start_s, end_s = event.start / 1000, event.end / 1000
            speaker = event.name.strip() or None
            cues.append(Cue(start_s=start_s, end_s=end_s, text=shown, speaker=speaker))
    return cues


def _without_codes(text: str) -> str:
    """The text between override codes (`{\\b1}`), without vector drawings (`{\\p1}m 0 0 …`)."""
    shown, position, is_drawing = [], 0, False
    while (begin := text.find("{", position)) >= 0 and (end := text.find("}", begin)) >= 0:
        shown.append("" if is_drawing else text[position:begin])
        for scale in _DRAWING_CODE.findall(text, begin, end):
            is_drawing = scale.strip("0") != ""
        position = end + 1
    return "".join([*shown, "" if is_drawing else text[position:]])
