"""Cues → turns of speech, without sound effects, songs and speaker names (SDH).

A turn is what one person says in one cue. Subtitlers mark a new speaker with a dash, `>>`, a name
and a colon, or a name in brackets; the style of the whole file tells what a mark means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from folioreel.ingest.subtitles import file_style
from folioreel.ingest.subtitles.cues import Cue, count_letters, share_time
from folioreel.ingest.subtitles.file_style import FileStyle, is_closed
from folioreel.text import CAPITALS, CASELESS, joint

_DASHES = "-–—―‐‑−•"
_DASH = re.compile(rf"^[{_DASHES}]+\s*")
_ARROWS = re.compile(r"^>+\s*")
# Marks of a second speaker inside a line. A dash or a name counts only after the end of a sentence
# and before a capital; 25 letters are enough for `WOMAN ON LOUDSPEAKER`.
_INNER_ARROWS = re.compile(r"(?<=[^\s>])\s*+(?=>{2,}+\s*+\S)")
_INNER_DASH = re.compile(
    rf"(?<=[.?!…\"”’)♪。！？؟»])\s+(?=[{_DASHES}]\s?[\"“‘'«„¿¡{CAPITALS}{CASELESS}(\[♪])"
)
_INNER_LABEL = re.compile(r"(?<=[.?!…\"”)])\s+(?=[A-Z][A-Z .'’-]{1,24}:\s)")
# A bracket that is never closed removes its own sentence, but not the speech after it.
_OPEN_BRACKET = re.compile(r"[\[［【](?:[^.?!\]］】]*[.?!]+(?=\s)|[^\]］】]*$)")
_CLOSE_BRACKET = re.compile(r"^[^\[［【]*[\]］】]")
# `*coughs*`, but not a whole paragraph that happens to begin and end with an asterisk.
_STARRED = re.compile(r"^\*+[^*]{1,60}\*+$|^~[^~]*~$")
_NOTE_SIGNS = "♪♫♬♩"
_SUNG = re.compile(rf"[{_NOTE_SIGNS}][^{_NOTE_SIGNS}]*[{_NOTE_SIGNS}]+")
# British subtitles mark songs with `#`; `#1` and `C#` are speech.
_HASH_SONG = re.compile(r"^#(?:\s.*|[^#]*#)$|^[^#]*\s#$", re.DOTALL)
_SPACED_DOTS = re.compile(r"\s*\.(?:\s*\.){2,}|\s+\.\.(?=\s|$)")
_SECOND_STOP = re.compile(r"(?<=[.?!])\s+\.(?=\s|$)")  # `Yes. .`, where a note stood between
_LOOK = 100  # characters around a note in brackets that say what it is
_LONELY_MARK = re.compile(r"\s+([,;:.?!]+)(?=\s|$)")
_LONELY_STOP = re.compile(r"\s+([,.]+)(?=\s|$)")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one person says in one cue."""

    start_s: float
    end_s: float
    text: str
    opens: bool  # whether a mark says that somebody else is speaking now
    continues: bool = False  # whether a leading dash or dots say that the sentence before goes on
    speaker: str | None = None  # the name before its colon


def find_turns(cue: Cue, style: FileStyle, after_close: bool = True) -> list[Turn]:
    """The turns of one cue (text without markup), each with its share of the cue's time.

    `after_close` says whether the cue before came to the end of a sentence.
    """
    text = _strip_notes(cue.text, style)
    pieces = [
        (words, opens, goes_on, speaker)
        for marked, opens, goes_on, speaker in _split_turns(text, style, after_close)
        if count_letters(words := _tidy(_strip_song(marked), style))
    ]
    times = share_time(cue.start_s, cue.end_s, [words for words, *_ in pieces])
    return [
        Turn(
            start_s=start_s,
            end_s=end_s,
            text=words,
            opens=opens,
            continues=goes_on,
            speaker=speaker or cue.speaker,
        )
        for (words, opens, goes_on, speaker), (start_s, end_s) in zip(pieces, times, strict=True)
    ]


def _strip_notes(text: str, style: FileStyle) -> str:
    """Remove notes in brackets, and in parentheses unless the words are spoken."""

    def note(match: re.Match[str]) -> str:
        return match.group() if _is_aside(match, style) else arrow_or_nothing(match)

    def arrow_or_nothing(match: re.Match[str]) -> str:
        return _arrow_or_nothing(match, style)

    text = file_style.BRACKETS.sub(arrow_or_nothing, text)
    text = _CLOSE_BRACKET.sub("", _OPEN_BRACKET.sub("", text))
    return file_style.PARENTHESES.sub(note, text)


