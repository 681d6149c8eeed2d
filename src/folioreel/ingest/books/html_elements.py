"""What an element of an (X)HTML book is: note, page number, picture, heading, verse, or text."""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import islice

from lxml import etree

from folioreel.ingest.books import titles, trees
from folioreel.ingest.books.matter import MATTER_TYPES, PAGE_CHARACTERS, is_matter_type
from folioreel.ingest.books.trees import Element, classes_of, clean_text, elements, tag_of, types_of

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol "
    "p pre section summary table tbody tfoot thead tr ul".split()
)
# These have words that no reader sees, so nobody misses them,
_WORDLESS_TAGS = frozenset("embed head input link meta rp script style title".split())
# and these have words that are not read here, and are counted.
_SKIPPED_TAGS = frozenset(
    "applet audio button canvas datalist iframe map math nav noscript object option rt select svg "
    "template textarea video".split()
)
# What converters, publishers and Project Gutenberg call things in `epub:type` and `class`.
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
    rf"^[\[({{|]*\s*(?:{titles.any_language('page_numbers')})?\s*(?:\d+|[ivxlcdm]+)?\s*[\])}}|]*$",
    re.IGNORECASE,
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
_EMPHASIS_TAGS = frozenset("cite dfn em i var".split())
_EMPHASIS_CLASS = re.compile(r"^(?:i|ital|italics?|em|emph|emphasis)[-_]?\d*$")
_ITALIC_STYLE = re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE)
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_CENTRED = re.compile(r"text-align\s*:\s*center", re.IGNORECASE)
_FIGURE_CLASS = re.compile(
    r"^(?:fig(?:ure)?(?:center|left|right|caption)?|illustration|caption|illo)\w*$"
)
_FIGURE_CHARACTERS = 400  # a caption is shorter; with more, it is text set beside a picture
_MARK_CHARACTERS = 12  # the longest marks of notes are like `[note 123]`
_LONGEST_REFERENCE = 100  # of those that say they are one: `[see the note on page 12]`
# A `div` with more than this is a chapter whose text opens with a mark.
_NOTE_CHARACTERS, _NOTE_PARAGRAPHS = 4000, 2
_HEADING_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# What may be a note; a body, a section or a heading that opens with a mark is not one.
_NOTE_TAGS = frozenset("aside blockquote dd div dl dt li p table tbody td tr".split())
MARK, NO_WORDS = "mark", "no words"
NOTES, CAPTIONS = "notes", "captions"
_BOILERPLATE_IDS = frozenset({"pg-header", "pg-footer", "pg-machine-header", "pg-start-separator"})


def short_text(element: Element, limit: int, *, leaf: bool = False) -> str | None:
    """The element's text if it has at most `limit` characters, and with `leaf` no blocks inside."""
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
        length += len(parts[-1]) + 1  # tags count too, as they may all be empty
        # The spaces of the markup may be many; stop long before a whole book has been gathered.
        if length > 4 * limit + 40:
            return None
    text = clean_text("".join(parts))
    return text if len(text) <= limit else None


def omission(element: Element, tag: str, ahead: Container[str] = ()) -> str | None:
    """Why an element is left out, or None if it is text of the story.

    It is the `MARK` of a note, or has `NO_WORDS`, or words of the kind that is returned, which the
    user is told of. `ahead` has the ids of the elements that come after it.
    """
    if tag in _WORDLESS_TAGS:
        return NO_WORDS
    if tag == "figcaption":
        return CAPTIONS
    if tag in _SKIPPED_TAGS:
        return f"<{tag}>"
    if element.get("hidden") is not None or _HIDDEN_STYLE.search(element.get("style") or ""):
        return "hidden text"
    types, classes = types_of(element), classes_of(element)
    if _is_page_number(element, types, classes):
        return NO_WORDS
    if (matter := _matter(element, types, classes)) is not None:
        return matter
    if tag in ("a", "sup", "span", "small") and _is_note_mark(element, tag, types, classes):
        return MARK
    if tag in BLOCK_TAGS and _is_note(element, tag, classes, ahead):
        return NOTES
    return CAPTIONS if _is_figure(element, tag, classes) else None


