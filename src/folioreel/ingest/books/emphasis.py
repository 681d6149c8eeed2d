"""Italics in books: found as marks inside the text, kept as ranges of the cleaned text.

Between the two, text is cleaned, joined and cut, which moves and drops white space only. So places
are counted in visible characters, which stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from folioreel.ingest.books.trees import clean_text

# Marks inside the gathered text; no document of HTML can hold these characters.
START, END = "\x06", "\x07"
_MARKS = re.compile(f"[{START}{END}]")
_CUTS = re.compile(f"([{START}{END}])")
Ranges = tuple[tuple[int, int], ...]


def strip_marks(text: str) -> str:
    """The text without marks."""
    return _MARKS.sub("", text)


def count_emphasis(marked: str, clean: Callable[[str], str] = clean_text) -> Ranges:
    """What stands between marks, counted in the visible characters of the text.

    Args:
        marked: The text with its marks, which may be nested.
        clean: What makes the text that is kept; it must treat each visible character alone.
    """
    ranges: list[tuple[int, int]] = []
    at = depth = 0
    for piece in _CUTS.split(marked) if START in marked else ():
        if piece in (START, END):
            depth = max(0, depth + (1 if piece == START else -1))
            continue
        end = at + len(_visible(clean(piece)))
        if depth and end > at:
            joins = bool(ranges) and ranges[-1][1] == at
            ranges.append((ranges.pop()[0] if joins else at, end))
        at = end
    return tuple(ranges)


def place_emphasis(counted: Ranges, text: str, first: int = 0) -> Ranges:
    """Where emphasised ranges begin and end in a text.

    Args:
        counted: The ranges, in visible characters.
        text: The text, cleaned.
        first: How many visible characters stand before it.
    """
    if not counted:
        return ()
    places = [k for k, character in enumerate(text) if not character.isspace()]
    inside = cut_emphasis(counted, first, first + len(places))
    return tuple((places[start], places[end - 1] + 1) for start, end in inside)


def cut_emphasis(ranges: Ranges, start: int, end: int) -> Ranges:
    """The ranges within a part of a text, counted from where the part begins."""
    found = []
    # Ranges are in order and apart, so the first that reaches into the part is soon found.
    for k in range(bisect_right(ranges, start, key=lambda one: one[1]), len(ranges)):
        first, last = ranges[k]
        if first >= end:
            break
        found.append((max(first, start) - start, min(last, end) - start))
    return tuple(found)


def _visible(text: str) -> str:
    return "".join(text.split())
