"""Simple systems that an alignment must beat, and simple encoders that a trained one must beat.

Alignments (paper, section 5.1: UNI, and its measures one at a time):

uniform           the sentence at the same relative position in the book, counted in lines
tfidf             the sentence with the highest tf-idf cosine with what is said
bm25              the same by BM25, the ranking function of search engines
encoder           the same by the cosine of a sentence encoder's vectors
…-monotone        the same, but never going backwards in the book: the path with the highest sum

The score of a link is its similarity in 0 … 1: the tf-idf cosine as it is; BM25 as a share of the
spoken line's score against itself, at most 1; an encoder's cosine, negative values counted as 0;
and 1 for `uniform`, which has no opinion. None of them is calibrated. A moment that resembles no
sentence at all (a silent one, say) has score 0 and is taken to be not in the book.

Encoders, for `evaluate sentences`: tf-idf with LSA, averaged word vectors, an untrained GRU.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.special import expit

from folioreel.models.onnx_graphs import encode_in_batches, unit_rows
from folioreel.models.vocabulary import UNKNOWN, training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.base import number_tokens
from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.types import Book, Film, Link

if TYPE_CHECKING:
    from folioreel.models.sentence_encoder import SentenceEncoder
    from folioreel.models.word_encoder import WordEncoder

Floats = NDArray[np.float32]

MONOTONE = "-monotone"
# The name of every baseline; those named `encoder` need one.
BASELINES = (
    "uniform",
    *(name + ending for name in ("tfidf", "bm25", "encoder") for ending in ("", MONOTONE)),
)

# The values that most implementations take. k1 damps repeated words, b penalises long sentences.
BM25_K1 = 1.5
BM25_B = 0.75
_BATCH_SIZE = 256  # sentences that the untrained GRU reads at once


def baseline_links(
    name: str, film: Film, book: Book, encoder: SentenceEncoder | None = None
) -> tuple[Link, ...]:
    """A link for every moment of the film."""
    if name == "uniform":
        return _links(uniform_sentences(film, book), np.ones(len(film.moments)))
    rows = _similarity(name.removesuffix(MONOTONE), film, book, encoder)
    chosen = _best_path(rows) if name.endswith(MONOTONE) else rows.argmax(axis=1)
    return _links(chosen, rows[np.arange(len(rows)), chosen])


def uniform_sentences(film: Film, book: Book) -> NDArray[np.int64]:
    """The uniform timeline: the sentence at each moment's relative position, in lines: (I,)."""
    middles = np.array([(moment.start_s + moment.end_s) / 2 for moment in film.moments])
    shares = np.clip(middles / film.duration_s, 0.0, 1.0)
    lines = [sentence.line for sentence in book.sentences]
    last = book.sentences[-1].line_end
    if last is None or any(line is None for line in lines):
        # EPUB and PDF have no lines: count sentences instead.
        return np.minimum((shares * len(lines)).astype(np.int64), len(lines) - 1)
    starts = np.array(lines, dtype=np.float64)
    wanted = 1 + shares * last
    return np.maximum(np.searchsorted(starts, wanted, side="right") - 1, 0).astype(np.int64)


def bm25_similarity(film: Film, book: Book) -> Floats:
    """BM25 as a share of a line's score against itself: (I, J); repeated words can exceed 1.

    The idf is Lucene's, ln(1 + (J - df + ½) / (df + ½)), which is never negative.
    """
    tokens = number_tokens(film, book)
    words = len(tokens.vocabulary)
    sentences, moments = tokens.sentences.count_words(words), tokens.moments.count_words(words)
    frequency = np.bincount(sentences.indices, minlength=words)
    idf = np.log1p((len(book.sentences) - frequency + 0.5) / (frequency + 0.5))  # (words,)
    mean_length = max(1.0, float(tokens.sentences.lengths.mean()))

    def weigh(bags: sparse.csr_array, lengths: NDArray[np.int64]) -> sparse.csr_array:
        damping = BM25_K1 * (1 - BM25_B + BM25_B * (lengths / mean_length))
        damped = bags.data + np.repeat(damping, np.diff(bags.indptr))
        weights = idf[bags.indices] * bags.data * (BM25_K1 + 1) / damped
        return sparse.csr_array((weights, bags.indices, bags.indptr), shape=bags.shape)

    own = weigh(moments, tokens.moments.lengths)
    highest = np.asarray(own.multiply(moments).sum(axis=1)).ravel()  # (I,)
    highest[highest == 0] = 1.0
    moments.data /= np.repeat(highest, np.diff(moments.indptr))
    found = (moments @ weigh(sentences, tokens.sentences.lengths).T.tocsr()).toarray()
    return np.asarray(found, dtype=np.float32)


