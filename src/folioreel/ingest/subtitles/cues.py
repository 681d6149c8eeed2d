"""Cues as a subtitle file has them, and their repair: markup and impossible times."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

# Style guides keep a cue on screen for 7 seconds at most; one that stays this long has a wrong end.
LONGEST_CUE_S = 30.0
# Shorter is no length at all: formats count milliseconds or frames.
_SHORTEST_CUE_S = 0.001
# A cue this far from two neighbours in the file, which are close to each other, has a typo in its
# time, such as a wrong hour. Cues that are merely out of order are nearer.
_FAR_S = 600.0
_LAST_TIME_S = 24 * 3600.0
# Rolling captions follow one another at once; a real repetition comes after a pause.
_TOUCHING_S = 0.1
_MOST_LINES = 20  # of a cue, that the next one may show again
# Cues that begin this close together are on screen at once, and both keep their times.
_SAME_START_S = 0.3

# Possessive quantifiers (`*+`) keep these linear, as a cue may hold a hundred thousand spaces.
_LINE_BREAK = re.compile(r"\\N|\\n|<\s*+br\s*+/?\s*+>|\[br\]", re.IGNORECASE)
# How Chinese characters are read, in small print beside them: the text would be there twice.
_RUBY_READING = re.compile(r"<rt\b[^<>]*+>[^<]*+(?:<(?!/?rt\b)[^<]*+)*+</rt\s*+>", re.IGNORECASE)
# A tag is a time (`<00:01.500>`), or a name with attributes; only in voices, languages, classes and
# fonts may other words follow. So `a < b`, `<3` and `< Come in, John! >` are left alone.
_TAG = re.compile(
    r"<\s*+/?\s*+(?:(?:(?:[cv]|lang|[Ff][Oo][Nn][Tt])\b|\d++:\d)[^<>]*+"
    r"|[A-Za-z][\w.:-]*+\s*+(?:/|[\w:-]++\s*+=[^<>]*+)?)>"
)
_OPEN_TAG_AT_END = re.compile(r"<\s*+/?\s*+(?:(?:[cv]|[Ff][Oo][Nn][Tt])\b[^<>]*+|[A-Za-z]\s*+)$")
# Codes of ASS (`{\an8}`) and MicroDVD (`{y:i}`); other braces are part of what is said.
_BRACES = re.compile(r"\{(?:\s*+\\[^{}]*+|[A-Za-z]:[^{}]*+|[^{}\w]*+)\}")
_OPEN_OVERRIDE_AT_END = re.compile(r"\{\\[^{}]*$")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
# Direction marks, byte-order marks, soft hyphens, and controls other than the line feed. The
# joiners U+200C and U+200D stay: Persian and the Indic scripts spell with them.
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\ufffd\x00-\x09\x0b-\x1f\x7f-\x9f]"
)
# The note sign in UTF-8, read as another encoding; old captions use a pilcrow.
_MANGLED_NOTE = re.compile("â™[ª«¬]|âª|\u00b6")
# OCR reads a capital I as a small l; no language has the words that result.
_SMALL_L_FOR_I = re.compile(r"(?<![\w'’.&-])l(?=['’](?:m|ll|ve|d)\b|(?![\w'’.&-]))")


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A piece of text that a subtitle file shows at one time."""

    start_s: float
    end_s: float
    text: str  # lines separated by `\n`, with or without markup
    speaker: str | None = None  # who speaks, where the format says so (a WebVTT voice, an ASS name)


def reading_time_s(text: str) -> float:
    """How long a cue of unknown end may stay: 15 characters a second, the usual reading speed."""
    return 0.5 + len(text) / 15.0


@dataclass(frozen=True, kw_only=True)
class ParsedCues:
    """The cues of a file or track in its own order, and how they were read."""

    cues: tuple[Cue, ...]
    format: str = ""
    notes: tuple[str, ...] = ()


def note_untimed(count: int) -> tuple[str, ...]:
    """A note for the user on cues whose time is missing."""
    return (f"{count} cue{'s' * (count > 1)} without a time left out",) if count else ()


