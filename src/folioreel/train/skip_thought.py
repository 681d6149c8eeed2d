"""Skip-thoughts: a GRU reads a sentence, two GRUs write its neighbours (paper, section 4.1).

The paper's encoder is h = (1 - z) ⊙ h' + z ⊙ tanh(W x + U (r ⊙ h')). PyTorch's GRU differs in two
places, and we take PyTorch's, as its fused kernels are several times as fast: the reset gate is
applied after the product, r ⊙ (U h'), and z and 1 - z change places, which only changes the sign of
the gate's weights.

The decoders see the sentence vector at every gate: it is concatenated to every input word, and a
product with that is the paper's W x + C h.

Imports nothing but NumPy and PyTorch besides this package's light modules, so that it runs on a
bare GPU machine (training/skip_thoughts.py).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import END, PADDING
from folioreel.train.loop import Training, check_least


@dataclass(frozen=True, kw_only=True)
class SkipThoughtConfig:
    """The size of one encoder with its two decoders."""

    vocabulary: int = 20_000
    word_units: int = 620
    units: int = 2400
    """The length of a sentence vector; a bidirectional encoder gives half to each direction."""
    bidirectional: bool = False

    def __post_init__(self) -> None:
        check_least(self, 1, "vocabulary", "word_units", "units")
        if self.bidirectional and self.units % 2:
            raise ConfigError("a bidirectional encoder needs an even number of units")


class Ragged(NamedTuple):
    """The words of a batch of sentences: all first words, all second words, …; no padding."""

    sizes: Tensor  # how many sentences have a first word, a second word, …: (T,), on the CPU
    words: Tensor  # input word ids: (N,)
    targets: Tensor  # word ids to predict: (N,); empty for the sentence in the middle
    sentences: Tensor  # the sentence of each word: (N,)
    order: Tensor  # the sentences from the longest to the shortest: (B,), as cuDNN requires
    places: Tensor  # the position of each sentence in that order: (B,)

    def pack(self, values: Tensor) -> nn.utils.rnn.PackedSequence:
        """A vector for each word, as the input of a recurrent layer."""
        return nn.utils.rnn.PackedSequence(values, self.sizes, self.order, self.places)


class Triples(NamedTuple):
    """A batch of sentences with their neighbours; END begins and ends the neighbours alone."""

    middle: Ragged
    before: Ragged
    after: Ragged


class SkipThought(nn.Module):
    """One encoder, two decoders, one matrix of word vectors on each side."""

    def __init__(self, config: SkipThoughtConfig) -> None:
        super().__init__()
        self.config = config
        directions = 2 if config.bidirectional else 1
        read = _aligned(config.word_units)
        joined = _aligned(config.word_units + config.units)
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.encoder = nn.GRU(read, config.units // directions, bidirectional=config.bidirectional)
        self.before = nn.GRU(joined, config.units)
        self.after = nn.GRU(joined, config.units)
        self.vocabulary = nn.Linear(config.units, _aligned(config.vocabulary))
        self._initialize()

    def _initialize(self) -> None:
        """Orthogonal recurrent weights, small uniform others, as in the skip-thoughts paper."""
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                for gate in parameter.data.chunk(3):
                    nn.init.orthogonal_(gate)
            elif "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.uniform_(parameter, -0.1, 0.1)
        self.words.weight.data[PADDING] = 0

    def encode(self, middle: Ragged) -> Tensor:
        """The vector of each sentence: the last state, or the last states of both directions."""
        words = _fill(self.words(middle.words))  # (N, word_units)
        _, last = self.encoder(middle.pack(words))  # (directions, B, hidden)
        return torch.cat(list(last), dim=1)  # (B, units)

    def forward(self, triples: Triples) -> tuple[Tensor, Tensor]:
        """The mean negative log-likelihood of a word of the sentence before, and after."""
        middle, before, after = triples
        vectors = self.encode(middle)
        return self._decode(self.before, vectors, before), self._decode(self.after, vectors, after)

    def _decode(self, decoder: nn.GRU, vectors: Tensor, side: Ragged) -> Tensor:
        # index_select, as its gradient adds up in one pass; that of vectors[…] sorts first.
        given = vectors.index_select(0, side.sentences)  # (N, units)
        joined = _fill(torch.cat([self.words(side.words).to(given.dtype), given], dim=1))
        states, _ = decoder(side.pack(joined))
        return functional.cross_entropy(self.vocabulary(states.data).float(), side.targets)


def _aligned(size: int) -> int:
    """The next multiple of 8: tensor cores run at a quarter of their speed at 20,003 words."""
    return -(-size // 8) * 8


def _fill(values: Tensor) -> Tensor:
    """Pad each row with zeros to an aligned size."""
    return functional.pad(values, (0, -values.shape[1] % 8))


@dataclass(frozen=True, kw_only=True)
class SkipThoughtTrainingConfig:
    """How a skip-thought model is trained."""

    model: SkipThoughtConfig
    batch: int = 512  # sentences per step
    steps: int = 100_000
    learning_rate: float = 1e-3
    warm_up: int = 500
    """Steps until the full learning rate; it then falls to a twentieth along a cosine. A short run
    warms up for a tenth of its steps, but at least for one."""
    largest_gradient: float = 10.0  # the norm they are clipped to, as in the skip-thoughts paper
    longest: int = 40  # sentences are cut after this many words
    pool: int = 256
    """Batches that are drawn together and sorted by length, so that sentences of one batch are
    of similar length, and the GPU does little work for nothing."""
    held_out_books: int = 10  # books, the last ones, that are not trained on
    seed: int = 0


@dataclass(frozen=True, eq=False)
class PackedBooks:
    """The sentences of many books as word ids, and batches of neighbours out of them."""

    tokens: NDArray[np.uint16]  # the word ids of all sentences, one after the other
    offsets: NDArray[np.int64]  # where each sentence begins, and the end of the last one
    book_of: NDArray[np.int64]  # the book of each sentence, from 0
    device: torch.device  # where batches go

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.offsets)

    def middles(self, books: range) -> NDArray[np.int64]:
        """The sentences of some books that have words, and both neighbours in the same book."""
        inner = (self.book_of[:-2] == self.book_of[1:-1]) & (self.book_of[1:-1] == self.book_of[2:])
        chosen = (self.book_of >= books.start) & (self.book_of < books.stop)
        return np.flatnonzero(inner & chosen[1:-1] & (self.lengths[1:-1] > 0)) + 1

    def triples(self, middles: NDArray[np.int64], longest: int) -> Triples:
        """A batch: some sentences with their neighbours."""
        return Triples(
            middle=self._ragged(middles, longest, written=False),
            before=self._ragged(middles - 1, longest, written=True),
            after=self._ragged(middles + 1, longest, written=True),
        )

    def _ragged(self, sentences: NDArray[np.int64], longest: int, *, written: bool) -> Ragged:
        """Sentences as encoder input, or for the decoders: END, words → words, END."""
        lengths = np.minimum(self.lengths[sentences], longest) + written
        order = np.argsort(-lengths, kind="stable")
        steps = np.arange(lengths[order[0]])
        real = steps[:, None] < lengths[order]  # (T, B)
        step, place = np.nonzero(real)
        row = order[place]  # (N,)
        at = self.offsets[sentences[row]] + step
        # After the very last sentence this looks one word too far; END replaces what it finds.
        words = self.tokens.take(at, mode="clip").astype(np.int64)
        targets = np.empty(0, dtype=np.int64)
        if written:
            targets = np.where(step == lengths[row] - 1, END, words)
            words = np.where(step == 0, END, self.tokens.take(at - 1, mode="clip"))
        ids = [self._send(part) for part in (words, targets, row, order, np.argsort(order))]
        return Ragged(torch.from_numpy(real.sum(axis=1)), *ids)

    def _send(self, values: NDArray[np.int64]) -> Tensor:
        """Copy to the device without waiting for it, which needs pinned memory."""
        ids = torch.from_numpy(values.astype(np.int64, copy=False))
        if self.device.type != "cuda":
            return ids
        return ids.pin_memory().to(self.device, non_blocking=True)


def batches(
    books: PackedBooks, middles: NDArray[np.int64], config: SkipThoughtTrainingConfig, first: int
) -> Iterator[Triples]:
    """Endless batches of similar lengths; they depend on the seed and the step alone."""
    step = first - first % config.pool
    while True:
        rng = np.random.default_rng((config.seed, step))
        drawn = rng.choice(middles, (config.pool * config.batch,))
        order = np.argsort(_lengths_key(books, drawn, config.longest), kind="stable")
        pool = drawn[order].reshape(config.pool, config.batch)[rng.permutation(config.pool)]
        for row in pool[max(0, first - step) :]:
            yield books.triples(row, config.longest)
        step += config.pool
        first = step


def _lengths_key(books: PackedBooks, drawn: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """Sort by the longer neighbour first, since decoding costs most, then by the sentence."""
    before, middle, after = (np.minimum(books.lengths[drawn + k], longest) for k in (-1, 0, 1))
    return np.maximum(before, after) // 4 * (longest + 1) + middle


def prepare_ahead(source: Iterator[Triples]) -> Iterator[Triples]:
    """The same batches, prepared by a thread while the device works on earlier ones."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, source) for _ in range(16))
        while True:
            batch = waiting.popleft().result()
            waiting.append(thread.submit(next, source))
            yield batch


