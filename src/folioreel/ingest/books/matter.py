"""What surrounds a story and is no part of it: licences, contents, notes, title pages (section 3).

Works on the blocks of any format, so that line numbers and places stay those of the original file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from folioreel.ingest.books.blocks import Block
from folioreel.ingest.books.headings import is_numbered, is_strong_heading

_GUTENBERG_START = re.compile(
    r"\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG|\*END\*?\s*THE SMALL PRINT", re.IGNORECASE
)
_GUTENBERG_END = re.compile(
    r"\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG|"
    r"^\s*End of (?:the )?Project Gutenberg(?:'s|’s)?\b",
    re.IGNORECASE,
)
_PRODUCED_BY = re.compile(
    r"^(?:e-?text )?(?:produced|prepared|transcribed|scanned|digitized) (?:by|from)\b",
    re.IGNORECASE,
)
_TRANSCRIBER = re.compile(r"^[\[(*]*\s*transcriber[’']?s?[’']?\s+notes?\b", re.IGNORECASE)
_PICTURE = re.compile(r"^\[\s*(?:illustration|frontispiece|picture|image)\b.*\]?$", re.IGNORECASE)
_FOOTNOTE = re.compile(r"^\[(?:\d{1,3}|[*†‡])\]\s|^\[?footnotes?\b|^(?:\*|†)\s+\S", re.IGNORECASE)
_MATTER_TITLE = re.compile(
    r"^(?:the\s+|a\s+)?(?:table of )?(?:contents|illustrations|"
    r"list of (?:illustrations|plates|maps|chapters)|"
    r"transcriber[’']?s?[’']? notes?|(?:pg|etext) editor[’']?s bookmarks|"
    r"editor[’']?s? (?:note|preface)|publisher[’']?s? note|"
    r"(?:author[’']?s? )?preface(?: to\b.*)?|foreword|acknowledge?ments?|dedication|copyright|"
    r"about the authors?|also by\b.*|other books by\b.*|by the same author|works by\b.*|"
    r"bibliography|index|footnotes|endnotes|notes|glossary|errata|advertisements?|praise for\b.*|"
    r"содержание|оглавление|примечания|table des matières|inhalt(?:sverzeichnis)?|índice)[.:]?$",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"^\W*(?:all rights|copyright|printed|published|first published|entered according|by|with|"
    r"illustrated|translated|edited|dedicated|to)\b",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(r"^(?:the\s+)?introduct(?:ion|ory)\b", re.IGNORECASE)
_CONTENTS_TITLE = re.compile(
    r"contents|illustrations|plates|chapters|содержание|оглавление|inhalt|índice", re.I
)
_THE_END = re.compile(r"^[^\w]*(?:the\s+end|finis|fin|конец|ende)[^\w]*$", re.IGNORECASE)
_ENTRY_END = re.compile(r"(?:\.{2,}|\s{2,}|\s)\d{1,4}$")
_PROSE_WORDS = 25
"""A block of fewer words before the first chapter is a title page's line, not prose."""


