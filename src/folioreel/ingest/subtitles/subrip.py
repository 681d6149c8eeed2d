"""SubRip and WebVTT → cues: both are lines of text under a line with two times.

pysubs2 is not strict enough for us: it drops the minus of a negative time, reads WebVTT comments,
styles and cue names as speech, drops voices, and loses a last line that is a number.
"""

from __future__ import annotations

import re

from folioreel.ingest.subtitles.cues import Cue, ParsedCues, share_time
from folioreel.text import count_words
from folioreel.times import parse_digits

# Possessive quantifiers (`*+`) keep these linear: a line of a thousand spaces took ten seconds.
_TIME = r"(-?)\s*+(?:(\d++)\s*+:\s*+)?(\d{1,3})\s*+:\s*+(\d{1,2})(?:\s*+[.,:;]\s*+(\d{1,6}))?"
_ARROW = r"(?:\s*+(?:-++\s?>|[–—=]++>|[→,;])|\s++-\s|[^\S\t]*+\t)\s*+"
TIMING = re.compile(
    rf"^\s*+(?:\d++\s++)?\[?\s*+{_TIME}{_ARROW}{_TIME}(?:\s*+\](?=\s|$)|(?=\s|$))(.*)$"
)
# A line of times that a typing error or a damaged byte has spoilt: nobody says it. Where its start
# is whole, the cue begins there.
_SPOILT = re.compile(r"--(?:>|&gt;)|^(?:[^:]*+:){4}")
_MOST_LETTERS = 3  # as in `00:O0:0l`; more are words
_SPOILT_START = re.compile(rf"^\s*+{_TIME}(?=[\s&–—=-]|$)")
# What may follow the times without being speech: SubRip coordinates, WebVTT settings.
_SETTINGS = re.compile(
    r"^\s*+(?:(?:[XYxy][12]|vertical|line|position|size|align|region|[DLTSA])\s*+:\s*+\S++\s*+)+$"
)
_NUMBER = re.compile(r"^\s*\d{1,6}\s*$")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]*+)>")
_TIMESTAMP_MAP = re.compile(r"X-TIMESTAMP-MAP\s*=")
# The first line of a block that is no cue; each segment of a stream has a head of its own.
_NO_SPEECH = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?!\S)")
_MPEG_CLOCK_HZ = 90_000
_MPEG_WRAP = 1 << 33  # MPEG timestamps have 33 bits and start again

_Block = tuple[float, float, list[str]]  # start_s, end_s and the lines so far


def parse_subrip(text: str) -> ParsedCues:
    """SubRip and its relatives (SubViewer, SBV, Whisper's text), with or without numbers."""
    blocks: list[_Block] = [(0.0, 0.0, [])]  # the first collects what comes before the first cue
    number: int | None = None
    untimed = 0
    for line in _single_spaced(text.split("\n")):
        timing = _read_timing(line)
        if timing is None and not _is_spoilt(line):
            blocks[-1][2].append(line.strip())
            continue
        number = _take_number(blocks[-1][2], number)
        if timing is None:
            untimed += 1
            continue
        start_s, end_s, rest = timing
        blocks.append((start_s, end_s, [rest] if rest else []))
    _take_number(blocks[0][2], None)
    head = " ".join(line for line in blocks[0][2] if not line.startswith("["))  # SubViewer's
    notes = _note_spoilt(untimed)
    if len(blocks) > 1 and (words := count_words(head)):
        notes.append(f"{words} words above the first time were left out")
    return ParsedCues(cues=tuple(map(_to_cue, blocks[1:])), notes=tuple(notes))


def _is_spoilt(line: str) -> bool:
    """Whether a line was one of times."""
    if not _SPOILT.search(line):
        return False
    letters = sum(map(str.isalpha, line.replace("&gt;", "")))
    return letters <= min(_MOST_LETTERS, sum(map(str.isdigit, line)))


def _note_spoilt(count: int) -> list[str]:
    cues = "1 cue has" if count == 1 else f"{count} cues have"
    return [f"{cues} no readable time; what is said follows in the cue above"][:count]


