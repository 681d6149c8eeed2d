"""Which elements of an (X)HTML book are no text of the story, and which are headings or verse."""

from __future__ import annotations

import re
from typing import Literal

from lxml import etree

from folioreel.ingest.books.headings import is_numbered, is_strong_heading
from folioreel.ingest.books.trees import Element, clean_text

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol "
    "p pre section summary table tbody tfoot thead tr ul".split()
)
_SKIPPED_TAGS = frozenset(
    "applet audio button canvas datalist embed head iframe input link map math meta nav noscript "
    "object option rp rt script select style svg template textarea title video figcaption".split()
)
# EPUB's words for what is no part of the story, in `epub:type` or (with `doc-`) in `role`. The
# pages may hold this much text; a "titlepage" with more is a mistake, and holds the book.
_PAGE_TYPES = frozenset(
    "cover titlepage halftitlepage halftitle frontispiece copyright-page imprint imprimatur "
    "dedication colophon seriespage other-credits contributors credits acknowledgments "
    "acknowledgements errata".split()
)
_PAGE_CHARACTERS = 8000
_MATTER_TYPES = frozenset(
    "toc toc-brief landmarks page-list loi lot loa lov index bibliography glossary footnote "
    "footnotes endnote endnotes rearnote rearnotes pagelist backlink navigation".split()
)
_VERSE_TYPES = frozenset("z3998:poem z3998:verse z3998:song z3998:hymn z3998:lyrics".split())
_VERSE_CLASS = re.compile(
    r"^(?:poem|poetry|verse|stanza|linegroup|lg|song|hymn|lyrics?)s?"
    r"(?:[-_]?(?:container|block|group|lines?|text|indent\w*|first|last|\d+))?$"
)
_STANZA_CLASS = re.compile(r"^(?:stanza|linegroup|line-group|lg|strophe)[-_]?\d*$")
_PAGE_NUMBER_CLASS = re.compile(
    r"^(?:x-ebookmaker-)?(?:page[-_]?num(?:ber)?s?|page[-_]?no|pgnum|page[-_]?break|pb|pn|"
    r"linenum(?:ber)?|lineno|line-number)$"
)
_PAGE_NUMBER = re.compile(
    r"^[\[({|]*\s*(?:page|pg\.?|p\.)?\s*(?:\d+|[ivxlcdm]+)?\s*[\])}|]*$", re.IGNORECASE
)
_NOTE_CLASS = re.compile(
    r"^(?:foot|end|rear|side)notes?(?:[-_]?(?:text|body|entry|list|content|block|p))?\d*$|"
    r"^footnotes-|^mso(?:foot|end)notetext$|^(?:foot|end)note-(?:list|item)$"
)
_MARK_CLASS = re.compile(r"foot-?note|end-?note|note-?ref|fnanchor|fnref|^fn$|noteanchor")
_MARK = re.compile(
    r"^[\[({<]?\s*(?:\d{1,4}|[ivxlc]{1,6}|[a-z]|[*†‡§¶‖#]{1,4}|(?:note|fn)\.?\s*\d+)\s*[\])}>.:]?$",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"^[\[({<].*[\])}>]$")
_NOTE_FRAGMENT = re.compile(
    r"(?:^|[^a-z])(?:fn|ftn|edn|foot-?note|end-?note|note|ref|cite|anchor)|^n_?\d+$|^fnanchor",
    re.IGNORECASE,
)
_HEADING_CLASS = re.compile(
    r"^(?:(?:chapter|chap|ch|part|book|section|story)[-_]?"
    r"(?:title|head(?:ing|er)?|num(?:ber)?|name|no|label|start|opener)?\d*|"
    r"(?:heading|head|title|h)[-_]?[1-6]?|(?:sub)?title|mso(?:title|heading\d))$"
)
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_CENTRED = re.compile(r"text-align\s*:\s*center", re.IGNORECASE)
_FIGURE_CLASS = re.compile(
    r"^(?:fig(?:ure)?(?:center|left|right|caption)?|illustration|caption|illo)\w*$"
)
_FIGURE_CHARACTERS = 400
_HEADING_CHARACTERS = 110
_BOILERPLATE_IDS = frozenset({"pg-header", "pg-footer", "pg-machine-header", "pg-start-separator"})

