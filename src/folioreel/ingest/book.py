"""Any book file → `Book`: the reader is chosen by content, blocks become sentences (section 3)."""

from __future__ import annotations

import bisect
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from folioreel.errors import InputError, UnknownFormatError
from folioreel.files import file_sha256
from folioreel.ingest.books.blocks import Block, Manuscript
from folioreel.ingest.books.headings import heading_level, is_numbered
from folioreel.ingest.books.matter import drop_matter
from folioreel.ingest.signatures import describe_known
from folioreel.ingest.source import decode_text, read_bytes, read_head
from folioreel.ingest.subtitles.formats import guess_format
from folioreel.text import split_sentences
from folioreel.types import Book, Chapter, Paragraph, Sentence

Reader = Callable[[Path], Manuscript]

READERS = {
    "plain text": "plain_text.read_plain_text",
    "markdown": "markdown.read_markdown",
    "html": "html.read_html",
    "epub": "epub.read_epub",
    "fb2": "fb2.read_fb2",
    "pdf": "pdf.read_pdf",
}
"""Format → its reader in this package, imported when it is needed."""

_SUFFIXES = {
    ".txt": "plain text",
    ".text": "plain text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".epub": "epub",
    ".fb2": "fb2",
    ".fbz": "fb2",
    ".pdf": "pdf",
}

_NO_STORY = "holds no text that can be read as a story; is it the right file?"


def load_book(path: Path | str) -> Book:
    """Read a book of any format that we know.

    Raises:
        InputError: The file is missing, empty, broken, protected, or holds no text.
        UnknownFormatError: The file is of a kind that we do not read.
    """
    path = Path(path)
    return assemble_book(_find_reader(detect_format(path))(path), path)


def skim_book(path: Path | str) -> str:
    """All the text of a book in one piece, without a look at how it is set: fast, for its words.

    Raises:
        InputError: As `load_book` does.
    """
    path = Path(path)
    kind = detect_format(path)
    if kind == "plain text":
        text = decode_text(read_bytes(path), path)
    else:
        text = "\n".join(block.text for block in _find_reader(kind)(path).blocks)
    if not any(character.isalpha() for character in text):
        raise InputError(_NO_STORY, path)
    return text


def _find_reader(kind: str) -> Reader:
    module, function = READERS[kind].split(".")
    read: Reader = getattr(import_module(f"folioreel.ingest.books.{module}"), function)
    return read


def detect_format(path: Path) -> str:
    """The format of a book file, by what it holds first and by its name second."""
    head = read_head(path)
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK"):
        return _zip_format(path)
    if (kind := describe_known(head) or _describe_data(head, path)) is not None:
        raise UnknownFormatError(
            f"is {kind}; give the book as EPUB, PDF, FB2, HTML, Markdown or plain text "
            "(Calibre converts most books to EPUB)",
            path,
        )
    start = head.lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if b"<fictionbook" in head[:4096].lower():
        return "fb2"
    if start.startswith((b"<!doctype html", b"<html")) or (
        start.startswith(b"<?xml") and b"<html" in head[:4096].lower()
    ):
        return "html"
    return _SUFFIXES.get(path.suffix.lower(), "plain text")


def _describe_data(head: bytes, path: Path) -> str | None:
    """The kind of text that is data rather than a story, or None."""
    if path.suffix.lower() in (".json", ".tsv", ".csv"):
        return "a table or data file"
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b'{"', b'[{"')):
        return "a JSON document"
    try:
        subtitles = guess_format(decode_text(head, path))
    except InputError:
        return None  # its reader says what is wrong
    return f"a subtitle file ({subtitles})" if subtitles else None


def _zip_format(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        # The EPUB reader tells what is wrong with a broken archive.
        return "fb2" if path.suffix.lower() in (".fbz", ".zip") else "epub"
    if any(name.lower().endswith(".fb2") for name in names):
        return "fb2"
    if "word/document.xml" in names or (
        "content.xml" in names and "META-INF/manifest.xml" in names
    ):
        raise UnknownFormatError(
            "is a document of a word processor; save it as EPUB, HTML or plain text", path
        )
    if "META-INF/container.xml" in names or "mimetype" in names:
        return "epub"
    if path.suffix.lower() == ".epub":
        return "epub"
    raise UnknownFormatError(
        "is a ZIP archive without a book in it; unpack it and give the book itself", path
    )


def assemble_book(manuscript: Manuscript, path: Path) -> Book:
    """Split a manuscript's paragraphs into sentences and gather them into chapters."""
    blocks, notes = drop_matter(manuscript.blocks)
    sentences: list[Sentence] = []
    paragraphs: list[Paragraph] = []
    openings: list[tuple[str, int]] = []  # (title, first paragraph)
    for block in blocks:
        if block.kind == "heading":
            _open_chapter(openings, block.text, len(paragraphs))
        elif block.kind in ("paragraph", "verse"):
            first = len(sentences)
            sentences += _block_sentences(block, manuscript.language, first)
            if len(sentences) > first:
                paragraphs.append(
                    Paragraph(index=len(paragraphs), sentences=range(first, len(sentences)))
                )
    if not sentences:
        raise InputError(_NO_STORY, path)
    return Book(
        title=manuscript.title,
        sentences=tuple(sentences),
        paragraphs=tuple(paragraphs),
        chapters=_chapters(openings, len(paragraphs)),
        path=path,
        sha256=file_sha256(path),
        notes=manuscript.notes + notes,
    )


def _open_chapter(openings: list[tuple[str, int]], text: str, first: int) -> None:
    """Begin a chapter; a part, a number and a title that follow one another make one title."""
    text = text.strip(" _*=")
    if openings and openings[-1][1] == first:
        before = openings.pop()[0]
        # What stands above a number is a part, or a stray line of the title page.
        joins = heading_level(before) == 1 if is_numbered(text) else before.lower() != text.lower()
        text = f"{before.rstrip(' .:')}: {text}" if joins else text
    openings.append((text, first))


def _chapters(openings: list[tuple[str, int]], paragraphs: int) -> tuple[Chapter, ...]:
    if not openings or openings[0][1] > 0:
        openings = [("", 0), *openings]
    openings = [opening for opening in openings if opening[1] < paragraphs]
    ends = [first for _, first in openings[1:]] + [paragraphs]
    return tuple(
        Chapter(index=k, title=title, paragraphs=range(first, end))
        for k, ((title, first), end) in enumerate(zip(openings, ends, strict=True))
    )


def _block_sentences(block: Block, language: str | None, first_index: int) -> list[Sentence]:
    """The sentences of one block, each with its own lines or characters."""
    offsets = [offset for offset, _ in block.lines]

    def line_at(position: int) -> int | None:
        if not block.lines:
            return None
        return block.lines[max(0, bisect.bisect_right(offsets, position) - 1)][1]

    spans = [
        span
        for span in split_sentences(block.text, language)
        if any(character.isalnum() for character in block.text[span[0] : span[1]])
    ]
    return [
        Sentence(
            index=first_index + k,
            text=block.text[start:end],
            line=line_at(start),
            line_end=line_at(end - 1),
            href=block.href,
            char_start=None if block.lines else block.offset + start,
            char_end=None if block.lines else block.offset + end,
        )
        for k, (start, end) in enumerate(spans)
    ]