def _plain(text: str) -> str:
    """The visible lines of a cue, without markup and trimmed; empty lines are dropped."""
    text = _LINE_BREAK.sub("\n", text.replace("\\h", " "))
    text = _strip_tags(text)
    if "&" in text:
        # Twice, for `&amp;quot;`; then tags once more, for `&lt;i&gt;`.
        text = _strip_tags(_unescape(_unescape(text)))
    text = _MANGLED_NOTE.sub("♪", text.replace("\t", " "))
    text = _SMALL_L_FOR_I.sub("I", _INVISIBLE.sub("", text))
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def _strip_tags(text: str) -> str:
    """Remove tags and override codes, closed or broken off at the end of the cue."""
    if "<" in text:
        text = _LINE_BREAK.sub("\n", _RUBY_READING.sub("", text))
        text = _OPEN_TAG_AT_END.sub("", _TAG.sub("", text))
    if "{" in text:
        text = _OPEN_OVERRIDE_AT_END.sub("", _BRACES.sub("", text))
    return text


def _unescape(text: str) -> str:
    """Replace entities that end with a semicolon, so not in `AT&T` or `R&B`."""
    return _ENTITY.sub(lambda match: html.unescape(match.group()), text)


def repair_cues(cues: Sequence[Cue]) -> tuple[list[Cue], Counter[str]]:
    """Remove markup from cues in the order of the file, repair times and drop repetitions.

    Returns:
        The cues by start time, and how many of them had each fault.
    """
    faults: Counter[str] = Counter()
    plain = [replace(cue, text=_plain(cue.text)) for cue in cues]
    kept = _place_strays(_clip_to_start([cue for cue in plain if cue.text], faults), faults)
    faults["out of order"] += sum(b.start_s < a.start_s for a, b in pairwise(kept))
    kept.sort(key=lambda cue: cue.start_s)
    kept = _drop_duplicates(_repair_ends(kept, faults), faults)
    return _clip_overlaps(_unroll(kept, faults), faults), +faults


def share_time(start_s: float, end_s: float, texts: Sequence[str]) -> list[tuple[float, float]]:
    """Divide a stretch of time among texts in proportion to their letters."""
    passed = list(accumulate((max(1, count_letters(text)) for text in texts), initial=0))
    total = passed[-1] or 1
    return list(pairwise(start_s + (end_s - start_s) * letters / total for letters in passed))


def count_letters(text: str) -> int:
    """The number of letters and digits, which is what takes time to say."""
    return sum(character.isalnum() for character in text)


