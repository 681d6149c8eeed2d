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

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.vocabulary import UNKNOWN, Vocabulary, known_tokens, training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.base import Measure, number_tokens
from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.types import Alignment, Book, Film, Link

if TYPE_CHECKING:
    from folioreel.models.sentence_encoder import SentenceEncoder
    from folioreel.models.word_encoder import WordEncoder

Floats = NDArray[np.float32]

MONOTONE = "-monotone"
BASELINES = (
    "uniform",
    *(name + ending for name in ("tfidf", "bm25", "encoder") for ending in ("", MONOTONE)),
)
"""The name of every baseline; those named `encoder` need one."""

# The values that most implementations take. k1 damps repeated words, b penalises long sentences.
BM25_K1 = 1.5
BM25_B = 0.75
# Sentences that the untrained GRU reads at once.
_BATCH = 256


def baseline_alignment(
    name: str, film: Film, book: Book, encoder: SentenceEncoder | None = None
) -> Alignment:
    """The alignment of a baseline."""
    return Alignment(
        book=book,
        film=film,
        links=baseline_links(name, film, book, encoder),
        signature={"baseline": name},
    )


def baseline_links(
    name: str, film: Film, book: Book, encoder: SentenceEncoder | None = None
) -> tuple[Link, ...]:
    """A link for every moment of the film.

    Raises:
        ValueError: There is no such baseline, or it needs an encoder.
    """
    moments, sentences = len(film.moments), len(book.sentences)
    if name == "uniform":
        return _links(uniform_sentences(film, book), np.ones(moments))
    measure = _measure(name.removesuffix(MONOTONE), film, book, encoder)
    # All rows at once, which real presets avoid: one plane of a long film is 130 MB, not nine.
    similarity = np.empty((1, moments, sentences), dtype=np.float32)
    measure.rows(0, moments, similarity)
    rows = similarity[0]  # (I, J)
    chosen = _best_path(rows) if name.endswith(MONOTONE) else rows.argmax(axis=1)
    return _links(chosen, rows[np.arange(moments), chosen])


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


class Bm25Measure:
    """BM25 of one film and book, as a share of a line's score against itself.

    The idf is Lucene's, ln(1 + (J - df + ½) / (df + ½)), which is never negative.
    """

    names: tuple[str, ...] = ("bm25",)

    def __init__(self, film: Film, book: Book) -> None:
        """Weight the words of both sides."""
        tokens = number_tokens(film, book)
        words = len(tokens.vocabulary)
        sentences = tokens.sentences.count_words(words)
        moments = tokens.moments.count_words(words)
        frequency = np.bincount(sentences.indices, minlength=words)
        count = sentences.shape[0]
        idf = np.log1p((count - frequency + 0.5) / (frequency + 0.5))  # (words,)
        mean_length = max(1.0, float(tokens.sentences.lengths.mean()))
        weighed = _saturated(sentences, idf, tokens.sentences.lengths / mean_length)
        own = _saturated(moments, idf, tokens.moments.lengths / mean_length)
        highest = np.asarray(own.multiply(moments).sum(axis=1)).ravel()  # (I,)
        highest[highest == 0] = 1.0
        moments.data /= np.repeat(highest, np.diff(moments.indptr))
        self._moments = moments
        self._sentences = weighed.T.tocsr()  # (words, J)

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J); repeated words can take it above 1."""
        out[0] = (self._moments[first:last] @ self._sentences).toarray()


class EncoderMeasure:
    """The cosine between an encoder's vectors; 0 for silent moments."""

    names: tuple[str, ...] = ("encoder",)

    def __init__(self, film: Film, book: Book, encoder: SentenceEncoder) -> None:
        """Encode what is said and what is written."""
        self._sentences = unit_rows(encoder.encode([sentence.text for sentence in book.sentences]))
        self._moments = np.zeros((len(film.moments), self._sentences.shape[1]), dtype=np.float32)
        spoken = [k for k, moment in enumerate(film.moments) if moment.text]
        if spoken:
            texts = [film.moments[k].text for k in spoken]
            self._moments[spoken] = unit_rows(encoder.encode(texts))

    def rows(self, first: int, last: int, out: NDArray[np.float32]) -> None:
        """Fill `out` (1, last - first, J)."""
        np.matmul(self._moments[first:last], self._sentences.T, out=out[0])


