"""The last steps of every reader of marked-up books: breaks, heading levels, places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from folioreel.ingest.books.blocks import Block, BlockKind
from folioreel.ingest.books.headings import heading_level, is_numbered, is_strong_heading
from folioreel.ingest.books.trees import clean_text

_BARE_NUMBER = re.compile(r"^(?:\d+|[IVXLC]+)$")
_NUMBER_LINE = re.compile(r"^[\[(]?(\d{1,3}|[IVXLC]{1,8})[\])]?\.?$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A block before it has its place."""

    kind: BlockKind
    text: str
    rank: int = 0
    """Of a heading: how deep the file puts it (`h1` is 1); only the order counts."""
    ids: tuple[str, ...] = ()
    """The anchors in it, to which a table of contents may point."""
    linked: int = 0
    """How many of its characters are links inside the book."""
    href: str | None = None


def heading_text(lines: Iterable[str]) -> str:
    """A heading on one line; a number on a line of its own is parted from the title."""
    cleaned = [line for line in map(clean_text, lines) if line]
    if len(cleaned) > 1 and _BARE_NUMBER.match(cleaned[0]):
        cleaned[0] += "."
    return " ".join(cleaned)


def promote_headings(pieces: list[Piece]) -> list[Piece]:
    """In a document without headings, a paragraph that says `CHAPTER IV` is one."""
    if any(piece.kind == "heading" for piece in pieces):
        return pieces
    return [
        replace(piece, kind="heading", rank=2)
        if piece.kind == "paragraph" and is_strong_heading(piece.text)
        else piece
        for piece in pieces
    ]


def promote_numbers(pieces: list[Piece]) -> list[Piece]:
    """In a book without numbered headings, paragraphs that count I, II, III … are the chapters'."""
    numbered = sum(piece.kind == "heading" and is_numbered(piece.text) for piece in pieces)
    if numbered > 1:  # one may be an "EPILOGUE"
        return pieces
    found: list[int] = []
    last = 0
    for k, piece in enumerate(pieces):
        match = _NUMBER_LINE.match(piece.text) if piece.kind == "paragraph" else None
        # The first chapter may be headed by the book's title alone.
        value = numeral_value(match.group(1)) if match else 0
        if value == last + 1 or (value == 2 and not found):
            found.append(k)
            last = value
    if len(found) < 3:
        return pieces
    return [
        replace(piece, kind="heading", rank=7) if k in found else piece
        for k, piece in enumerate(pieces)
    ]


def numeral_value(numeral: str) -> int:
    """The number that digits or Roman letters write."""
    if numeral.isdigit():
        return int(numeral)
    values = [_ROMAN[letter] for letter in numeral.lower()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def arrange(pieces: Sequence[Piece]) -> tuple[Block, ...]:
    """Blocks with settled heading levels, and each with its place in its document."""
    pieces = drop_idle_breaks(promote_numbers(list(pieces)))
    levels = settle_levels(pieces)
    blocks, ends = [], Counter[str | None]()
    for piece in pieces:
        offset = ends[piece.href]
        level = levels[piece.rank] if piece.kind == "heading" else 1
        blocks.append(
            Block(kind=piece.kind, text=piece.text, level=level, href=piece.href, offset=offset)
        )
        ends[piece.href] = offset + len(piece.text) + 1  # the newline that joins blocks
    return tuple(blocks)


def drop_idle_breaks(pieces: Iterable[Piece]) -> list[Piece]:
    """Leave out breaks that part nothing: doubled, beside a heading, first or last."""
    kept: list[Piece] = []
    for piece in pieces:
        if piece.kind == "break" and (not kept or kept[-1].kind in ("break", "heading")):
            continue
        if piece.kind == "heading" and kept and kept[-1].kind == "break":
            kept.pop()
        kept.append(piece)
    if kept and kept[-1].kind == "break":
        kept.pop()
    return kept


def settle_levels(pieces: Iterable[Piece]) -> dict[int, int]:
    """Rank in the file → level: 1 down to the chapters' own rank, 2 and on for what is below.

    Files differ in which rank their chapters have: `h1` by pandoc, `h2` or `h3` by others.
    """
    texts: dict[int, list[str]] = {}
    for piece in pieces:
        if piece.kind == "heading":
            texts.setdefault(piece.rank, []).append(piece.text)
    ranks = sorted(texts)
    chapter = _chapter_rank(texts, ranks)
    below = [rank for rank in ranks if rank > chapter]
    return {rank: 1 if rank <= chapter else 2 + below.index(rank) for rank in ranks}


def _chapter_rank(texts: dict[int, list[str]], ranks: list[int]) -> int:
    """The rank that says `CHAPTER`, or else numbers its headings, or else is used most plainly."""
    for is_chapter in (is_strong_heading, is_numbered):
        for rank in ranks:
            # "PART ONE" stands above the chapters; a number's title may be a heading of its own.
            chapters = [t for t in texts[rank] if is_chapter(t) and heading_level(t) > 1]
            if len(chapters) >= 2 and len(chapters) >= len(texts[rank]) / 3:
                return rank
    for least in (3, 2, 1):
        for rank in ranks:
            if len(texts[rank]) >= least:
                return rank
    return 0
