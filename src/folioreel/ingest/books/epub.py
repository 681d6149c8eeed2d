"""EPUB 2 and 3 → blocks, in the order of the package; ZIP and XML suffice, so no EPUB library."""

from __future__ import annotations

import contextlib
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from folioreel.errors import InputError
from folioreel.ingest.books import blocks, trees
from folioreel.ingest.books.bare_titles import promote_unmarked
from folioreel.ingest.books.blocks import Block, Document, Manuscript, TocEntry
from folioreel.ingest.books.html import blocks_of, note_left_out
from folioreel.ingest.books.matter import story_documents
from folioreel.ingest.books.style_sheets import (
    Selector,
    linked_sheets,
    mark_italics,
    read_italics,
)
from folioreel.ingest.books.titles import reading_language, titles_in
from folioreel.ingest.books.trees import Element, elements, tag_of, types_of
from folioreel.ingest.source import Archive, SourceFile
from folioreel.language import language_code
from folioreel.text import list_some

_FEWEST_NAV_WORDS = 100  # with fewer, what is beside the lists of links is their titles
_FEWEST_WORDS = 20  # a book of pictures has fewer: a title, page numbers
# Publishers obfuscate fonts by these, which keeps nobody from the text.
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_LICENCES = {
    "META-INF/rights.xml": "Adobe DRM",
    "META-INF/sinf.xml": "Apple FairPlay",
    "META-INF/license.lcpl": "Readium LCP",
}
_MARKUP_TYPES = (
    "application/xhtml+xml",
    "text/html",
    "application/x-dtbook+xml",
    "text/x-oeb1-document",
)
_MARKUP_SUFFIXES = (".xhtml", ".html", ".htm", ".xml")
_NCX_TYPE = "application/x-dtbncx+xml"


@dataclass(frozen=True, kw_only=True)
class _Package:
    """What the package document says, with all paths counted from the archive's root."""

    title: str | None
    language: str | None
    spine: tuple[str, ...]  # the documents in reading order
    toc: tuple[TocEntry, ...]
    types: dict[str, frozenset[str]]  # document → what the guide or the landmarks call it
    nav: str | None
    pictures: int
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Item:
    href: str
    media_type: str
    properties: tuple[str, ...]

    @property
    def is_markup(self) -> bool:
        # Some files declare a wrong media type, so the suffix counts too.
        return self.media_type in _MARKUP_TYPES or (
            not self.media_type.startswith("image/")
            and (self.href.lower().endswith(_MARKUP_SUFFIXES) or "xml" in self.media_type)
            and self.media_type != _NCX_TYPE
        )


def read_epub(file: SourceFile) -> Manuscript:
    """Read an EPUB: its story, in reading order, with chapters by its contents and headings."""
    path, archive = file.path, file.archive
    _refuse_protected(archive)
    package = _read_package(archive)
    notes = list(package.notes)
    with titles_in(language_code(package.language)):
        language = reading_language()
        documents = _read_documents(archive, package, notes)
        _refuse_pictures(documents, package, path)
        story, left_out = story_documents(documents)
        placed = (
            replace(block, href=document.href)
            for document in blocks.head_documents(story, package.toc)
            for block in document.blocks
        )
        told = blocks.arrange(promote_unmarked(placed))
    if left_out:
        notes.append(f"skipped documents that are not part of the story: {list_some(left_out)}")
    return Manuscript(
        title=package.title or path.stem,
        blocks=told,
        language=package.language,
        titles_in=language,
        notes=tuple(notes),
    )


def _read_documents(archive: Archive, package: _Package, notes: list[str]) -> list[Document]:
    # The book's own title names the title page as often as the story.
    named = blocks.by_document(
        entry for entry in package.toc if entry.label not in ("", package.title)
    )
    left_out: Counter[str] = Counter()
    sheets = _Sheets(archive)
    documents = [
        Document(
            href=href,
            blocks=tuple(_read_blocks(sheets, href, notes, left_out)),
            labels=tuple(entry.label for entry in named.get(href, ())),
            types=package.types.get(href, frozenset()),
        )
        for href in package.spine
    ]
    # The document of the contents has headings and page lists besides; sometimes a story.
    documents = [
        document
        for document in documents
        if document.href != package.nav or document.words >= _FEWEST_NAV_WORDS
    ]
    notes += note_left_out(left_out)
    return documents


