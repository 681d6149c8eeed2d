"""The paper's table of its dataset (table 1): what a book or a film holds."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

from folioreel.config import SpeechConfig
from folioreel.errors import UnreadableWordsError
from folioreel.ingest.book import load_book
from folioreel.ingest.film import holds_film, is_film, load_film
from folioreel.ingest.subtitles.formats import SUBTITLE_SUFFIXES
from folioreel.ingest.sync import Timing
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import tokenize
from folioreel.types import Book, Film

_log = logging.getLogger(__name__)


def describe_book(book: Book) -> dict[str, Any]:
    """The left half of the table: the counts of a book."""
    sentences = [tokenize(sentence.text) for sentence in book.sentences]
    lengths = [len(words) for words in sentences]
    return {
        "title": book.title,
        "language": book.language,
        "sentences": len(sentences),
        "words": sum(lengths),
        "unique_words": len({word for words in sentences for word in words}),
        "mean_sentence_words": round(sum(lengths) / len(lengths), 1),
        "longest_sentence_words": max(lengths),
        "paragraphs": len(book.paragraphs),
        "chapters": len(book.chapters),
    }


def describe_film(film: Film) -> dict[str, Any]:
    """The right half: the counts of a film."""
    words = [word for subtitle in film.subtitles for word in tokenize(subtitle.text)]
    return {
        "title": film.title,
        "language": film.language,
        "duration_s": round(film.duration_s, 3),
        "shots": len(film.shots),
        "subtitle_sentences": len(film.subtitles),
        "moments": len(film.moments),
        "words": len(words),
        "unique_words": len(set(words)),
    }


def inspect_file(
    path: Path,
    *,
    shots: bool = True,
    language: str | None = None,
    book_language: str | None = None,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """The row of one file, which may be a book or a film, with its `kind` and `file`.

    A folder is a film in several parts or a book in several volumes.
    """
    name = path.absolute().name
    if not (holds_film(path) if path.is_dir() else is_film(path)):
        return {
            "kind": "book",
            "file": name,
            **describe_book(load_book(path, language=book_language)),
        }
    load = partial(
        load_film,
        path,
        shots=shots,
        language=language,
        timing=Timing(sync=False),
        speech=SpeechConfig(unasked=False),  # to listen takes minutes
        progress=progress,
    )
    try:
        film = load()
    except UnreadableWordsError as error:
        if path.suffix.lower() in SUBTITLE_SUFFIXES:
            raise
        # The shots of a video can be counted all the same.
        _log.warning(str(error))
        film = load(subtitles="none")
    return {"kind": "film", "file": name, **describe_film(film)}
