"""Titles of chapters that only their places show: below numbers, or without any number.

Only in other languages than English, of whose many books each has its own signs and letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise

from folioreel.ingest.books import titles
from folioreel.ingest.books.blocks import Block
from folioreel.sentences import split_sentences
from folioreel.text import QUOTES, count_words

_FEWEST_LINES = 5  # lines that open chapters; fewer may be signs and letters
_MOST = 0.8  # of such lines, so many open chapters
_MATTER = 0.05  # of the words of a book at either end, where lines may be those of a title page
_CHAPTER_WORDS = 100  # the shortest chapter
_FEWEST_NUMBERS = 3  # chapters with a title below their number; two may begin with a short sentence
_MOST_BELOW = 0.5  # of the lines below such titles, so many may be as short
_FEW_MARKED = 2  # headings with other titles that a book may have: its own, and the author's name
_NO_TITLE = QUOTES + "—–―-[("  # how something begins that is said, or a note


def promote_unmarked(blocks: Iterable[Block]) -> list[Block]:
    """Where markup shows no titles, look for them as in plain text with a blank line everywhere.

    Some converters make every line a paragraph, chapters' titles and numbers included.
    """
    found = list(blocks)
    heads = [b.text for b in found if b.kind == "heading"]
    marked = sum(not titles.is_strong_heading(text) for text in heads)
    if titles.reading_language() == "en" or marked > _FEW_MARKED:
        return found
    # In a book with numbered chapters, other numbers are those of pages or notes.
    by_number = not _has_numbered(heads)
    result: list[Block] = []
    for block in found:
        below = bool(result) and result[-1].kind == "heading"
        if block.kind == "paragraph" and (
            (below and titles.is_subtitle(block.text, blank_before=1))
            or (by_number and titles.is_number_line(block.text))
        ):
            block = replace(block, kind="heading", guessed=True)
        result.append(block)
    return promote_titles(result, evenly_spaced=True)


def promote_titles(blocks: list[Block], *, evenly_spaced: bool) -> list[Block]:
    """Turn paragraphs of plain text that are titles of chapters into headings."""
    if titles.reading_language() == "en":
        return blocks
    blocks = _promote_below_numbers(blocks)
    if not evenly_spaced:
        return blocks
    found = _opening_lines(blocks, [k for k, b in enumerate(blocks) if _is_in_capitals(b)])
    # Small letters tell less: only where the book has no other chapters.
    if not found and sum(block.kind == "heading" for block in blocks) < _FEWEST_LINES:
        unended = {k for k, block in enumerate(blocks) if _is_unended(block)}
        # One below another is verse, or the lines of a letter.
        if not any(k + 1 in unended for k in _inside(blocks, unended)):
            found = _opening_lines(blocks, sorted(unended))
    return [replace(b, kind="heading") if k in found else b for k, b in enumerate(blocks)]


def _promote_below_numbers(blocks: list[Block]) -> list[Block]:
    """Where nearly every number has a short line below it (`II.`, `Die Höhle.`), it is a title."""
    numbers = [
        k
        for k, block in enumerate(blocks[:-2])
        if block.kind == "heading" and titles.is_bare_number(block.text)
    ]
    below = {k + 1 for k in numbers if _is_short_sentence(blocks[k + 1])}
    titled = sum(blocks[k + 1].kind == "heading" for k in numbers)
    if len(below) < max(_FEWEST_NUMBERS, _MOST * (len(numbers) - titled)):
        return blocks
    # Some books have nothing but short paragraphs.
    if sum(_is_short_sentence(blocks[k + 1]) for k in below) > _MOST_BELOW * len(below):
        return blocks
    return [replace(b, kind="heading") if k in below else b for k, b in enumerate(blocks)]


def _opening_lines(blocks: list[Block], lines: list[int]) -> set[int]:
    """In a book without numbered chapters, the lines that open them if nearly all of them do."""
    headings = [block.text for block in blocks if block.kind == "heading"]
    if _has_numbered(headings):
        return set()
    heads = {k for k, block in enumerate(blocks) if block.kind == "heading"} | set(lines)
    words = [0, *accumulate(count_words(block.text) for block in blocks)]
    opening: set[int] = set()
    below = len(blocks)
    for k in sorted(heads, reverse=True):
        # A part's title stands right above a chapter's.
        if words[below] - words[k + 1] >= _CHAPTER_WORDS or (below == k + 1 and below in opening):
            opening.add(k)
        below = k
    inside = _inside(blocks, lines)
    found = _without_lists(opening.intersection(lines), inside)
    longest = max(
        (words[b] - words[a] for a, b in pairwise([*sorted(heads), len(blocks)])), default=0
    )
    if len(found) < max(_FEWEST_LINES, _MOST * len(found | inside)) or longest > 0.5 * words[-1]:
        return set()
    return found


def _without_lists(opening: set[int], inside: set[int]) -> set[int]:
    """Without the lines of a title page or a table of contents right above the first title."""
    # One line above a title is a part's; more are a list, whose last line is the title below it.
    listed = {k for k in opening if {k, k + 1, k + 2} <= opening and k not in inside}
    return opening - listed - {k + 1 for k in listed}


def _inside(blocks: list[Block], lines: Iterable[int]) -> set[int]:
    """Those of some lines that are not near the ends, where title pages and contents are."""
    words = [0, *accumulate(count_words(block.text) for block in blocks)]
    margin = _MATTER * words[-1]
    return {k for k in lines if margin < words[k] < words[-1] - margin}


def _has_numbered(headings: list[str]) -> bool:
    return sum(titles.is_numbered(text) and not titles.is_part(text) for text in headings) > 1


def _is_short_line(block: Block) -> bool:
    """Whether a block is one line of a title's length, and not said by anybody."""
    return (
        (block.kind == "paragraph" or block.guessed)
        and len(block.lines) <= 1  # formats with markup have none
        and len(block.text.split()) <= titles.TITLE_WORDS
        and block.text[0] not in _NO_TITLE
    )


def _is_short_sentence(block: Block) -> bool:
    """Whether a block is a short line of one sentence, in a script that has capitals."""
    if not _is_short_line(block) or not titles.has_case(block.text):
        return False
    return len(split_sentences(block.text, titles.reading_language())) == 1


def _is_in_capitals(block: Block) -> bool:
    return _is_short_line(block) and titles.is_capitals(block.text)


def _is_unended(block: Block) -> bool:
    """Whether a line begins with a capital, and does not end like a sentence."""
    text = block.text
    return (
        _is_short_line(block)
        and text[0].isupper()
        and text[-1] not in titles.END_MARKS + QUOTES + ")]-—–"
    )
