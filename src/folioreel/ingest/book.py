"""Any book file → `Book`: detect the format, read blocks, split them into sentences (section 3).

A book may be several such files, which are read one by one and joined (volumes.py).
"""

from __future__ import annotations

import bisect
import logging
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.books.blocks import Block, Manuscript
from folioreel.ingest.books.emphasis import cut_emphasis
from folioreel.ingest.books.matter import drop_licence, drop_matter
from folioreel.ingest.books.titles import bare_title, is_numbered, is_part, titles_in
from folioreel.ingest.encodings import decode_text
from folioreel.ingest.several import Given, check_distinct, check_order, list_files
from folioreel.ingest.source import SourceFile, describe_known, is_zip, open_source
from folioreel.ingest.subtitles.formats import guess_format
from folioreel.ingest.volumes import join_volumes
from folioreel.language import decide_language, parse_language
from folioreel.sentences import split_sentences
from folioreel.text import printable
from folioreel.types import Book, Chapter, Paragraph, Sentence

_log = logging.getLogger(__name__)
Reader = Callable[[SourceFile], Manuscript]

# Format → its reader, as module.function in `books`; imported when needed.
READERS = {
    "plain text": "plain_text.read_plain_text",
    "markdown": "markdown.read_markdown",
    "html": "html.read_html",
    "epub": "epub.read_epub",
    "fb2": "fb2.read_fb2",
    "pdf": "pdf.read_pdf",
}

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

_FORMATS = "EPUB, PDF, FB2, HTML, Markdown or plain text"
_BLANKS = b"\xef\xbb\xbf \r\n\t"  # may stand before the first character
_LONGEST_TITLE = 500  # characters; nothing is joined to a longer one, as headings may be endless
_MANY_SENTENCES = 200  # a book with more has more than two paragraphs
_NO_STORY = "holds no text that can be read as a story; is it the right file?"


def load_book(path: Given, *, language: str | None = None) -> Book:
    """Read a book of any format that we know.

    Args:
        path: The file. A book in several volumes is a list of files, in order, or a folder of them,
            which are sorted by the numbers in their names.
        language: Its language, by code or name (`fr`, `French`); by default what the file says, or
            else what the text looks like.

    Raises:
        InputError: The file is missing, empty, broken, protected, or holds no text.
        ConfigError: There is no such language.
        UnknownFormatError: The file is of a kind that we do not read.
    """
    language = None if language is None else parse_language(language)
    files = list_volumes(path)
    if warning := check_order(path, files):
        _log.warning(warning)
    volumes = [_load_file(file, language) for file in files]
    return volumes[0] if len(volumes) == 1 else join_volumes(volumes)


def list_volumes(given: Given) -> list[Path]:
    """The files of a book in order; those of a folder, by their endings, in natural order."""

    def choose(inside: list[Path]) -> list[Path]:
        books = [path for path in inside if path.suffix.lower() in _SUFFIXES]
        return check_distinct(books, lambda path: path.stem)

    return list_files(given, f"book ({_FORMATS})", choose)


def _load_file(path: Path, language: str | None) -> Book:
    file = open_book(path)
    read = _find_reader(detect_format(file))
    with titles_in(language):
        manuscript = read(file)
        found = _decide_language(manuscript, language)
    if found != manuscript.titles_in:  # the file says a wrong one, as converters do
        with titles_in(found):
            manuscript = read(file)
    return assemble_book(manuscript, file, found)


def skim_book(path: Path | str) -> str:
    """All the text of a book in one piece, matter included: fast, for its words alone."""
    file = open_book(path)
    if (kind := detect_format(file)) == "plain text":
        text = file.text
    else:
        text = "\n".join(block.text for block in _find_reader(kind)(file).blocks)
    if not any(character.isalpha() for character in text):
        raise InputError(_NO_STORY, file.path)
    return text


def open_book(path: Path | str) -> SourceFile:
    """Read the file of a book; a video or a picture is refused by its first bytes."""
    return open_source(Path(path), _refuse_other_files)


def _find_reader(kind: str) -> Reader:
    module, function = READERS[kind].split(".")
    read: Reader = getattr(import_module(f"folioreel.ingest.books.{module}"), function)
    return read


def detect_format(file: SourceFile) -> str:
    """The format of a book, by its content first and its name second; a key of `READERS`."""
    head, suffix = file.data[:4096], file.path.suffix.lower()
    if b"%PDF-" in head[:1024]:  # readers accept the mark anywhere in the first kilobyte
        return "pdf"
    if is_zip(head):
        return _zip_format(file)
    if b"<fictionbook" in head.lower():
        return "fb2"
    start = head.lstrip(_BLANKS).lower()
    if start.startswith((b"<!doctype html", b"<html")) or (
        start.startswith(b"<?xml") and b"<html" in head.lower()
    ):
        return "html"
    return _SUFFIXES.get(suffix, "plain text")