def _arrow_or_nothing(match: re.Match[str], style: FileStyle) -> str:
    """A name in brackets at the head of a line opens a turn, like `>>`; other notes vanish."""
    # No more than a name's length is looked at, as a cue may hold thousands of notes.
    head = match.string[max(0, match.start() - _LOOK) : match.start()].rpartition("\n")[2]
    follows = match.string[match.end() : match.end() + _LOOK].lstrip(" \"“‘'")[:1]
    is_name = file_style.is_name_like(" ".join(match.group()[1:-1].split()), style.words)
    # Scripts without capitals have a name before what is said, and nothing after a sound.
    begins = follows.isupper() or (follows.isalpha() and not follows.islower())
    return ">> " if is_name and not head.strip(_DASHES + "> ") and begins else ""


def _is_aside(match: re.Match[str], style: FileStyle) -> bool:
    """Whether words in parentheses are spoken: a whole sentence, not a note such as `(SIGHS)`."""
    words = " ".join((match.group(1) or match.group(2) or "").split())
    # Notes have no full stop, and `(Oh.)` is a sound.
    if not is_closed(words) or len(words.split()) < 3:
        return False
    return style.case_blind or any(character.islower() for character in words)


def _split_turns(
    text: str, style: FileStyle, after_close: bool
) -> list[tuple[str, bool, bool, str | None]]:
    """Split a cue at the marks of a new speaker: (words, opens, continues, speaker) each."""
    lines = _split_inner(text, style)
    turns: list[tuple[str, bool, bool, str | None]] = []
    for number, line in enumerate(lines):
        dashed = _DASH.match(line) is not None
        rest = _ARROWS.sub("", _DASH.sub("", line))
        # `John:` counts as a label only if the sentence before has ended; `JOHN:` always does.
        # Where nothing ends with a stop, as in Thai, every cue may be somebody else's.
        anew = after_close or (style.caseless and style.unpunctuated)
        may_open = dashed or (is_closed(lines[number - 1]) if number else anew)
        label = file_style.find_label(rest, style, may_open)
        opens = label is not None or _ARROWS.match(_DASH.sub("", line)) is not None
        rest = rest[len(label) :].lstrip(" " + _DASHES) if label else rest
        opens = opens or (dashed and _dash_opens(lines, number, style))
        if turns and not opens:
            before, before_opens, before_goes_on, speaker = turns[-1]
            turns[-1] = (_join_lines(before, line), before_opens, before_goes_on, speaker)
        else:
            speaker = label.strip(" :：") if label else None
            turns.append((rest, opens, dashed and not opens, speaker))
    return turns


def _dash_opens(lines: list[str], number: int, style: FileStyle) -> bool:
    """Whether a leading dash marks a speaker, not a sentence that goes on after a break."""
    if style.no_capitals or not _DASH.sub("", lines[number])[:1].islower():
        return True
    if number > 0:
        return _DASH.match(lines[0]) is not None or is_closed(lines[number - 1])
    return any(_DASH.match(line) for line in lines[1:])


def _split_inner(text: str, style: FileStyle) -> list[str]:
    """The lines of a cue, split where another speaker is marked inside a line."""
    lines = []
    for line in text.split("\n"):
        line = _INNER_ARROWS.sub("\n", line.strip())
        if _DASH.match(line):
            line = _INNER_DASH.sub("\n", line)
        if not style.case_blind:
            label = file_style.LABEL.match(line)
            head = label.end() if label else 0  # `DR. O'HARA:` is one label
            line = line[:head] + _INNER_LABEL.sub("\n", line[head:])
        lines += [part.strip() for part in line.split("\n") if part.strip()]
    return lines


def _join_lines(before: str, after: str) -> str:
    """Join two lines of one turn; a word broken at its hyphen becomes whole."""
    is_broken = re.search(r"\w[-‐]$", before[-2:]) and not before.endswith("--")
    if is_broken and after[:1].islower():
        return before + after
    return f"{before}{joint(before, after)}{after}".strip()


def _strip_song(text: str) -> str:
    """Remove what is sung: between notes, or the whole turn before or after a single one."""
    text = _SUNG.sub("", text)
    marks = [position for position, character in enumerate(text) if character in _NOTE_SIGNS]
    if marks:
        # A single note closes a song that began in an earlier cue, or opens one that goes on.
        closes = not count_letters(text[marks[0] :])
        text = "" if closes else text[: marks[0]]
    stripped = text.strip()
    return "" if _HASH_SONG.match(stripped) or _STARRED.match(stripped) else stripped


def _tidy(text: str, style: FileStyle) -> str:
    """One line with single spaces, without the punctuation that a removed note left behind."""
    text = _SPACED_DOTS.sub("...", " ".join(text.split()))
    lonely = _LONELY_STOP if style.words.spaced_marks else _LONELY_MARK
    text = lonely.sub(r"\1", _SECOND_STOP.sub("", text))
    return re.sub(r"^[,;:]+\s*", "", text)
