"""Simple sentence encoders that a trained one must beat, with the same interface."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from folioreel.models.inference import unit_rows
from folioreel.models.unknown_words import known_tokens
from folioreel.models.vocabulary import UNKNOWN, Vocabulary, training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from folioreel.models.word_encoder import EncoderModel

Floats = NDArray[np.float32]

_BATCH = 256


class TfidfEncoder:
    """tf-idf, brought to fewer numbers by a singular value decomposition (LSA).

    On SICK a thousand of them do better than a few hundred, and than all 2,174 words themselves.
    """

    name = "tf-idf"

    def __init__(self, texts: Sequence[str], units: int = 1000) -> None:
        """Learn the words, their rarity and the directions in which these texts differ most.

        Args:
            texts: What it is fitted on; with at most some thousand different words.
            units: The length of a vector; less where there are not so many words.
        """
        counts = Counter(word for text in texts for word in set(training_tokens(text)))
        self._ids = {word: number for number, word in enumerate(sorted(counts))}
        rarity = [math.log((1 + len(texts)) / (1 + counts[word])) + 1 for word in self._ids]
        self._idf = np.array(rarity)
        bags = self._bags(texts)
        self.units = min(units, len(self._ids))
        # The right singular vectors, by falling singular value.
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
    """The mean of a model's word vectors over the words of a sentence that it knows."""

    name = "word vectors averaged"

    def __init__(self, model: EncoderModel) -> None:
        """Join the word vectors of all parts."""
        self._vocabulary = model.vocabulary
        self._back_off = model.back_off
        tables = [part.words * part.scales[:, None] for part in model.parts]
        self._words = np.concatenate(tables, axis=1).astype(np.float32)  # (V, units)
        self.units = int(self._words.shape[1])
        reading = str(self._back_off)
        self.fingerprint = _digest(self.name, reading, *self._vocabulary.words, self._words)

    def encode(self, texts: Sequence[str], progress: ProgressCallback = ignore_progress) -> Floats:
        """(N, units); zeros where no word is known."""
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)
        for row, text in enumerate(texts):
            ids = _word_ids(text, self._vocabulary, back_off=self._back_off)
            known = [number for number in ids if number > UNKNOWN]
            if known:
                vectors[row] = self._words[known].mean(axis=0)
        progress(Progress(stage="averaging words", done=len(texts), total=len(texts)))
        return vectors


class UntrainedEncoder:
    """A GRU that has learnt nothing: the weights that training of skip-thoughts begins with."""

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
        """Draw orthogonal recurrent weights, others uniform in ±0.1, and no bias."""
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
        """(N, units), each of length 1; zeros for a text without words."""
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
        """The state after the last word of sentences that fall in length."""
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


def _word_ids(text: str, vocabulary: Vocabulary, *, back_off: bool) -> list[int]:
    """The numbers of the words, unknown ones read as the trained encoder reads them."""
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
