"""Whole texts compared by their words and their names, to find a film's book among many.

A film and its book share rare words and the names of their people, wherever these stand. Both are
weighed as tf-idf does, with logarithms of the counts, and compared by their cosine: a long book
gains nothing by its length. A name is a word that a text never writes in lower case.

How rare a word is the books at hand tell, and, as they may be few, some books more that are made up
from how often words occur in the novels that the built-in encoders learned from.
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
from folioreel.text import find_words

Bag = NDArray[np.void]
"""The words of one text, each once, in the order of their hashes: see `BAG`."""
BAG = np.dtype([("word", "<u8"), ("count", "<u4"), ("is_name", "?")])
_SHORTEST_NAME = 3
_MADE_UP_BOOKS = 20
_SENTENCES_A_NOVEL = 5000
"""Of the corpus whose words the vocabulary counts."""


def make_bag(text: str) -> Bag:
    """Count the words of a text, and tell its names from other words."""
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
    return _cosines(film, books, _usual_words()) + names


def _cosines(film: Bag, books: Sequence[Bag], usual: dict[int, float]) -> NDArray[np.float64]:
    """The cosine between the film and each book: (books,)."""
    texts = [*books, film]
    words = np.concatenate([text["word"] for text in texts])
    terms, numbers = np.unique(words, return_inverse=True)
    counts = np.concatenate([text["count"] for text in texts]).astype(np.float64)
    starts = np.cumsum([0, *map(len, texts)])
    held = np.bincount(numbers[: starts[-2]], minlength=len(terms))  # by how many books
    held = held + np.array([usual.get(term, 0.0) for term in terms.tolist()])
    worth = np.log((len(books) + _MADE_UP_BOOKS + 1) / (held + 0.5))
    weights = (1 + np.log(counts)) * worth[numbers]
    bags = sparse.csr_array((weights, numbers, starts), shape=(len(texts), len(terms)))
    lengths = np.sqrt(np.maximum(bags.multiply(bags).sum(axis=1), 1e-12))
    query = bags[[len(books)]].toarray()[0]
    cosines: NDArray[np.float64] = (bags[: len(books)] @ query) / (lengths[:-1] * lengths[-1])
    return cosines


@cache
def _usual_words() -> dict[int, float]:
    """Word → how many of the made-up books hold it."""
    vocabulary = Vocabulary.load(builtin_folder("student") / "vocabulary.txt")
    novels = vocabulary.counts[END] / _SENTENCES_A_NOVEL
    return {
        _hash(word): _MADE_UP_BOOKS * -math.expm1(-count / novels)
        for word, count in zip(vocabulary.words, vocabulary.counts, strict=True)
    }


def _hash(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")
