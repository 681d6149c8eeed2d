"""A cue's lines -> turns of speech: notes on sound, songs and speakers' names are taken out.

A turn is what one person says in one cue. Subtitlers mark a new speaker with a dash, `>>`, a name
and a colon, or a name in brackets; the habits of the whole file tell what a mark means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from folioreel.ingest.subtitles.cues import Cue, count_letters, share_time
from folioreel.ingest.subtitles.habits import BRACKETS, LABEL, PARENTHESES, Habits, is_closed
from folioreel.ingest.subtitles.labels import find_label, is_name_like

_DASHES = "-–—―‐‑−•"
_DASH = re.compile(rf"^[{_DASHES}]+\s*")
_ARROWS = re.compile(r"^>+\s*")
_INNER_ARROWS = re.compile(r"(?<=\S)\s*(?=>{2,}\s*\S)")
_INNER_DASH = re.compile(rf"(?<=[.?!…\"”’)♪])\s+(?=[{_DASHES}]\s?[\"“‘'¿¡A-ZÀ-ÞА-Я(\[♪])")
_INNER_LABEL = re.compile(r"(?<=[.?!…\"”)])\s+(?=[A-Z][A-Z .'’-]{1,24}:\s)")
# A bracket that is never closed takes its sentence along, not the speech behind it.
_OPEN_BRACKET = re.compile(r"[\[［【](?:[^.?!\]］】]*[.?!]+(?=\s)|[^\]］】]*$)")
_CLOSE_BRACKET = re.compile(r"^[^\[［【]*[\]］】]")
_STARRED = re.compile(r"^\*+[^*]{1,60}\*+$|^~[^~]*~$")
_NOTE_SIGNS = "♪♫♬♩"
_SUNG = re.compile(rf"[{_NOTE_SIGNS}][^{_NOTE_SIGNS}]*[{_NOTE_SIGNS}]+")
_HASH_SONG = re.compile(r"^#(?:\s.*|[^#]*#)$|^[^#]*\s#$", re.DOTALL)
_SPACED_DOTS = re.compile(r"\s*\.(?:\s*\.){2,}|\s+\.\.(?=\s|$)")
_SECOND_STOP = re.compile(r"(?<=[.?!])\s+\.(?=\s|$)")  # `Yes. .`, where a note stood between
_LONELY_MARK = re.compile(r"\s+([,;:.?!]+)(?=\s|$)")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one person says in one cue."""

    start_s: float
    end_s: float
    text: str
    opens: bool
    """Whether a mark says that somebody else speaks now."""
    continues: bool = False
    """Whether a leading dash or dots say that the sentence before goes on."""


def find_turns(cue: Cue, habits: Habits, after_close: bool = True) -> list[Turn]:
    """The turns of one cue (text without markup), each with its share of the cue's time.

    Args:
        cue: The cue.
        habits: How its file is written.
        after_close: Whether the cue before came to the end of a sentence.
    """
    text = _strip_notes(cue.text, habits)
    pieces = [
        (words, opens, goes_on)
        for marked, opens, goes_on in _part(text, habits, after_close)
        if count_letters(words := _tidy(_strip_song(marked)))
    ]
    times = share_time(cue.start_s, cue.end_s, [words for words, _, _ in pieces])
    return [
        Turn(start_s=start_s, end_s=end_s, text=words, opens=opens, continues=goes_on)
        for (words, opens, goes_on), (start_s, end_s) in zip(pieces, times, strict=True)
    ]


def _strip_notes(text: str, habits: Habits) -> str:
    """Take out what stands in brackets, and what in parentheses is no speech."""
    text = BRACKETS.sub(_arrow_or_nothing, text)
    text = _CLOSE_BRACKET.sub("", _OPEN_BRACKET.sub("", text))
    return PARENTHESES.sub(
        lambda match: match.group() if _is_aside(match, habits) else _arrow_or_nothing(match), text
    )


