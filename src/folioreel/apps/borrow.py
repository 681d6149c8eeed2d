"""A film retold with passages from other books (paper, section 5.3 and the appendix).

Every moment is matched by itself, without the chain, because film and books tell different stories:
spoken moments by their dialogue, silent ones by what their shot shows. No passage is used twice: of
all assignments, the one with the highest sum of scores is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from folioreel.alignment.aligner import Aligner, reads_pictures
from folioreel.apps import library
from folioreel.apps.describe import Passage, read_passage
from folioreel.apps.library import Failure, Library, ShortlistConfig
from folioreel.config import AlignConfig
from folioreel.corpus.sources import FoundFile
from folioreel.errors import AlignmentError, InputError
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Book, Film, Kind

# Passages that each book offers for a moment. A moment whose best passages are taken by others
# falls back on the next; with fewer offers, moments that say much the same would go without.
_OFFERS = 6


@dataclass(frozen=True, kw_only=True)
class BorrowConfig(ShortlistConfig):
    """Which books lend passages, and where they are compared with the film."""

    without: tuple[str, ...] = ()
    """Paths of books in the folder that are skipped, such as the film's own."""


@dataclass(frozen=True, kw_only=True)
class Loan:
    """A passage from another book for a moment of the film."""

    moment: int
    start_s: float
    end_s: float
    kind: Kind
    said: str  # empty if nobody speaks
    score: float
    """The logit of the probability that the passage renders the moment, if the film were made from
    that book."""
    book: str  # the path of the book in the folder
    passage: Passage


@dataclass(frozen=True, kw_only=True)
class Borrowing:
    """A film retold with other books."""

    loans: tuple[Loan, ...]  # in time order, at most one per moment
    books: tuple[str, ...]  # the books that were read
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
        film: The film. Silent moments take part if it was watched (`load_film` with an encoder).
        books: A folder of books and archives, or a library that is already open.
        config: Which books lend passages.
        progress: Called as each stage advances.
        aligner: Compares moments and sentences (default: with the preset for the languages of the
            film and each book).
    """
    config = config or BorrowConfig()
    # Settings instead of an aligner: they are small and can be sent to other machines.
    settings = None if aligner is None else aligner.for_film(film).config
    if not film.subtitles and film.features is None:
        raise AlignmentError("the film has neither dialogue nor pictures to find passages for")
    if not isinstance(books, Library):
        books = library.open_library(books, progress, engine=config.engine, workers=config.workers)
    chosen = _choose_books(film, books, config)
    offers, failures = library.process_shortlist(
        partial(_offer_passages, film, settings), books, chosen, "borrowing", config, progress
    )
    loans = _hand_out(film, offers)
    return Borrowing(loans=loans, books=tuple(sorted(offers)), failures=failures)


def assign(
    moments: NDArray[np.int64], passages: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Choose among offers so that no moment and no passage is used twice.

    As many moments as possible get a passage; of all ways to achieve that, the one with the highest
    sum of scores is chosen. Each offer has a moment, a passage (both counted from 0) and a score;
    returns the numbers of the chosen offers, sorted by moment.
    """
    if len(scores) == 0:
        return np.zeros(0, dtype=np.int64)
    rows, row_of = np.unique(moments, return_inverse=True)
    columns = int(passages.max()) + 1
    # SciPy's solver needs a partner for every row, so each moment also gets a dummy passage. Real
    # offers weigh so much more than a dummy that no sum of score differences can make up for one.
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
class _Offer:
    """A passage for a moment, and its logit."""

    moment: int
    score: float
    passage: Passage


def _choose_books(film: Film, books: Library, config: BorrowConfig) -> list[str]:
    """The paths of the most similar books."""
    known = {book.path for book in books.books}
    for path in config.without:
        if path not in known:
            reason = f"there is no book {path} to leave out; give its path inside the folder"
            raise InputError(f"{reason}, such as {books.books[0].path}", books.folder.folder)
    lending = [book for book in books.books if book.path not in config.without]
    if not lending:
        raise InputError("has no book to borrow from: all are left out", books.folder.folder)
    return list(library.rank_by_words(film, lending, config.shortlist))


def _offer_passages(
    film: Film, settings: AlignConfig | None, found: FoundFile
) -> tuple[_Offer, ...]:
    """The best paragraphs of one book for each moment that can be compared."""
    book = library.read_book(found)
    if not reads_pictures(book.language):
        film = replace(film, features=None)
    if settings is None:
        settings = Aligner.choose(film, book).for_film(film).config
    scores = Aligner(settings).compare(film, book)  # (I, J)
    starts = [paragraph.sentences.start for paragraph in book.paragraphs]
    by_paragraph = np.maximum.reduceat(scores, starts, axis=1)  # (I, paragraphs)
    count = min(_OFFERS, len(starts))
    # Unsorted: the assignment weighs all offers at once.
    best = np.argpartition(-by_paragraph, count - 1, axis=1)[:, :count]
    return tuple(
        _make_offer(book, scores, i, int(paragraph))
        for i in range(len(scores))
        # Silent moments of an unwatched film have no scores, or with the paper's CNN empty ones.
        if np.isfinite(scores[i]).any() and (film.moments[i].text or film.features is not None)
        for paragraph in best[i]
    )


def _make_offer(book: Book, scores: NDArray[np.float32], moment: int, paragraph: int) -> _Offer:
    inside = book.paragraphs[paragraph].sentences
    sentence = inside.start + int(scores[moment, inside.start : inside.stop].argmax())
    score = float(scores[moment, sentence])
    return _Offer(moment=moment, score=score, passage=read_passage(book, sentence))


def _hand_out(film: Film, offers: Mapping[str, Sequence[_Offer]]) -> tuple[Loan, ...]:
    """One passage per moment; equal texts are one passage, whichever edition they come from."""
    numbers: dict[str, int] = {}
    best: dict[tuple[int, int], tuple[str, _Offer]] = {}
    for path in sorted(offers):
        for offer in offers[path]:
            passage = numbers.setdefault(offer.passage.text, len(numbers))
            kept = best.get((offer.moment, passage))
            if kept is None or offer.score > kept[1].score:
                best[offer.moment, passage] = (path, offer)
    keys = np.array(list(best), dtype=np.int64).reshape(-1, 2)
    scores = np.array([offer.score for _, offer in best.values()])
    entries = list(best.values())
    return tuple(_make_loan(film, *entries[k]) for k in assign(keys[:, 0], keys[:, 1], scores))


def _make_loan(film: Film, path: str, offer: _Offer) -> Loan:
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
