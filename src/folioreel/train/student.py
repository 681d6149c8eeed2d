"""The student: a small, fast sentence encoder distilled from a large one, its teacher.

A few layers of attention over word vectors, the mean over the words, a map into the teacher's
space. The word vectors hold most of what the student knows, and looking them up costs nothing.

Imports nothing but NumPy and PyTorch besides this package's light modules, so that it runs on a
bare GPU machine (training/student.py; the teacher is in training/teacher.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING, UNKNOWN
from folioreel.train.loop import Training, check_least, check_shares


@dataclass(frozen=True, kw_only=True)
class StudentConfig:
    """The size of a student."""

    vocabulary: int
    word_units: int = 256
    layers: int = 2
    heads: int = 4
    inner_units: int = 512  # of the two-layer network after each attention
    units: int = 384  # the length of the teacher's vectors
    longest: int = 48  # sentences are cut after this many words

    def __post_init__(self) -> None:
        if self.word_units % self.heads:
            raise ConfigError("a student's word_units must be a multiple of its heads")


class AttentionLayer(nn.Module):
    """Self-attention and a two-layer network, each with a residual connection and a norm before."""

    def __init__(self, config: StudentConfig) -> None:
        super().__init__()
        units = config.word_units
        self.heads = config.heads
        self.attention_norm = nn.LayerNorm(units)
        self.queries_keys_values = nn.Linear(units, 3 * units)
        self.mix = nn.Linear(units, units)
        self.inner_norm = nn.LayerNorm(units)
        self.widen = nn.Linear(units, config.inner_units)
        self.narrow = nn.Linear(config.inner_units, units)

    def forward(self, words: Tensor, real: Tensor) -> Tensor:
        """words: (B, T, word_units); real: (B, T), which of them are not padding."""
        count, length, units = words.shape
        joined = self.queries_keys_values(self.attention_norm(words))
        parts = joined.view(count, length, 3, self.heads, units // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # each (B, heads, T, ·)
        seen = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=real[:, None, None, :]
        )
        words = words + self.mix(seen.transpose(1, 2).reshape(count, length, units))
        inner = functional.relu(self.widen(self.inner_norm(words)))
        changed: Tensor = words + self.narrow(inner)
        return changed


class Student(nn.Module):
    """Word vectors, position vectors, attention, mean, map."""

    def __init__(self, config: StudentConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.places = nn.Parameter(torch.zeros(config.longest, config.word_units))
        self.layers = nn.ModuleList(AttentionLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.word_units)
        self.map = nn.Linear(config.word_units, config.units)

    def forward(self, ids: Tensor) -> Tensor:
        """The unit vectors of sentences, padded at the end: (B, T) → (B, units)."""
        real = ids != PADDING
        words = self.words(ids) + self.places[: ids.shape[1]]
        for layer in self.layers:
            words = layer(words, real)
        weights = real[:, :, None].to(words.dtype)
        mean = (self.norm(words) * weights).sum(dim=1) / weights.sum(dim=1)
        return functional.normalize(self.map(mean).float(), dim=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class TaughtSentences:
    """Sentences with the teacher's vectors: the training examples of a student."""

    ids: NDArray[np.uint16]  # the word ids of all sentences, one after the other
    offsets: NDArray[np.int64]  # where each sentence begins, and the end of the last one
    vectors: NDArray[np.float16]  # (N, units), of unit length


@dataclass(frozen=True, kw_only=True)
class StudentTrainingConfig:
    """How a student is trained."""

    model: StudentConfig
    batch: int = 2048
    steps: int = 20_000
    learning_rate: float = 1e-3
    warm_up: int = 500  # steps until the full learning rate; it then falls to zero along a cosine
    word_dropout: float = 0.03  # words replaced by the unknown word, so that it learns a meaning
    similarities: float = 5.0
    """The weight of the error in the similarities of a batch, relative to that in the vectors."""
    held_out: int = 8192  # sentences, the last ones, that are not trained on
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "steps", "warm_up", "held_out")
        check_least(self, 2, "batch")  # sentences are compared with each other
        check_least(self, 0, "learning_rate", "similarities")
        check_shares(self, "word_dropout")


