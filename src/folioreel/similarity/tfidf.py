"""tf-idf: the cosine between two bags of words, rare words counting more (paper, section 4.3).

`TfidfMeasure` compares moments with sentences. `compare_bags` compares whole texts, to find a
film's book among many (section 5.3): a film and its book share rare words and the names of their
characters, wherever these occur. The cosine gives a long book no advantage.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.models.folders import builtin_folder
from folioreel.models.vocabulary import END, Vocabulary
from folioreel.similarity.base import TokenPair
from folioreel.text import find_words

Bag = NDArray[np.void]  # the words of one text, each once, in the order of their hashes: see `BAG`
BAG = np.dtype([("word", "<u8"), ("count", "<u4"), ("is_name", "?")])

_SHORTEST_NAME = 3
"""Capitalised words of two letters are mostly openings of sentences, or titles such as Mr."""
_BACKGROUND_BOOKS = 20
"""Made-up books that join the given ones when words are counted. Among two or three books nearly
every word would look rare."""
_SENTENCES_A_NOVEL = 5000
"""Turns the vocabulary's corpus, which counts sentences, into a number of novels."""


class TfidfMeasure:
    """tf-idf cosine of one film and book.

    idf is taken over the book's sentences, smoothed as in scikit-learn: ln((1 + J) / (1 + df)) + 1.
    Words that only the film has count in the length of its vector: a line of which the book knows
    a single word is not a near duplicate.
    """

    names: tuple[str, ...] = ("tfidf",)

    def __init__(self, tokens: TokenPair) -> None:
        """Weigh the words of both sides."""
        words = len(tokens.vocabulary)
        sentences = tokens.sentences.count_words(words)
        frequency = np.bincount(sentences.indices, minlength=words)
        idf = np.log((1 + sentences.shape[0]) / (1 + frequency)) + 1  # (words,)
        self._moments = _unit_rows(tokens.moments.count_words(words), idf)  # (I, words)
        self._sentences = _unit_rows(sentences, idf).T.tocsr()  # (words, J)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        out[0] = (self._moments[first:last] @ self._sentences).toarray()


def _unit_rows(counts: sparse.csr_array, idf: NDArray[np.float64]) -> sparse.csr_array:
    """Counts times idf, each row scaled to length 1; texts without words stay zeros."""
    weighed = counts.copy()
    weighed.data *= idf[weighed.indices]
    squares = np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel()
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    weighed.data /= np.repeat(lengths, np.diff(weighed.indptr))
    return weighed


def make_bag(text: str) -> Bag:
    """Count the words of a text. A name is a word that it never writes in lower case."""
    written = Counter(find_words(text))
    counts: Counter[str] = Counter()
    names: set[str] = set()
    for word, count in written.items():
        low = word.lower()
        counts[low] += count
        is_capital = word[0].isupper() and not word.isupper()
        if is_capital and len(word) >= _SHORTEST_NAME and low not in written:
            names.add(low)
    rows = [(_hash(word), count, word in names) for word, count in counts.items()]
    bag: Bag = np.sort(np.array(rows, dtype=BAG), order="word")
    return bag


def compare_bags(film: Bag, books: Sequence[Bag]) -> NDArray[np.float64]:
    """How alike a film and each of many books are: the cosines of words and of names, summed."""
    if not books:
        return np.zeros(0)
    only_names = [book[book["is_name"]] for book in books]
    names = _cosines(film[film["is_name"]], only_names, {})
    return _cosines(film, books, _background_words()) + names


def _cosines(film: Bag, books: Sequence[Bag], background: dict[int, float]) -> NDArray[np.float64]:
    """The cosine between the film and each book, with logarithms of the counts: (books,)."""
    texts = [*books, film]
    words = np.concatenate([text["word"] for text in texts])
    terms, numbers = np.unique(words, return_inverse=True)
    counts = np.concatenate([text["count"] for text in texts]).astype(np.float64)
    starts = np.cumsum([0, *map(len, texts)])
    held = np.bincount(numbers[: starts[-2]], minlength=len(terms))  # by how many books
    held = held + np.array([background.get(term, 0.0) for term in terms.tolist()])
    # Half a book more, as words that only the film has are in no book at all.
    idf = np.log((len(books) + _BACKGROUND_BOOKS + 1) / (held + 0.5))
    weights = (1 + np.log(counts)) * idf[numbers]
    bags = sparse.csr_array((weights, numbers, starts), shape=(len(texts), len(terms)))
    lengths = np.sqrt(np.maximum(bags.multiply(bags).sum(axis=1), 1e-12))  # some have no names
    query = bags[[len(books)]].toarray()[0]
    cosines: NDArray[np.float64] = (bags[: len(books)] @ query) / (lengths[:-1] * lengths[-1])
    return cosines


@cache
def _background_words() -> dict[int, float]:
    """Word → how many of the made-up books are expected to have it.

    By how often it occurs in the novels that the built-in encoders were trained on, if its
    occurrences were spread over them at random (Poisson).
    """
    vocabulary = Vocabulary.load(builtin_folder("student") / "vocabulary.txt")
    novels = vocabulary.counts[END] / _SENTENCES_A_NOVEL
    return {
        _hash(word): _BACKGROUND_BOOKS * -math.expm1(-count / novels)
        for word, count in zip(vocabulary.words, vocabulary.counts, strict=True)
    }


def _hash(word: str) -> int:
    # Python's own hash differs from run to run, and bags are kept on disk.
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")
