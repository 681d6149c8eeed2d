"""EPUB 2 and 3 → blocks, by the package's own order; ZIP and XML suffice, so no EPUB library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest.books.arrange import Piece, arrange
from folioreel.ingest.books.blocks import Manuscript
from folioreel.ingest.books.epub_archive import refuse_protected
from folioreel.ingest.books.epub_matter import Document, story_documents
from folioreel.ingest.books.epub_package import Package, read_package
from folioreel.ingest.books.epub_toc import head_documents
from folioreel.ingest.books.html_blocks import pieces_of
from folioreel.ingest.books.trees import decode_markup, parse_html
from folioreel.ingest.source import Archive, SourceFile

_FEWEST_WORDS = 20
"""A book of pictures has fewer: a title, page numbers."""


def read_epub(file: SourceFile) -> Manuscript:
    """Read an EPUB: its story, in reading order, with chapters by its contents and headings.

    Raises:
        InputError: The file is no EPUB, damaged, protected, or holds pictures only.
    """
    path, archive = file.path, file.archive
    refuse_protected(archive)
    package = read_package(archive)
    notes = list(package.notes)
    documents = _read_documents(archive, package, notes)
    _refuse_pictures(documents, package, path)
    story, left_out = story_documents(documents, package.creators)
    if left_out:
        notes.append(f"left out as no part of the story: {', '.join(left_out)}")
    pieces = [
        replace(piece, href=document.href)
        for document in head_documents(story, package.toc)
        for piece in document.pieces
    ]
    return Manuscript(
        title=package.title or path.stem,
        blocks=arrange(pieces),
        language=package.language,
        notes=tuple(notes),
    )


def _read_documents(archive: Archive, package: Package, notes: list[str]) -> list[Document]:
    documents = []
    for href in package.spine:
        if href == package.nav:
            continue
        # The book's own title names the title page as often as the story.
        labels = tuple(
            entry.label
            for entry in package.toc
            if entry.href == href and entry.label not in ("", package.title)
        )
        documents.append(
            Document(
                href=href,
                pieces=tuple(_read_pieces(archive, href, notes)),
                labels=labels,
                types=package.types.get(href, frozenset()),
            )
        )
    return documents


def _read_pieces(archive: Archive, href: str, notes: list[str]) -> list[Piece]:
    """The pieces of one document; one that is no text is passed over with a note."""
    data = archive.read(href)
    try:
        tree = parse_html(decode_markup(data, archive.path)) if data else None
    except InputError:
        notes.append(f"is no text, and passed over: {href}")
        return []
    return pieces_of(tree) if tree is not None else []


def _refuse_pictures(documents: list[Document], package: Package, path: Path) -> None:
    words = sum(document.words for document in documents)
    if words == 0 and not package.pictures:
        raise InputError("holds no text; was it exported without its content?", path)
    if words < _FEWEST_WORDS and package.pictures > words:
        message = "holds pictures and no text (a comic or a scan); give an edition with text"
        raise InputError(message, path)
