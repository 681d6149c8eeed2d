"""Books in several volumes → one `Book`, its chapters named after their volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from folioreel.ingest.several import join_hashes, name_files, share_title
from folioreel.language import join_languages
from folioreel.types import Book, Chapter, Paragraph, Sentence, Volume


def join_volumes(books: Sequence[Book]) -> Book:
    """The books of some files, one after the other.

    Lines and characters of a sentence are still counted in its own file.
    """
    files = [book.path for book in books if book.path is not None]
    title, names = share_title([book.title for book in books], files)
    sentences: list[Sentence] = []
    paragraphs: list[Paragraph] = []
    chapters: list[Chapter] = []
    volumes: list[Volume] = []
    notes = [name_files(files, "volumes")]
    for book, name in zip(books, names, strict=True):
        first, above = len(sentences), len(paragraphs)
        sentences += [replace(s, index=first + s.index) for s in book.sentences]
        paragraphs += [
            Paragraph(index=above + p.index, sentences=_shift(p.sentences, first))
            for p in book.paragraphs
        ]
        chapters += [
            Chapter(
                index=len(chapters) + chapter.index,
                title=f"{name}: {chapter.title}" if chapter.title else name,
                paragraphs=_shift(chapter.paragraphs, above),
            )
            for chapter in book.chapters
        ]
        inside = range(first, len(sentences))
        volumes.append(Volume(title=name, sentences=inside, path=book.path, sha256=book.sha256))
        notes += [f"{name}: {note}" for note in book.notes]
    return Book(
        title=title,
        sentences=tuple(sentences),
        paragraphs=tuple(paragraphs),
        chapters=tuple(chapters),
        sha256=join_hashes(book.sha256 for book in books),
        notes=tuple(notes),
        volumes=tuple(volumes),
        language=join_languages(book.language for book in books),
    )


def _shift(indices: range, by: int) -> range:
    return range(indices.start + by, indices.stop + by)
