"""Chapters by an EPUB's table of contents: where its entries point, there is a heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from folioreel.ingest.books.arrange import Piece
from folioreel.ingest.books.epub_matter import Document, is_matter_title
from folioreel.ingest.books.epub_package import TocEntry

_NOT_WORD = re.compile(r"[\W_]+")
_GENERIC = re.compile(
    r"^(?:start|begin(?: reading)?|start reading|text|body|untitled|unknown|"
    r"section[-_ ]?\d+|(?:index|part|split|file)[-_ ]?\d{3,}|.*\.x?html?)$",
    re.IGNORECASE,
)
_HEADING_CHARACTERS = 110


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
    for k in (index - 1, index + 1, index + 2):
        if 0 <= k < len(pieces) and pieces[k].kind == "heading" and _alike(pieces[k].text, label):
            return k
    return None


def _spelt(pieces: Sequence[Piece], index: int, label: str) -> range:
    """The short paragraphs that together say just what the entry says."""
    wanted, said = _folded(label), ""
    for k in range(index, min(index + 3, len(pieces))):
        said += _folded(pieces[k].text)
        if len(pieces[k].text) > _HEADING_CHARACTERS or not wanted.startswith(said):
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
    if is_matter_title(label) or _GENERIC.match(label):
        return False
    opening = _folded(pieces[target.index].text)
    return not opening.startswith(_folded(label)) or len(_folded(label)) < 3
