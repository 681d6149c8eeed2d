"""Which book a film was made from, among many (paper, section 5.3, book "retrieval").

All books of a folder are compared with the film by their words and names, and the most similar ones
are then aligned with it. That gives the evidence of the chain: its log-partition over all paths
through the book, against the film being in no book at all, in nats per moment. The odds of each
moment are averaged over all positions where the film may be, so that a long book gains little by
its length.

The paper ranks by the energy of the chain alone, scaled so that the best book has 100. We multiply
the evidence by the similarity of words and names, and scale the product. The chain weighs words
that are rare in the book, which the names of its people are not; and a very long book has something
like every line. Each of the two finds books that the other misses (docs/explanation/results.md).

Whether the best book is the right one is a statistical test. The scores of wrong books for one film
scatter, on a logarithmic scale, around a level of that film's own. Level and scatter are estimated
from the wrong books at hand and from a prior, which counts as much as a few books more, so that
even a folder with a single book gets an answer. Averaging over what remains uncertain about the
estimate gives Student's t distribution.

With a preset that has the paper's chain, such as `paper`, books are ranked as in the paper: by the
energy of the best path alone, without a test.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from folioreel import __version__
from folioreel.alignment.aligner import Aligner
from folioreel.alignment.verdict import fit_score
from folioreel.apps import library
from folioreel.apps.library import Failure, Library, ShortlistConfig
from folioreel.cache import cached_array
from folioreel.corpus.sources import FoundFile
from folioreel.errors import AlignmentError
from folioreel.models.context_cnn import ContextModel
from folioreel.models.presets import AUTO, choose_preset
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Film

_FAST = "fast"  # in English; one film takes several alignments, and the constants below are its

# The prior, from the wrong books for the films of benchmarks/retrieval.py.
# The mean log score of wrong books, …
_LEVEL = -4.3
# … which counts as much as this many wrong books at hand: few, since films differ in level.
_LEVEL_BOOKS = 2.0
# The standard deviation of log scores; sequels, which share their people, make it this wide, …
_SCATTER = 0.45
# … and this many books' worth: a scatter estimated from a handful would often be far too small.
_SCATTER_BOOKS = 10.0
SURE = 0.001
"""The p-value below which a book is taken to be the right one: one false alarm in a thousand
folders that lack the film's book."""
# Up to this p-value the best book is probably the right one, and up to the next one perhaps.
_LIKELY, _POSSIBLE = 0.05, 0.5


@dataclass(frozen=True, kw_only=True)
class RetrieveConfig(ShortlistConfig):
    """How many books are aligned with the film, how, and where."""

    preset: str = AUTO  # `fast` in English, else by languages; a name or a folder


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A book that was aligned with the film."""

    book: str  # its path in the folder
    score: float
    """Evidence times similarity, or the energy of the paper's chain; the best book has 100."""
    p_value: float | None
    """The probability that the best of as many wrong books scores at least as high; None with the
    paper's chain."""
    found: bool | None  # whether, by that, the film was made from it; None if there is no p-value
    evidence: float  # of the positions in nats per moment, or minus the energy of the paper's chain
    in_book: float  # the share of the film's moments that are in the book
    similarity: float  # of words and names: what put it on the shortlist


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """The books that were tried for a film."""

    candidates: tuple[Candidate, ...]  # best first
    books: int  # the number of books in the folder
    failures: tuple[Failure, ...]  # books that could not be read or aligned

    @property
    def found(self) -> tuple[Candidate, ...]:
        """The film's book, or its editions; empty if it is not in the folder."""
        return tuple(candidate for candidate in self.candidates if candidate.found)

    @property
    def verdict(self) -> str:
        """Which book the film was made from, how sure that is, and why."""
        if self.found:
            return "made from " + " and ".join(candidate.book for candidate in self.found)
        best, *others = self.candidates
        if best.p_value is None:
            return f"{best.book} has the lowest energy; the paper has no test of how sure that is"
        lead = ""
        if others:
            lead = (
                f"it scores {best.score / others[0].score:.1f} times as high as the next book, and "
            )
        why = f"{lead}a wrong book would score as high with probability {best.p_value:.2g}"
        if best.p_value < _LIKELY:
            return f"probably made from {best.book}: {why}"
        if best.p_value < _POSSIBLE:
            return f"perhaps made from {best.book}, or from a book that is not in the folder: {why}"
        return (
            "the film's book is probably not in the folder: a wrong book would score as high as "
            f"the best one here with probability {best.p_value:.2g}"
        )


