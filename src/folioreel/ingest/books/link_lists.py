"""Tables of contents made of links, as web pages and EPUBs have, are left out with their titles."""

from __future__ import annotations

import re

from folioreel.ingest.books.blocks import Block, drop_blocks
from folioreel.ingest.books.titles import matter_kind

_NUMERAL = re.compile(r"\b(?:\d+|[ivxlcdm]+)\b\.?|[.·…\s]+", re.IGNORECASE)
_ENTRY_CHARACTERS = 160  # an entry of the contents with a summary; a paragraph is longer
_CAPTION_CHARACTERS = 60  # what may stand between entries: "PART ONE", "CHAPTER … PAGE"


def drop_link_lists(blocks: list[Block]) -> list[Block]:
    """Leave out contents made of links, with their title, and titles of notes that are gone."""
    gone: set[int] = set()
    entries = [_is_link_entry(block) for block in blocks]
    first = 0
    while first < len(blocks):
        last = _end_of_links(blocks, entries, first) if entries[first] else first
        if sum(entries[first:last]) >= 3:  # two links may be a cross-reference
            gone.update(range(first, last), _title_above(blocks, first))
        first = max(last, first + 1)
    kept = drop_blocks(blocks, gone)
    return drop_blocks(kept, {k for k in range(len(kept)) if _is_empty_apparatus(kept, k)})


def _is_link_entry(block: Block) -> bool:
    # A heading may link back to the contents without being an entry of them.
    if block.kind in ("break", "heading") or len(block.text) > _ENTRY_CHARACTERS:
        return False
    words = _NUMERAL.sub("", block.text)
    # Most of an entry is the link; the rest may be dots, a page number, an author.
    return block.linked > 0 and block.linked >= 0.6 * max(len(words), 1)


def _end_of_links(blocks: list[Block], entries: list[bool], first: int) -> int:
    """The end of a run of entries, in which single short lines ("PART ONE") may stand."""
    last = first
    while last < len(blocks) and (
        entries[last]
        or (
            blocks[last].kind != "heading"
            and len(blocks[last].text) <= _CAPTION_CHARACTERS
            and last + 1 < len(blocks)
            and entries[last + 1]
        )
    ):
        last += 1
    return last


def _title_above(blocks: list[Block], first: int) -> range:
    """The heading `CONTENTS` above a list, with column titles between (`CHAPTER PAGE`)."""
    for k in range(first - 1, max(first - 4, -1), -1):
        if matter_kind(blocks[k].text) == "contents":
            return range(k, first)
        if len(blocks[k].text) > _CAPTION_CHARACTERS:
            break
    return range(0)


def _is_empty_apparatus(blocks: list[Block], k: int) -> bool:
    """Whether a line says `NOTES` and nothing is left below it."""
    title = blocks[k].text
    named = matter_kind(title) == "apparatus" or title.strip(".:").lower() == "note"
    return named and all(block.kind in ("heading", "break") for block in blocks[k + 1 : k + 2])