def encoder_similarity(film: Film, book: Book, encoder: SentenceEncoder) -> Floats:
    """The cosine between an encoder's vectors: (I, J); 0 for silent moments."""
    sentences = unit_rows(encoder.encode([sentence.text for sentence in book.sentences]))
    found = np.zeros((len(film.moments), len(sentences)), dtype=np.float32)
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    if spoken:
        moments = encoder.encode([film.moments[k].text for k in spoken])
        found[spoken] = unit_rows(moments) @ sentences.T
    return found


class TfidfEncoder:
    """tf-idf, reduced by a singular value decomposition (latent semantic analysis).

    On SICK a thousand dimensions do better than a few hundred, and better than all 2,174 words.
    """

    name = "tf-idf"
    fingerprint = ""  # never cached on disk, like the two encoders below

    def __init__(self, texts: Sequence[str], units: int = 1000) -> None:
        """Fit idf and the leading singular vectors of the training texts.

        The SVD is dense, so there may be at most some thousand different words.
        """
        counts = Counter(word for text in texts for word in set(training_tokens(text)))
        self._ids = {word: number for number, word in enumerate(sorted(counts))}
        rarity = [math.log((1 + len(texts)) / (1 + counts[word])) + 1 for word in self._ids]
        self._idf = np.array(rarity)
        bags = self._bags(texts)
        self.units = min(units, len(self._ids))
        # The right singular vectors by falling singular value: eigenvectors of the Gram matrix.
        _, directions = np.linalg.eigh((bags.T @ bags).toarray())
        self._directions = directions[:, ::-1][:, : self.units].astype(np.float32)  # (words, units)

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units)."""
        vectors: Floats = (self._bags(texts) @ self._directions).astype(np.float32)
        progress(Progress(stage="tf-idf", done=len(texts), total=len(texts)))
        return vectors

    def _bags(self, texts: Sequence[str]) -> sparse.csr_array:
        """Unit rows of word counts times idf: (N, words)."""
        columns: list[int] = []
        values: list[float] = []
        starts = [0]
        for text in texts:
            words = Counter(word for word in training_tokens(text) if word in self._ids)
            row = [self._ids[word] for word in words]
            weights = np.array(list(words.values()), dtype=np.float64) * self._idf[row]
            columns += row
            values += list(weights / (np.linalg.norm(weights) or 1.0))
            starts.append(len(columns))
        shape = (len(texts), len(self._ids))
        return sparse.csr_array((values, columns, starts), shape=shape, dtype=np.float64)


class MeanWordsEncoder:
    """The mean of a model's word vectors over the known words of a sentence."""

    name = "word vectors averaged"
    fingerprint = ""

    def __init__(self, model: WordEncoder) -> None:
        self._model = model
        tables = [part.words * part.scales[:, None] for part in model.parts]
        self._words = np.concatenate(tables, axis=1).astype(np.float32)  # (V, units)
        self.units = int(self._words.shape[1])

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units); zeros if no word is known."""
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        for row, text in enumerate(texts):
            known = [number for number in self._model.word_ids(text) if number > UNKNOWN]
            if known:
                vectors[row] = self._words[known].mean(axis=0)
        progress(Progress(stage="averaging words", done=len(texts), total=len(texts)))
        return vectors


class UntrainedEncoder:
    """A GRU with the initial weights of skip-thought training, to show what training adds."""

    name = "untrained"
    fingerprint = ""

    def __init__(self, model: WordEncoder, seed: int = 0) -> None:
        """Draw orthogonal recurrent weights, the others uniform in ±0.1; biases are 0.

        The vocabulary and the sizes are those of a trained model's first part.
        """
        rng = np.random.default_rng(seed)
        part = model.parts[0]
        self._model, self.units = model, part.units
        self._words, self._inputs = (  # the gates are reset, update and new
            rng.uniform(-0.1, 0.1, shape).astype(np.float32)
            for shape in (part.words.shape, (part.word_units, 3 * self.units))
        )
        gates = [np.linalg.qr(rng.standard_normal((self.units,) * 2))[0] for _ in range(3)]
        self._recurrent = np.concatenate(gates, axis=1).astype(np.float32)  # (units, 3 units)

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units), unit vectors; zeros for a text without words."""
        ids = [self._model.word_ids(text) for text in texts]
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        encode_in_batches(
            lambda rows: self._last_states([ids[row] for row in rows]),
            [len(sentence) for sentence in ids],
            vectors,
            _BATCH_SIZE,
            progress,
        )
        return unit_rows(vectors)

    def _last_states(self, ids: list[list[int]]) -> Floats:
        """The state after the last word; the sentences must be sorted by falling length."""
        state = np.zeros((len(ids), self.units), dtype=np.float32)
        for step in range(len(ids[0])):
            still = sum(len(sentence) > step for sentence in ids)
            before = state[:still]
            inputs = self._words[[sentence[step] for sentence in ids[:still]]] @ self._inputs
            recurrent = before @ self._recurrent
            gates = expit((inputs + recurrent)[:, : 2 * self.units])
            reset, update = np.split(gates, 2, axis=1)
            new = np.tanh(inputs[:, 2 * self.units :] + reset * recurrent[:, 2 * self.units :])
            state[:still] = (1 - update) * new + update * before
        return state