class StudentTraining(Training[tuple[Tensor, Tensor]]):
    """One run; a batch is word ids (B, T) and the teacher's vectors (B, units).

    It starts from given word vectors, (vocabulary, word_units), or from random ones.
    """

    network: Student
    unit = "step"
    validate_every = 1000

    def __init__(
        self,
        config: StudentTrainingConfig,
        sentences: TaughtSentences,
        device: torch.device,
        words: NDArray[np.float32] | None = None,
    ) -> None:
        torch.manual_seed(config.seed)
        student = Student(config.model).to(device)
        if words is not None:
            student.words.weight.data[:] = torch.from_numpy(words).to(device)
        else:
            nn.init.normal_(student.words.weight, std=0.5)
        student.words.weight.data[PADDING] = 0
        fused = device.type == "cuda"
        # No weight decay: it would wear away the vectors of rare words, which few steps renew.
        optimizer = torch.optim.AdamW(student.parameters(), weight_decay=0.0, fused=fused)
        super().__init__(config, student, optimizer, total=config.steps)
        self._ids = torch.from_numpy(sentences.ids.astype(np.int32)).to(device)
        self._starts = torch.from_numpy(sentences.offsets[:-1]).to(device)
        lengths = np.minimum(np.diff(sentences.offsets), config.model.longest)
        self._lengths = torch.from_numpy(lengths).to(device)
        self._vectors = torch.from_numpy(sentences.vectors).to(device)
        self.count = len(lengths) - config.held_out
        if self.count < config.batch:
            raise ConfigError(
                f"{len(lengths):,} sentences are too few for a batch of {config.batch:,} and"
                f" {config.held_out:,} held-out ones"
            )
        self._batches = self._arrange(lengths[: self.count])
        by_length = self.count + np.argsort(lengths[self.count :], kind="stable")
        # Eight batches by length: little padding, and each fits into memory.
        self._held_out = np.array_split(by_length, min(8, config.held_out))

    def _arrange(self, lengths: NDArray[np.int64]) -> list[tuple[int, Tensor]]:
        """Batches of sentences sorted by length, in random order among equal lengths."""
        rng = np.random.default_rng(self.config.seed)
        order = np.lexsort((rng.random(len(lengths)), lengths))
        rows = len(order) // self.config.batch
        cut = order[len(order) - rows * self.config.batch :].reshape(rows, -1)
        return [(int(lengths[row].max()), torch.from_numpy(row).to(self.device)) for row in cut]

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Sentences of similar length, with some words replaced by the unknown word."""
        first = self.step
        for step in range(first, self.total):
            epoch, place = divmod(step, len(self._batches))
            if place == 0 or step == first:
                rng = np.random.default_rng((self.config.seed, epoch))
                order = rng.permutation(len(self._batches))
            width, rows = self._batches[order[place]]
            ids = self._gather(rows, width)
            dropped = torch.rand(ids.shape, device=self.device) < self.config.word_dropout
            ids = ids.masked_fill(dropped & (ids != PADDING), UNKNOWN)
            yield ids, self._vectors[rows].float()

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """The error of the vectors, and of the similarities between them."""
        ids, expected = batch
        with self.mixed_precision():
            found = self.network(ids)
        vectors = 1 - (found * expected).sum(dim=1).mean()
        # Half a batch with the other half is enough, and no sentence is compared with itself.
        half = len(found) // 2
        ours = found[:half] @ found[half:].T
        theirs = expected[:half] @ expected[half:].T
        loss: Tensor = vectors + self.config.similarities * functional.mse_loss(ours, theirs)
        return loss

    def learning_rate(self, done: float) -> float:
        """Warm-up, then a cosine."""
        return self.warm_up_and_fall(done)

    def validate(self) -> dict[str, float]:
        """The mean cosine with the teacher's vectors on held-out sentences."""
        total = 0.0
        for row in self._held_out:
            rows = torch.from_numpy(row).to(self.device)
            ids = self._gather(rows, int(self._lengths[rows].max()))
            total += float((self.network(ids) * self._vectors[rows].float()).sum())
        return {"held_out_cosine": total / self.config.held_out}

    def fit(self, *, seconds: float = math.inf, **options: Any) -> dict[str, Any]:
        """Train, and report the epochs too."""
        if not seconds > 0:
            raise ConfigError(f"seconds must be above 0, not {seconds}")
        report = super().fit(seconds=seconds, **options)
        return {**report, "epochs": report["steps"] * self.config.batch / self.count}

    def _gather(self, rows: Tensor, width: int) -> Tensor:
        """The word ids of some sentences, padded: (B, width)."""
        places = torch.arange(width, device=self.device)
        index = (self._starts[rows][:, None] + places).clamp(max=len(self._ids) - 1)
        return self._ids[index].long().masked_fill(places >= self._lengths[rows][:, None], PADDING)
