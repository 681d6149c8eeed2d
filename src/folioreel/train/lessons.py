"""Lessons as text, from pairs of films and books, and in the pieces of a tokenizer.

The targets of a line are soft: the posteriors of the position model, which knows a line's
neighbours and what judges say of them. Judged lines have the judge's sentences instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.positions import Fixed, film_times, follow_book
from folioreel.config import StepsConfig
from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.evaluate import dataset
from folioreel.files import file_sha256
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.transformer_encoder import open_tokenizer
from folioreel.train.judged import JudgedMoment, fixed_moments, judged_moments
from folioreel.train.paraphrase import Lesson, Marks, Pieces
from folioreel.types import Book, Film

_LEAST = 0.02  # posteriors below it are left to "none of them"
_BOOKS = ("book.txt", "book.epub")
_FILMS = (dataset.FILM_JSON, "film.srt", "film.vtt", *dataset.VIDEOS)

Targets = tuple[tuple[int, float], ...]
"""The sentences of one line, each with its share."""


@dataclass(frozen=True, kw_only=True)
class TextLesson:
    """A film's lines, its book's sentences, and which sentences each line renders."""

    name: str
    source: str
    lines: tuple[str, ...]
    sentences: tuple[str, ...]
    targets: tuple[Targets, ...]
    new: tuple[bool, ...]  # lines that render no sentence; their targets are those of their scene


@dataclass(frozen=True, kw_only=True, eq=False)
class FilmAndBook:
    """A pair, judged or not, as it was read."""

    name: str
    film: Film
    book: Book
    judged: tuple[JudgedMoment, ...]
    fixed: dict[int, Fixed]  # the judged moments as the position model takes them


def read_pair(folder: Path) -> FilmAndBook:
    """Read the dialogue of a pair and its book; judgements of silent shots teach nothing here."""
    if dataset.is_pair(folder):
        pair = dataset.load_pair(folder)
        spoken = tuple(one for one in pair.judgements if one.kind == "dialogue")
        pair = replace(pair, judgements=spoken)
        film, book = dataset.load_pair_film(pair, shots=False), load_book(pair.book)
        judged, fixed = judged_moments(pair, film, book), fixed_moments(pair, film, book)
    else:
        path = folder / _first(folder, _FILMS)
        is_json = path.name == dataset.FILM_JSON
        film = dataset.read_film_json(path) if is_json else load_film(path, shots=False)
        film = replace(film, shots=(), features=None)
        book, judged, fixed = load_book(folder / _first(folder, _BOOKS)), (), {}
    if sum(bool(moment.text.strip()) for moment in film.moments) < 2:
        raise InputError("has a film without dialogue; move the pair elsewhere", folder)
    return FilmAndBook(name=folder.resolve().name, film=film, book=book, judged=judged, fixed=fixed)


def find_films_and_books(folder: Path) -> list[Path]:
    """The pairs in a folder, judged or not: the folder itself, or its sub-folders by name."""
    if not folder.is_dir():
        raise InputError("is not a folder; give a folder of pairs of films and books", folder)
    if _is_pair(folder):
        return [folder]
    found = [path for path in sorted(folder.iterdir()) if path.is_dir() and _is_pair(path)]
    if not found:
        raise InputError(
            "holds no pair of a film and a book (a folder with book.txt or book.epub, and film.srt"
            " or a video)",
            folder,
        )
    return found


def check_posteriors(aligner: Aligner) -> StepsConfig:
    """The position model of a preset.

    Raises:
        ConfigError: It has none, and so no posteriors.
    """
    if aligner.config.steps is None:
        raise ConfigError(
            f"the preset {aligner.name} gives no posteriors to learn from; choose default or a"
            " preset of `folioreel train positions`"
        )
    return aligner.config.steps


def align_lesson(pair: FilmAndBook, aligner: Aligner) -> TextLesson:
    """What an aligner makes of a pair, as a lesson."""
    steps = check_posteriors(aligner)
    scores = aligner.score(pair.film, pair.book)
    rendered = follow_book(scores, film_times(pair.film), steps, pair.fixed).rendered  # (I, J)
    judged = {one.moment: one for one in pair.judged}
    spoken = [k for k, moment in enumerate(pair.film.moments) if moment.text.strip()]
    targets = (
        equal_shares(judged[k].sentences) if k in judged else _posterior_targets(rendered[k])
        for k in spoken
    )
    return TextLesson(
        name=pair.name,
        source="films",
        lines=tuple(pair.film.moments[k].text for k in spoken),
        sentences=tuple(sentence.text for sentence in pair.book.sentences),
        targets=tuple(targets),
        new=tuple(k in judged and judged[k].verdict != "match" for k in spoken),
    )


def _posterior_targets(rendered: NDArray[np.float32]) -> Targets:
    places = np.flatnonzero(rendered > _LEAST)
    return tuple((int(place), round(float(rendered[place]), 4)) for place in places)


def equal_shares(sentences: Sequence[int]) -> Targets:
    """Each of some sentences with the same share; none for a line that is in none of them."""
    return tuple((sentence, 1 / len(sentences)) for sentence in sentences)


class PieceReader:
    """A tokenizer file, as lessons need it."""

    def __init__(self, path: Path) -> None:
        self.path, self.sha256 = path, file_sha256(path)
        self._tokenizer = open_tokenizer(path)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        around = self._tokenizer.encode("").ids
        names = map(self._tokenizer.token_to_id, ("[PAD]", "<pad>"))
        padding = next((number for number in names if number is not None), None)
        if len(around) != 2 or padding is None:
            raise ModelFolderError(
                f"{path}: does not put a piece before and after each text as BERT's tokenizer does;"
                " start from another encoder"
            )
        self.marks = Marks(first=around[0], last=around[1], padding=padding)

    def lesson(self, lesson: TextLesson) -> Lesson:
        """A lesson in pieces."""
        counts = [len(row) for row in lesson.targets]
        flat = [pair for row in lesson.targets for pair in row]
        return Lesson(
            name=lesson.name,
            source=lesson.source,
            lines=self._pieces(lesson.lines),
            sentences=self._pieces(lesson.sentences),
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            places=np.array([place for place, _ in flat], dtype=np.int32),
            shares=np.array([share for _, share in flat], dtype=np.float32),
            new=np.array(lesson.new, dtype=bool),
        )

    def _pieces(self, texts: Sequence[str]) -> Pieces:
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return Pieces.join([encoding.ids for encoding in found])


def _is_pair(folder: Path) -> bool:
    return bool(_first(folder, _BOOKS) and _first(folder, _FILMS))


def _first(folder: Path, names: Sequence[str]) -> str:
    return next((name for name in names if (folder / name).is_file()), "")
