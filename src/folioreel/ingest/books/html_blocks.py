"""An (X)HTML tree → pieces of text in reading order; EPUB and HTML share it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lxml import etree

from folioreel.ingest.books.arrange import Piece, heading_text, promote_headings
from folioreel.ingest.books.headings import is_break
from folioreel.ingest.books.html_rules import (
    BLOCK_TAGS,
    drop_cap,
    heading_rank,
    is_stanza,
    is_verse,
    omission,
    tag_of,
)
from folioreel.ingest.books.trees import Element, clean_text

# Marks inside the gathered text; no document can hold these characters.
_LINK_START, _LINK_END, _ID_START, _ID_END, _NOTE = "\x01", "\x02", "\x03", "\x04", "\x05"
_IDS = re.compile(f"{_ID_START}([^{_ID_END}]*){_ID_END}")
_LINKS = re.compile(f"{_LINK_START}([^{_LINK_END}]*)")
_ANCHORS = rf"((?:\s|{_ID_START}[^{_ID_END}]*{_ID_END})*)"
_EMPTY_BRACKETS = re.compile(rf"\s?[\[(]{_ANCHORS}{_NOTE}{_ANCHORS}[\])]|{_NOTE}")
_BLANK_LINE = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_SPACES = re.compile(r"\s+")
_VERSE_LINE = 65
"""Lines parted by `<br>` and no longer than this, in characters, are verse, or an address."""
_PROSE_LINE = 100
_CONTENTS = re.compile(
    r"^(?:table of )?(?:contents|illustrations|list of (?:illustrations|plates|maps|figures)|"
    r"table des matières|inhalt(?:sverzeichnis)?|índice|indice|содержание|оглавление)[.:]?$",
    re.IGNORECASE,
)
_NOTES_TITLE = re.compile(r"^(?:foot|end)?notes?[.:]?$|^примечания[.:]?$", re.IGNORECASE)
_NUMERAL = re.compile(r"\b(?:\d+|[ivxlcdm]+)\b\.?|[.·…\s]+", re.IGNORECASE)
_ENTRY_CHARACTERS = 160


@dataclass(frozen=True, kw_only=True)
class _Mode:
    """What the text gathered at some depth of the tree becomes."""

    element: Element
    kind: str = "paragraph"
    rank: int = 0


def pieces_of(tree: Element) -> list[Piece]:
    """The pieces of a document, without what the rules leave out.

    A table of contents made of links, and the title of notes that are gone, go too.
    """
    pieces = _Gatherer().gather(tree)
    pieces = _drop_contents(pieces)
    return promote_headings(_drop_empty_notes(pieces))


class _Gatherer:
    """Walks a tree once, without recursion, and cuts its text into pieces."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._text: list[str] = []
        self._modes: list[_Mode] = []
        self._waiting: tuple[str, ...] = ()  # anchors whose text has not come yet

    def gather(self, tree: Element) -> list[Piece]:
        omitted: Element | None = None
        walk = etree.iterwalk(tree, events=("start", "end"))
        for event, element in walk:
            if event == "start" and self._enter(element):
                omitted = element
                walk.skip_subtree()
            elif event == "end":
                if element is not omitted:
                    self._leave(element)
                if element is not tree:
                    self._add(element.tail)
        self._flush()
        if self._waiting and self._pieces:
            last = self._pieces[-1]
            self._pieces[-1] = replace(last, ids=last.ids + self._waiting)
        return self._pieces

    def _enter(self, element: Element) -> bool:
        """Open an element; True if it is left out."""
        tag = tag_of(element)
        left_out = omission(element, tag)
        if left_out is not None:
            self._anchor(*element.iter())
            self._text.append(_NOTE if left_out == "mark" else "")
            return True
        if tag in BLOCK_TAGS:
            self._open_block(element, tag)
        self._anchor(element)
        if tag == "br":
            self._text.append("\n")
        elif tag == "hr":
            self._flush()
            self._pieces.append(Piece(kind="break", text=""))
        elif tag in ("td", "th"):
            self._text.append(" ")
        elif tag == "img":
            self._add_picture(element)
        elif tag == "a" and _is_inner_link(element):
            self._text.append(_LINK_START)
        self._add(element.text)
        return False

    def _leave(self, element: Element) -> None:
        tag = tag_of(element)
        if tag == "a" and _is_inner_link(element):
            self._text.append(_LINK_END)
        if tag in BLOCK_TAGS:
            self._close_block(element, tag)

    def _open_block(self, element: Element, tag: str) -> None:
        mode = self._mode
        if mode == "heading":  # blocks inside a heading are parts of it
            self._text.append("\n")
            return
        if mode != "verse" or is_stanza(element, tag):
            self._flush()
        elif self._text:
            self._text.append("\n")
        rank = heading_rank(element, tag)
        if rank is not None:
            self._flush()
            self._modes.append(_Mode(element=element, kind="heading", rank=rank))
        elif tag == "pre":
            self._modes.append(_Mode(element=element, kind="pre"))
        elif mode != "verse" and is_verse(element, tag):
            self._modes.append(_Mode(element=element, kind="verse"))

    def _close_block(self, element: Element, tag: str) -> None:
        mode = self._mode
        opened = bool(self._modes) and self._modes[-1].element is element
        if opened or mode not in ("heading", "verse") or is_stanza(element, tag):
            self._flush()
        else:
            self._text.append("\n")
        if opened:
            self._modes.pop()

    @property
    def _mode(self) -> str:
        return self._modes[-1].kind if self._modes else "paragraph"

    def _anchor(self, *elements: Element) -> None:
        for element in elements:
            name = element.get("name") if tag_of(element) == "a" else None
            for identifier in filter(None, dict.fromkeys((element.get("id"), name))):
                self._text.append(f"{_ID_START}{identifier}{_ID_END}")

    def _add(self, text: str | None) -> None:
        if text:
            self._text.append(text if self._mode == "pre" else _SPACES.sub(" ", text))

    def _add_picture(self, element: Element) -> None:
        """A picture speaks where it stands for a letter, or is a heading's only text."""
        letter = drop_cap(element)
        if letter is not None:
            self._text.append(letter)
        elif self._mode == "heading":
            whole = clean_text("".join(self._modes[-1].element.itertext()))
            self._text.append("" if whole else f" {element.get('alt') or ''} ")

    def _flush(self) -> None:
        """End the block: its text becomes pieces."""
        text = _EMPTY_BRACKETS.sub(r"\1\2", "".join(self._text))
        self._text.clear()
        if text:
            for kind, part in self._split(text):
                self._append(kind, part)

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        """Cut a block where two `<br>` (or, in `pre`, an empty line) part paragraphs."""
        mode = self._mode
        if mode in ("heading", "verse"):
            yield mode, text
            return
        for part in _BLANK_LINE.split(text):
            if mode == "pre":
                yield "paragraph", part
            else:
                yield from _split_lines(part)

    def _append(self, kind: str, text: str) -> None:
        ids = self._waiting + tuple(_IDS.findall(text))
        text = _IDS.sub("", text)
        linked = sum(len(part.strip()) for part in _LINKS.findall(text))
        text = text.replace(_LINK_START, "").replace(_LINK_END, "")
        text = heading_text(text.split("\n")) if kind == "heading" else clean_text(text)
        if not text:
            self._waiting = ids
            return
        self._waiting = ()
        rank = self._modes[-1].rank if kind == "heading" else 0
        if is_break(text):
            piece = Piece(kind="break", text=text, ids=ids)
        elif kind == "heading":
            piece = Piece(kind="heading", text=text, rank=rank, ids=ids, linked=linked)
        elif kind == "verse":
            piece = Piece(kind="verse", text=text, ids=ids, linked=linked)
        else:
            piece = Piece(kind="paragraph", text=text, ids=ids, linked=linked)
        self._pieces.append(piece)


