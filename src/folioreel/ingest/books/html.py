"""(X)HTML → blocks: web pages, Project Gutenberg's books, and the documents inside an EPUB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from lxml import etree

from folioreel.errors import InputError
from folioreel.ingest.books import blocks as block_steps
from folioreel.ingest.books import html_elements, trees
from folioreel.ingest.books.bare_titles import promote_unmarked
from folioreel.ingest.books.blocks import Block, BlockKind, Manuscript
from folioreel.ingest.books.emphasis import (
    END,
    START,
    Ranges,
    count_emphasis,
    place_emphasis,
    strip_marks,
)
from folioreel.ingest.books.html_elements import BLOCK_TAGS, is_emphasis, is_stanza
from folioreel.ingest.books.link_lists import drop_link_lists
from folioreel.ingest.books.style_sheets import mark_italics
from folioreel.ingest.books.titles import (
    HEADING_CHARACTERS,
    is_break,
    reading_language,
    titles_in,
)
from folioreel.ingest.books.trees import Element, clean_text, tag_of
from folioreel.ingest.source import SourceFile
from folioreel.language import decide_language
from folioreel.text import count_words

# Marks inside the gathered text; the parser lets no document hold these characters.
_LINK_START, _LINK_END, _ID_START, _ID_END, _NOTE = "\x01", "\x02", "\x03", "\x04", "\x05"
_IDS = re.compile(f"{_ID_START}([^{_ID_END}]*){_ID_END}")
_LINK_MARKS = re.compile(f"[{_LINK_START}{_LINK_END}]")
_LINKS = re.compile(f"{_LINK_START}([^{_LINK_END}]*)")
_ANCHORS = rf"((?:[\s{START}{END}]|{_ID_START}[^{_ID_END}]*{_ID_END})*)"
_EMPTY_BRACKETS = re.compile(rf"\s?[\[(]{_ANCHORS}{_NOTE}{_ANCHORS}[\])]|{_NOTE}")
_BLANK_LINE = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_SPACES = re.compile(r"\s+")
# Of lines that end with `<br>`, in characters:
_VERSE_LINE = 65  # if none is longer, they are verse, or an address
_PROSE_LINE = 100  # some must be longer for them to be paragraphs
_GUTENBERG_TITLE = re.compile(
    r"^(?:The )?Project Gutenberg(?:'s|’s)? (?:e-?book|e-?text)? ?(?:of )?[:,]?\s*(?P<title>.+?)"
    r"(?:,? by [^,]+)?\.?$",
    re.IGNORECASE,
)
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_Mode = BlockKind | Literal["pre"]


def read_html(file: SourceFile) -> Manuscript:
    """Read a book that is one HTML file."""
    data, path = file.data, file.path
    tree = trees.parse_html(trees.decode_markup(data, path))
    declared = _declared_language(tree) if tree is not None else None
    words = " ".join(tree.itertext()) if tree is not None else ""
    if tree is not None:
        mark_italics(tree)
    left_out: Counter[str] = Counter()
    with titles_in(decide_language(words, declared=declared)):
        language = reading_language()
        found = blocks_of(tree, left_out) if tree is not None else []
        blocks = block_steps.arrange(
            replace(block, href=path.name) for block in promote_unmarked(found)
        )
    if tree is None or not any(block.kind != "break" for block in blocks):
        raise InputError("holds no text; is it the book, or only a page that links to it?", path)
    title = trees.field(tree, "title", "body") or ""
    cut_short = trees.note_truncation(data, b"</html>") if b"<html" in data[:4096].lower() else ()
    stated = _GUTENBERG_TITLE.match(title)  # without Project Gutenberg's words around it
    headings = (block.text for block in blocks if block.kind == "heading")
    return Manuscript(
        title=(stated["title"] if stated else title) or next(headings, None) or path.stem,
        blocks=blocks,
        language=declared,
        titles_in=language,
        notes=cut_short + note_left_out(left_out),
    )


def _declared_language(tree: Element) -> str | None:
    found = tree.get("lang") or tree.get(_XML_LANGUAGE) or tree.get("xml:lang") or ""
    return found.strip() or None


def blocks_of(tree: Element, left_out: Counter[str]) -> list[Block]:
    """The blocks of a document, without notes, page numbers, pictures and matter.

    The words of what is left out are counted in `left_out`, by kind.
    """
    found = Gatherer(left_out).gather(tree)
    kept = drop_link_lists(found)
    left_out["contents"] += sum(b.words for b in found) - sum(b.words for b in kept)
    return block_steps.promote_headings(kept)


def note_left_out(left_out: Counter[str]) -> tuple[str, ...]:
    """A note for the user on what is not among the blocks."""
    counted = [f"{kind} ({n:,} word{'s' * (n > 1)})" for kind, n in left_out.items() if n]
    return (f"skipped inside the text: {', '.join(counted)}",) if counted else ()


class Gatherer:
    """Walks a tree once, without recursion, and cuts its text into blocks."""

    def __init__(self, left_out: Counter[str]) -> None:
        """Begin with no text; `left_out` counts the words that will not be in it, by kind."""
        self._left_out = left_out
        self._ahead: set[str] = set()  # the ids of elements that are still to come
        self._blocks: list[Block] = []
        self._text: list[str] = []
        # What the text becomes, and the element inside which it does.
        self._modes: list[tuple[_Mode, Element]] = []
        self._pictured: tuple[Element, bool] | None = None  # a heading, and whether it has no text
        self._emphasis = 0  # how many of the open elements set it in italics
        self._waiting: list[str] = []  # anchors whose text has not come yet

    def gather(self, tree: Element) -> list[Block]:
        """All blocks of a tree; contents made of links are still among them."""
        omitted: Element | None = None
        self._ahead.update(*map(_names_of, tree.iter()))
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
        if self._waiting and self._blocks:
            last = self._blocks[-1]
            self._blocks[-1] = replace(last, ids=(*last.ids, *self._waiting))
        return self._blocks

    def _enter(self, element: Element) -> bool:
        """Open an element; True if it is left out."""
        tag = tag_of(element)
        reason = html_elements.omission(element, tag, self._ahead)
        if reason is not None:
            self._anchor(*element.iter())
            self._text.append(_NOTE if reason == html_elements.MARK else "")
            if reason not in (html_elements.MARK, html_elements.NO_WORDS):
                self._left_out[reason] += count_words(trees.text_of(element))
            return True
        if tag in BLOCK_TAGS:
            self._open_block(element, tag)
        self._emphasis += is_emphasis(element, tag)
        self._anchor(element)
        if tag == "br":
            self._text.append("\n")
        elif tag == "hr":
            self._flush()
            self._blocks.append(Block(kind="break", text=""))
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
        self._emphasis -= is_emphasis(element, tag)
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
        if html_elements.is_heading(element, tag):
            self._flush()
            self._modes.append(("heading", element))
        elif tag == "pre":
            self._modes.append(("pre", element))
        elif mode != "verse" and html_elements.is_verse(element, tag):
            self._modes.append(("verse", element))

    def _close_block(self, element: Element, tag: str) -> None:
        mode = self._mode
        opened = bool(self._modes) and self._modes[-1][1] is element
        if opened or mode not in ("heading", "verse") or is_stanza(element, tag):
            self._flush()
        else:
            self._text.append("\n")
        if opened:
            self._modes.pop()

    @property
    def _mode(self) -> _Mode:
        return self._modes[-1][0] if self._modes else "paragraph"

    def _anchor(self, *elements: Element) -> None:
        for element in elements:
            for identifier in _names_of(element):
                self._ahead.discard(identifier)
                self._text.append(f"{_ID_START}{identifier}{_ID_END}")

    def _add(self, text: str | None) -> None:
        if text:
            text = text if self._mode == "pre" else _SPACES.sub(" ", text)
            self._text.append(f"{START}{text}{END}" if self._emphasis else text)

    def _add_picture(self, element: Element) -> None:
        """Add the text of a picture that stands for a letter, or for a whole heading."""
        if letter := html_elements.drop_cap(element):
            self._text.append(letter)
        elif self._mode == "heading":
            heading = self._modes[-1][1]
            if self._pictured is None or self._pictured[0] is not heading:
                is_empty = html_elements.short_text(heading, HEADING_CHARACTERS) == ""
                self._pictured = heading, is_empty
            self._text.append(f" {element.get('alt') or ''} " if self._pictured[1] else "")

    def _flush(self) -> None:
        """End the element: the text gathered so far becomes one or more blocks."""
        text = _EMPTY_BRACKETS.sub(r"\1\2", "".join(self._text))
        self._text.clear()
        emphasis, first = count_emphasis(text, _clean), 0
        if text := strip_marks(text):
            for kind, part in self._split(text):
                first += self._append(kind, part, emphasis, first)

    def _split(self, text: str) -> Iterator[tuple[BlockKind, str]]:
        """Cut a block where two `<br>` (or, in `pre`, an empty line) separate paragraphs."""
        mode = self._mode
        if mode == "heading" or mode == "verse":
            yield mode, text
            return
        for part in _BLANK_LINE.split(text):
            if mode == "pre":
                yield "paragraph", part
            else:
                yield from _split_lines(part)

    def _append(self, kind: BlockKind, text: str, emphasis: Ranges, first: int) -> int:
        """Add a block, if it has text; returns how many visible characters it has."""
        self._waiting += _IDS.findall(text)
        text = _IDS.sub("", text)
        linked = sum(len(part.strip()) for part in _LINKS.findall(text))
        text = _LINK_MARKS.sub("", text)
        breaks: tuple[int, ...] = ()
        if kind == "heading":
            text = block_steps.heading_text(text.split("\n"))
        elif kind == "verse":
            text, breaks = block_steps.join_verse(map(clean_text, text.split("\n")))
        else:
            text = clean_text(text)
        if not text:
            return 0
        ids, self._waiting = tuple(self._waiting), []
        kind = "break" if is_break(text) else kind
        in_body = kind == "heading" and any(
            "bodymatter" in trees.types_of(node) for node in self._modes[-1][1].iterancestors()
        )
        self._blocks.append(
            Block(
                kind=kind,
                text=text,
                breaks=breaks,
                emphasis=place_emphasis(emphasis, text, first),
                in_body=in_body,
                ids=ids,
                linked=linked,
            )
        )
        return len(text) - text.count(" ")


def _clean(text: str) -> str:
    """Text as blocks have it: without anchors and the marks of links."""
    return clean_text(_LINK_MARKS.sub("", _IDS.sub("", text)))


def _names_of(element: Element) -> list[str]:
    """What links to an element call it."""
    name = element.get("name") if tag_of(element) == "a" else None
    return list(filter(None, dict.fromkeys((element.get("id"), name))))


def _is_inner_link(element: Element) -> bool:
    href = element.get("href") or ""
    return bool(href) and "://" not in href and not href.startswith("mailto:")


def _split_lines(text: str) -> Iterator[tuple[BlockKind, str]]:
    """Lines that end with one `<br>`: verse if short, paragraphs if they are as long as some."""
    lines = list(filter(None, (clean_text(_IDS.sub("", line)) for line in text.split("\n"))))
    longest = max(map(len, lines), default=0)
    # One `<br>` is more often an address or a signature than a poem, so three lines are asked for.
    ended = sum(line[-1] in ".!?…:;”\"'’»—-*" for line in lines)
    if len(lines) >= 3 and longest <= _VERSE_LINE:
        yield "verse", text
    # A few may end with a name or a title.
    elif len(lines) >= 3 and longest > _PROSE_LINE and ended >= 0.8 * len(lines):
        yield from (("paragraph", line) for line in text.split("\n"))
    else:
        yield "paragraph", text
