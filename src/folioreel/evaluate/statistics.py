"""The paper's dataset table for one file or many (paper, table 1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from folioreel.ingest.book import load_book
from folioreel.ingest.film import is_film, load_film
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import tokenize
from folioreel.types import Book, Film


@dataclass(frozen=True, kw_only=True)
class BookStatistics:
    """The left half of the paper's table: what a book holds."""

    title: str
    sentences: int
    words: int
    unique_words: int
    mean_sentence_words: float
    longest_sentence_words: int
    paragraphs: int
    chapters: int


@dataclass(frozen=True, kw_only=True)
class FilmStatistics:
    """The right half: what a film holds."""

    title: str
    duration_s: float
    shots: int
    subtitle_sentences: int
    moments: int
    words: int
    unique_words: int


def describe_book(book: Book) -> BookStatistics:
    """Count a book."""
    sentences = [tokenize(sentence.text) for sentence in book.sentences]
    lengths = [len(words) for words in sentences]
    return BookStatistics(
        title=book.title,
        sentences=len(sentences),
        words=sum(lengths),
        unique_words=len({word for words in sentences for word in words}),
        mean_sentence_words=round(sum(lengths) / len(lengths), 1),
        longest_sentence_words=max(lengths),
        paragraphs=len(book.paragraphs),
        chapters=len(book.chapters),
    )


def describe_film(film: Film) -> FilmStatistics:
    """Count a film."""
    words = [word for subtitle in film.subtitles for word in tokenize(subtitle.text)]
    return FilmStatistics(
        title=film.title,
        duration_s=round(film.duration_s, 3),
        shots=len(film.shots),
        subtitle_sentences=len(film.subtitles),
        moments=len(film.moments),
        words=len(words),
        unique_words=len(set(words)),
    )


def inspect_file(
    path: Path, *, shots: bool = True, progress: ProgressCallback = ignore_progress
) -> dict[str, Any]:
    """The row of one file, which may be a book or a film, with its `kind` and `file`."""
    if is_film(path):
        statistics: BookStatistics | FilmStatistics = describe_film(
            load_film(path, shots=shots, progress=progress)
        )
        kind = "film"
    else:
        statistics = describe_book(load_book(path))
        kind = "book"
    return {"kind": kind, "file": path.name, **asdict(statistics)}
