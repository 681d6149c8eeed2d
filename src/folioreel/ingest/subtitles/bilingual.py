"""Subtitles in two languages: each cue says the same twice, one language above the other.

Language learners and cinemas in several countries have them. Only one language is kept, so that
no line is there twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from folioreel.ingest.subtitles.cues import Cue
from folioreel.language import are_kin, decide_language
from folioreel.text import dominant_script

_FEWEST = 10  # cues; in fewer, a language cannot be told for sure
_MOST = 0.7  # of the cues have both languages; names and credits may stand in one


def choose_language(cues: Sequence[Cue], preferred: str) -> tuple[list[Cue], str | None]:
    """The cues in one language, and the language that was left out, if they were in two.

    If neither is the preferred one, the upper is kept. The cues have no markup.
    """
    merged = _merge_simultaneous(cues)
    halves = [_halves(cue.text) for cue in merged]
    both = [half for half in halves if all(half)]
    if len(both) < max(_FEWEST, _MOST * len(merged)):
        return list(cues), None
    languages = [decide_language("\n".join(half[k] for half in both)) for k in (0, 1)]
    upper, lower = languages
    if upper is None or lower is None or are_kin(upper, lower):
        return list(cues), None
    kept = 1 if are_kin(lower, preferred) else 0
    scripts = [dominant_script("\n".join(half[k] for half in both)) for k in (0, 1)]
    chosen: list[Cue] = []
    for cue, half in zip(merged, halves, strict=True):
        text = half[kept] if all(half) else cue.text
        # A cue of one line may be in either; only another script tells.
        if all(half) or scripts[0] == scripts[1] or dominant_script(text) != scripts[1 - kept]:
            chosen.append(replace(cue, text=text))
    return chosen, languages[1 - kept]


def _merge_simultaneous(cues: Sequence[Cue]) -> list[Cue]:
    """Cues that are shown at the same time as one: joined files have each language in its own."""
    merged: list[Cue] = []
    for cue in cues:
        if merged and (merged[-1].start_s, merged[-1].end_s) == (cue.start_s, cue.end_s):
            merged[-1] = replace(merged[-1], text=f"{merged[-1].text}\n{cue.text}")
        else:
            merged.append(cue)
    return merged


def _halves(text: str) -> tuple[str, str]:
    """The upper and the lower lines of a cue: parted where the script changes, or in the middle."""
    lines = text.split("\n")
    scripts = [dominant_script(line) for line in lines]
    changes = [k for k in range(1, len(lines)) if scripts[k] != scripts[k - 1]]
    above = list(accumulate(map(len, lines), initial=0))  # letters above each line
    middle = min(range(1, len(lines)), key=lambda k: abs(2 * above[k] - above[-1]), default=1)
    at = changes[0] if len(changes) == 1 else middle
    return "\n".join(lines[:at]), "\n".join(lines[at:])
