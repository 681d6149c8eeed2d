"""What shared words are worth: beyond the paper, evidence that means the same in every book.

A stem that one sentence in a thousand has is worth ln 1000, whatever else the lines say.

rare              the worth of all stems that a moment and a sentence share
covered, covers   the same as a share of the moment's worth, and of the sentence's
phrase, phrase3   the worth of the pairs and triples of neighbouring stems that they share
nearby, nearby_covered
                  `rare` and `covered` with the sentence's two neighbours, as a line is often
                  spread over several sentences
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.similarity.base import TokenPair, Tokens
from folioreel.stems import stem_word

_WORTH_UNIT = 10.0
_PHRASE_UNIT = 20.0
"""Worth is given in these, so that all measures are of about one size and one weight decay fits
all. A rare stem in a book of 10,000 sentences is worth 9; a pair of them twice as much."""
_LEAST_WORTH = 1e-3  # stands for the worth of a text without words, which is divided by


class RareWordsMeasure:
    """Shared words and phrases of one film and book."""

    names: tuple[str, ...] = (
        "rare",
        "covered",
        "covers",
        "phrase",
        "phrase3",
        "nearby",
        "nearby_covered",
    )

    def __init__(self, tokens: TokenPair) -> None:
        """Weigh the stems of both sides, and their pairs and triples."""
        stems = _number_stems(tokens.vocabulary, tokens.language)  # word → stem
        moments, sentences = (
            Tokens(ids=stems[side.ids], starts=side.starts)
            for side in (tokens.moments, tokens.sentences)
        )
        count = len(sentences.starts) - 1
        size = int(stems.max(initial=0)) + 1
        held = text_sets(sentences.ids, sentences.owners, (count, size))  # (J, stems)
        frequency = np.bincount(held.indices, minlength=size)
        # Half a sentence more: stems that only the film has are in none at all.
        worth = np.maximum(np.log((count + 1) / (frequency + 0.5)), 0).astype(np.float32)
        said = text_sets(moments.ids, moments.owners, (len(moments.starts) - 1, size))
        weighed = weigh(said, worth)
        self._single = (weighed, held.T.tocsr())
        self._window = (weighed, _with_neighbours(held).T.tocsr())
        self._pairs = _phrases(moments, sentences, worth, 2)
        self._triples = _phrases(moments, sentences, worth, 3)
        self._said = np.maximum(said @ worth, _LEAST_WORTH)[:, None]  # (I, 1)
        self._held = np.maximum(held @ worth, _LEAST_WORTH)  # (J,)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (7, last - first, J)."""
        part = slice(first, last)
        shared, nearby = _multiply(self._single, part), _multiply(self._window, part)
        out[0] = shared / _WORTH_UNIT
        out[1] = shared / self._said[part]
        out[2] = shared / self._held
        out[3] = _multiply(self._pairs, part) / _PHRASE_UNIT
        out[4] = _multiply(self._triples, part) / _PHRASE_UNIT
        out[5] = nearby / _WORTH_UNIT
        out[6] = nearby / self._said[part]


_Product = tuple[sparse.csr_array, sparse.csr_array]
"""What moments say, weighed (I, terms), and which sentences have it (terms, J)."""


def _multiply(product: _Product, part: slice) -> NDArray[np.float32]:
    values: NDArray[np.float32] = (product[0][part] @ product[1]).toarray()
    return values


def _number_stems(vocabulary: tuple[str, ...], language: str | None) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(stem_word(word, language), len(numbers)) for word in vocabulary]
    return np.array(found, dtype=np.int64)


def text_sets(
    ids: NDArray[np.integer[Any]], owners: NDArray[np.integer[Any]], shape: tuple[int, int]
) -> sparse.csr_array:
    """1 where a text has a word, however often: (texts, words)."""
    ones = np.ones(len(ids), dtype=np.float32)
    found = sparse.csr_array((ones, (owners, ids)), shape=shape)
    found.data[:] = 1
    return found


def weigh(texts: sparse.csr_array, worth: NDArray[np.float32]) -> sparse.csr_array:
    """The worth of each word in place of its 1."""
    weighed = texts.copy()
    weighed.data *= worth[weighed.indices]
    return weighed


def _with_neighbours(texts: sparse.csr_array) -> sparse.csr_array:
    """Each text's words joined with those of the texts before and after it."""
    count = texts.shape[0]
    band = sparse.diags_array(
        [1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(count, count), dtype=np.float32
    )
    joined = (band @ texts).tocsr()
    joined.data[:] = 1
    return joined


def _phrases(
    moments: Tokens, sentences: Tokens, worth: NDArray[np.float32], length: int
) -> _Product:
    """Runs of `length` neighbouring stems on both sides, each worth the sum of its stems."""
    size = len(worth)
    sides = [_runs(side, size, length) for side in (moments, sentences)]
    keys, numbers = np.unique(np.concatenate([keys for keys, _ in sides]), return_inverse=True)
    split = len(sides[0][0])
    value = np.zeros(len(keys), dtype=np.float32)
    rest = keys.copy()
    for _ in range(length):
        value += worth[rest % size]
        rest //= size
    spoken = text_sets(numbers[:split], sides[0][1], (len(moments.starts) - 1, len(keys)))
    written = text_sets(numbers[split:], sides[1][1], (len(sentences.starts) - 1, len(keys)))
    return weigh(spoken, value), written.T.tocsr()


def _runs(tokens: Tokens, size: int, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each run of neighbouring stems in a text, and the text it is in."""
    owners = tokens.owners
    last = max(0, len(owners) - length + 1)
    keys = np.zeros(last, dtype=np.int64)
    for k in range(length):
        keys = keys * size + tokens.ids[k : k + last]
    whole = owners[:last] == owners[length - 1 :][:last]
    return keys[whole], owners[:last][whole]
