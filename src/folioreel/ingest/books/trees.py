"""Markup → trees, safely: any encoding, broken markup repaired, nothing fetched or expanded.

Document types are removed before parsing, so that no entity can be defined or expanded.
"""

from __future__ import annotations

import codecs
import html.entities
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from lxml import etree

from folioreel.errors import InputError
from folioreel.ingest.encodings import decode_text
from folioreel.reading import LARGEST_TEXT

Element: TypeAlias = etree._Element  # a node of a parsed document

_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)""")
_META_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[<>]*+([\[>])", re.IGNORECASE)
# Declarations between square brackets, up to their end; quotation marks and comments may hold `]`.
_DECLARATIONS = re.compile(
    r"""(?:<!--(?:(?!-->).)*+-->|<[!?]|"[^"]*+"|'[^']*+'|[^\]<"'])*+\]\s*+>""", re.DOTALL
)
# Browsers' parsers take quadratic time over the attributes of one tag; no book has a thousand.
_OVERLOADED = re.compile(r"<([A-Za-z][^\s<>]*+)(?:\s++[^\s<>]++){1000,}+[^<>]*+>")
_LITERAL = re.compile(r"<!\[CDATA\[((?:(?!\]\]>|<!\[CDATA\[).)*+)\]\]>", re.DOTALL)
# References to halves of a character, which JavaScript and Java write for what is beyond U+FFFF.
_HALVES = re.compile(
    r"&#(?:x(?P<hex>0*+[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<decimal>0*+5[5-7]\d{3}));", re.IGNORECASE
)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PRESENTATION = re.compile(
    r"</?(?:font|b|i|u|s|em|strong|small|big|span|center|tt|strike|nobr|a)\b[^>]*>", re.IGNORECASE
)
_CONTAINERS = re.compile(
    r"</?(?:div|blockquote|ul|ol|dl|table|tbody|tr|td|section)\b[^>]*>", re.IGNORECASE
)
# Soft hyphens, zero-width spaces, word joiners and byte-order marks are not part of a word. The
# controls U+0080–U+009F stand for the punctuation of Windows-1252 where people typed `&#151;`.
_INVISIBLE = {0x00AD: None, 0x200B: None, 0x2060: None, 0xFEFF: None}
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") or None for code in range(0x80, 0xA0)}
_CLEANING = {**_INVISIBLE, **_WINDOWS}


def clean_text(text: str) -> str:
    """Text on one line with single spaces, without invisible characters."""
    return " ".join(text.translate(_CLEANING).split())