def _matter(element: Element, types: frozenset[str], classes: list[str]) -> str | None:
    """What an element is called that is not the story: `dedication`, `notes`; None if it is."""
    if "pg-boilerplate" in classes or element.get("id") in _BOILERPLATE_IDS:
        return "Project Gutenberg's header and licence"
    named = types & MATTER_TYPES
    if not named:  # spares most elements the walk over text and ancestors
        return None
    outer = types.union(*map(types_of, element.iterancestors()))
    is_page = short_text(element, PAGE_CHARACTERS) is not None
    if not is_matter_type(types, outer, is_page=is_page):
        return None
    if any("note" in name for name in named):
        return NOTES
    return "contents" if any(name.startswith("toc") for name in named) else min(named)


def _is_page_number(element: Element, types: frozenset[str], classes: list[str]) -> bool:
    if "pagebreak" not in types and not any(_PAGE_NUMBER_CLASS.match(name) for name in classes):
        return False
    text = short_text(element, 14)  # as long as "[page xxxviii]"
    return tag_of(element) != "hr" and text is not None and bool(_PAGE_NUMBER.match(text))


def _is_note_mark(element: Element, tag: str, types: frozenset[str], classes: list[str]) -> bool:
    """Whether an inline element is the mark of a note: `[1]`, a linked superscript, a noteref."""
    if "noteref" in types:
        return is_mark(element)
    text = short_text(element, _MARK_CHARACTERS)
    if text is None or not _MARK.match(text) or _is_whole_heading(element, text):
        return False
    if any(_MARK_CLASS.search(name) for name in classes):
        return True
    if tag == "sup":  # without a link it may be a power or an ordinal
        return any("#" in (link.get("href") or "") for link in elements(element, "a"))
    if tag != "a" or "#" not in (element.get("href") or ""):
        return False
    if (
        next(elements(element, "sup"), None) is not None
        or _BRACKETED.match(text)
        or _stands_in_brackets(element)
    ):
        return True
    return _points_to_note(element) and not text.isalpha()  # "a" or "I" may be a word with a link


def is_mark(element: Element) -> bool:
    """Whether an element that says it is a reference is a mark, and not words of the story.

    Some references are words: `<a epub:type="noteref" href="#n1">Ishmael</a>`.
    """
    text = short_text(element, _LONGEST_REFERENCE)
    return text is not None and bool(not text or _MARK.match(text) or _BRACKETED.match(text))


def _is_whole_heading(element: Element, text: str) -> bool:
    """Whether a heading says nothing else: `<h2><a href="toc.xhtml#ref1">1</a></h2>`."""
    headings = (node for node in element.iterancestors() if tag_of(node) in _HEADING_TAGS)
    heading = next(headings, None)
    return heading is not None and short_text(heading, _MARK_CHARACTERS) == text


def _stands_in_brackets(element: Element) -> bool:
    """Whether the brackets are outside the link: `[<a href="#n1">1</a>]`."""
    before, parent = element.getprevious(), element.getparent()
    while before is not None and not before.tail and _is_empty_anchor(before):
        before = before.getprevious()
    left = before.tail if before is not None else parent.text if parent is not None else ""
    return (left or "").rstrip().endswith("[") and (element.tail or "").lstrip().startswith("]")


def _points_to_note(element: Element) -> bool:
    return bool(_NOTE_FRAGMENT.search((element.get("href") or "").rpartition("#")[2]))


def _is_note(element: Element, tag: str, classes: list[str], ahead: Container[str]) -> bool:
    """Whether a block is a note: by its class, or because it opens with a link back to its mark."""
    if any(_NOTE_CLASS.match(name) for name in classes):
        return True
    if tag not in _NOTE_TAGS:
        return False
    link = _opening_link(element)
    text = short_text(link, _MARK_CHARACTERS) if link is not None else None
    if link is None or text is None or not _MARK.match(text) or text.isalpha():
        return False
    # The mark of a note may open a paragraph too; but it leads onwards, to the note.
    if "noteref" in types_of(link) or (link.get("href") or "").rpartition("#")[2] in ahead:
        return False
    # A bare number may link to anything, so its target must be named like a note.
    marked = bool(_BRACKETED.match(text)) or _points_to_note(link)
    return marked and (tag == "p" or _is_short(element))


