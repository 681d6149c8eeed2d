"""A film told with lines from other books (paper, section 5.3 and the appendix).

Each moment is matched by itself, without the chain, as the stories have nothing to do with each
other: a spoken one by what is said, a silent one by what its shot shows. No two moments get the
same passage: of all ways to hand them out, the one with the highest sum of scores is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from folioreel.alignment.aligner import Aligner
from folioreel.apps.describe import Passage, read_passage
from folioreel.apps.library import Failure, Library, open_library, read_book, work_on_books
from folioreel.config import AlignConfig
from folioreel.corpus.sources import FoundFile
from folioreel.engines.batch import EngineName
from folioreel.errors import AlignmentError, ConfigError, InputError
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.similarity.tfidf import compare_bags, make_bag
from folioreel.types import Book, Film, Kind

_OFFERS = 6
"""Passages of each book that a moment may choose from."""


@dataclass(frozen=True, kw_only=True)
class BorrowConfig:
    """Which books lend, and where the work is done."""

    shortlist: int = 8
    """How many books, the most alike by words and names."""
    without: tuple[str, ...] = ()
    """Paths in the folder that are left out, such as the film's own book."""
    engine: EngineName = "local"
    workers: int | None = None
    """Processes; one a core if None."""

    def __post_init__(self) -> None:
        """Refuse a list of nothing."""
        if self.shortlist < 1:
            raise ConfigError(f"the shortlist must have at least 1 book, not {self.shortlist}")


@dataclass(frozen=True, kw_only=True)
class Loan:
    """A passage that tells a moment of the film, though it is of another story."""

    moment: int
    start_s: float
    end_s: float
    kind: Kind
    said: str
    score: float
    """The log odds that it renders the moment, were the film made from that book."""
    book: str
    """Its path in the folder."""
    passage: Passage


@dataclass(frozen=True, kw_only=True)
class Borrowing:
    """A film told with other books."""

    loans: tuple[Loan, ...]
    """In time order, at most one a moment."""
    books: tuple[str, ...]
    """Those that were read."""
    failures: tuple[Failure, ...]

    def best(self, count: int) -> tuple[Loan, ...]:
        """The loans with the highest scores, in time order."""
        chosen = sorted(self.loans, key=lambda loan: (-loan.score, loan.moment))[:count]
        return tuple(sorted(chosen, key=lambda loan: loan.moment))


def borrow(
    film: Film,
    books: Library | Path | str,
    config: BorrowConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    aligner: Aligner | None = None,
) -> Borrowing:
    """Find a passage in other books for each moment of a film.

    Args:
        film: The film. Silent moments take part if its pictures were looked at (`load_film` with
            an encoder).
        books: A folder of books and archives of books, or one that was opened before.
        config: Which books lend.
        progress: Told how far each stage has come.
        aligner: What compares moments and sentences; that of the preset `default` if None.

    Raises:
        InputError: The folder is missing, or holds no book that can be read.
        AlignmentError: The film has neither dialogue nor pictures, or no book can be compared.
    """
    config = config or BorrowConfig()
    settings = (aligner or Aligner.load()).for_film(film).config
    if not film.subtitles and film.features is None:
        raise AlignmentError("the film has neither dialogue nor pictures that could be told")
    if not isinstance(books, Library):
        books = open_library(books, progress, engine=config.engine, workers=config.workers)
    chosen = _choose_books(film, books, config)
    requests = (
        _Request(film=film, found=found, settings=settings) for found in books.find_files(chosen)
    )
    offers, failures = work_on_books(
        _offer_passages,
        requests,
        "borrowing",
        len(chosen),
        progress,
        engine=config.engine,
        workers=config.workers,
    )
    if not offers:
        raise AlignmentError(
            f"none of the {len(chosen)} books can be compared with the film; the first: "
            f"{failures[0].path}: {failures[0].problem}"
        )
    return Borrowing(
        loans=_hand_out(film, offers),
        books=tuple(sorted(offers)),
        failures=(*books.failures, *failures),
    )