def _read_blocks(
    sheets: _Sheets, href: str, notes: list[str], left_out: Counter[str]
) -> list[Block]:
    """The blocks of one document; one that is not text is skipped with a note."""
    archive = sheets.archive
    data = archive.read(href)
    try:
        tree = trees.parse_html(trees.decode_markup(data, archive.path)) if data else None
    except InputError:
        notes.append(f"skipped a document that is not text: {href}")
        return []
    if tree is None:
        return []
    mark_italics(tree, [sheets.read(href, address) for address in linked_sheets(tree)])
    return blocks_of(tree, left_out)


class _Sheets:
    """The style sheets of an archive, each read once."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._read: dict[str, dict[Selector, bool]] = {}

    def read(self, document: str, address: str) -> dict[Selector, bool]:
        """The italics of a sheet; none if it is missing or damaged, for no text is lost with it."""
        path = _resolve(posixpath.dirname(document), address)[0]
        if path not in self._read:
            self._read[path] = {}
            if path in self.archive:
                with contextlib.suppress(InputError):
                    self._read[path] = read_italics(
                        self.archive.read(path).decode(errors="replace")
                    )
        return self._read[path]


def _refuse_pictures(documents: list[Document], package: _Package, path: Path) -> None:
    words = sum(document.words for document in documents)
    if words == 0 and not package.pictures:
        raise InputError("holds no text; was it exported without its content?", path)
    # A very short story has few words as well, but not more pictures than words.
    if words < _FEWEST_WORDS and package.pictures > words:
        message = "holds pictures and no text (a comic or a scan); give an edition with text"
        raise InputError(message, path)


def _refuse_protected(archive: Archive) -> None:
    """Refuse a book whose text is behind DRM; obfuscated fonts do not matter."""
    schemes = [scheme for name, scheme in _LICENCES.items() if name in archive]
    if schemes or _encrypts_text(archive):
        scheme = schemes[0] if schemes else "DRM"
        raise InputError(f"is protected ({scheme}); give a copy without DRM", archive.path)


def _encrypts_text(archive: Archive) -> bool:
    if "META-INF/encryption.xml" not in archive:
        return False
    tree = trees.parse_xml(archive.read("META-INF/encryption.xml"), archive.path)
    return not all(
        any(n.get("Algorithm") in _FONT_ALGORITHMS for n in elements(entry, "encryptionmethod"))
        for entry in elements(tree, "encrypteddata")
    )


def _read_package(archive: Archive) -> _Package:
    """Follow container.xml to the package document and read it."""
    opf = _package_path(archive)
    tree = trees.parse_xml(archive.read(opf), archive.path)
    base = posixpath.dirname(opf)
    items = _manifest(tree, base)
    spine, notes = _spine(tree, items, archive)
    if not spine:
        raise InputError("lists no documents to read (empty spine); export it again", archive.path)
    nav = next((item.href for item in items.values() if "nav" in item.properties), None)
    nav_tree = None
    if nav is not None and nav in archive:
        nav_tree = trees.parse_html(trees.decode_markup(archive.read(nav), archive.path))
    toc = tuple(_nav_entries(nav_tree, nav or "")) or tuple(_ncx_entries(archive, tree, items))
    return _Package(
        title=trees.field(tree, "title", "spine"),
        language=trees.field(tree, "language", "spine"),
        spine=spine,
        toc=toc,
        types=_document_types(tree, base, nav_tree, nav or ""),
        nav=nav,
        pictures=sum(item.media_type.startswith("image/") for item in items.values()),
        notes=notes,
    )


def _package_path(archive: Archive) -> str:
    if "META-INF/container.xml" not in archive:
        message = "is not an EPUB (META-INF/container.xml is missing); export it again"
        raise InputError(message, archive.path)
    container = trees.parse_xml(archive.read("META-INF/container.xml"), archive.path)
    for node in elements(container, "rootfile"):
        path = unquote(node.get("full-path") or "")
        if path in archive:
            return path
    message = "has no package document (OPF), so its order is lost; export it again"
    raise InputError(message, archive.path)


def _manifest(tree: Element, base: str) -> dict[str, _Item]:
    return {
        identifier: _Item(
            href=_resolve(base, href)[0],
            media_type=(node.get("media-type") or "").lower(),
            properties=tuple((node.get("properties") or "").split()),
        )
        for node in elements(tree, "item")
        if (identifier := node.get("id")) and (href := node.get("href"))
    }


def _spine(
    tree: Element, items: dict[str, _Item], archive: Archive
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The documents in reading order, and notes on those that are missing or not read."""
    refs = list(elements(tree, "itemref"))
    # A book whose documents are all "not linear" is read all the same.
    linear = {ref for ref in refs if (ref.get("linear") or "yes").lower() != "no"} or set(refs)
    spine: dict[str, None] = {}  # a set that keeps its order
    missing: list[str] = []
    unread: list[str] = []
    for ref in refs:
        item = items.get(ref.get("idref") or "")
        if item is None:
            missing.append(ref.get("idref") or "?")
        elif item.href not in archive:
            missing.append(item.href)
        elif item.is_markup and ref in linear:
            spine[item.href] = None
        else:
            unread.append(item.href)
    # What no reference leads to in order is not the story: notes, or a cover.
    unread += [
        item.href
        for item in items.values()
        if item.is_markup and "nav" not in item.properties and item.href not in spine
    ]
    unread = [href for href in dict.fromkeys(unread) if href in archive and href not in spine]
    said = {"missing from the EPUB": missing, "skipped as outside the reading order": unread}
    return tuple(spine), tuple(
        f"{what}: {list_some(names)}" for what, names in said.items() if names
    )


