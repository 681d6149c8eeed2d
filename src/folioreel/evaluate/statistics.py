"""The paper's table of its dataset (table 1): what books and films hold, and what was judged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from folioreel.config import SpeechConfig
from folioreel.errors import UnreadableWordsError
from folioreel.evaluate.dataset import Pair, find_pairs, is_pair, load_pair, load_pair_film
from folioreel.evaluate.judged_tables import count_matches
from folioreel.ingest.book import load_book
from folioreel.ingest.film import holds_film, is_film, load_film
from folioreel.ingest.genres import read_columns
from folioreel.ingest.subtitles.formats import SUBTITLE_SUFFIXES
from folioreel.ingest.sync import Timing
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.similarity.base import log_notes
from folioreel.text import tokenize
from folioreel.types import Book, Film, JudgedKind

INDEX = "index.tsv"
"""Optional, in the folder of a dataset: what the pairs are, in the columns `pair`, `genre` and
`about` (a sentence, such as that a film was built from photographs)."""
ALL = "All"
_SUMS = (
    *("sentences", "words", "paragraphs", "shots", "subtitle_sentences"),
    *("dialogue", "visual", "audio"),
)

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
        book = load_book(path, language=book_language)
        log_notes(book, name)
        return {"kind": "book", "file": name, **describe_book(book)}
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
    log_notes(film, name)
    return {"kind": "film", "file": name, **describe_film(film)}


def is_dataset(folder: Path) -> bool:
    """Whether a folder is a judged pair or holds some."""
    return folder.is_dir() and (is_pair(folder) or any(map(is_pair, folder.iterdir())))


def describe_dataset(
    folder: Path, *, shots: bool = True, progress: ProgressCallback = ignore_progress
) -> list[dict[str, Any]]:
    """The whole table: a row for each judged pair; with several, one for all of them.

    `dialogue`, `visual` and `audio` count the matches of each kind, a span of lines as one; judged
    silent shots are visual.
    In the last row, unique words are those of all books together.
    """
    read_index(folder)  # a damaged one should not cost the count
    return add_genres(count_dataset(folder, shots=shots, progress=progress), folder)


def read_index(folder: Path) -> dict[str, dict[str, str]]:
    """What a dataset says of its pairs: `genre` and `about`, each by the name of the pair."""
    wanted = ["genre", "about"]
    path = folder / INDEX
    return read_columns(path, "pair", wanted) if path.is_file() else {name: {} for name in wanted}


def add_genres(rows: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The rows of `count_dataset` with the genres of the dataset, if it names any."""
    genres = read_index(folder)["genre"]
    plain = [_without(row, "genre") for row in rows]
    if not genres:
        return plain
    # Behind the name.
    return [{"pair": row["pair"], "genre": genres.get(row["pair"], ""), **row} for row in plain]


def count_dataset(
    folder: Path, *, shots: bool = True, progress: ProgressCallback = ignore_progress
) -> list[dict[str, Any]]:
    """The table without genres, which are the one thing that is not counted."""
    rows: list[dict[str, Any]] = []
    unique: set[str] = set()
    for path in track(find_pairs(folder), "counting", progress, name=lambda path: path.name):
        pair = load_pair(path)
        book = load_book(pair.book)
        unique.update(word for sentence in book.sentences for word in tokenize(sentence.text))
        rows.append(_describe_pair(pair, book, shots=shots))
    if len(rows) > 1:
        whole = {name: sum(row[name] for row in rows) for name in _SUMS}
        whole["mean_sentence_words"] = round(whole["words"] / whole["sentences"], 1)
        whole["longest_sentence_words"] = max(row["longest_sentence_words"] for row in rows)
        several = {"pair": ALL, "unique_words": len(unique), **whole}
        rows.append({name: several[name] for name in rows[0]})
    return rows


def _describe_pair(pair: Pair, book: Book, *, shots: bool) -> dict[str, Any]:
    written = _without(describe_book(book), "title", "language", "chapters")
    film = describe_film(load_pair_film(pair, shots=shots))
    matches = count_matches((*pair.judgements, *pair.shots))
    kinds = {kind: matches[kind] for kind in get_args(JudgedKind)}
    shown = {name: film[name] for name in ("shots", "subtitle_sentences")}
    return {"pair": pair.name, **written, **shown, **kinds}


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}