def parse_webvtt(text: str) -> ParsedCues:
    """WebVTT: comments, styles and regions are skipped, voices become speakers.

    A cue ends at an empty line, but words below it that have no time of their own are its, too.
    """
    cues: list[Cue] = []
    block: _Block | None = None
    below: list[str] = []  # the lines since an empty one
    is_open = False  # whether there has been none since the time
    skipping, untimed = False, 0
    first_ticks, offset_s = None, 0.0
    for line in [*_single_spaced(text.split("\n")), ""]:
        timing = _read_timing(line) if "-->" in line or _is_spoilt(line) else None
        if timing is None and not skipping and _is_spoilt(line):
            untimed, below, is_open = untimed + 1, [], block is not None
            continue
        if timing is not None or line == "":
            if block is not None:  # a line above a time is the name of its cue
                block[2].extend(below if timing is None else below[:-1])
            below, is_open, skipping = [], timing is not None, False
        if timing is not None:
            cues.extend(split_voices(_to_cue(block)) if block is not None else ())
            block = timing[0] + offset_s, timing[1] + offset_s, []
        elif block is not None and is_open:
            block[2].append(line.strip())
        elif mapped := _read_timestamp_map(line):
            # Ties the time LOCAL of a segment of a stream (HLS) to a time of the MPEG stream. It
            # does not say where the film begins in that stream: where the first segment does.
            ticks, local_s = mapped
            first_ticks = ticks if first_ticks is None else first_ticks
            passed = (ticks - first_ticks + _MPEG_WRAP // 2) % _MPEG_WRAP - _MPEG_WRAP // 2
            offset_s = passed / _MPEG_CLOCK_HZ - local_s
        elif not below and _NO_SPEECH.match(line):
            skipping = True
        elif line and not skipping:
            below.append(line.strip())
    cues.extend(split_voices(_to_cue(block)) if block is not None else ())
    return ParsedCues(cues=tuple(cues), notes=tuple(_note_spoilt(untimed)))


def _to_cue(block: _Block) -> Cue:
    return Cue(start_s=block[0], end_s=block[1], text="\n".join(block[2]).strip())


def _read_timestamp_map(line: str) -> tuple[int, float] | None:
    """MPEGTS and LOCAL of a line `X-TIMESTAMP-MAP=…`."""
    ticks = re.search(r"MPEGTS:(\d{1,15})", line)
    local = re.search(rf"LOCAL:{_TIME}", line)
    if ticks is None or local is None or not _TIMESTAMP_MAP.match(line):
        return None
    return int(ticks[1]), _seconds(local.groups())


def split_voices(cue: Cue) -> list[Cue]:
    """One cue for each `<v Name>` in a cue."""
    parts = _VOICE.split(cue.text)
    if len(parts) == 1:
        return [cue]
    speakers: list[str | None] = [None, *(name.strip() or None for name in parts[1::2])]
    spoken = [pair for pair in zip(speakers, parts[::2], strict=True) if pair[1].strip()]
    times = share_time(cue.start_s, cue.end_s, [text for _, text in spoken])
    return [
        Cue(start_s=start_s, end_s=end_s, text=text.strip(), speaker=speaker)
        for (speaker, text), (start_s, end_s) in zip(spoken, times, strict=True)
    ]


def _read_timing(line: str) -> tuple[float, float, str] | None:
    """Start, end and what is said on the same line; None if the line has no times."""
    match = TIMING.match(line)
    if match is None:
        spoilt = _SPOILT_START.match(line) if _is_spoilt(line) else None
        # Without an end, the cue gets the time that it takes to read.
        return spoilt and (_seconds(spoilt.groups()), _seconds(spoilt.groups()), "")
    groups, rest = match.groups()[:10], match.groups()[10]
    said = "" if _SETTINGS.match(rest) else rest.strip()
    return _seconds(groups[:5]), _seconds(groups[5:]), said


def _seconds(groups: tuple[str | None, ...]) -> float:
    sign, hours, minutes, seconds, fraction = groups
    value = parse_digits(hours or "") * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    total = value + float(f"0.{fraction or 0}")
    return -total if sign else total


def _take_number(lines: list[str], number: int | None) -> int | None:
    """Take the number of the next cue off the end of a cue's lines; a spoken number stays.

    It is a cue number if it follows an empty line, or is one more than the number before.
    """
    while lines and not lines[-1]:
        lines.pop()
    if not lines or not _NUMBER.match(lines[-1]):
        return number
    value = int(lines[-1])
    follows = number is not None and value == number + 1
    if follows or len(lines) == 1 or not lines[-2]:
        lines.pop()
        return value
    return number


def _single_spaced(lines: list[str]) -> list[str]:
    """Undo doubled line endings, which leave every second line empty."""
    # With fewer lines, it may be one cue and the blank lines around it.
    if len(lines) >= 8 and not any(line.strip() for line in lines[1::2]):
        return lines[::2]
    return lines
