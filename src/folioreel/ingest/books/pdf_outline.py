"""Chapters by a PDF's bookmarks: where they point, there is a heading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from folioreel.ingest.books.arrange import Piece
from folioreel.ingest.books.epub_matter import is_matter_title

_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True)
class Bookmark:
    """A line of the outline."""

    title: str
    page: int
    """Counted from 0."""
    depth: int


def head_chapters(pieces: Sequence[Piece], outline: Sequence[Bookmark]) -> list[Piece]:
    """Pieces in which each bookmark has a heading on its page."""
    result = list(pieces)
    for bookmark in outline:
        wanted = _folded(bookmark.title)
        place = [k for k, piece in enumerate(result) if _page(piece) >= bookmark.page]
        if not wanted or not place or is_matter_title(bookmark.title):
            continue
        on_page = [k for k in place if _page(result[k]) == bookmark.page]
        said = [k for k in on_page if _folded(result[k].text) == wanted]
        if said:
            found = result[said[0]]
            result[said[0]] = replace(found, kind="heading", rank=found.rank or 90 + bookmark.depth)
        elif not any(_is_headed(result[k], wanted) for k in on_page):
            # Some files draw a title as a picture, or tell it by the bookmark alone.
            heading = Piece(
                kind="heading",
                text=bookmark.title,
                rank=90 + bookmark.depth,
                href=f"#page={bookmark.page + 1}",
            )
            result.insert(place[0], heading)
    return result


def _is_headed(piece: Piece, wanted: str) -> bool:
    said = _folded(piece.text)
    return piece.kind == "heading" and bool(said) and (said in wanted or wanted in said)


def _page(piece: Piece) -> int:
    return int((piece.href or "#page=1").rpartition("=")[2]) - 1


def _folded(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()