def assign(
    moments: NDArray[np.int64], passages: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Which offers are taken, so that no moment and no passage is taken twice.

    As many moments as can be get a passage, and of all ways to do that the sum of scores is the
    highest.

    Args:
        moments: The moment of each offer, counted from 0.
        passages: The passage of each offer, counted from 0.
        scores: Its score.

    Returns:
        The numbers of the offers taken, by moment.
    """
    if len(scores) == 0:
        return np.zeros(0, dtype=np.int64)
    rows, row_of = np.unique(moments, return_inverse=True)
    columns = int(passages.max()) + 1
    # To go without is a passage of its own for each moment, worse than all sums of differences.
    gap = (scores.max() - scores.min() + 1) * (len(rows) + 1)
    weights = scores - scores.min() + gap
    alone = np.arange(len(rows))
    table = sparse.csr_array(
        (
            np.concatenate([weights, np.ones(len(rows))]),
            (np.concatenate([row_of, alone]), np.concatenate([passages, columns + alone])),
        ),
        shape=(len(rows), columns + len(rows)),
    )
    taken_rows, taken_columns = min_weight_full_bipartite_matching(table, maximize=True)
    numbers = {
        pair: number
        for number, pair in enumerate(zip(row_of.tolist(), passages.tolist(), strict=True))
    }
    pairs = zip(taken_rows.tolist(), taken_columns.tolist(), strict=True)
    return np.array([numbers[pair] for pair in pairs if pair in numbers], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class _Request:
    film: Film
    found: FoundFile
    settings: AlignConfig


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """A passage for a moment, and its log odds."""

    moment: int
    score: float
    passage: Passage


def _choose_books(film: Film, library: Library, config: BorrowConfig) -> list[str]:
    """The paths of the most alike books."""
    known = {book.path for book in library.books}
    for path in config.without:
        if path not in known:
            raise InputError(f"there is no book {path} to leave out", library.folder)
    lending = [book for book in library.books if book.path not in config.without]
    if not lending:
        raise InputError("holds no book that may lend: all were left out", library.folder)
    bag = make_bag(" ".join(subtitle.text for subtitle in film.subtitles))
    alike = compare_bags(bag, [book.bag for book in lending])
    order = np.argsort(-alike, kind="stable")[: config.shortlist]
    return [lending[k].path for k in order]


def _offer_passages(request: _Request) -> tuple[_Offer, ...]:
    """The best paragraphs of one book for each moment that can be compared."""
    book = read_book(request.found)
    scores = Aligner(request.settings).score(request.film, book)  # (I, J)
    starts = [paragraph.sentences.start for paragraph in book.paragraphs]
    by_paragraph = np.maximum.reduceat(scores, starts, axis=1)  # (I, paragraphs)
    count = min(_OFFERS, len(starts))
    best = np.argpartition(-by_paragraph, count - 1, axis=1)[:, :count]
    return tuple(
        _offer(book, scores, i, int(paragraph))
        for i in range(len(scores))
        if np.isfinite(scores[i]).any()
        for paragraph in best[i]
    )


def _offer(book: Book, scores: NDArray[np.float32], moment: int, paragraph: int) -> _Offer:
    inside = book.paragraphs[paragraph].sentences
    sentence = inside.start + int(scores[moment, inside.start : inside.stop].argmax())
    score = float(scores[moment, sentence])
    return _Offer(moment=moment, score=score, passage=read_passage(book, sentence))


def _hand_out(film: Film, offers: Mapping[str, Sequence[_Offer]]) -> tuple[Loan, ...]:
    """One passage a moment; a passage is its text, in whichever edition it stands."""
    listed = [(path, offer) for path in sorted(offers) for offer in offers[path]]
    numbers: dict[str, int] = {}
    best: dict[tuple[int, int], tuple[str, _Offer]] = {}
    for path, offer in listed:
        passage = numbers.setdefault(offer.passage.text, len(numbers))
        kept = best.get((offer.moment, passage))
        if kept is None or offer.score > kept[1].score:
            best[offer.moment, passage] = (path, offer)
    keys = np.array(list(best), dtype=np.int64).reshape(-1, 2)
    scores = np.array([offer.score for _, offer in best.values()])
    entries = list(best.values())
    return tuple(_loan(film, *entries[k]) for k in assign(keys[:, 0], keys[:, 1], scores))


def _loan(film: Film, path: str, offer: _Offer) -> Loan:
    moment = film.moments[offer.moment]
    return Loan(
        moment=moment.index,
        start_s=moment.start_s,
        end_s=moment.end_s,
        kind=moment.kind,
        said=moment.text,
        score=offer.score,
        book=path,
        passage=offer.passage,
    )
