"""FictionBook 2 (`.fb2`, `.fb2.zip`) → blocks: sections, titles and poems, without the notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from folioreel.errors import InputError
from folioreel.ingest.books.blocks import (
    Block,
    BlockKind,
    Manuscript,
    arrange,
    heading_text,
    promote_headings,
)
from folioreel.ingest.books.titles import is_break, is_numbered
from folioreel.ingest.books.trees import (
    Element,
    clean_text,
    is_all_bold,
    note_truncation,
    parse_xml,
    tag_of,
)
from folioreel.ingest.source import SourceFile

# FB2 keeps notes in a second body with the name "notes"; editors write other names as well.
_NOTES_BODY = re.compile(r"notes?|comments?|footnotes?|примечани|сноск|коммент", re.IGNORECASE)
_LINK = "{http://www.w3.org/1999/xlink}href"
_LINES = frozenset({"p", "v", "text-author", "date", "th", "td"})
_CONTAINERS = frozenset({"epigraph", "cite", "annotation", "poem", "table"})


def read_fb2(file: SourceFile) -> Manuscript:
    """Read a FictionBook, packed or not.

    Raises:
        InputError: The file is broken, not a FictionBook, or holds no text.
    """
    path = file.path
    data = _unpacked(file) if file.data.startswith(b"PK") else file.data
    tree = parse_xml(data, path)
    if tag_of(tree) != "fictionbook":
        raise InputError("is not a FictionBook (FB2); was another file renamed?", path)
    bodies = [node for node in tree if tag_of(node) == "body"]
    notes = [b for b in bodies[1:] if _NOTES_BODY.search(b.get("name") or "")]
    note_ids = {f"#{node.get('id')}" for body in notes for node in body.iter() if node.get("id")}
    blocks = [
        replace(block, href=path.name)
        for body in bodies
        if body not in notes
        for block in _section_blocks(body, note_ids)
    ]
    blocks = promote_headings(blocks)
    if not any(block.kind != "break" for block in blocks):
        raise InputError("holds no text; was it exported without its content?", path)
    return Manuscript(
        title=_field(tree, "book-title") or path.stem,
        blocks=arrange(blocks),
        language=_field(tree, "lang"),
        notes=note_truncation(data, b"</fictionbook>"),
    )


def _unpacked(file: SourceFile) -> bytes:
    books = [name for name in file.archive.names if name.lower().endswith(".fb2")]
    if len(books) != 1:
        found = "no book" if not books else f"{len(books)} books"
        raise InputError(
            f"is an archive with {found} in it; unpack it and give one .fb2", file.path
        )
    return file.archive.read(books[0])


def _field(tree: Element, name: str) -> str | None:
    """A field of the description; the book's own comes before the original edition's."""
    for node in tree.iter():
        if tag_of(node) == "body":
            return None
        if tag_of(node) == name and clean_text("".join(node.itertext())):
            return clean_text("".join(node.itertext()))
    return None


def _section_blocks(section: Element, note_ids: set[str]) -> Iterator[Block]:
    """The blocks of a body or a section, with those of the sections in it."""
    for node in section:
        tag = tag_of(node)
        if tag == "section":
            yield from _section_blocks(node, note_ids)
        elif tag in ("title", "subtitle"):
            lines = list(_line_texts(node, note_ids)) or [_inline_text(node, note_ids)]
            yield from _block("heading", heading_text(lines))
        elif tag == "empty-line":
            yield Block(kind="break", text="")
        elif tag == "stanza":
            yield from _block("verse", " ".join(_line_texts(node, note_ids)))
        elif tag == "tr":
            yield from _block("paragraph", " ".join(_line_texts(node, note_ids)))
        elif tag in _CONTAINERS:
            yield from _container_blocks(node, note_ids)
        elif tag in _LINES:
            text = _inline_text(node, note_ids)
            # Some converters write titles as paragraphs in bold.
            is_title = is_all_bold(node) and is_numbered(clean_text(text))
            yield from _block("heading" if is_title else "paragraph", text)


def _container_blocks(node: Element, note_ids: set[str]) -> Iterator[Block]:
    """The blocks of a quotation or poem; a title inside it is not a chapter's."""
    for block in _section_blocks(node, note_ids):
        if block.kind == "heading":
            yield Block(kind="verse" if tag_of(node) == "poem" else "paragraph", text=block.text)
        else:
            yield block


def _block(kind: BlockKind, text: str) -> Iterator[Block]:
    text = clean_text(text)
    if text:
        yield Block(kind="break" if is_break(text) else kind, text=text)


def _line_texts(node: Element, note_ids: set[str]) -> Iterator[str]:
    for line in node.iter():
        if tag_of(line) in _LINES:
            yield _inline_text(line, note_ids)


def _inline_text(node: Element, note_ids: set[str]) -> str:
    """The text of a line, without the marks of notes."""
    parts = [node.text or ""]
    for child in node:
        href = child.get(_LINK) or child.get("href") or ""
        if tag_of(child) == "a" and (child.get("type") == "note" or href in note_ids):
            pass
        elif tag_of(child) != "image":
            parts.append(_inline_text(child, note_ids))
        parts.append(child.tail or "")
    return "".join(parts)
