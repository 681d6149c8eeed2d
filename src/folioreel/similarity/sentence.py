"""The cosine between the vectors of what is said and of a sentence (paper, section 4.3).

`sentence` with skip-thoughts (section 4.1), as in the paper; `semantic`, beyond it, with a modern
sentence encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import SentenceEncoder, encode_cached
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.text import tokenize
from folioreel.types import Book, Film

_LEAST_DEVIATION = 1e-3
"""Silent moments have the cosine 0 throughout, and so no deviation to divide by."""
_UNIT = 3.0
"""Divides z-scores and logarithms of lengths, so that both are of the size of a cosine and one
weight decay fits all measures."""


class SentenceMeasure:
    """Sentence vectors of one film and book.

    `semantic` comes in three forms: the cosine; `semantic_z`, the same in standard deviations from
    the moment's mean over the book; and `semantic_long`, that times the logarithm of the moment's
    length, as a near match of a long line means more than one of a short line.
    """

    def __init__(
        self,
        name: Literal["sentence", "semantic"],
        encoder: SentenceEncoder,
        film: Film,
        book: Book,
        progress: ProgressCallback = ignore_progress,
    ) -> None:
        """Encode both sides, or take them from the cache."""
        self.names: tuple[str, ...] = (name,)
        if name == "semantic":
            self.names = ("semantic", "semantic_z", "semantic_long")

        def encode(texts: Sequence[str]) -> NDArray[np.float32]:
            return unit_rows(encode_cached(encoder, texts, progress))

        self._moments = encode([moment.text for moment in film.moments])  # (I, units)
        self._sentences = encode([sentence.text for sentence in book.sentences])  # (J, units)

        words = [len(tokenize(moment.text)) for moment in film.moments]
        self._lengths = np.log1p(np.array(words, dtype=np.float32))[:, None] / _UNIT  # (I, 1)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (names, last - first, J); 0 where nobody speaks."""
        np.matmul(self._moments[first:last], self._sentences.T, out=out[0])
        if len(self.names) > 1:
            deviation = np.maximum(out[0].std(axis=1, keepdims=True), _LEAST_DEVIATION)
            out[1] = (out[0] - out[0].mean(axis=1, keepdims=True)) / (_UNIT * deviation)
            np.multiply(out[1], self._lengths[first:last], out=out[2])
