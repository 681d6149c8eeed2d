"""HTML and XHTML files → blocks: pages saved from the web, Project Gutenberg's books, exports."""

from __future__ import annotations

import re
from dataclasses import replace

from folioreel.errors import InputError
from folioreel.ingest.books.arrange import Piece, arrange
from folioreel.ingest.books.blocks import Manuscript
from folioreel.ingest.books.html_blocks import pieces_of
from folioreel.ingest.books.html_rules import tag_of
from folioreel.ingest.books.trees import (
    Element,
    clean_text,
    decode_markup,
    note_truncation,
    parse_html,
)
from folioreel.ingest.source import SourceFile

_GUTENBERG_TITLE = re.compile(
    r"^(?:The )?Project Gutenberg(?:'s|’s)? (?:e-?book|e-?text)? ?(?:of )?[:,]?\s*(?P<title>.+?)"
    r"(?:,? by [^,]+)?\.?$",
    re.IGNORECASE,
)
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def read_html(file: SourceFile) -> Manuscript:
    """Read a book that is one HTML file.

    Raises:
        InputError: The file is missing, empty, no text, or holds nothing to read.
    """
    data, path = file.data, file.path
    tree = parse_html(decode_markup(data, path))
    pieces = pieces_of(tree) if tree is not None else []
    if tree is None or not any(piece.kind != "break" for piece in pieces):
        raise InputError("holds no text; is it the book, or only a page that links to it?", path)
    return Manuscript(
        title=document_title(tree) or _first_heading(pieces) or path.stem,
        blocks=arrange([replace(piece, href=path.name) for piece in pieces]),
        language=document_language(tree),
        notes=note_truncation(data, b"</html>") if b"<html" in data[:4096].lower() else (),
    )


def document_title(tree: Element) -> str | None:
    """What `<title>` says, without Project Gutenberg's frame around it."""
    for node in tree.iter():
        if tag_of(node) == "title":
            title = clean_text("".join(node.itertext()))
            match = _GUTENBERG_TITLE.match(title)
            return (match["title"] if match else title) or None
        if tag_of(node) == "body":
            break
    return None


def document_language(tree: Element) -> str | None:
    """The language that the root element declares."""
    language = tree.get("lang") or tree.get(_XML_LANGUAGE) or tree.get("xml:lang")
    return language.strip() or None if language else None


def _first_heading(pieces: list[Piece]) -> str | None:
    return next((piece.text for piece in pieces if piece.kind == "heading"), None)
