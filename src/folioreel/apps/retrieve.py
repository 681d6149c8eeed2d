"""Which book a film is made from, among many (paper, section 5.3, book "retrieval").

All books of a folder are compared with the film by their words and names; the most alike are then
aligned with it in full. That gives the chain's evidence: the log-partition over all ways through
the book, against the film being in no book at all, in nats a moment. Each moment's odds are
averaged over where the film may be, so that a long book gains little by its length.

The paper ranks by the energy of the chain alone, and scales it so that the best book has 100. We
multiply the evidence by how alike words and names are, and scale the product. The chain sees rare
words of the book, and those are not the names of its people; and very long books have something
like every line. Each of the two finds books that the other misses (docs/results.md).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel import __version__
from folioreel.alignment.aligner import Aligner
from folioreel.apps.library import (
    Failure,
    Library,
    open_library,
    read_book,
    work_on_books,
)
from folioreel.apps.wrong_books import SURE, wrong_book_chances
from folioreel.cache import cached_array
from folioreel.corpus.sources import FoundFile
from folioreel.engines.batch import EngineName
from folioreel.errors import AlignmentError, ConfigError
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.similarity.tfidf import compare_bags, make_bag
from folioreel.types import Film

_LEAST_EVIDENCE, _LEAST_SIMILARITY = 0.1, 0.05
"""What wrong books have; those with less are no wronger, only of another kind of text."""


@dataclass(frozen=True, kw_only=True)
class RetrieveConfig:
    """How a film's book is looked for."""

    shortlist: int = 8
    """How many books are aligned in full."""
    engine: EngineName = "local"
    workers: int | None = None
    """Processes; one a core if None."""

    def __post_init__(self) -> None:
        """Refuse a list of nothing."""
        if self.shortlist < 1:
            raise ConfigError(f"the shortlist must have at least 1 book, not {self.shortlist}")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A book that was aligned with the film in full."""

    book: str
    """Its path in the folder."""
    score: float
    """Evidence times similarity, as a share of the best book's: 100 for the best."""
    p_value: float
    """How often the best of as many wrong books scores as much."""
    found: bool
    """Whether the film is made from it, by that."""
    evidence: float
    """The chain's, in nats a moment."""
    in_book: float
    """The share of the film's moments that are in the book."""
    similarity: float
    """How alike the words and names are: what put it on the shortlist."""


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """What came of looking for a film's book."""

    candidates: tuple[Candidate, ...]
    """Best first."""
    books: int
    """How many books were looked at."""
    failures: tuple[Failure, ...]
    """Books that could not be read or aligned."""

    @property
    def found(self) -> tuple[Candidate, ...]:
        """The film's book, or its editions; empty where it is not there."""
        return tuple(candidate for candidate in self.candidates if candidate.found)


def retrieve(
    film: Film,
    books: Library | Path | str,
    config: RetrieveConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Retrieval:
    """Rank the books of a folder by how much of the film is in them.

    Args:
        film: The film; what is said in it is what books are found by.
        books: A folder of books and archives of books, or one that was opened before.
        config: How it is looked for.
        progress: Told how far each stage has come.

    Raises:
        InputError: The folder is missing, or holds no book that can be read.
        AlignmentError: Nothing is said in the film, or no book can be aligned with it.
    """
    config = config or RetrieveConfig()
    if not film.subtitles:
        raise AlignmentError(
            "nothing is said in the film, and books are found by what is said; give its "
            "subtitles (--subtitles FILE)"
        )
    if not isinstance(books, Library):
        books = open_library(books, progress, engine=config.engine, workers=config.workers)
    bag = make_bag(" ".join(subtitle.text for subtitle in film.subtitles))
    alike = compare_bags(bag, [book.bag for book in books.books])
    chosen = {
        books.books[k].path: float(alike[k])
        for k in np.argsort(-alike, kind="stable")[: config.shortlist]
    }
    trials, failures = work_on_books(
        _try_book,
        (_Trial(film=film, found=found) for found in books.find_files(chosen)),
        "aligning",
        len(chosen),
        progress,
        engine=config.engine,
        workers=config.workers,
    )
    if not trials:
        raise AlignmentError(
            f"none of the {len(chosen)} likeliest books can be aligned with the film; the first: "
            f"{failures[0].path}: {failures[0].problem}"
        )
    return Retrieval(
        candidates=_rank(trials, chosen),
        books=len(books.books),
        failures=(*books.failures, *failures),
    )


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """A film and a book that may be its own, sent to a worker."""

    film: Film
    found: FoundFile


def _try_book(trial: _Trial) -> NDArray[np.float64]:
    """The evidence of one book and the share of moments in it, from the cache where it has them."""
    aligner = Aligner.load()
    settings = json.dumps([__version__, asdict(aligner.config), trial.found.suffix])
    total = hashlib.sha256(settings.encode())
    total.update(hashlib.sha256(trial.found.data).digest())
    total.update(repr(trial.film.moments).encode("utf-8", "surrogatepass"))

    def align() -> NDArray[np.float64]:
        alignment = aligner.align(trial.film, read_book(trial.found))
        moments = len(alignment.links)
        in_book = sum(link.in_book for link in alignment.links)
        return np.array([-alignment.signature["energy"] / moments, in_book / moments])

    return cached_array(total.hexdigest(), align)


def _rank(
    trials: dict[str, NDArray[np.float64]], similarity: dict[str, float]
) -> tuple[Candidate, ...]:
    """Candidates from the highest score to the lowest."""
    products = {
        path: max(evidence, _LEAST_EVIDENCE) * max(similarity[path], _LEAST_SIMILARITY)
        for path, (evidence, _) in trials.items()
    }
    ranked = sorted(products, key=lambda path: (-products[path], path))
    chances = wrong_book_chances(np.log([products[path] for path in ranked]))
    return tuple(
        Candidate(
            book=path,
            score=float(100 * products[path] / products[ranked[0]]),
            p_value=float(chance),
            found=bool(chance < SURE),
            evidence=float(trials[path][0]),
            in_book=float(trials[path][1]),
            similarity=similarity[path],
        )
        for path, chance in zip(ranked, chances, strict=True)
    )
