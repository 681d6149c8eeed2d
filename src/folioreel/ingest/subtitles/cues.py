"""Cues as they stand in a file, and how their times are mended before anybody reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

LONGEST_CUE_S = 30.0
"""No cue stands longer than this; a longer one has a wrong end."""
_SHORTEST_CUE_S = 0.001
_FAR_S = 600.0
"""A cue this far outside its two neighbours in the file has a wrong time."""
_LAST_TIME_S = 24 * 3600.0
_TOUCHING_S = 0.1
_SAME_START_S = 0.3
"""Cues that begin this close together are on screen at once, and keep their times."""


@dataclass(frozen=True, kw_only=True)
class Cue:
    """What a subtitle file shows at one time."""

    start_s: float
    end_s: float
    text: str
    """Lines separated by `\\n`, with or without markup."""
    speaker: str | None = None
    """Who speaks, where the format says so (a WebVTT voice, an ASS name)."""


def reading_time_s(text: str) -> float:
    """How long a cue stands whose end is not known: half a second, and 15 characters a second."""
    return 0.5 + len(text) / 15.0


def mend_cues(cues: Sequence[Cue]) -> tuple[list[Cue], Counter[str]]:
    """Put cues in order, with sane times and without repetitions.

    Args:
        cues: The cues in the order of the file, their text without markup.

    Returns:
        The cues by start time, and how many of them had each fault.
    """
    faults: Counter[str] = Counter()
    kept = _place_strays(_clip_to_start(cues, faults), faults)
    faults["out of order"] += sum(b.start_s < a.start_s for a, b in pairwise(kept))
    kept = sorted(kept, key=lambda cue: cue.start_s)
    kept = _mend_ends(kept, faults)
    kept = _drop_duplicates(kept, faults)
    kept = _unroll(kept, faults)
    return _clip_overlaps(kept, faults), +faults


def share_time(start_s: float, end_s: float, texts: Sequence[str]) -> list[tuple[float, float]]:
    """Part a stretch of time among texts, in proportion to their letters."""
    weights = [max(1, count_letters(text)) for text in texts]
    total, passed, shares = sum(weights), 0, []
    for weight in weights:
        begin = start_s + (end_s - start_s) * passed / total
        passed += weight
        shares.append((begin, start_s + (end_s - start_s) * passed / total))
    return shares


def count_letters(text: str) -> int:
    """Letters and digits: what takes time to say."""
    return sum(character.isalnum() for character in text)


def _clip_to_start(cues: Iterable[Cue], faults: Counter[str]) -> list[Cue]:
    """Cut off what lies before time zero or beyond a day."""
    kept = []
    for cue in cues:
        if (cue.start_s < 0 and cue.end_s <= 0) or cue.start_s > _LAST_TIME_S:
            faults["outside the film"] += 1
        elif cue.start_s < 0:
            faults["before time zero"] += 1
            kept.append(replace(cue, start_s=0.0))
        else:
            kept.append(cue)
    return kept


def _place_strays(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Put a cue whose time is far from both its neighbours in the file back between them."""
    kept: list[Cue] = []
    for position, cue in enumerate(cues):
        before = kept[-1] if kept else None
        after = cues[position + 1] if position + 1 < len(cues) else None
        if not _is_stray(before, cue, after):
            kept.append(cue)
            continue
        faults["with an absurd time"] += 1
        begin = _likely_end(before) if before else 0.0
        end = min(begin + reading_time_s(cue.text), after.start_s if after else begin)
        if end - begin >= 0.5:
            kept.append(replace(cue, start_s=begin, end_s=end))
    return kept


def _likely_end(cue: Cue) -> float:
    """The end of a cue whose own end may be wrong."""
    return min(max(cue.end_s, cue.start_s), cue.start_s + LONGEST_CUE_S)


def _is_stray(before: Cue | None, cue: Cue, after: Cue | None) -> bool:
    """Whether a cue lies far outside the two cues that it stands between."""
    if after is None:
        return before is not None and cue.start_s > before.start_s + 12 * _FAR_S
    if before is None:
        return False
    if before.start_s > after.start_s or after.start_s - before.start_s > _FAR_S:
        return False
    return cue.start_s > after.start_s + _FAR_S or cue.start_s < before.start_s - _FAR_S


def _mend_ends(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Give a sensible end to cues without length, with a negative one, or with an absurd one."""
    kept = []
    for position, cue in enumerate(cues):
        length_s = cue.end_s - cue.start_s
        if _SHORTEST_CUE_S <= length_s <= LONGEST_CUE_S:
            kept.append(cue)
            continue
        faults["without length" if length_s < _SHORTEST_CUE_S else "that never ended"] += 1
        following = (cues[k].start_s for k in range(position + 1, len(cues)))
        next_s = next((s for s in following if s > cue.start_s + _SAME_START_S), float("inf"))
        kept.append(replace(cue, end_s=min(cue.start_s + reading_time_s(cue.text), next_s)))
    return kept


def _drop_duplicates(cues: list[Cue], faults: Counter[str]) -> list[Cue]:
    """Join cues that say the same at the same time, or with no pause between them."""
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
    """Take out of each cue the lines that it repeats from the cue before (live captions)."""
    repeats = [0] * bool(cues) + [_repeated_words(a, b) for a, b in pairwise(cues)]
    count = sum(repeated > 0 for repeated in repeats)
    is_rolling = count >= 2 and count > 0.3 * len(cues)
    # In a file that does not roll, only a whole clause said twice in one breath is a repetition.
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
    for first in range(len(lines)):
        tail = [word for line in lines[first:] for word in line]
        if tail and words[: len(tail)] == tail:
            return len(tail)
    return 0


def _skip_words(text: str, count: int) -> str:
    """The text after its first words, its lines kept."""
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
    kept = []
    later = 0
    for position, cue in enumerate(cues):
        later = max(later, position + 1)
        while later < len(cues) and cues[later].start_s < cue.start_s + _SAME_START_S:
            later += 1
        if later < len(cues) and cues[later].start_s < cue.end_s:
            faults["overlapping"] += 1
            cue = replace(cue, end_s=cues[later].start_s)
        kept.append(cue)
    return kept
