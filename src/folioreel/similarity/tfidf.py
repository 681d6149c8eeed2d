"""tf-idf: the cosine between two bags of words, rare words counting more (paper, section 4.3).

idf is taken over the book's sentences, smoothed as in scikit-learn: ln((1 + J) / (1 + df)) + 1.
Words that only the film has count in the length of its vector: a line of which the book knows a
single word is no duplicate.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.similarity.tokens import TokenPair, Tokens


class TfidfMeasure:
    """tf-idf cosine of one film and book."""

    names: tuple[str, ...] = ("tfidf",)

    def __init__(self, tokens: TokenPair) -> None:
        """Weigh the words of both sides."""
        words = len(tokens.vocabulary)
        sentences = _bags(tokens.sentences, words)
        frequency = np.bincount(sentences.indices, minlength=words)
        idf = np.log((1 + sentences.shape[0]) / (1 + frequency)) + 1  # (words,)
        self._moments = _unit_rows(_bags(tokens.moments, words), idf)
        self._sentences = _unit_rows(sentences, idf).T.tocsr()  # (words, J)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        out[0] = (self._moments[first:last] @ self._sentences).toarray()


def _bags(tokens: Tokens, words: int) -> sparse.csr_array:
    """Word counts of each text: (texts, words)."""
    bags = sparse.csr_array(
        (np.ones(len(tokens.ids), dtype=np.float64), tokens.ids.copy(), tokens.starts.copy()),
        shape=(len(tokens.starts) - 1, words),
    )
    bags.sum_duplicates()
    return bags


def _unit_rows(bags: sparse.csr_array, idf: NDArray[np.float64]) -> sparse.csr_array:
    weighed = bags.copy()
    weighed.data *= idf[weighed.indices]
    squares = np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel()
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    weighed.data /= np.repeat(lengths, np.diff(weighed.indptr))
    return weighed
