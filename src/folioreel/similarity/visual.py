"""How well a sentence describes a shot: the cosine in the space of both (paper, section 4.2).

`visual` is over features that tell objects, `scene` over those that tell places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.models.sentence_encoder import encode_cached
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Book, Film


class Embedding(Protocol):
    """Clips and sentences in one space, such as `models.visual_semantic.VisualSemantic`."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def features(self) -> str:
        """The kind of frame features that it takes, `visual` or `scene`."""

    @property
    def feature_units(self) -> int:
        """The length of a clip's features."""

    @property
    def units(self) -> int:
        """The length of a vector in the common space."""

    @property
    def fingerprint(self) -> str:
        """A hash of all that the vectors of sentences depend on, beside the text."""

    def embed_clips(self, features: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """(N, feature_units) → (N, units), of unit length."""

    def embed_sentences(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """(N, units), of unit length; zeros for a text without words."""


class VisualMeasure:
    """Shots and sentences of one film and book, in one space."""

    def __init__(
        self,
        embedding: Embedding,
        film: Film,
        book: Book,
        progress: ProgressCallback = ignore_progress,
    ) -> None:
        """Place both sides; the sentences may come from the cache.

        Raises:
            ConfigError: The film was watched with another network than the embedding knows.
        """
        self.names: tuple[str, ...] = (embedding.features,)
        self._moments = _embed_moments(embedding, film)  # (I, units)
        sentences = [sentence.text for sentence in book.sentences]
        self._sentences = encode_cached(_Reader(embedding), sentences, progress)  # (J, units)

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Whether anything is known of what a moment looks like: (I,)."""
        return np.asarray(self._moments.any(axis=1))

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J); 0 where nothing was seen."""
        np.matmul(self._moments[first:last], self._sentences.T, out=out[0])


def _embed_moments(embedding: Embedding, film: Film) -> NDArray[np.float32]:
    """The vector of each moment's shot; zeros for one without a shot that was seen."""
    moments = np.zeros((len(film.moments), embedding.units), dtype=np.float32)
    if film.features is None or embedding.features not in film.features.vectors:
        return moments
    features = film.features.vectors[embedding.features]  # (shots, feature_units)
    if features.shape[1] != embedding.feature_units:
        raise ConfigError(
            f"the embedding {embedding.name} does not take the features of"
            f" {film.features.network}; choose one that was trained on them"
        )
    shots = embedding.embed_clips(features.astype(np.float32))
    shots[~features.any(axis=1)] = 0  # a map would place them somewhere
    for moment in film.moments:
        if moment.shot is not None:
            moments[moment.index] = shots[moment.shot]
    return moments


class _Reader:
    """The sentences' side of an embedding as a sentence encoder."""

    def __init__(self, embedding: Embedding) -> None:
        self.name, self.units = embedding.name, embedding.units
        self.fingerprint = embedding.fingerprint
        self.encode = embedding.embed_sentences