def _is_short(element: Element) -> bool:
    """Whether a block is no longer than notes are; what is in a longer one is judged by itself."""
    if short_text(element, _NOTE_CHARACTERS) is None:
        return False
    further = islice(elements(element, "p", *_HEADING_TAGS), _NOTE_PARAGRAPHS, None)
    return next(further, None) is None


def _opening_link(element: Element) -> Element | None:
    """The link with which the text of a block opens, after an opening bracket at most."""
    node: Element | None = element
    while node is not None and not (node.text or "").strip(" \t\r\n[("):
        node = next(iter(node), None)
        while node is not None and _is_empty_anchor(node):
            node = node.getnext()
        if node is None or tag_of(node) in _HEADING_TAGS:
            return None
        if tag_of(node) == "a" and "#" in (node.get("href") or ""):
            return node
    return None


def _is_empty_anchor(element: Element) -> bool:
    """Whether an anchor has no text, and nothing but an opening bracket after it."""
    return (
        tag_of(element) in ("a", "span")
        and not len(element)
        and not (element.text or "").strip()
        and not (element.tail or "").strip(" \t\r\n[(")
    )


def _is_figure(element: Element, tag: str, classes: list[str]) -> bool:
    """Whether an element is a picture with its caption."""
    if tag not in ("div", "figure", "p", "span", "table"):
        return False
    if "caption" in classes:
        return short_text(element, _FIGURE_CHARACTERS) is not None
    if tag != "figure" and not any(_FIGURE_CLASS.match(name) for name in classes):
        return False
    has_picture = next(elements(element, "img", "svg", "image"), None) is not None
    text = short_text(element, _FIGURE_CHARACTERS)
    return has_picture and text is not None and drop_cap(element) is None


def drop_cap(element: Element) -> str | None:
    """The letter that a picture stands for: `<img alt="T"/>he`."""
    for node in elements(element, "img"):
        letter = clean_text(node.get("alt") or "")
        if len(letter.strip("\"'“‘«")) == 1 and letter[-1].isalpha():
            return letter
    return None


def is_heading(element: Element, tag: str) -> bool:
    """Whether an element is a heading.

    Besides `h1` to `h6`, a short block counts by its role, by its class, or if it is centred or
    bold and says what only a heading says (`CHAPTER IV`).
    """
    if tag in _HEADING_TAGS or tag == "hgroup" or "heading" in types_of(element):
        return True
    if tag not in ("p", "div", "center", "li", "dt"):
        return False
    text = short_text(element, titles.HEADING_CHARACTERS, leaf=True)
    if not text:
        return False
    # `<p class="chapter">` may be a whole short paragraph.
    is_sentence = text[-1] in ".,;" and len(text.split()) > 8
    if not is_sentence and any(_HEADING_CLASS.match(name) for name in classes_of(element)):
        return True
    return _looks_like_heading(element, text)


def _looks_like_heading(element: Element, text: str) -> bool:
    centred = (
        (element.get("align") or "").lower() == "center"
        or tag_of(element) == "center"
        or any("cent" in name and "percent" not in name for name in classes_of(element))
        or bool(_CENTRED.search(element.get("style") or ""))
    )
    bold = trees.is_all_bold(element)
    if (centred or bold) and titles.is_strong_heading(text):
        return True
    # A number in digits alone may be a page's, unless it is bold.
    return centred and titles.is_numbered(text) and (bold or not text.isdigit())


def is_verse(element: Element, tag: str) -> bool:
    """Whether an element is a poem, a stanza or a line of one."""
    if tag not in BLOCK_TAGS or tag in ("body", "html"):
        return False
    return bool(types_of(element) & _VERSE_TYPES) or any(
        _VERSE_CLASS.match(name) for name in classes_of(element)
    )


def is_emphasis(element: Element, tag: str) -> bool:
    """Whether what is inside an element is in italics."""
    return (
        tag in _EMPHASIS_TAGS
        or any(_EMPHASIS_CLASS.match(name) for name in classes_of(element))
        or bool(_ITALIC_STYLE.search(element.get("style") or ""))
    )


def is_stanza(element: Element, tag: str) -> bool:
    """Whether a block inside a poem is a stanza, rather than one line."""
    if any(_STANZA_CLASS.match(name) for name in classes_of(element)):
        return True
    if tag != "p":
        return False
    return sum(tag_of(child) in ("br", "span") for child in element) >= 2
