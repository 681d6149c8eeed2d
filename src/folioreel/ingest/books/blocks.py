"""The blocks that every book reader yields, and the last steps on the way to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from folioreel.ingest.books.titles import heading_level, is_numbered, is_strong_heading
from folioreel.ingest.books.trees import clean_text

BlockKind = Literal["heading", "paragraph", "verse", "break"]

_BARE_NUMBER = re.compile(r"^(?:\d+|[IVXLC]+)$")
_NUMBER_LINE = re.compile(r"^[\[(]?(\d{1,3}|[IVXLC]{1,8})[\])]?\.?$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_LOWEST_RANK = 7
"""Below `h6`: the rank of numbers that were paragraphs in the file."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading, a paragraph, some lines of verse, or a section break (`* * *`, a rule).

    A format with lines (plain text, Markdown) fills `lines`; one without fills `href` and `offset`.
    """

    kind: BlockKind
    text: str
    """Its text, on one line, with single spaces."""
    level: int = 1
    """Of a heading: 1 for a part or chapter, 2 for what stands below it."""
    guessed: bool = False
    """Of a heading: told by how it stands (capitals, blank lines), not by markup or its words."""
    lines: tuple[tuple[int, int], ...] = ()
    """(offset in `text`, line number from 1) for each line of the file that the block spans."""
    in_body: bool = False
    """Of a heading: the file says that it belongs to the story itself (EPUB's `bodymatter`)."""
    href: str | None = None
    """The document inside the book: a spine item, a PDF page (`#page=3`)."""
    offset: int = 0
    """Where `text` begins in the document's text: its blocks joined by single newlines."""


@dataclass(frozen=True, kw_only=True)
class Manuscript:
    """A book as a reader found it: its blocks in reading order, before sentences are split."""

    title: str
    blocks: tuple[Block, ...]
    language: str | None = None
    notes: tuple[str, ...] = ()
    """What the reader chose or noticed, in words for the user."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A block before its heading level and its place are known."""

    kind: BlockKind
    text: str
    rank: int = 0
    """Of a heading: how deep the file puts it (`h1` is 1); only the order counts."""
    in_body: bool = False
    """As in `Block`."""
    ids: tuple[str, ...] = ()
    """The anchors in it, to which a table of contents may point."""
    linked: int = 0
    """How many of its characters are links inside the book."""
    lines: tuple[tuple[int, int], ...] = ()
    """As in `Block`."""
    href: str | None = None


def heading_text(lines: Iterable[str]) -> str:
    """A heading on one line; a stop is set after a number that had a line of its own."""
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
    """In a book without numbered headings, turn paragraphs that count I, II, III … into some."""
    numbered = sum(piece.kind == "heading" and is_numbered(piece.text) for piece in pieces)
    if numbered > 1:  # one may be an "EPILOGUE"
        return pieces
    found: list[int] = []
    last = 0
    for k, piece in enumerate(pieces):
        match = _NUMBER_LINE.match(piece.text) if piece.kind == "paragraph" else None
        # They may begin at II: the first chapter is sometimes headed by the book's title alone.
        value = numeral_value(match.group(1)) if match else 0
        if value == last + 1 or (value == 2 and not found):
            found.append(k)
            last = value
    if len(found) < 3:  # two may be a numbered list, or the sections of one chapter
        return pieces
    return [
        replace(piece, kind="heading", rank=_LOWEST_RANK) if k in found else piece
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
            Block(
                kind=piece.kind,
                text=piece.text,
                level=level,
                in_body=piece.in_body,
                href=piece.href,
                offset=offset,
            )
        )
        ends[piece.href] = offset + len(piece.text) + 1  # the newline that joins blocks
    return tuple(blocks)


def drop_idle_breaks(pieces: Iterable[Piece]) -> list[Piece]:
    """Leave out breaks that separate nothing: doubled, beside a heading, first or last."""
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
    """The rank that says `CHAPTER`, or else the one that has numbers, or else the first in use."""
    for is_chapter in (is_strong_heading, is_numbered):
        for rank in ranks:
            # "PART ONE" stands above the chapters. A third is enough, because numbers may have
            # their title in a heading of its own, and a book has a preface and other headings.
            chapters = [t for t in texts[rank] if is_chapter(t) and heading_level(t) > 1]
            if len(chapters) >= 2 and len(chapters) >= len(texts[rank]) / 3:
                return rank
    # A rank with one heading is probably the book's title, with two perhaps title and subtitle.
    for least in (3, 2, 1):
        for rank in ranks:
            if len(texts[rank]) >= least:
                return rank
    return 0


def drop_pieces(pieces: list[Piece], gone: set[int]) -> list[Piece]:
    """Leave out pieces by index; their anchors move on to what follows."""
    kept: list[Piece] = []
    waiting: tuple[str, ...] = ()
    for k, piece in enumerate(pieces):
        if k in gone:
            waiting += piece.ids
        else:
            kept.append(replace(piece, ids=waiting + piece.ids) if waiting else piece)
            waiting = ()
    return kept
