"""All measures stacked, a block of rows at a time: the whole tensor is never held (section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from folioreel.config import AlignConfig
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.similarity.base import Measure
from folioreel.similarity.bleu import BleuMeasure
from folioreel.similarity.evidence import EvidenceMeasure
from folioreel.similarity.prior import PriorMeasure
from folioreel.similarity.sentence import SentenceMeasure
from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.similarity.tokens import number_tokens
from folioreel.similarity.visual import VisualMeasure
from folioreel.types import Book, Film


@dataclass(frozen=True, kw_only=True, eq=False)
class SimilarityTensor:
    """A block of rows of S(i, j, m), with the halo that was asked for."""

    values: NDArray[np.float32]
    """(rows, J, M); a view, so that one measure's plane is contiguous."""
    measures: tuple[str, ...]
    first: int
    """The moment of the first row inside the halo."""
    halo: int
    """Rows above and below that belong to the context only; zeros beyond the film's ends."""

    def __getitem__(self, measure: str) -> NDArray[np.float32]:
        """The plane of one measure: (rows, J)."""
        return self.values[..., self.measures.index(measure)]

    def without(self, *measures: str) -> SimilarityTensor:
        """The same block with some measures taken away, for ablations."""
        kept = [k for k, name in enumerate(self.measures) if name not in measures]
        return SimilarityTensor(
            values=self.values[..., kept],
            measures=tuple(self.measures[k] for k in kept),
            first=self.first,
            halo=self.halo,
        )


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
        """Build the measures that the config names, with its sentence encoder or another one."""
        self.measures = config.measures
        self.shape = (len(film.moments), len(book.sentences))
        self._sources = build_measures(film, book, config, progress, encoder)

    def block(self, first: int, last: int, halo: int = 0) -> SimilarityTensor:
        """Rows first … last - 1 with `halo` rows of context above and below."""
        moments, sentences = self.shape
        low, high = max(0, first - halo), min(moments, last + halo)
        rows = last - first + 2 * halo
        planes = np.zeros((len(self.measures), rows, sentences), dtype=np.float32)
        above = low - (first - halo)
        for source in self._sources:
            found = np.empty((len(source.names), high - low, sentences), dtype=np.float32)
            source.rows(low, high, found)
            for name, plane in zip(source.names, found, strict=True):
                if name in self.measures:
                    planes[self.measures.index(name), above : above + high - low] = plane
        return SimilarityTensor(
            values=np.moveaxis(planes, 0, -1), measures=self.measures, first=first, halo=halo
        )

    def blocks(self, rows: int = 128, halo: int = 0) -> Iterator[SimilarityTensor]:
        """All rows in order, `rows` at a time."""
        for first in range(0, self.shape[0], rows):
            yield self.block(first, min(first + rows, self.shape[0]), halo)


def build_measures(
    film: Film,
    book: Book,
    config: AlignConfig,
    progress: ProgressCallback = ignore_progress,
    encoder: SentenceEncoder | None = None,
) -> list[Measure]:
    """The measures that a config names, each family once."""
    tokens = number_tokens(film, book)
    sources: list[Measure] = []
    if "prior" in config.measures:
        sources.append(PriorMeasure(film, len(book.sentences), config.prior_width))
    if "tfidf" in config.measures:
        sources.append(TfidfMeasure(tokens))
    if any(name.startswith("bleu") for name in config.measures):
        sources.append(BleuMeasure(tokens))
    if any(name in config.measures for name in EvidenceMeasure.names):
        sources.append(EvidenceMeasure(tokens))
    if "sentence" in config.measures:
        found = encoder or load_encoder(config.sentence_encoder)
        sources.append(SentenceMeasure("sentence", found, film, book, progress))
    if any(name.startswith("semantic") for name in config.measures):
        found = encoder or load_encoder(config.semantic_encoder)
        sources.append(SentenceMeasure("semantic", found, film, book, progress))
    sources += visual_measures(film, book, config, config.measures, progress)
    return sources


def visual_measures(
    film: Film,
    book: Book,
    config: AlignConfig,
    names: tuple[str, ...],
    progress: ProgressCallback = ignore_progress,
) -> list[VisualMeasure]:
    """Those of `visual` and `scene` that are named, by the embeddings of a config."""
    embeddings = {"visual": config.visual_embedding, "scene": config.scene_embedding}
    return [
        VisualMeasure(VisualSemantic.load(embedding), film, book, progress)
        for name, embedding in embeddings.items()
        if name in names
    ]