def _clip_to_start(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Drop cues before time zero or after a day, and clip those that begin before zero."""
    kept = []
    for cue in cues:
        is_time = math.isfinite(cue.end_s) and cue.start_s <= _LAST_TIME_S  # not so of NaN
        if not is_time or (cue.start_s < 0 and cue.end_s <= 0):
            faults["outside the film"] += 1
        elif cue.start_s < 0:
            faults["before time zero"] += 1
            kept.append(replace(cue, start_s=0.0))
        else:
            kept.append(cue)
    return kept


def _place_strays(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Move a cue whose time is far from both its neighbours in the file back between them."""
    kept: list[Cue] = []
    for cue, after in zip(cues, [*cues[1:], None], strict=False):
        before = kept[-1] if kept else None
        if before is None or not _is_stray(before, cue, after):
            kept.append(cue)
            continue
        faults["with an absurd time"] += 1
        # The end of the cue before may be wrong as well.
        begin_s = min(max(before.end_s, before.start_s), before.start_s + LONGEST_CUE_S)
        if after is not None and after.start_s - begin_s >= 0.5:  # else no room to say it
            end_s = min(begin_s + reading_time_s(cue.text), after.start_s)
            kept.append(replace(cue, start_s=begin_s, end_s=end_s))
    return kept


def _is_stray(before: Cue, cue: Cue, after: Cue | None) -> bool:
    if after is None:
        # The last cue may follow long silent credits, but not by two hours.
        return cue.start_s > before.start_s + 12 * _FAR_S
    is_hole = 0 <= after.start_s - before.start_s <= _FAR_S
    return is_hole and not before.start_s - _FAR_S <= cue.start_s <= after.start_s + _FAR_S


def _repair_ends(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Give an end to cues whose length is zero, negative or absurd."""
    kept, later = [], 0
    for cue in cues:
        # The first cue that begins after this one; they are in order.
        while later < len(cues) and cues[later].start_s <= cue.start_s + _SAME_START_S:
            later += 1
        length_s = cue.end_s - cue.start_s
        if _SHORTEST_CUE_S <= length_s <= LONGEST_CUE_S:
            kept.append(cue)
            continue
        faults["without length" if length_s < _SHORTEST_CUE_S else "that never ended"] += 1
        next_s = cues[later].start_s if later < len(cues) else math.inf
        kept.append(replace(cue, end_s=min(cue.start_s + reading_time_s(cue.text), next_s)))
    return kept


def _drop_duplicates(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Merge cues that say the same at the same time, or with no pause in between."""
    kept: list[Cue] = []
    recent: dict[str, int] = {}
    for cue in cues:
        text = " ".join(cue.text.split())
        twin = recent.get(text)
        if twin is not None and cue.start_s <= kept[twin].end_s + 0.01:
            faults["duplicate"] += 1
            kept[twin] = replace(kept[twin], end_s=max(kept[twin].end_s, cue.end_s))
        else:
            recent[text] = len(kept)
            kept.append(cue)
    return kept


def _unroll(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Remove from each cue the lines that it repeats from the cue before (live captions)."""
    repeats = [0] * bool(cues) + [_repeated_words(a, b) for a, b in pairwise(cues)]
    count = sum(repeated > 0 for repeated in repeats)
    # In rolling captions nearly every cue repeats a line, in other files hardly any.
    is_rolling = count >= 2 and count > 0.3 * len(cues)
    # In other files, only a clause of four words shown again without a gap counts: people do
    # cry "No!" twice.
    least, longest_gap_s = (1, _TOUCHING_S) if is_rolling else (4, 0.01)
    kept: list[Cue] = []
    for before, cue, repeated in zip([None, *cues], cues, repeats, strict=False):
        gap_s = cue.start_s - before.end_s if before else 0.0
        if repeated < least or gap_s > longest_gap_s:
            kept.append(cue)
            continue
        faults["rolling"] += 1
        rest = _skip_words(cue.text, repeated)
        if rest:
            kept.append(replace(cue, text=rest))
        elif kept:
            kept[-1] = replace(kept[-1], end_s=max(kept[-1].end_s, cue.end_s))
    return kept


def _repeated_words(before: Cue, after: Cue) -> int:
    """How many words `after` repeats from the last whole lines of `before`."""
    if after.start_s > before.end_s + _TOUCHING_S or before.speaker != after.speaker:
        return 0
    words = after.text.split()
    lines = [line.split() for line in before.text.split("\n")]
    # All of it, or the last lines; no caption shows more of them.
    for first in (0, *range(max(1, len(lines) - _MOST_LINES), len(lines))):
        tail = [word for line in lines[first:] for word in line]
        if tail and words[: len(tail)] == tail:
            return len(tail)
    return 0


def _skip_words(text: str, count: int) -> str:
    """The text without its first words, in the same lines."""
    lines = []
    for line in text.split("\n"):
        words = line.split()
        skipped = min(count, len(words))
        count -= skipped
        if words[skipped:]:
            lines.append(" ".join(words[skipped:]))
    return "\n".join(lines)


def _clip_overlaps(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """End each cue where the next one begins, unless both begin together."""
    kept, later = [], 0
    for position, cue in enumerate(cues):
        later = max(later, position + 1)
        while later < len(cues) and cues[later].start_s < cue.start_s + _SAME_START_S:
            later += 1
        if later < len(cues) and cues[later].start_s < cue.end_s:
            faults["overlapping"] += 1
            cue = replace(cue, end_s=cues[later].start_s)
        kept.append(cue)
    return kept
