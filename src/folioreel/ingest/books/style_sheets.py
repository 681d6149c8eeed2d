"""Italics that only a style sheet knows: `.calibre3 { font-style: italic }`.

Only selectors of one class count, with or without a tag; what depends on the elements around is
rare for italics, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from folioreel.ingest.books.trees import Element, elements, tag_of

Selector = tuple[str | None, str]
"""A tag, or None for any, and a class."""

_SELECTOR = re.compile(r"([A-Za-z][\w-]*)?\.([\w-]+)")
_FONT_STYLE = re.compile(
    r"(?:^|;)\s*font(?:-style)?\s*:[^;]*?\b(italic|oblique|normal)\b", re.IGNORECASE
)


def read_italics(css: str) -> dict[Selector, bool]:
    """What a style sheet says of each class: whether it is in italics, if it says so at all."""
    # Split, because a search for whole comments is quadratic in those that are never closed.
    first, *rest = css.split("/*")
    bare = first + "".join(part.partition("*/")[2] for part in rest)
    italics: dict[Selector, bool] = {}
    for rule in bare.split("}"):
        before, _, declarations = rule.rpartition("{")
        found = _FONT_STYLE.findall(declarations)
        if not found:
            continue
        # Inside `@media` another brace is open.
        for written in before.rpartition("{")[2].split(","):
            if selector := _SELECTOR.fullmatch(written.strip()):
                tag, name = selector.groups()
                italics[tag and tag.lower(), name] = found[-1].lower() != "normal"
    return italics


def linked_sheets(tree: Element) -> Iterator[str]:
    """The addresses of the style sheets of a document."""
    for link in elements(tree, "link"):
        kinds = (link.get("rel") or "").lower().split()
        if "stylesheet" in kinds and "alternate" not in kinds and (href := link.get("href")):
            yield href


def mark_italics(tree: Element, sheets: Iterable[dict[Selector, bool]] = ()) -> None:
    """Write italics of linked sheets and of `<style>` into the elements, as their own style."""
    italics: dict[Selector, bool] = {}
    for sheet in sheets:
        italics |= sheet
    for style in elements(tree, "style"):
        italics |= read_italics(style.text or "")
    if not any(italics.values()):
        return
    for element in tree.iter():
        names, tag = (element.get("class") or "").split(), tag_of(element)
        said = [
            italics[key] for name in names for key in ((None, name), (tag, name)) if key in italics
        ]
        if any(said) and "font-style" not in (style := element.get("style") or "").lower():
            element.set("style", f"{style}; font-style: italic")