def _is_inner_link(element: Element) -> bool:
    href = element.get("href") or ""
    return bool(href) and "://" not in href and not href.startswith("mailto:")


def _split_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines parted by one `<br>`: verse if short, paragraphs if each is as long as one."""
    lines = [line for line in text.split("\n") if clean_text(_IDS.sub("", line))]
    lengths = [len(clean_text(_IDS.sub("", line))) for line in lines]
    if len(lines) >= 3 and max(lengths) <= _VERSE_LINE:
        yield "verse", text
    elif len(lines) >= 3 and max(lengths) > _PROSE_LINE and _end_like_paragraphs(lines):
        yield from (("paragraph", line) for line in text.split("\n"))
    else:
        yield "paragraph", text


def _end_like_paragraphs(lines: list[str]) -> bool:
    ended = sum(clean_text(_IDS.sub("", line))[-1] in ".!?…:;”\"'’»—-*" for line in lines)
    return ended >= 0.8 * len(lines)


def _drop_contents(pieces: list[Piece]) -> list[Piece]:
    """Leave out runs of three or more lines that are links inside the book, with their title."""
    entries = [_is_entry(piece) for piece in pieces]
    gone: set[int] = set()
    first = 0
    while first < len(pieces):
        last = _end_of_run(pieces, entries, first) if entries[first] else first
        if sum(entries[first:last]) >= 3:
            gone.update(range(first, last))
            gone.update(_title_above(pieces, first))
        first = max(last, first + 1)
    return _without(pieces, gone)


def _is_entry(piece: Piece) -> bool:
    if piece.kind == "break" or len(piece.text) > _ENTRY_CHARACTERS or not piece.linked:
        return False
    # A heading may link back to the contents: it is no entry of them.
    if piece.kind == "heading":
        return False
    words = _NUMERAL.sub("", piece.text)
    return piece.linked >= 0.6 * max(len(words), 1)


def _end_of_run(pieces: list[Piece], entries: list[bool], first: int) -> int:
    """The end of a run of entries, in which single short lines ("PART ONE") may stand."""
    last = first
    while last < len(pieces) and (
        entries[last]
        or (
            pieces[last].kind != "heading"
            and len(pieces[last].text) <= 60
            and last + 1 < len(pieces)
            and entries[last + 1]
        )
    ):
        last += 1
    return last


def _title_above(pieces: list[Piece], first: int) -> range:
    """The heading `CONTENTS` above a list, with column titles between (`CHAPTER PAGE`)."""
    for k in range(first - 1, max(first - 4, -1), -1):
        if _CONTENTS.match(pieces[k].text):
            return range(k, first)
        if len(pieces[k].text) > 60:
            break
    return range(0)


def _drop_empty_notes(pieces: list[Piece]) -> list[Piece]:
    """Leave out the heading `NOTES` if nothing is left below it."""
    gone = {
        k
        for k, piece in enumerate(pieces)
        if piece.kind != "break"
        and _NOTES_TITLE.match(piece.text)
        and all(p.kind in ("heading", "break") for p in pieces[k + 1 : k + 2])
    }
    return _without(pieces, gone)


def _without(pieces: list[Piece], gone: set[int]) -> list[Piece]:
    """The other pieces; anchors of those that go move on to what follows."""
    kept: list[Piece] = []
    waiting: tuple[str, ...] = ()
    for k, piece in enumerate(pieces):
        if k in gone:
            waiting += piece.ids
        else:
            kept.append(replace(piece, ids=waiting + piece.ids) if waiting else piece)
            waiting = ()
    return kept