class TfidfEncoder:
    """tf-idf, reduced by a singular value decomposition (latent semantic analysis).

    On SICK a thousand dimensions do better than a few hundred, and better than all 2,174 words.
    """

    name = "tf-idf"

    def __init__(self, texts: Sequence[str], units: int = 1000) -> None:
        """Fit idf and the leading singular vectors.

        Args:
            texts: The training texts; the SVD is dense, so at most some thousand different words.
            units: The length of a vector; fewer if there are fewer words.
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
        self.fingerprint = _digest(self.name, *self._ids, self._idf, self._directions)

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

    def __init__(self, model: WordEncoder) -> None:
        """Concatenate the word vectors of all parts."""
        self._vocabulary = model.vocabulary
        self._back_off = model.back_off
        tables = [part.words * part.scales[:, None] for part in model.parts]
        self._words = np.concatenate(tables, axis=1).astype(np.float32)  # (V, units)
        self.units = int(self._words.shape[1])
        reading = str(self._back_off)
        self.fingerprint = _digest(self.name, reading, *self._vocabulary.words, self._words)

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units); zeros if no word is known."""
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        for row, text in enumerate(texts):
            ids = _word_ids(text, self._vocabulary, back_off=self._back_off)
            known = [number for number in ids if number > UNKNOWN]
            if known:
                vectors[row] = self._words[known].mean(axis=0)
        progress(Progress(stage="averaging words", done=len(texts), total=len(texts)))
        return vectors


class UntrainedEncoder:
    """A GRU with the initial weights of skip-thought training, to show what training adds."""

    name = "untrained"

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        word_units: int,
        units: int,
        longest: int = 40,
        back_off: bool = False,
        seed: int = 0,
    ) -> None:
        """Draw orthogonal recurrent weights, the others uniform in ±0.1; biases are 0."""
        rng = np.random.default_rng(seed)
        self.units = units
        self._vocabulary = vocabulary
        self._longest = longest
        self._back_off = back_off
        self._words = _uniform(rng, (len(vocabulary), word_units))
        self._inputs = _uniform(rng, (word_units, 3 * units))  # reset, update, new
        gates = [np.linalg.qr(rng.standard_normal((units, units)))[0] for _ in range(3)]
        self._recurrent = np.concatenate(gates, axis=1).astype(np.float32)  # (units, 3 units)
        sizes = (len(vocabulary), word_units, units, longest, back_off, seed)
        self.fingerprint = _digest(self.name, *map(str, sizes), *vocabulary.words)

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units), unit vectors; zeros for a text without words."""
        read = (_word_ids(text, self._vocabulary, back_off=self._back_off) for text in texts)
        ids = [sentence[: self._longest] for sentence in read]
        order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        for first in range(0, len(order), _BATCH):
            rows = order[first : first + _BATCH]
            vectors[rows] = self._last_states([ids[row] for row in rows])
            progress(Progress(stage="untrained encoder", done=first + len(rows), total=len(ids)))
        return unit_rows(vectors)

    def _last_states(self, ids: list[list[int]]) -> Floats:
        """The state after the last word; the sentences must be sorted by falling length."""
        state = np.zeros((len(ids), self.units), dtype=np.float32)
        for step in range(len(ids[0])):
            still = sum(len(sentence) > step for sentence in ids)
            words = self._words[[sentence[step] for sentence in ids[:still]]]
            before = state[:still]
            inputs = words @ self._inputs
            recurrent = before @ self._recurrent
            gates = 1 / (1 + np.exp(-(inputs + recurrent)[:, : 2 * self.units]))
            reset, update = np.split(gates, 2, axis=1)
            new = np.tanh(inputs[:, 2 * self.units :] + reset * recurrent[:, 2 * self.units :])
            state[:still] = (1 - update) * new + update * before
        return state


def _measure(name: str, film: Film, book: Book, encoder: SentenceEncoder | None) -> Measure:
    match name:
        case "tfidf":
            return TfidfMeasure(number_tokens(film, book))
        case "bm25":
            return Bm25Measure(film, book)
        case "encoder" if encoder is not None:
            return EncoderMeasure(film, book, encoder)
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


def _saturated(
    bags: sparse.csr_array, idf: NDArray[np.float64], lengths: NDArray[np.float64]
) -> sparse.csr_array:
    """BM25's weight of each word in each text; `lengths` relative to the mean: (texts, words)."""
    weighed = bags.copy()
    damping = BM25_K1 * (1 - BM25_B + BM25_B * lengths)
    counts = weighed.data
    damped = counts + np.repeat(damping, np.diff(weighed.indptr))
    weighed.data = idf[weighed.indices] * counts * (BM25_K1 + 1) / damped
    return weighed


def _word_ids(text: str, vocabulary: Vocabulary, *, back_off: bool) -> list[int]:
    """Word ids; unknown words are read as the trained encoder reads them."""
    tokens = training_tokens(text)
    if back_off:
        tokens = known_tokens(tokens, vocabulary)
    return [vocabulary.ids.get(token, UNKNOWN) for token in tokens]


def _uniform(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.uniform(-0.1, 0.1, shape).astype(np.float32)


def _digest(*values: str | NDArray[np.floating]) -> str:
    digest = hashlib.sha256()
    for value in values:
        data = value.encode() if isinstance(value, str) else np.ascontiguousarray(value).tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
