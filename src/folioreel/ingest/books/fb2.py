"""FictionBook 2 (`.fb2`, `.fb2.zip`) → blocks: turned into HTML, without the notes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from folioreel.errors import InputError
from folioreel.ingest.books import html_elements, trees
from folioreel.ingest.books.bare_titles import promote_unmarked
from folioreel.ingest.books.blocks import Manuscript, arrange, promote_headings
from folioreel.ingest.books.html import Gatherer, note_left_out
from folioreel.ingest.books.titles import is_numbered, reading_language, titles_in
from folioreel.ingest.books.trees import Element, tag_of
from folioreel.ingest.source import SourceFile, is_zip
from folioreel.language import language_code
from folioreel.text import count_words

# FB2 keeps notes in a second body with the name "notes"; editors write other names as well.
_NOTES_BODY = re.compile(
    r"(?<![^\W\d_])(?:(?:foot|end)?notes?|comments?)(?![^\W\d_])|примечани|сноск|коммент",
    re.IGNORECASE,
)
_LINK = "{http://www.w3.org/1999/xlink}href"
_HTML_TAGS = {
    "title": "h2",
    "subtitle": "h3",
    "empty-line": "hr",
    "cite": "blockquote",
    "epigraph": "blockquote",
    "annotation": "blockquote",
    "poem": "article",
    "v": "p",
    "text-author": "p",
    "date": "p",
    "emphasis": "em",
    # These mean something else in HTML; the text inside them is text like any other.
    "a": "span",
    "style": "span",
}
_CONTAINERS = frozenset("fictionbook body section epigraph cite annotation poem table".split())
_CONTENT = _CONTAINERS | frozenset(
    "title subtitle empty-line stanza tr p v text-author date th td".split()
)
# These hold letters that are the bytes of a picture.
_PICTURES = frozenset({"binary", "image"})
_INLINE = frozenset("strong emphasis strikethrough sub sup code".split())
# In these, by their names in HTML, elements are parts of a line.
_LINES = _INLINE | frozenset("p h2 h3 td th span br".split())


def read_fb2(file: SourceFile) -> Manuscript:
    """Read a FictionBook, packed or not."""
    path = file.path
    data = _unpacked(file) if is_zip(file.data) else file.data
    tree = trees.parse_xml(data, path)
    if tag_of(tree) != "fictionbook":
        raise InputError("is not a FictionBook (FB2); was another file renamed?", path)
    title, language = (trees.field(tree, name, "body") for name in ("book-title", "lang"))
    bodies = [node for node in tree if tag_of(node) == "body"]
    notes = [b for b in bodies[1:] if _NOTES_BODY.search(b.get("name") or "")]
    note_ids = {f"#{node.get('id')}" for body in notes for node in body.iter() if node.get("id")}
    left_out = Counter({html_elements.NOTES: sum(count_words(trees.text_of(b)) for b in notes)})
    told = set(bodies).difference(notes)
    for node in list(tree):
        if node not in told:
            tree.remove(node)
    with titles_in(language_code(language)):
        read_in = reading_language()
        _turn_into_html(tree, note_ids)
        found = promote_headings(Gatherer(left_out).gather(tree))
        blocks = arrange(replace(block, href=path.name) for block in promote_unmarked(found))
    if not any(block.kind != "break" for block in blocks):
        raise InputError("holds no text; was it exported without its content?", path)
    return Manuscript(
        title=title or path.stem,
        blocks=blocks,
        language=language,
        titles_in=read_in,
        notes=trees.note_truncation(data, b"</fictionbook>") + note_left_out(left_out),
    )


def _unpacked(file: SourceFile) -> bytes:
    books = [name for name in file.archive.names if name.lower().endswith(".fb2")]
    if len(books) != 1:
        found = "no book" if not books else f"{len(books)} books"
        raise InputError(
            f"is an archive with {found} in it; unpack it and give one .fb2", file.path
        )
    return file.archive.read(books[0])


def _turn_into_html(tree: Element, note_ids: set[str]) -> None:
    """Rename the elements to those of HTML, so that one walk serves both formats."""
    for node in tree.iter("*"):
        tag, parent = tag_of(node), node.getparent()
        around = tag_of(parent) if parent is not None else ""  # renamed already
        href = node.get(_LINK) or node.get("href") or ""
        is_note = node.get("type") == "note" or href in note_ids
        if tag in _PICTURES or (tag == "a" and is_note and html_elements.is_mark(node)):
            node.clear(keep_tail=True)
        # Other names mean nothing here, but the words inside are the book's.
        other = "span" if around in _LINES else "div"
        node.tag = _HTML_TAGS.get(tag, tag if tag in _CONTENT | _INLINE else other)
        node.attrib.clear()  # FB2 means other things by `style` and the like
        is_title = tag in ("title", "subtitle")
        if tag == "stanza" or (is_title and around == "article"):
            node.tag = "div"
            node.set("class", "verse" if is_title else "stanza")
        elif is_title and around == "blockquote":
            node.tag = "p"  # a title inside a quotation is not a chapter's
        elif tag == "empty-line" and around in ("h2", "h3"):
            node.tag = "br"
        # Some converters write titles as paragraphs in bold.
        elif tag == "p" and trees.is_all_bold(node) and is_numbered(trees.text_of(node)):
            node.tag = "h3"