def _resolve(base: str, reference: str) -> tuple[str, str]:
    """A reference inside the book → the path from the archive's root, and the fragment."""
    path, _, fragment = reference.partition("#")
    path = posixpath.normpath(posixpath.join(base, unquote(path))) if path else ""
    return path.lstrip("/"), unquote(fragment)


def _nav_entries(tree: Element | None, nav: str) -> Iterator[TocEntry]:
    """EPUB 3: the links of `<nav epub:type="toc">`, nested as their lists are."""
    if tree is None:
        return
    navs = list(elements(tree, "nav"))
    tocs = [node for node in navs if "toc" in types_of(node)] or [
        node for node in navs if not types_of(node)
    ]
    for link in elements(tocs[0], "a") if tocs else ():
        if href := link.get("href"):
            yield _entry("".join(link.itertext()), nav, href)


def _ncx_entries(archive: Archive, tree: Element, items: dict[str, _Item]) -> Iterator[TocEntry]:
    """EPUB 2: the points of the NCX, nested as they are."""
    named = next((node.get("toc") for node in elements(tree, "spine")), None)
    ncx = items.get(named or "") or next(
        (item for item in items.values() if item.media_type == _NCX_TYPE), None
    )
    if ncx is None or ncx.href not in archive:
        return
    for point in elements(trees.parse_xml(archive.read(ncx.href), archive.path), "navpoint"):
        labels = (node for child in point if tag_of(child) == "navlabel" for node in child)
        sources = (child.get("src") for child in point if tag_of(child) == "content")
        label = next(("".join(node.itertext()) for node in labels), "")
        yield _entry(label, ncx.href, next(sources, None) or "")


def _entry(label: str, origin: str, reference: str) -> TocEntry:
    href, fragment = _resolve(posixpath.dirname(origin), reference)
    return TocEntry(label=trees.clean_text(label), href=href or origin, fragment=fragment)


def _document_types(
    package: Element, base: str, nav_tree: Element | None, nav: str
) -> dict[str, frozenset[str]]:
    """What the guide (EPUB 2) and the landmarks (EPUB 3) call whole documents."""
    links: list[tuple[str, str | None, Iterable[str]]] = []
    for node in elements(package, "reference"):
        kind = (node.get("type") or "").lower().replace("title-page", "titlepage")
        links.append((base, node.get("href"), (kind,)))
    for node in elements(nav_tree, "nav") if nav_tree is not None else ():
        if "landmarks" in types_of(node):
            folder = posixpath.dirname(nav)
            links += [(folder, link.get("href"), types_of(link)) for link in elements(node, "a")]
    types: dict[str, frozenset[str]] = {}
    for folder, reference, kinds in links:
        href, fragment = _resolve(folder, reference or "")
        if href and not fragment:  # parts of documents do not count
            types[href] = types.get(href, frozenset()).union(kinds)
    return types
