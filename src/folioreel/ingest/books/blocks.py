"""The blocks that every book reader yields, and the steps that settle their headings and places."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from folioreel.ingest.books import titles
from folioreel.ingest.books.emphasis import Ranges
from folioreel.ingest.books.numerals import NUMBER_LINE, count_upwards, numeral_value
from folioreel.ingest.books.trees import clean_text
from folioreel.text import count_words, place_sentences

BlockKind = Literal["heading", "paragraph", "verse", "break"]

_BARE_NUMBER = re.compile(r"^(?:\d+|[IVXLC]+)$")
_FEWEST_TITLED = 5  # numbers with titles; fewer may be a list
_FEWEST_WORDED = 3  # numbers with nothing but a word before them: `Розділ 4`
_CHAPTER_WORDS = 100  # the shortest chapter; between the lines of a list there are fewer
_NOT_WORD = re.compile(r"[\W_]+")
# What programs put into a table of contents when they know no title.
_FILLER_LABEL = re.compile(
    r"^(?:start|begin(?: reading)?|start reading|text|body|untitled|unknown|"
    r"section[-_ ]?\d+|(?:index|part|split|file)[-_ ]?\d{3,}|.*\.x?html?)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A heading, a paragraph, some lines of verse, or a section break (`* * *`, a rule).

    A format with lines (plain text, Markdown) fills `lines`; one without fills `href` and `offset`.
    """

    kind: BlockKind
    text: str  # its text, on one line, with single spaces
    guessed: bool = False  # of a heading: recognised by its layout, not by markup or words
    lines: tuple[tuple[int, int], ...] = ()  # (offset in `text`, number from 1) of each line
    breaks: tuple[int, ...] = ()  # of verse without `lines`: the offset of each line
    emphasis: Ranges = ()  # where italics begin and end in `text`
    in_body: bool = False  # of a heading: marked as the story itself (EPUB's `bodymatter`)
    ids: tuple[str, ...] = ()  # the anchors in it, to which a table of contents may point
    linked: int = 0  # how many of its characters are links inside the book
    href: str | None = None  # the document inside the book: a spine item, a PDF page (`#page=3`)
    offset: int = 0  # where `text` begins in the document: its blocks joined by single newlines

    @property
    def words(self) -> int:
        """How many words it has."""
        return len(self.text.split())

    @property
    def verse_lines(self) -> tuple[int, ...]:
        """Where each line of verse begins in `text`; empty in prose."""
        if self.kind != "verse":
            return ()
        return self.breaks or tuple(offset for offset, _ in self.lines)


@dataclass(frozen=True, kw_only=True)
class Manuscript:
    """A book as a reader found it: its blocks in reading order, before sentences are split."""

    title: str
    blocks: tuple[Block, ...]
    language: str | None = None  # what the file says
    titles_in: str | None = None  # the language in which headings were looked for
    notes: tuple[str, ...] = ()  # what the reader chose or noticed, in words for the user


@dataclass(frozen=True, kw_only=True)
class Document:
    """One of the documents that an EPUB consists of."""

    href: str
    blocks: tuple[Block, ...]
    labels: tuple[str, ...]  # what the table of contents calls it and its parts
    types: frozenset[str]  # what the guide and the landmarks call it

    @property
    def words(self) -> int:
        """How many words its blocks have."""
        return sum(block.words for block in self.blocks)


@dataclass(frozen=True, kw_only=True)
class TocEntry:
    """A line of the table of contents."""

    label: str
    href: str  # where it points: a document, or a PDF page (`#page=3`)
    fragment: str = ""


def heading_text(lines: Iterable[str]) -> str:
    """A heading on one line; a stop is set after a number that had a line of its own."""
    cleaned = [line for line in map(clean_text, lines) if line]
    if len(cleaned) > 1 and _BARE_NUMBER.match(cleaned[0]):
        cleaned[0] += "."
    return " ".join(cleaned)


