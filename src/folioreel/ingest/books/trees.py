"""Markup → trees, safely: any encoding, broken markup mended, nothing fetched or expanded.

Document types are cut off before parsing, so no entity can be defined and none can be expanded.
"""

from __future__ import annotations

import codecs
import html.entities
import re
from pathlib import Path
from typing import TypeAlias

from lxml import etree

from folioreel.errors import InputError
from folioreel.ingest.source import decode_text

Element: TypeAlias = etree._Element
"""A node of a parsed document."""

_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)""")
_META_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PRESENTATION = re.compile(
    r"</?(?:font|b|i|u|s|em|strong|small|big|span|center|tt|strike|nobr|a)\b[^>]*>", re.IGNORECASE
)
_CONTAINERS = re.compile(
    r"</?(?:div|blockquote|ul|ol|dl|table|tbody|tr|td|section)\b[^>]*>", re.IGNORECASE
)
# Soft hyphens, zero-width spaces, word joiners and byte-order marks are no part of a word. The
# controls U+0080–U+009F stand for Windows-1252's punctuation wherever people typed `&#151;`.
_INVISIBLE = {0x00AD: None, 0x200B: None, 0x2060: None, 0xFEFF: None}
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") or None for code in range(0x80, 0xA0)}
_CLEANING = {**_INVISIBLE, **_WINDOWS}


def clean_text(text: str) -> str:
    """Text on one line with single spaces, without characters that nobody sees."""
    return " ".join(text.translate(_CLEANING).split())


def decode_markup(data: bytes, path: Path) -> str:
    """Text of a document by its byte-order mark, its declaration, or else by guessing."""
    if data.startswith(_MARKS):
        return decode_text(data, path)
    declared = _declared_encoding(data)
    if declared is None or _is_plainly_utf8(data):
        return decode_text(data, path)
    if declared in ("cp1252", "ascii"):
        return data.decode("cp1252", "replace")
    try:
        return data.decode(declared)
    except (UnicodeError, ValueError):
        return decode_text(data, path)


def _declared_encoding(data: bytes) -> str | None:
    """The encoding that a document claims, under Python's name for it."""
    match = _XML_ENCODING.search(data[:512]) or _META_CHARSET.search(data[:8192])
    if match is None:
        return None
    try:
        codec = codecs.lookup(match.group(1).decode("ascii"))
    except (LookupError, UnicodeError, ValueError):
        return None
    if not codec._is_text_encoding or codec.name.startswith(("utf-16", "utf-32", "utf-7")):
        return None  # The claim could be read as ASCII, so it is false.
    # Browsers read these as the wider encodings that people mean by them.
    wider = {"iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
    return wider.get(codec.name, codec.name)


def _is_plainly_utf8(data: bytes) -> bool:
    """Whether bytes outside ASCII are UTF-8, which hardly ever fits by accident."""
    if data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def parse_html(text: str) -> Element | None:
    """The tree of an (X)HTML document, mended where it is broken; None if there is nothing."""
    text = _without_prologue(text)
    if "xmlns" in text[:2048]:
        tree = _parse_strictly(text)
        if tree is not None:
            return tree
    tree, too_deep = _parse_loosely(text)
    if too_deep:
        # Thousands of tags that were opened and never closed: the ones without meaning go.
        text = _PRESENTATION.sub("", text)
        tree, too_deep = _parse_loosely(text)
    if too_deep:
        tree, _ = _parse_loosely(_CONTAINERS.sub("<p>", text))
    return tree


def parse_xml(data: bytes, path: Path) -> Element:
    """The tree of an XML document; small faults are mended.

    Raises:
        InputError: No tree can be made of it.
    """
    text = _without_prologue(decode_markup(data, path))
    tree = _parse_strictly(text)
    if tree is None:
        tree = _parse_xml(text, recover=True)
    if tree is None:
        raise InputError("is not XML that can be read; is the file damaged?", path)
    return tree


def _without_prologue(text: str) -> str:
    """Markup without its declaration, its document type, and characters that no XML may hold."""
    text = _DECLARATION.sub("", text, count=1)
    return _FORBIDDEN.sub("", _DOCTYPE.sub("", text, count=1))


def _parse_strictly(text: str) -> Element | None:
    return _parse_xml(_ENTITY.sub(_named_character, text), recover=False)


def _named_character(match: re.Match[str]) -> str:
    """The character that HTML knows by a name; XML without a document type knows five."""
    name = match.group(1)
    if name in _XML_ENTITIES:
        return match.group()
    return html.entities.html5.get(f"{name};", match.group())


def _parse_xml(text: str, *, recover: bool) -> Element | None:
    parser = etree.XMLParser(
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        return etree.fromstring(text.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _parse_loosely(text: str) -> tuple[Element | None, bool]:
    """The tree that browsers would make, and whether the parser gave up on its depth."""
    parser = etree.HTMLParser(
        recover=True,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        tree = etree.fromstring(text.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, False
    return tree, any("depth" in entry.message.lower() for entry in parser.error_log)


def note_truncation(data: bytes, end_tag: bytes) -> tuple[str, ...]:
    """A note for the user where a document does not reach its own end."""
    if b"\x00" in data[:64] or end_tag in data[-4096:].lower():
        return ()
    return ("the file ends before its last tag; if it was cut short, the book's end is missing",)


def tag_of(element: Element) -> str:
    """The tag without its namespace, in small letters."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def types_of(element: Element) -> frozenset[str]:
    """What `epub:type` and `role` say of an element."""
    kinds = element.get("{http://www.idpf.org/2007/ops}type") or element.get("epub:type") or ""
    roles = (role.removeprefix("doc-") for role in (element.get("role") or "").lower().split())
    return frozenset(kinds.lower().split()).union(roles)


def classes_of(element: Element) -> list[str]:
    """The classes of an element, in small letters."""
    return (element.get("class") or "").lower().split()


def is_all_bold(element: Element) -> bool:
    """Whether a block's whole text is in one bold element."""
    node = element
    while not (node.text or "").strip() and len(node) == 1:
        node = node[0]
        if (node.tail or "").strip():
            return False
        if tag_of(node) in ("b", "strong"):
            return True
    return False