class SkipThoughtTraining(Training[Triples]):
    """One run. A corpus is too large for epochs, so it is counted in steps."""

    network: SkipThought
    unit = "step"
    validate_every = 1000
    checkpoint_every_s = 300.0  # a checkpoint has the moments of Adam too: hundreds of megabytes

    def __init__(
        self, config: SkipThoughtTrainingConfig, books: PackedBooks, device: torch.device
    ) -> None:
        torch.manual_seed(config.seed)
        network = SkipThought(config.model).to(device)
        optimizer = torch.optim.Adam(network.parameters(), fused=device.type == "cuda")
        super().__init__(config, network, optimizer, total=config.steps)
        self.clip_norm = config.largest_gradient
        self.books = books
        count = int(books.book_of[-1]) + 1
        self.middles = books.middles(range(count - config.held_out_books))
        # Every seventh sentence, 8,192 at most: enough for a perplexity, and spread over the books.
        held_out = books.middles(range(count - config.held_out_books, count))[::7][:8192]
        # Sorted by length, as batches are in training.
        order = np.argsort(_lengths_key(books, held_out, config.longest), kind="stable")
        self.held_out = held_out[order]

    def batches(self) -> Iterator[Triples]:
        """Random batches, prepared ahead."""
        return prepare_ahead(batches(self.books, self.middles, self.config, self.step))

    def loss(self, batch: Triples) -> Tensor:
        """The sum of both decoders' negative log-likelihoods."""
        with self.mixed_precision():
            before, after = self.network(batch)
        loss: Tensor = before + after
        return loss

    def learning_rate(self, done: float) -> float:
        """Warm-up, then a cosine; see `SkipThoughtTrainingConfig.warm_up`."""
        config = self.config
        rate: float = config.learning_rate
        warm_up: int = max(1, min(config.warm_up, config.steps // 10))
        if self.step < warm_up:
            return rate * (self.step + 1) / warm_up
        done = min(1.0, (self.step - warm_up) / max(1, config.steps - warm_up))
        return rate * (0.05 + 0.95 * (1 + math.cos(math.pi * done)) / 2)

    def validate(self) -> dict[str, float]:
        """The perplexity of both decoders on held-out sentences."""
        sums, words = torch.zeros(2, device=self.device), np.zeros(2)
        for row in np.array_split(self.held_out, max(1, len(self.held_out) // self.config.batch)):
            triples = self.books.triples(row, self.config.longest)
            counts = [side.targets.numel() for side in (triples.before, triples.after)]
            with self.mixed_precision():
                losses = self.network(triples)
            sums += torch.stack([loss * n for loss, n in zip(losses, counts, strict=True)])
            words += counts
        before, after = np.exp(sums.cpu().numpy() / words)
        return {"perplexity_before": float(before), "perplexity_after": float(after)}

    def fit(self, **options: Any) -> dict[str, Any]:
        """Train, and report the speed and the epochs too."""
        report = super().fit(**options)
        config = self.config
        words = float(np.minimum(self.books.lengths[self.middles], config.longest).mean())
        return {
            **report,
            "words_per_second": report["steps"] * config.batch * words / report["seconds"],
            "epochs": self.step * config.batch / len(self.middles),
        }