def join_verse(lines: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Lines of verse as one text, and where each of them begins in it."""
    return place_sentences(filter(None, lines))


def promote_headings(blocks: list[Block]) -> list[Block]:
    """In a document without headings, a paragraph that says `CHAPTER IV` is one."""
    if any(block.kind == "heading" for block in blocks):
        return blocks
    return [
        replace(block, kind="heading")
        if block.kind == "paragraph" and titles.is_strong_heading(block.text)
        else block
        for block in blocks
    ]


def promote_numbers(blocks: list[Block]) -> list[Block]:
    """In a book without numbered headings, turn paragraphs that count I, II, III … into some."""
    numbered = {
        k for k, b in enumerate(blocks) if b.kind == "heading" and titles.is_numbered(b.text)
    }
    bare = count_upwards(
        (k, numeral_value(match.group(1)))
        for k, block in enumerate(blocks)
        if block.kind == "paragraph" and (match := NUMBER_LINE.match(block.text))
    )
    # One numbered heading may be an "EPILOGUE". Two bare numbers may be a list, or the sections of
    # one chapter.
    found = set(bare) if len(numbered) < 2 and len(bare) > 2 else set[int]()
    for run, fewest in _titled_runs(blocks):
        others = numbered.difference(run)
        if not found and len(run) >= fewest and len(others) < 2 + len(run) // 10:
            found = set(run)
    return [
        replace(block, kind="heading") if k in found else block for k, block in enumerate(blocks)
    ]


def _titled_runs(blocks: list[Block]) -> list[tuple[list[int], int]]:
    """Blocks that count chapters and name them, `I In Which a Journey Begins`, whatever they are.

    They may be too long for a heading, or end like sentences; that they count tells them from
    prose, and the prose below them from a table of contents, a list or notes. With each run comes
    how many blocks it must have at least.
    """
    openings: dict[str, list[tuple[int, int]]] = {}  # by the word before the number
    titled: set[str] = set()  # the words after whose numbers something follows
    for k, block in enumerate(blocks):
        opening = titles.opening_number(block.text)
        if opening is not None and block.kind in ("heading", "paragraph"):
            openings.setdefault(opening.word, []).append((k, numeral_value(opening.number)))
            titled.update([opening.word] if opening.titled else [])
    words = [0, *accumulate(count_words(block.text) for block in blocks)]
    runs = []
    for word, places in openings.items():
        ends = [k for k, _ in places[1:]] + [len(blocks)]
        long = [
            (k, value)
            for (k, value), end in zip(places, ends, strict=True)
            if words[end] - words[k + 1] >= _CHAPTER_WORDS
        ]
        fewest = _FEWEST_WORDED if word and word not in titled else _FEWEST_TITLED
        runs.append((count_upwards(long, restarts=bool(word)), fewest))
    return sorted(runs, key=lambda run: len(run[0]), reverse=True)


def arrange(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The finished blocks: numbers promoted, idle breaks gone, each with its place."""
    placed, ends = [], Counter[str | None]()
    for block in _drop_idle_breaks(promote_numbers(list(blocks))):
        placed.append(replace(block, offset=ends[block.href]))
        ends[block.href] += len(block.text) + 1  # the newline that joins blocks
    return tuple(placed)


def _drop_idle_breaks(blocks: Iterable[Block]) -> list[Block]:
    """Leave out breaks that separate nothing: doubled, beside a heading, first or last."""
    kept: list[Block] = []
    for block in blocks:
        if block.kind == "break" and (not kept or kept[-1].kind in ("break", "heading")):
            continue
        if block.kind == "heading" and kept and kept[-1].kind == "break":
            kept.pop()
        kept.append(block)
    if kept and kept[-1].kind == "break":
        kept.pop()
    return kept


def drop_blocks(blocks: list[Block], gone: set[int]) -> list[Block]:
    """Leave out blocks by index; their anchors move on to what follows."""
    kept: list[Block] = []
    waiting: tuple[str, ...] = ()
    for k, block in enumerate(blocks):
        if k in gone:
            waiting += block.ids
        else:
            kept.append(replace(block, ids=waiting + block.ids) if waiting else block)
            waiting = ()
    return kept


def head_documents(documents: Iterable[Document], toc: Sequence[TocEntry]) -> list[Document]:
    """Documents in which each entry of the contents has a heading where it points."""
    entries = by_document(toc)
    return [
        replace(one, blocks=_headed(one.blocks, entries.get(one.href, []))) for one in documents
    ]


def by_document(toc: Iterable[TocEntry]) -> dict[str, list[TocEntry]]:
    """The lines of a table of contents, by the document that they point to."""
    entries: dict[str, list[TocEntry]] = {}
    for entry in toc:
        entries.setdefault(entry.href, []).append(entry)
    return entries


def _headed(blocks: tuple[Block, ...], entries: Sequence[TocEntry]) -> tuple[Block, ...]:
    anchors = {name: k for k in reversed(range(len(blocks))) for name in blocks[k].ids}
    promoted: set[int] = set()
    inserted: dict[int, list[Block]] = {}
    for entry in entries:
        # If there is one entry only, it means the document even if its anchor is lost.
        whole = not entry.fragment or len(entries) == 1
        index = anchors.get(entry.fragment, 0 if whole else None)
        if index is None or not blocks or not entry.label:
            continue
        if _has_heading(blocks, index, entry.label):
            continue
        spelt = _spelt(blocks, index, entry.label)
        promoted.update(spelt)
        if not spelt and _is_title(entry.label, blocks[index].text):
            inserted.setdefault(index, []).append(Block(kind="heading", text=entry.label))
    result: list[Block] = []
    for k, block in enumerate(blocks):
        result += inserted.get(k, [])
        result.append(replace(block, kind="heading") if k in promoted else block)
    return tuple(result)


def _has_heading(blocks: Sequence[Block], index: int, label: str) -> bool:
    """Whether there is a heading at a place, or one with the label's words right beside it."""
    # Anchors stand a little above or below their heading: in an ornament, a number, a motto.
    return blocks[index].kind == "heading" or any(
        block.kind == "heading" and _alike(block.text, label)
        for block in (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 3])
    )


