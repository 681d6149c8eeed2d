"""The cosine between the vectors of what is said and of a sentence (paper, section 4.3).

`sentence` with skip-thoughts (section 4.1), as in the paper; `semantic`, beyond it, with a modern
sentence encoder. `window` compares the surroundings: the mean vector of a line and its neighbours
with that of a sentence and its neighbours. It finds the scene where the line itself was rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from folioreel.config import WINDOW
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import SentenceEncoder, encode_cached
from folioreel.progress import ProgressCallback, ignore_progress, name_progress
from folioreel.similarity.base import source_name
from folioreel.similarity.whitening import whiten
from folioreel.text import tokenize
from folioreel.types import Book, Film

_LEAST_DEVIATION = 1e-3
"""Silent moments have the cosine 0 throughout, and so no deviation to divide by."""
_UNIT = 3.0
"""Divides z-scores and logarithms of lengths, so that both are of the size of a cosine and one
weight decay fits all measures."""
_TEMPERATURE = 0.05  # what cosines are divided by before they are exponents, as in training
_RIVALS = 300  # lines that a match is compared with at least; hardly any film has fewer
_ROWS = 256  # lines whose cosines are held at once
_SPREAD = 6.0  # divides the logarithms of `…_in_book` and `…_in_film`, as `_UNIT` does the others


class SentenceMeasure:
    """Sentence vectors of one film and book.

    `semantic` and `window` come in five forms: the cosine; `…_z`, the same in standard deviations
    from the moment's mean over the book; `…_long`, that times the logarithm of the moment's length,
    as a near match of a long line means more than one of a short line; and two that compare it with
    its rivals, as the logarithm of exp(cosine / temperature) over its mean among them, 0 for a pair
    like any other. The rivals of `…_in_book` are all sentences of the book for this line, those of
    `…_in_film` all lines of the film for this sentence: some sentences are a little like everything
    that is said.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        encoder: SentenceEncoder,
        film: Film,
        book: Book,
        progress: ProgressCallback = ignore_progress,
        *,
        whitened: bool = False,
    ) -> None:
        """Encode both sides, or take them from the cache; `names` are the measures to compute."""
        self.names = names

        def encode(texts: Sequence[str], source: Book | Film) -> NDArray[np.float32]:
            named = name_progress(progress, source_name(source))
            return unit_rows(encode_cached(encoder, texts, named))

        moments = encode([moment.text for moment in film.moments], film)  # (I, units)
        sentences = encode([sentence.text for sentence in book.sentences], book)  # (J, units)
        self._silent = np.array([moment.text == "" for moment in film.moments], dtype=bool)
        moments[self._silent] = 0  # whatever an encoder gives for an empty text
        if whitened:
            moments[~self._silent], sentences = whiten(moments[~self._silent], sentences)
        self._sides: dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
        """What is compared, by the name of its cosine."""
        for base in dict.fromkeys(name.split("_")[0] for name in names):
            self._sides[base] = moments, sentences
            if base == "window":
                spoken = ~self._silent
                around = np.zeros_like(moments)
                around[spoken] = window_means(moments[spoken])
                self._sides[base] = around, window_means(sentences)

        self._in_film = {
            base: log_mean_exp(moments[~self._silent], sentences)
            for base, (moments, sentences) in self._sides.items()
            if f"{base}_in_film" in names
        }
        words = [len(tokenize(moment.text)) for moment in film.moments]
        self._lengths = np.log1p(np.array(words, dtype=np.float32))[:, None] / _UNIT  # (I, 1)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (names, last - first, J); 0 where nobody speaks."""
        planes = dict(zip(self.names, out, strict=True))
        for base, (moments, sentences) in self._sides.items():
            cosines = moments[first:last] @ sentences.T
            if base in planes:
                planes[base][:] = cosines
            if f"{base}_in_film" in planes:
                share = cosines / _TEMPERATURE - self._in_film[base]
                np.divide(share, _SPREAD, out=planes[f"{base}_in_film"])
                planes[f"{base}_in_film"][self._silent[first:last]] = 0
            if f"{base}_in_book" in planes:
                share = cosines / _TEMPERATURE
                largest = share.max(axis=1, keepdims=True)
                share -= largest + np.log(np.exp(share - largest).mean(axis=1, keepdims=True))
                np.divide(share, _SPREAD, out=planes[f"{base}_in_book"])
            if not {f"{base}_z", f"{base}_long"} & set(planes):
                continue
            deviation = np.maximum(cosines.std(axis=1, keepdims=True), _LEAST_DEVIATION)
            scores = (cosines - cosines.mean(axis=1, keepdims=True)) / (_UNIT * deviation)
            if f"{base}_z" in planes:
                planes[f"{base}_z"][:] = scores
            if f"{base}_long" in planes:
                np.multiply(scores, self._lengths[first:last], out=planes[f"{base}_long"])


def log_mean_exp(
    moments: NDArray[np.float32], sentences: NDArray[np.float32]
) -> NDArray[np.float32]:
    """For each sentence, log mean over the lines of exp(cosine / temperature): (J,).

    A film of fewer than `_RIVALS` lines is filled up with lines that are as like each sentence as
    its lines are to the book on average; a match could not stand out in a short film otherwise.
    """
    # Cosines are at most 1, so that 1 / temperature takes the place of the largest exponent.
    sums = np.zeros(len(sentences), dtype=np.float64)
    for first in range(0, len(moments), _ROWS):
        cosines = moments[first : first + _ROWS] @ sentences.T
        sums += np.exp((cosines - 1) / _TEMPERATURE).sum(axis=0, dtype=np.float64)
    if 0 < len(moments) < _RIVALS:
        average = float(moments.mean(axis=0) @ sentences.mean(axis=0))
        sums += (_RIVALS - len(moments)) * np.exp((average - 1) / _TEMPERATURE)
    found: NDArray[np.float32] = np.log(np.maximum(sums, 1e-30) / max(_RIVALS, len(moments)))
    return (found + 1 / _TEMPERATURE).astype(np.float32)


def window_means(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The unit mean of each vector and its WINDOW neighbours on each side, as far as there are."""
    padded = np.pad(vectors, ((WINDOW, WINDOW), (0, 0)))
    sums = np.zeros_like(vectors)
    for shift in range(2 * WINDOW + 1):
        sums += padded[shift : shift + len(vectors)]
    return unit_rows(sums)