def decode_markup(data: bytes, path: Path) -> str:
    """Decode a document by its byte-order mark, its declaration, or else by guessing."""
    if len(data) > LARGEST_TEXT:
        return decode_text(data, path)  # which says so
    declared = _declared_encoding(data)
    if data.startswith(_MARKS) or declared is None or _is_plainly_utf8(data):
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
        return None  # we could read the claim as ASCII, so it is false
    # Like browsers, read these as the larger encodings that people mean by them.
    wider = {"iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
    return wider.get(codec.name, codec.name)


def _is_plainly_utf8(data: bytes) -> bool:
    """Whether there are bytes outside ASCII and they are valid UTF-8, hardly by accident."""
    try:
        return not data.isascii() and bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def parse_html(text: str) -> Element | None:
    """The tree of an (X)HTML document, repaired where it is broken; None if it is empty."""
    text = _without_prologue(text)
    if "xmlns" in text[:2048]:
        tree = _parse_xml(text, _xml_parser(recover=False))
        if tree is not None:
            return tree
    tree, too_deep = _parse_loosely(text)
    if too_deep:
        # Thousands of tags were opened and never closed: remove those that only set fonts.
        text = _PRESENTATION.sub("", text)
        tree, too_deep = _parse_loosely(text)
    if too_deep:
        tree, _ = _parse_loosely(_CONTAINERS.sub("<p>", text))
    return tree


def parse_xml(data: bytes, path: Path) -> Element:
    """The tree of an XML document; small faults are repaired, others raise `InputError`."""
    text = _without_prologue(decode_markup(data, path))
    tree = _parse_xml(text, _xml_parser(recover=False))
    if tree is not None:
        return tree
    parser = _xml_parser(recover=True)
    tree = _parse_xml(text, parser)
    if _is_too_deep(parser):  # the parser left out what is inside
        raise InputError("has tags inside tags hundreds of levels deep; is the file damaged?", path)
    if tree is None:
        raise InputError("is not XML that can be read; is the file damaged?", path)
    return tree


def _without_prologue(text: str) -> str:
    """Markup without its declaration, its document type, and characters that XML forbids."""
    text = _close_comment(_without_doctype(_DECLARATION.sub("", text, count=1)))
    return _FORBIDDEN.sub("", plain_references(text))


def _without_doctype(text: str) -> str:
    """Markup without its document type, and what that declares between square brackets."""
    begin = _DOCTYPE.search(text)
    if begin is None:
        return text
    # Where the brackets are not closed, what follows is the book.
    closed = (begin[1] == "[" and _DECLARATIONS.match(text, begin.end())) or begin
    return text[: begin.start()] + text[closed.end() :]


def _close_comment(text: str) -> str:
    """Markup in which no comment, because it is never closed, hides the rest of the book."""
    last = text.rfind("<!--")
    if last < 0 or any(text.find(end, last) >= 0 for end in ("-->", "--!>")):
        return text
    return text[:last] + text[last + len("<!--") :]


def plain_references(text: str) -> str:
    """Markup with characters in place of pairs of surrogates (`&#55357;&#56832;`).

    The parser would hand such halves on as bytes that are no text.
    """
    if _HALVES.search(text) is None:
        return text
    return _HALVES.sub(_half, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _half(match: re.Match[str]) -> str:
    # Without the zeros before it, of which there may be more than Python converts.
    code = int(match["hex"][-4:], 16) if match["hex"] else int(match["decimal"][-5:])
    return chr(code) if 0xD800 <= code < 0xE000 else match.group()


def _named_character(match: re.Match[str]) -> str:
    """The character behind a name of HTML; XML without a document type knows five names."""
    name = match.group(1)
    if name in ("amp", "lt", "gt", "quot", "apos"):
        return match.group()
    return html.entities.html5.get(f"{name};", f"&amp;{name};")


def _xml_parser(*, recover: bool) -> etree.XMLParser:
    # By lxml's defaults nothing is fetched, no document type is loaded, and huge trees are refused.
    return etree.XMLParser(
        recover=recover, resolve_entities=False, remove_comments=True, remove_pis=True
    )


def _parse_xml(text: str, parser: etree.XMLParser) -> Element | None:
    try:
        return etree.fromstring(_ENTITY.sub(_named_character, text).encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _parse_loosely(text: str) -> tuple[Element | None, bool]:
    """The tree that browsers would build, and whether the parser gave up on its depth."""
    parser = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    # Browsers take literal text, which XHTML may have, for a comment.
    text = _OVERLOADED.sub(r"<\1>", text)
    text = _LITERAL.sub(lambda match: html.escape(match[1], quote=False), text)
    try:
        tree = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, False
    # What follows `</html>`, as in pages that were joined, becomes trees of its own.
    if tree is not None:
        tree.extend(child for other in list(tree.itersiblings()) for child in list(other))
    return tree, _is_too_deep(parser)


def _is_too_deep(parser: etree.XMLParser | etree.HTMLParser) -> bool:
    """Whether a parser gave up on the depth of a document, and left out what is inside."""
    return any("depth" in entry.message.lower() for entry in parser.error_log)


def note_truncation(data: bytes, end_tag: bytes) -> tuple[str, ...]:
    """A note for the user if a document ends before its last tag."""
    if b"\x00" in data[:64] or end_tag in data[-4096:].lower():
        return ()
    return ("the file ends before its last tag; if it was cut short, the book's end is missing",)


def tag_of(element: Element) -> str:
    """The tag without its namespace, in lower case."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def text_of(element: Element) -> str:
    """All the text inside an element, cleaned."""
    return clean_text("".join(element.itertext()))


def field(tree: Element, name: str, end: str) -> str | None:
    """The first field with a name that is not empty, above the first element called `end`."""
    for node in tree.iter():
        if tag_of(node) == end:
            return None
        if tag_of(node) == name and (text := text_of(node)):
            return text
    return None


def elements(tree: Element, *tags: str) -> Iterator[Element]:
    """The elements with one of these tags, in the order of the document."""
    return (node for node in tree.iter() if tag_of(node) in tags)


def types_of(element: Element) -> frozenset[str]:
    """What `epub:type` and `role` say of an element."""
    kinds = element.get("{http://www.idpf.org/2007/ops}type") or element.get("epub:type") or ""
    roles = (role.removeprefix("doc-") for role in (element.get("role") or "").lower().split())
    return frozenset(kinds.lower().split()).union(roles)


def classes_of(element: Element) -> list[str]:
    """The classes of an element, in lower case."""
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
