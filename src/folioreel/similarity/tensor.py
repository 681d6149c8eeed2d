"""All measures stacked, a block of rows at a time: the whole tensor is never held (section 4.3).

The paper's nine are `visual`, `sentence`, `bleu1` … `bleu5`, `tfidf` and a uniform prior. Each has
its file, except the prior, which is here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from folioreel.config import SEMANTIC, AlignConfig
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.similarity.base import Measure, number_tokens
from folioreel.similarity.bleu import BleuMeasure
from folioreel.similarity.cognates import CognatesMeasure
from folioreel.similarity.letters import LettersMeasure
from folioreel.similarity.rare_words import RareWordsMeasure
from folioreel.similarity.sentence import SentenceMeasure
from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.similarity.visual import VisualMeasure
from folioreel.types import Book, Film

PICTURE_MEASURES = ("visual", "scene")  # the measures of what a moment looks like
BLOCK_ROWS = 128
"""Moments that are computed at once: 65 MB for ten measures and a book of 12,600 sentences."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimilarityTensor:
    """A block of rows of S(i, j, m), with the halo that was asked for."""

    values: NDArray[np.float32]  # (rows, J, M); a view, so that one measure's plane is contiguous
    measures: tuple[str, ...]
    first: int  # the moment of the first row inside the halo
    halo: int  # rows above and below that belong to the context only; zeros beyond the film's ends

    def __getitem__(self, measure: str) -> NDArray[np.float32]:
        """The plane of one measure: (rows, J)."""
        return self.values[..., self.measures.index(measure)]


class SimilarityRows:
    """The measures of one film and book, ready to be computed block by block."""

    def __init__(
        self,
        film: Film,
        book: Book,
        config: AlignConfig,
        progress: ProgressCallback = ignore_progress,
        encoder: SentenceEncoder | None = None,
    ) -> None:
        """Build the measures that the config needs for this film.

        `encoder` takes the place of the sentence encoder that the config names.
        """
        self.measures = tensor_measures(film, config)
        self.shape = (len(film.moments), len(book.sentences))
        self.silent = silent_moments(film)  # (I,)
        sources = _text_measures(film, book, config, progress, encoder)
        pictures = _picture_measures(film, book, config, self.measures, progress)
        self.seen = np.full(self.shape[0], bool(pictures))
        """Whether the pictures of a moment are known to all measures that read them: (I,)."""
        for measure in pictures:
            self.seen &= measure.seen
        self._sources: list[Measure] = [*sources, *pictures]

    def block(self, first: int, last: int, halo: int = 0) -> SimilarityTensor:
        """Rows first … last - 1 with `halo` rows of context above and below."""
        moments, sentences = self.shape
        low, high = max(0, first - halo), min(moments, last + halo)
        rows = last - first + 2 * halo
        # Measure first, so that each plane is contiguous, for BLAS and the context model.
        planes = np.zeros((len(self.measures), rows, sentences), dtype=np.float32)
        above = low - (first - halo)
        for source in self._sources:
            found = np.empty((len(source.names), high - low, sentences), dtype=np.float32)
            source.rows(low, high, found)
            # A family computes all of its measures; those without a weight are dropped.
            for name, plane in zip(source.names, found, strict=True):
                if name in self.measures:
                    planes[self.measures.index(name), above : above + high - low] = plane
        return SimilarityTensor(
            values=np.moveaxis(planes, 0, -1), measures=self.measures, first=first, halo=halo
        )

    def blocks(self, rows: int = BLOCK_ROWS, halo: int = 0) -> Iterator[SimilarityTensor]:
        """All rows in order, `rows` at a time."""
        for first in range(0, self.shape[0], rows):
            yield self.block(first, min(first + rows, self.shape[0]), halo)


def tensor_measures(film: Film, config: AlignConfig) -> tuple[str, ...]:
    """The measures of a film's tensor: those with a weight, then those for its pictures alone.

    With positions, the weighted sum is for dialogue, and moments without any are scored by their
    pictures (`AlignConfig.pictures`), whose measures have no weight in that sum.
    """
    scored_by_sum = config.context is None and config.steps is not None
    if config.pictures is None or not scored_by_sum or film.features is None:
        return config.measures
    if not silent_moments(film).any():
        return config.measures  # spares loading the embeddings
    return (*config.measures, *(name for name in PICTURE_MEASURES if name not in config.weights))


def silent_moments(film: Film) -> NDArray[np.bool_]:
    """Whether nobody speaks in a moment: (I,)."""
    return np.array([moment.text == "" for moment in film.moments], dtype=bool)


def _text_measures(
    film: Film,
    book: Book,
    config: AlignConfig,
    progress: ProgressCallback,
    encoder: SentenceEncoder | None,
) -> list[Measure]:
    """The measures of what is said, each family once."""
    tokens = number_tokens(film, book)
    sources: list[Measure] = []
    if "prior" in config.measures:
        sources.append(PriorMeasure(film, len(book.sentences), config.prior_width))
    if "tfidf" in config.measures:
        sources.append(TfidfMeasure(tokens))
    if any(name in config.measures for name in BleuMeasure.names):
        sources.append(BleuMeasure(tokens))
    if any(name in config.measures for name in RareWordsMeasure.names):
        sources.append(RareWordsMeasure(tokens))
    if any(name in config.measures for name in LettersMeasure.names):
        sources.append(LettersMeasure(tokens))
    if any(name in config.measures for name in CognatesMeasure.names):
        sources.append(CognatesMeasure(film, book))
    if "sentence" in config.measures:
        found = encoder or load_encoder(config.sentence_encoder)
        sources.append(SentenceMeasure(("sentence",), found, film, book, progress))
    if config.compares_meaning:
        found = encoder or load_encoder(config.semantic_encoder)
        names = tuple(name for name in config.measures if name in SEMANTIC)
        whitened = config.whitened
        sources.append(SentenceMeasure(names, found, film, book, progress, whitened=whitened))
    return sources


def _picture_measures(
    film: Film,
    book: Book,
    config: AlignConfig,
    names: tuple[str, ...],
    progress: ProgressCallback,
) -> list[VisualMeasure]:
    embeddings = {"visual": config.visual_embedding, "scene": config.scene_embedding}
    return [
        VisualMeasure(VisualSemantic.load(embeddings[name]), film, book, progress)
        for name in PICTURE_MEASURES
        if name in names
    ]


class PriorMeasure:
    """The uniform prior: a third into the film is about a third into the book (section 4.3).

    The paper does not say how wide it is. Ours is a bell around the diagonal, 1 on it, with a
    standard deviation of `AlignConfig.prior_width` books.
    """

    names: tuple[str, ...] = ("prior",)

    def __init__(self, film: Film, sentences: int, width: float) -> None:
        """Place moments by their middle, in seconds, and sentences by their number."""
        middles = np.array([(m.start_s + m.end_s) / 2 for m in film.moments])
        self._moments = middles / film.duration_s  # (I,)
        self._sentences = (np.arange(sentences) + 0.5) / sentences  # (J,)
        self._width = width

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        away = (self._moments[first:last, None] - self._sentences[None, :]) / self._width
        np.exp(-0.5 * away**2, out=out[0], casting="same_kind")