def retrieve(
    film: Film,
    books: Library | Path | str,
    config: RetrieveConfig | None = None,
    progress: ProgressCallback = ignore_progress,
) -> Retrieval:
    """Rank the books of a folder by how much of the film is in them.

    Args:
        film: The film; only its dialogue is used.
        books: A folder of books and archives, or a library that is already open.
        config: How many books are aligned, and where.
        progress: Called as each stage advances.
    """
    config = config or RetrieveConfig()
    if not film.subtitles:
        raise AlignmentError(
            "the film has no dialogue, by which books are found; give its subtitles "
            "(--subtitles FILE)"
        )
    # Before the work: a wrong name is refused at once.
    aligner = Aligner.load(_FAST if config.preset == AUTO else config.preset)
    if not isinstance(books, Library):
        books = library.open_library(books, progress, engine=config.engine, workers=config.workers)
    similarity = library.rank_by_words(film, books.books, config.shortlist)
    trials, failures = library.process_shortlist(
        partial(_try_book, film, config.preset),
        books,
        list(similarity),
        "aligning",
        config,
        progress,
    )
    candidates = (
        _rank(trials, similarity)
        if aligner.config.steps is not None
        else _rank_by_energy(trials, similarity)
    )
    return Retrieval(candidates=candidates, books=len(books.books), failures=failures)


def wrong_book_chances(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each book the probability that the best of as many wrong ones scores at least as high.

    Books are taken for wrong from the lowest score upwards, until one stands out: that one and all
    above it, such as other editions, say nothing about wrong books.

    Args:
        scores: Log scores of the books, descending.
    """
    tried = len(scores)
    wrong = 0
    # Each book is tested against all below it; the first outlier ends the list of wrong ones.
    for wrong in range(tried + 1):
        rest = scores[tried - wrong :]
        if wrong == tried or _chance(scores[tried - wrong - 1], rest, tried) < SURE:
            break
    rest = scores[tried - wrong :]
    # A wrong book must not vouch for itself: it is compared with those below it.
    chances = [
        _chance(scores[k], rest if k < tried - wrong else scores[k + 1 :], tried)
        for k in range(tried)
    ]
    return np.array(chances)


def _chance(value: float, wrong: NDArray[np.float64], tried: int) -> float:
    """The probability that one of `tried` further wrong books scores at least `value`.

    The posterior predictive of a normal distribution with a conjugate prior: Student's t.
    """
    count = len(wrong)
    mean = float(wrong.mean()) if count else _LEVEL
    level = (_LEVEL_BOOKS * _LEVEL + count * mean) / (_LEVEL_BOOKS + count)
    shrink = _LEVEL_BOOKS * count / (_LEVEL_BOOKS + count)
    squares = _SCATTER_BOOKS * _SCATTER**2 + shrink * (mean - _LEVEL) ** 2
    squares += float(((wrong - mean) ** 2).sum())
    freedom = _SCATTER_BOOKS + count
    spread = np.sqrt(squares / freedom * (1 + 1 / (_LEVEL_BOOKS + count)))
    one = min(float(stats.t.sf((value - level) / spread, freedom)), 1 - 1e-12)
    return float(-np.expm1(tried * np.log1p(-one)))  # 1 - (1 - one)^tried, exact when tiny


def _try_book(film: Film, preset: str, found: FoundFile) -> NDArray[np.float64]:
    """The evidence for a book and the share of moments in it; cached."""
    names = (_FAST, "multilingual", "words", "across") if preset == AUTO else (preset,)
    configs = [Aligner.load(name).config for name in names]
    # The cache key: everything that the result depends on.
    settings = json.dumps([__version__, *map(asdict, configs), film.language, found.suffix])
    total = hashlib.sha256(settings.encode())
    for context in filter(None, (config.context for config in configs)):
        total.update(ContextModel.load(context).graph)  # a folder, whose content may change
    total.update(bytes.fromhex(found.sha256))
    total.update(repr(film.moments).encode("utf-8", "surrogatepass"))

    def align() -> NDArray[np.float64]:
        book = library.read_book(found)
        chosen = choose_preset(film.language, book.language) if preset == AUTO else preset
        aligner = Aligner.load(_FAST if (preset, chosen) == (AUTO, "default") else chosen)
        alignment = aligner.align(film, book)
        moments = len(alignment.links)
        in_book = sum(link.in_book for link in alignment.links)
        return np.array([-alignment.signature["energy"] / moments, in_book / moments])

    return cached_array(total.hexdigest(), align)


def _rank(
    trials: dict[str, NDArray[np.float64]], similarity: dict[str, float]
) -> tuple[Candidate, ...]:
    """Candidates by score, highest first."""
    products = {
        path: fit_score(evidence, similarity[path]) for path, (evidence, _) in trials.items()
    }
    ranked = sorted(products, key=lambda path: (-products[path], path))
    # On a logarithmic scale, since wrong books differ by factors rather than by amounts.
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


def _rank_by_energy(
    trials: dict[str, NDArray[np.float64]], similarity: dict[str, float]
) -> tuple[Candidate, ...]:
    """Candidates by the energy of the paper's chain, lowest first (paper, section 5.3).

    The paper scales the energies so that the best book has 100, and does not say how. Ours may have
    either sign, so that the exponential of minus the energy per moment is scaled.
    """
    ranked = sorted(trials, key=lambda path: (-trials[path][0], path))
    best = float(trials[ranked[0]][0])
    return tuple(
        Candidate(
            book=path,
            score=float(100 * np.exp(trials[path][0] - best)),
            p_value=None,
            found=None,
            evidence=float(trials[path][0]),
            in_book=float(trials[path][1]),
            similarity=similarity[path],
        )
        for path in ranked
    )
