"""What every book reader yields: headings and paragraphs, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "verse", "break"]


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