def drop_matter(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """Leave out what is not the story; say what went.

    If the rules leave nothing, the blocks come back untouched: a wrong guess must not lose a book.
    """
    left_out: Counter[str] = Counter()
    kept = _drop_gutenberg(list(blocks), left_out)
    kept = _drop_single_blocks(kept, left_out)
    kept = _demote_capitals(_drop_after_end(_drop_sections(kept, left_out), left_out))
    kept = _drop_title_page(kept, left_out)
    if not any(block.kind in ("paragraph", "verse") for block in kept):
        return blocks, ()
    if not left_out:
        return tuple(kept), ()
    names = ", ".join(f"{name} ({count})" for name, count in left_out.items())
    return tuple(kept), (f"left out of the story, in blocks of text: {names}",)


def _drop_gutenberg(blocks: list[Block], left_out: Counter[str]) -> list[Block]:
    """What stands before Project Gutenberg's start mark and after its end mark."""
    first, last = 0, len(blocks)
    for k, block in enumerate(blocks):
        if _GUTENBERG_START.search(block.text):
            first = k + 1
        elif _GUTENBERG_END.search(block.text) and k > len(blocks) // 2:
            last = k
            break
    while first < last and _PRODUCED_BY.match(blocks[first].text):
        first += 1
    _count(left_out, "Project Gutenberg's header and licence", len(blocks) - (last - first))
    return blocks[first:last]


def _drop_single_blocks(blocks: list[Block], left_out: Counter[str]) -> list[Block]:
    kept = []
    for block in blocks:
        if _PICTURE.match(block.text):
            _count(left_out, "captions of pictures", 1)
        elif _TRANSCRIBER.match(block.text) and block.kind != "heading":
            _count(left_out, "transcriber's notes", 1)
        elif _FOOTNOTE.match(block.text) and block.kind == "paragraph":
            _count(left_out, "footnotes", 1)
        elif _is_contents_list(block):
            _count(left_out, "contents", 1)
        else:
            kept.append(block)
    return kept


def _is_contents_list(block: Block) -> bool:
    """Whether one block is a list of chapters with their pages."""
    if len(block.lines) < 3 or block.kind == "heading":
        return False
    starts = [offset for offset, _ in block.lines]
    entries = [
        block.text[a:b].strip() for a, b in zip(starts, [*starts[1:], len(block.text)], strict=True)
    ]
    listed = sum(bool(_ENTRY_END.search(e)) or is_strong_heading(e) for e in entries)
    return listed >= 0.6 * len(entries)


def _drop_sections(blocks: list[Block], left_out: Counter[str]) -> list[Block]:
    """Sections whose heading says that they are matter, up to the next heading of the story."""
    first_chapter = _first_chapter(blocks)
    kept: list[Block] = []
    skipping: str | None = None
    for k, block in enumerate(blocks):
        in_contents = skipping is not None and bool(_CONTENTS_TITLE.search(skipping))
        opens = not in_contents or _is_prose_soon(blocks, k)
        if opens and _is_matter_title(block, early=k < first_chapter):
            skipping = block.text.strip(" .:_*=").lower()
        elif skipping is not None and _ends_matter(block, skipping, blocks, k):
            skipping = None
        if skipping is None:
            kept.append(block)
        else:
            _count(left_out, skipping, 1)
    return kept


def _is_matter_title(block: Block, *, early: bool) -> bool:
    text = block.text.strip(" _*=")
    if len(text.split()) > 8:
        return False
    if _MATTER_TITLE.match(text):
        # "NOTES" may be a chapter's first word in the middle of a book; a heading is needed there.
        return early or block.kind == "heading"
    return early and block.kind == "heading" and bool(_INTRODUCTION.match(text))


def _ends_matter(block: Block, skipping: str, blocks: list[Block], k: int) -> bool:
    """Whether the story goes on here."""
    if _CONTENTS_TITLE.search(skipping):
        # Entries look like headings: the list ends at prose, or at a heading that opens prose.
        opens_prose = block.kind == "heading" and _is_prose_soon(blocks, k)
        return opens_prose or (block.kind == "paragraph" and _is_prose(block))
    return block.kind == "heading"


def _is_prose_soon(blocks: list[Block], k: int) -> bool:
    """Whether a heading opens a story: prose follows, after a title or a motto at most."""
    short = 0
    for follower in blocks[k + 1 : k + 5]:
        if follower.kind in ("paragraph", "verse"):
            if _is_prose(follower) or _is_told(follower):
                return True
            short += 1
        if short > 1 or (follower.kind == "heading" and is_strong_heading(follower.text)):
            return False
    return False


def _is_prose(block: Block) -> bool:
    return len(block.text.split()) >= _PROSE_WORDS


def _is_told(block: Block) -> bool:
    """Whether a short block is a sentence of a story rather than a line of a title page."""
    words = block.text.split()
    if len(words) < 3 or block.text[-1] not in ".!?…”\"'’" or _IMPRINT.match(block.text):
        return False
    return sum(word[:1].islower() for word in words[1:]) > 0.6 * (len(words) - 1)


def _first_chapter(blocks: list[Block]) -> int:
    """The first numbered heading that opens prose, or else the first heading that does."""
    opening = [k for k, b in enumerate(blocks) if b.kind == "heading" and _is_prose_soon(blocks, k)]
    numbered = (k for k in opening if is_numbered(blocks[k].text))
    return next(numbered, opening[0] if opening else 0)


def _drop_after_end(blocks: list[Block], left_out: Counter[str]) -> list[Block]:
    """What follows `THE END` in the last part of a file, unless chapters go on."""
    for k in range(3 * len(blocks) // 4, len(blocks)):
        # "CHAPTER XXXIII" above it makes it a chapter's title.
        titles = k > 0 and blocks[k - 1].kind == "heading"
        if _THE_END.match(blocks[k].text) and not titles:
            after = blocks[k + 1 :]
            if any(b.kind == "heading" and is_numbered(b.text) for b in after):
                return blocks
            _count(left_out, "what follows the end", len(after))
            return blocks[:k]
    return blocks


def _demote_capitals(blocks: list[Block]) -> list[Block]:
    """Where chapters are numbered, other lines in capitals are notices, signs and headlines.

    A line right below a number stays: it is the chapter's title.
    """
    strong = sum(b.kind == "heading" and is_strong_heading(b.text) for b in blocks)
    if strong < 3:
        return blocks
    first = _first_chapter(blocks)
    result: list[Block] = []
    for k, block in enumerate(blocks):
        titled = bool(result) and result[-1].kind == "heading"
        if k > first and block.guessed and not is_numbered(block.text) and not titled:
            block = replace(block, kind="paragraph")
        result.append(block)
    return result


def _drop_title_page(blocks: list[Block], left_out: Counter[str]) -> list[Block]:
    """What stands before the first prose and its heading: title, author, publisher, dedication."""
    first = 0
    for k, block in enumerate(blocks):
        opens = block.kind == "heading" and _is_prose_soon(blocks, k)
        if opens or (block.kind == "paragraph" and (_is_prose(block) or _is_told(block))):
            first = k
            break
    # "PART ONE" above "CHAPTER ONE" stays.
    while first and blocks[first - 1].kind == "heading" and is_numbered(blocks[first - 1].text):
        first -= 1
    _count(left_out, "title page", first)
    return blocks[first:]


def _count(left_out: Counter[str], name: str, blocks: int) -> None:
    if blocks:
        left_out[name] += blocks