def _arrow_or_nothing(match: re.Match[str]) -> str:
    """A name in brackets at the head of a line opens a turn, as `>>` does; other notes vanish."""
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    head = match.string[line_start : match.start()].strip(_DASHES + "> ")
    follows = match.string[match.end() :].lstrip(" \"“‘'")[:1]
    is_name = is_name_like(" ".join(match.group()[1:-1].split()))
    return ">> " if is_name and not head and follows.isupper() else ""


def _is_aside(match: re.Match[str], habits: Habits) -> bool:
    """Whether words in parentheses are spoken: a whole sentence, not a note such as `(SIGHS)`."""
    words = " ".join((match.group(1) or match.group(2) or "").split())
    if not is_closed(words) or len(words.split()) < 3:
        return False
    return habits.case_blind or any(character.islower() for character in words)


def _part(text: str, habits: Habits, after_close: bool) -> list[tuple[str, bool, bool]]:
    """Part a cue's text at the marks of a new speaker: (words, opens, continues) each."""
    lines = _split_inner(text, habits)
    parted: list[tuple[str, bool, bool]] = []
    for number, line in enumerate(lines):
        dashed = _DASH.match(line) is not None
        rest = _ARROWS.sub("", _DASH.sub("", line))
        # Before a name in small letters, the sentence before must have come to its end.
        may_open = dashed or (is_closed(lines[number - 1]) if number else after_close)
        label = find_label(rest, habits, may_open)
        opens = label is not None or _ARROWS.match(_DASH.sub("", line)) is not None
        rest = rest[len(label) :].lstrip(" " + _DASHES) if label else rest
        opens = opens or (dashed and _dash_opens(lines, number, habits))
        if parted and not opens:
            before, before_opens, before_goes_on = parted[-1]
            parted[-1] = (_join_lines(before, line), before_opens, before_goes_on)
        else:
            parted.append((rest, opens, dashed and not opens))
    return parted


def _dash_opens(lines: list[str], number: int, habits: Habits) -> bool:
    """Whether a leading dash marks a speaker, and not a sentence that goes on after a break."""
    if habits.no_capitals or not _DASH.sub("", lines[number])[:1].islower():
        return True
    if number > 0:
        return _DASH.match(lines[0]) is not None or is_closed(lines[number - 1])
    return any(_DASH.match(line) for line in lines[1:])


def _split_inner(text: str, habits: Habits) -> list[str]:
    """Lines, with a line of its own for each speaker who is marked inside one."""
    lines = []
    for line in text.split("\n"):
        line = _INNER_ARROWS.sub("\n", line.strip())
        if _DASH.match(line):
            line = _INNER_DASH.sub("\n", line)
        if not habits.case_blind:
            label = LABEL.match(line)
            head = label.end() if label else 0  # `DR. O'HARA:` is one label
            line = line[:head] + _INNER_LABEL.sub("\n", line[head:])
        lines += [part.strip() for part in line.split("\n") if part.strip()]
    return lines


def _join_lines(before: str, after: str) -> str:
    """Two lines of one turn; a word that is broken at its hyphen is made whole."""
    if re.search(r"\w[-‐]$", before) and after[:1].islower() and not before.endswith("--"):
        return before + after
    return f"{before} {after}".strip()


def _strip_song(text: str) -> str:
    """Take out what is sung: between notes, or the whole turn behind or before a single one."""
    text = _SUNG.sub("", text)
    marks = [position for position, character in enumerate(text) if character in _NOTE_SIGNS]
    if marks:
        # A note alone closes a song that began in an earlier cue, or opens one that goes on.
        closes = not count_letters(text[marks[0] :])
        text = "" if closes else text[: marks[0]]
    stripped = text.strip()
    return "" if _HASH_SONG.match(stripped) or _STARRED.match(stripped) else stripped


def _tidy(text: str) -> str:
    """One line with single spaces, without the marks that a removed note leaves behind."""
    text = _SPACED_DOTS.sub("...", " ".join(text.split()))
    text = _LONELY_MARK.sub(r"\1", _SECOND_STOP.sub("", text))
    return re.sub(r"^[,;:]+\s*", "", text)
