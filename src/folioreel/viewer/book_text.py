"""A book as plain text with the lines of each sentence, which judged pairs are counted in."""

from __future__ import annotations

from folioreel.ingest.book import detect_format, open_book
from folioreel.types import Book

Lines = tuple[int, int]


def book_lines(book: Book) -> tuple[str, list[Lines]]:
    """The text, and the first and last line of each sentence, from 1.

    A plain-text book is taken as it is. Any other is written out: a sentence a line, a blank line
    between paragraphs.
    """
    kept = [(s.line, s.line_end) for s in book.sentences]
    known = [(first, last) for first, last in kept if first is not None and last is not None]
    if book.path is not None and len(known) == len(kept):
        file = open_book(book.path)
        if detect_format(file) == "plain text":
            return file.text, known
    written: list[str] = []
    lines: list[Lines] = []
    for paragraph in book.paragraphs:
        for j in paragraph.sentences:
            written.append(" ".join(book.sentences[j].text.split()))
            lines.append((len(written), len(written)))
        written.append("")
    return "\n".join(written), lines