def _similarity(name: str, film: Film, book: Book, encoder: SentenceEncoder | None) -> Floats:
    match name:
        case "tfidf":
            # All rows at once, which presets avoid: one plane of a long film is 130 MB, not nine.
            found: Floats = np.empty((len(film.moments), len(book.sentences)), dtype=np.float32)
            TfidfMeasure(number_tokens(film, book)).rows(0, len(found), found[None])
            return found
        case "bm25":
            return bm25_similarity(film, book)
        case "encoder" if encoder is not None:
            return encoder_similarity(film, book, encoder)
        case "encoder":
            raise ValueError("the baseline needs an encoder")
    raise ValueError(f"unknown baseline {name!r}; there are {', '.join(BASELINES)}")


def _best_path(similarity: Floats) -> NDArray[np.int64]:
    """The sentences that never go backwards and have the highest sum of similarities: (I,).

    best[j] is the highest sum of a path that has come no further than sentence j; `improves` marks
    the cells where that path ends in j itself, which is all the backtracking needs.
    """
    moments, sentences = similarity.shape
    best = np.zeros(sentences)
    improves = np.ones((moments, sentences), dtype=np.bool_)
    for i, row in enumerate(similarity):
        ending = row + best
        best = np.maximum.accumulate(ending)
        improves[i, 1:] = ending[1:] > best[:-1]
    chosen = np.empty(moments, dtype=np.int64)
    j = sentences - 1
    for i in range(moments - 1, -1, -1):
        while not improves[i, j]:
            j -= 1
        chosen[i] = j
    return chosen


def _links(sentences: NDArray[np.int64], similarity: NDArray[np.floating]) -> tuple[Link, ...]:
    scores = np.clip(similarity, 0.0, 1.0)
    return tuple(
        Link(moment=i, sentence=int(j), score=float(score), in_book=bool(score > 0))
        for i, (j, score) in enumerate(zip(sentences, scores, strict=True))
    )