def _spelt(blocks: Sequence[Block], index: int, label: str) -> range:
    """The short paragraphs, up to three, that together say just what the label says."""
    wanted, said = _folded(label), ""
    for k in range(index, min(index + 3, len(blocks))):
        said += _folded(blocks[k].text)
        if len(blocks[k].text) > titles.HEADING_CHARACTERS or not wanted.startswith(said):
            break
        if said == wanted:
            return range(index, k + 1)
    return range(0)


def _is_title(label: str, text: str) -> bool:
    """Whether a label is a title, rather than a tool's filler or the first words of the text."""
    if _is_matter_label(label) or _FILLER_LABEL.match(label):
        return False
    # A bare number is a title even if the text opens with it.
    return not _folded(text).startswith(_folded(label)) or len(_folded(label)) < 3


def _alike(heading: str, label: str) -> bool:
    a, b = _folded(heading), _folded(label)
    return bool(a and b) and (a in b or b in a)


def _folded(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()


def head_pages(blocks: Sequence[Block], outline: Sequence[TocEntry]) -> list[Block]:
    """Blocks of a PDF in which each bookmark has a heading on its page."""
    pages: dict[int, list[Block]] = {}
    for block in blocks:
        pages.setdefault(_page(block.href), []).append(block)
    numbers = sorted(pages)
    for entry in outline:
        wanted = _folded(entry.label)
        after = bisect.bisect_left(numbers, _page(entry.href))
        if not wanted or after == len(numbers) or _is_matter_label(entry.label):
            continue
        # Where the page has no text, the heading goes to the top of the next one.
        page = pages[numbers[after]]
        on_page = page if numbers[after] == _page(entry.href) else []
        said = next((k for k, block in enumerate(on_page) if _folded(block.text) == wanted), None)
        if said is not None:
            page[said] = replace(page[said], kind="heading")
        elif not any(b.kind == "heading" and _alike(b.text, entry.label) for b in on_page):
            # Some files draw the title as a picture, or have it in the bookmark alone.
            page.insert(0, Block(kind="heading", text=entry.label, href=entry.href))
    return [block for number in numbers for block in pages[number]]


def _page(href: str | None) -> int:
    return int((href or "#page=1").rpartition("=")[2])


def _is_matter_label(label: str) -> bool:
    """Whether a label needs no heading, because what it names is left out as a whole document."""
    # A preface is left out by its heading, so it needs one.
    return titles.matter_kind(label) not in (None, "preface", "introduction")