Omission = Literal["mark", "element"]


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


def short_text(element: Element, limit: int, *, leaf: bool = False) -> str | None:
    """The element's text if it is no longer than `limit`; `leaf` asks for no block inside, too."""
    parts: list[str] = []
    length = 0
    for event, node in etree.iterwalk(element, events=("start", "end")):
        tag = tag_of(node)
        if event == "start":
            if leaf and node is not element and tag in BLOCK_TAGS:
                return None
            parts.append(" " if tag == "br" else node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
        else:
            break
        length += len(parts[-1])
        if length > 4 * limit + 40:  # the markup's own spaces may be many
            return None
    text = clean_text("".join(parts))
    return text if len(text) <= limit else None


def omission(element: Element, tag: str) -> Omission | None:
    """Why an element is left out: it marks a note, or it is no text of the story."""
    if tag in _SKIPPED_TAGS or _is_hidden(element):
        return "element"
    types, classes = types_of(element), classes_of(element)
    if _is_matter(element, types, classes) or _is_page_number(element, types, classes):
        return "element"
    if tag in ("a", "sup", "span", "small") and is_note_mark(element, tag, types, classes):
        return "mark"
    if tag in BLOCK_TAGS and _is_note(element, classes):
        return "element"
    if _is_figure(element, tag, classes):
        return "element"
    return None


def _is_hidden(element: Element) -> bool:
    return element.get("hidden") is not None or bool(
        _HIDDEN_STYLE.search(element.get("style") or "")
    )


def _is_matter(element: Element, types: frozenset[str], classes: list[str]) -> bool:
    if types & _MATTER_TYPES:
        return True
    if "pg-boilerplate" in classes or element.get("id") in _BOILERPLATE_IDS:
        return True
    if types & _PAGE_TYPES:
        return short_text(element, _PAGE_CHARACTERS) is not None
    # A foreword in the front matter is by another hand; in the body it belongs to the fiction.
    return "foreword" in types and any(
        "frontmatter" in types_of(node) for node in (element, *element.iterancestors())
    )


def _is_page_number(element: Element, types: frozenset[str], classes: list[str]) -> bool:
    if "pagebreak" not in types and not any(_PAGE_NUMBER_CLASS.match(name) for name in classes):
        return False
    text = short_text(element, 14)
    return tag_of(element) != "hr" and text is not None and bool(_PAGE_NUMBER.match(text))


def is_note_mark(element: Element, tag: str, types: frozenset[str], classes: list[str]) -> bool:
    """Whether an inline element is the mark of a note: `[1]`, a linked superscript, a noteref."""
    if "noteref" in types:
        return True
    text = short_text(element, 12)
    if text is None or not _MARK.match(text):
        return False
    if any(_MARK_CLASS.search(name) for name in classes):
        return True
    if tag == "sup":
        links = [node for node in element.iter() if tag_of(node) == "a"]
        return any("#" in (link.get("href") or "") for link in links)
    if tag != "a" or "#" not in (element.get("href") or ""):
        return False
    if any(tag_of(node) == "sup" for node in element.iter()):
        return True
    if _BRACKETED.match(text) or _stands_in_brackets(element):
        return True
    return _points_to_note(element) and not text.isalpha()


def _stands_in_brackets(element: Element) -> bool:
    """Whether the brackets are outside the link: `[<a href="#n1">1</a>]`."""
    before, parent = element.getprevious(), element.getparent()
    while before is not None and not before.tail and _is_empty_anchor(before):
        before = before.getprevious()
    left = before.tail if before is not None else parent.text if parent is not None else ""
    return (left or "").rstrip().endswith("[") and (element.tail or "").lstrip().startswith("]")


def _points_to_note(element: Element) -> bool:
    return bool(_NOTE_FRAGMENT.search((element.get("href") or "").rpartition("#")[2]))


def _is_note(element: Element, classes: list[str]) -> bool:
    """Whether a block is a note: by its class, or because it opens with a link back to its mark."""
    if any(_NOTE_CLASS.match(name) for name in classes):
        return True
    node: Element | None = element
    while node is not None and not (node.text or "").strip(" \t\r\n[("):
        node = next(iter(node), None)
        while node is not None and _is_empty_anchor(node):
            node = node.getnext()
        if node is not None and tag_of(node) == "a" and "#" in (node.get("href") or ""):
            text = short_text(node, 12)
            marked = text is not None and bool(_MARK.match(text)) and not text.isalpha()
            return marked and (bool(_BRACKETED.match(text or "")) or _points_to_note(node))
    return False


def _is_empty_anchor(element: Element) -> bool:
    """An anchor without text, with nothing but an opening bracket behind it."""
    return (
        tag_of(element) in ("a", "span")
        and not len(element)
        and not (element.text or "").strip()
        and not (element.tail or "").strip(" \t\r\n[(")
    )


def _is_figure(element: Element, tag: str, classes: list[str]) -> bool:
    """A picture with its caption; a "figure" with much text is text."""
    if tag not in ("div", "figure", "p", "span", "table"):
        return False
    if "caption" in classes:
        return short_text(element, _FIGURE_CHARACTERS) is not None
    if tag != "figure" and not any(_FIGURE_CLASS.match(name) for name in classes):
        return False
    pictures = any(tag_of(node) in ("img", "svg", "image") for node in element.iter())
    text = short_text(element, _FIGURE_CHARACTERS)
    return pictures and text is not None and drop_cap(element) is None


def drop_cap(element: Element) -> str | None:
    """The letter that a picture stands for: `<img alt="T"/>he`."""
    for node in element.iter():
        if tag_of(node) == "img":
            letter = clean_text(node.get("alt") or "")
            if len(letter.strip("\"'“‘«")) == 1 and letter[-1].isalpha():
                return letter
    return None


def heading_rank(element: Element, tag: str) -> int | None:
    """How deep a heading is (1 to 6), or None if the element is no heading.

    Beside `h1` to `h6`, a short block counts by its role, by its class, and if it is centred or
    bold and says what only a heading says (`CHAPTER IV`).
    """
    if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        return int(tag[1])
    if "heading" in types_of(element):
        level = element.get("aria-level") or "2"
        return int(level) if level in "123456" else 2
    if tag == "hgroup":
        inner = (heading_rank(child, tag_of(child)) for child in element)
        return min((rank for rank in inner if rank is not None), default=2)
    if tag not in ("p", "div", "center", "li", "dt"):
        return None
    text = short_text(element, _HEADING_CHARACTERS, leaf=True)
    if not text:
        return None
    return _rank_by_class(classes_of(element), text) or _rank_by_look(element, text)


def _rank_by_class(classes: list[str], text: str) -> int | None:
    names = [name for name in classes if _HEADING_CLASS.match(name)]
    if not names or (text[-1] in ".,;" and len(text.split()) > 8):
        return None  # `<p class="chapter">` may be a whole short paragraph.
    digits = [int(name[-1]) for name in names if name[-1] in "123456" and name[0] in "hm"]
    if digits:
        return digits[0]
    return 1 if any(name.startswith(("part", "book")) for name in names) else 2


def _rank_by_look(element: Element, text: str) -> int | None:
    centred = (
        (element.get("align") or "").lower() == "center"
        or tag_of(element) == "center"
        or any("cent" in name and "percent" not in name for name in classes_of(element))
        or bool(_CENTRED.search(element.get("style") or ""))
    )
    bold = is_all_bold(element)
    if (centred or bold) and is_strong_heading(text):
        return 2
    return 2 if centred and is_numbered(text) and (bold or not text.isdigit()) else None


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


def is_verse(element: Element, tag: str) -> bool:
    """Whether an element is a poem, a stanza or a line of one."""
    if tag not in BLOCK_TAGS or tag in ("body", "html"):
        return False
    return bool(types_of(element) & _VERSE_TYPES) or any(
        _VERSE_CLASS.match(name) for name in classes_of(element)
    )


def is_stanza(element: Element, tag: str) -> bool:
    """Whether a block inside a poem is a stanza, rather than one line."""
    if any(_STANZA_CLASS.match(name) for name in classes_of(element)):
        return True
    if tag != "p":
        return False
    return sum(tag_of(child) in ("br", "span") for child in element) >= 2
