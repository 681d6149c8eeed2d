"""Where a moment and its passage are, as addresses that other programs resolve.

An address is relative to the file that holds it, so a folder that is moved as a whole stays whole.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from folioreel.types import Alignment, Book, Link, Sentence


@dataclass(frozen=True, kw_only=True)
class FilmPlace:
    """A stretch of the film's file."""

    address: str
    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class BookPlace:
    """A passage in the book's file."""

    address: str
    fragment: str | None
    """RFC 5147 for text (`line=4,5`); otherwise the document inside the book, or its page."""
    is_line: bool
    """Whether the fragment counts lines."""


def film_place(alignment: Alignment, link: Link, out: Path) -> FilmPlace:
    """Where the moment of a link is, seen from the file `out`."""
    film, moment = alignment.film, alignment.film.moments[link.moment]
    part, start_s = film.locate(moment.start_s)
    file = film.files[part]
    # A moment of no length is nothing that a program could show.
    end_s = max(start_s + moment.end_s - moment.start_s, start_s + 0.001)
    return FilmPlace(
        address=address_of(file.path, file.title, out), start_s=start_s, end_s=round(end_s, 6)
    )


def book_place(book: Book, sentences: range, out: Path) -> BookPlace:
    """Where a passage is, seen from the file `out`."""
    volume = book.volume_of(sentences.start)
    file = book if volume is None else book.volumes[volume]
    address = address_of(file.path, file.title, out)
    first, last = passage_ends(book, sentences)
    if first.line is None:
        fragment = first.href.lstrip("#") if first.href else None
        return BookPlace(address=address, fragment=fragment, is_line=False)
    # RFC 5147 counts the places between lines: the first line is from 0 to 1.
    fragment = f"line={first.line - 1},{last.line_end or last.line}"
    return BookPlace(address=address, fragment=fragment, is_line=True)


def passage_ends(book: Book, sentences: range) -> tuple[Sentence, Sentence]:
    """The first and the last sentence of a passage that are in one document.

    Lines and characters of another document are counted from its own start.
    """
    first = book.sentences[sentences.start]
    volume = book.volume_of(sentences.start)
    inside = [
        book.sentences[j]
        for j in sentences
        if book.sentences[j].href == first.href and book.volume_of(j) == volume
    ]
    return first, inside[-1]


def address_of(path: Path | None, title: str, out: Path) -> str:
    """The address of a file relative to `out`; of something without a file, its title."""
    if path is None:
        return quote(title)
    try:
        relative = os.path.relpath(path.absolute(), out.absolute().parent)
    except ValueError:  # on another drive of Windows
        return path.absolute().as_uri()
    return quote(os.fsencode(Path(relative).as_posix()))  # a name may hold bytes that are no text
