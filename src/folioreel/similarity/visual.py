"""How well a sentence describes a shot: the cosine in the space of both (paper, section 4.2).

`visual` is over features that tell objects, `scene` over those that tell places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.models.sentence_encoder import encode_cached
from folioreel.models.visual_semantic import VisualSemantic
from folioreel.progress import ProgressCallback, ignore_progress, name_progress
from folioreel.similarity.base import source_name
from folioreel.types import Book, Film


class VisualMeasure:
    """Shots and sentences of one film and book, in one space."""

    def __init__(
        self,
        embedding: VisualSemantic,
        film: Film,
        book: Book,
        progress: ProgressCallback = ignore_progress,
    ) -> None:
        """Embed both sides; the sentences may come from the cache.

        Raises:
            ConfigError: The film was watched with a network that the embedding does not know.
        """
        self.names: tuple[str, ...] = (embedding.features,)
        self._moments = _embed_moments(embedding, film)  # (I, units)
        sentences = [sentence.text for sentence in book.sentences]
        named = name_progress(progress, f"{source_name(book)} ({embedding.features})")
        self._sentences = encode_cached(_Reader(embedding), sentences, named)  # (J, units)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Whether anything is known of what a moment looks like: (I,)."""
        return np.asarray(self._moments.any(axis=1))

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J); 0 where nothing was seen."""
        np.matmul(self._moments[first:last], self._sentences.T, out=out[0])


def _embed_moments(embedding: VisualSemantic, film: Film) -> NDArray[np.float32]:
    """The vector of each moment's shot; zeros for a moment without a shot that was seen."""
    moments = np.zeros((len(film.moments), embedding.units), dtype=np.float32)
    if film.features is None or embedding.features not in film.features.vectors:
        return moments
    features = film.features.vectors[embedding.features]  # (shots, feature_units)
    if features.shape[1] != embedding.feature_units:
        raise ConfigError(
            f"the embedding {embedding.name} does not take the features of"
            f" {film.features.network}; choose one that was trained on them"
        )
    shots = embedding.embed_clips(features.astype(np.float32))  # (shots, units)
    # The map's bias would give shots of which no frame could be seen a place, too.
    shots[~features.any(axis=1)] = 0
    for moment in film.moments:
        if moment.shot is not None:
            moments[moment.index] = shots[moment.shot]
    return moments


class _Reader:
    """The sentences' side of an embedding as a `SentenceEncoder`, so that it can be cached."""

    def __init__(self, embedding: VisualSemantic) -> None:
        self.name, self.units = embedding.name, embedding.units
        self.fingerprint = embedding.fingerprint
        self.encode = embedding.embed_sentences