def _refuse_other_files(head: bytes, path: Path) -> None:
    """Raise an error if the first bytes of a file show that it is not a book."""
    if b"%PDF-" in head[:1024] or is_zip(head):
        return
    kind = describe_known(head) or _describe_data(head, path)
    if kind is not None:
        raise UnknownFormatError(
            f"is {kind}; give the book as {_FORMATS} (Calibre converts most books to EPUB)",
            path,
        )


def _describe_data(head: bytes, path: Path) -> str | None:
    """The kind of text that is data rather than a story, or None."""
    if path.suffix.lower() in (".json", ".tsv", ".csv"):
        return "a table or data file"
    if head.lstrip(_BLANKS).startswith((b'{"', b'[{"')):
        return "a JSON document"
    try:
        subtitles = guess_format(decode_text(head, path))
    except InputError:
        return None  # the reader of the format will say what is wrong
    return f"a subtitle file ({subtitles})" if subtitles else None


def _zip_format(file: SourceFile) -> str:
    suffix = file.path.suffix.lower()
    try:
        archive = file.archive
    except InputError:
        # The reader will say what is wrong with the archive.
        return "fb2" if suffix in (".fbz", ".zip") else "epub"
    if any(name.lower().endswith(".fb2") for name in archive.names):
        return "fb2"
    if "word/document.xml" in archive or (
        "content.xml" in archive and "META-INF/container.xml" not in archive
    ):
        raise UnknownFormatError(
            "is a word processor's document; save it as EPUB, HTML or plain text", file.path
        )
    if "META-INF/container.xml" in archive or "mimetype" in archive or suffix == ".epub":
        return "epub"
    raise UnknownFormatError(
        "is a ZIP archive without a book in it; unpack it and give the book itself", file.path
    )


def assemble_book(manuscript: Manuscript, file: SourceFile, language: str | None = None) -> Book:
    """Split a manuscript's paragraphs into sentences and gather them into chapters."""
    language = _decide_language(manuscript, language)
    with titles_in(language):
        return _assemble(manuscript, file, language)


def _decide_language(manuscript: Manuscript, given: str | None) -> str | None:
    text = "\n".join(block.text for block in drop_licence(manuscript.blocks))
    return decide_language(text, given=given, declared=manuscript.language)


def _assemble(manuscript: Manuscript, file: SourceFile, language: str | None) -> Book:
    blocks, notes = drop_matter(manuscript.blocks)
    sentences: list[Sentence] = []
    paragraphs: list[Paragraph] = []
    openings: list[tuple[str, int]] = []  # (title, first paragraph)
    for block in blocks:
        if block.kind == "heading":
            _open_chapter(openings, printable(block.text), len(paragraphs))
        elif block.kind in ("paragraph", "verse"):
            first = len(sentences)
            sentences += _block_sentences(block, language, first)
            if len(sentences) > first:
                paragraphs.append(
                    Paragraph(index=len(paragraphs), sentences=range(first, len(sentences)))
                )
    if not sentences:
        raise InputError(_NO_STORY, file.path)
    return Book(
        title=printable(manuscript.title),
        sentences=tuple(sentences),
        paragraphs=tuple(paragraphs),
        chapters=_chapters(openings, len(paragraphs)),
        path=file.path,
        sha256=file.sha256,
        notes=manuscript.notes + notes + _note_paragraphs(len(sentences), len(paragraphs)),
        language=language,
    )


def _note_paragraphs(sentences: int, paragraphs: int) -> tuple[str, ...]:
    """What to say of a long book in one piece: its layout was perhaps misread."""
    if sentences <= _MANY_SENTENCES or paragraphs > 2:
        return ()
    where = "one paragraph" if paragraphs == 1 else "two paragraphs"
    return (
        f"all {sentences:,} sentences are in {where}; blank lines would show where others begin",
    )


def _open_chapter(openings: list[tuple[str, int]], text: str, first: int) -> None:
    """Begin a chapter; a part, a number and a title in a row make one title."""
    text = bare_title(text)
    if openings and openings[-1][1] == first:
        before = openings.pop()[0]
        # A heading above a number is a part, or a stray line of the title page.
        joins = is_part(before) if is_numbered(text) else before.lower() != text.lower()
        joins = joins and len(before) < _LONGEST_TITLE
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
            breaks=tuple(at - start for at in block.verse_lines if start <= at < end),
            emphasis=cut_emphasis(block.emphasis, start, end),
        )
        for k, (start, end) in enumerate(spans)
    ]
