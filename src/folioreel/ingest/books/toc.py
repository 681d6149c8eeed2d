"""Headings where a table of contents points: an EPUB's documents, a PDF's bookmarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from folioreel.ingest.books.blocks import Piece
from folioreel.ingest.books.titles import HEADING_CHARACTERS, matter_kind

_NOT_WORD = re.compile(r"[\W_]+")
_FILLER_LABEL = re.compile(
    r"^(?:start|begin(?: reading)?|start reading|text|body|untitled|unknown|"
    r"section[-_ ]?\d+|(?:index|part|split|file)[-_ ]?\d{3,}|.*\.x?html?)$",
    re.IGNORECASE,
)
"""What programs put into a table of contents when they know no title."""
_OUTLINE_RANK = 90
"""The rank of a bookmark's heading: below those that PDF text shows by their size."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One of the documents that an EPUB consists of."""

    href: str
    pieces: tuple[Piece, ...]
    labels: tuple[str, ...]
    """What the table of contents calls it and its parts."""
    types: frozenset[str]
    """What the guide and the landmarks call it."""

    @property
    def words(self) -> int:
        """How many words its pieces have."""
        return sum(len(piece.text.split()) for piece in self.pieces)


@dataclass(frozen=True, kw_only=True)
class TocEntry:
    """A line of the table of contents."""

    label: str
    href: str
    """Where it points: a document, or a PDF page (`#page=3`)."""
    fragment: str = ""
    depth: int


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where an entry points: the piece of a document at which its chapter begins."""

    entry: TocEntry
    index: int
    heading: int | None
    """The piece that already is its heading."""
    promoted: range
    """Paragraphs that say what the entry says, and so are its heading."""


def head_documents(documents: Iterable[Document], toc: Sequence[TocEntry]) -> list[Document]:
    """Documents in which each entry of the contents has a heading where it points."""
    documents = list(documents)
    targets = {
        document.href: _find_targets(document, [e for e in toc if e.href == document.href])
        for document in documents
    }
    ranks = _ranks_by_depth(documents, targets)
    return [
        replace(document, pieces=tuple(_headed(document.pieces, targets[document.href], ranks)))
        for document in documents
    ]


def _find_targets(document: Document, entries: Sequence[TocEntry]) -> list[_Target]:
    anchors: dict[str, int] = {}
    for k, piece in enumerate(document.pieces):
        for name in piece.ids:
            anchors.setdefault(name, k)
    targets = []
    for entry in entries:
        index = anchors.get(entry.fragment, 0 if not entry.fragment or len(entries) == 1 else None)
        if index is not None and document.pieces and entry.label:
            heading = _heading_near(document.pieces, index, entry.label)
            promoted = (
                range(0) if heading is not None else _spelt(document.pieces, index, entry.label)
            )
            targets.append(_Target(entry=entry, index=index, heading=heading, promoted=promoted))
    return targets


def _heading_near(pieces: Sequence[Piece], index: int, label: str) -> int | None:
    """The heading at a place; or one right beside it that says what the entry says."""
    if pieces[index].kind == "heading":
        return index
    # Anchors stand a little above or below their heading: in an ornament, a number, a motto.
    for k in (index - 1, index + 1, index + 2):
        if 0 <= k < len(pieces) and pieces[k].kind == "heading" and _alike(pieces[k].text, label):
            return k
    return None


def _spelt(pieces: Sequence[Piece], index: int, label: str) -> range:
    """The short paragraphs, up to three, that together say just what the entry says."""
    wanted, said = _folded(label), ""
    for k in range(index, min(index + 3, len(pieces))):
        said += _folded(pieces[k].text)
        if len(pieces[k].text) > HEADING_CHARACTERS or not wanted.startswith(said):
            break
        if said == wanted:
            return range(index, k + 1)
    return range(0)


def _alike(heading: str, label: str) -> bool:
    a, b = _folded(heading), _folded(label)
    return bool(a and b) and (a in b or b in a)


def _folded(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold()


def _ranks_by_depth(
    documents: Iterable[Document], targets: dict[str, list[_Target]]
) -> dict[int, int]:
    """Depth in the contents → the rank that most headings at that depth have."""
    seen: dict[int, Counter[int]] = {}
    for document in documents:
        for target in targets[document.href]:
            if target.heading is not None:
                rank = document.pieces[target.heading].rank
                seen.setdefault(target.entry.depth, Counter())[rank] += 1
    return {depth: counts.most_common(1)[0][0] for depth, counts in seen.items()}


def _headed(
    pieces: Sequence[Piece], targets: Sequence[_Target], ranks: dict[int, int]
) -> list[Piece]:
    promoted: dict[int, int] = {}
    inserted: dict[int, list[Piece]] = {}
    for target in targets:
        rank = ranks.get(target.entry.depth, target.entry.depth)
        promoted.update(dict.fromkeys(target.promoted, rank))
        if target.heading is None and not target.promoted and _is_wanted(target, pieces):
            heading = Piece(kind="heading", text=target.entry.label, rank=rank)
            inserted.setdefault(target.index, []).append(heading)
    result: list[Piece] = []
    for k, piece in enumerate(pieces):
        result += inserted.get(k, [])
        rank = promoted.get(k, 0)
        result.append(replace(piece, kind="heading", rank=rank) if rank else piece)
    return result


def _is_wanted(target: _Target, pieces: Sequence[Piece]) -> bool:
    """Whether a label is a title, rather than a tool's filler or the first words of the text."""
    label = target.entry.label
    if _is_matter_label(label) or _FILLER_LABEL.match(label):
        return False
    opening = _folded(pieces[target.index].text)
    return not opening.startswith(_folded(label)) or len(_folded(label)) < 3


def head_pages(pieces: Sequence[Piece], outline: Sequence[TocEntry]) -> list[Piece]:
    """Pieces of a PDF in which each bookmark has a heading on its page."""
    result = list(pieces)
    for entry in outline:
        wanted, page = _folded(entry.label), _page(entry.href)
        place = [k for k, piece in enumerate(result) if _page(piece.href) >= page]
        if not wanted or not place or _is_matter_label(entry.label):
            continue
        on_page = [k for k in place if _page(result[k].href) == page]
        said = [k for k in on_page if _folded(result[k].text) == wanted]
        rank = _OUTLINE_RANK + entry.depth
        if said:
            found = result[said[0]]
            result[said[0]] = replace(found, kind="heading", rank=found.rank or rank)
        elif not any(
            result[k].kind == "heading" and _alike(result[k].text, entry.label) for k in on_page
        ):
            # Some files draw a title as a picture, or tell it by the bookmark alone.
            heading = Piece(kind="heading", text=entry.label, rank=rank, href=entry.href)
            result.insert(place[0], heading)
    return result


def _page(href: str | None) -> int:
    return int((href or "#page=1").rpartition("=")[2])


def _is_matter_label(label: str) -> bool:
    """Whether no heading is needed: what the label names is left out, if not for its heading."""
    return matter_kind(label) not in (None, "preface", "introduction")
