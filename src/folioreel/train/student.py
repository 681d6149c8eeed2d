"""A small, fast sentence encoder that learns to give the vectors of a large one.

Two layers of attention over word vectors, the mean over the words, a map into the teacher's space.
The words' vectors hold most of what the student knows, and cost nothing to look up.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING, UNKNOWN
from folioreel.progress import Progress, ProgressCallback, ignore_progress


@dataclass(frozen=True, kw_only=True)
class StudentConfig:
    """The size of a student."""

    vocabulary: int
    word_units: int = 256
    layers: int = 2
    heads: int = 4
    inner_units: int = 512
    """Of the two-layer network after each attention."""
    units: int = 384
    """The length of the teacher's vectors."""
    longest: int = 48
    """Words that are read; the rest is cut."""

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        if self.word_units % self.heads:
            raise ConfigError("a student's word_units must be a multiple of its heads")


class AttentionLayer(nn.Module):
    """Every word looks at every other, then is transformed alone; norms come first."""

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
        """words: (B, T, word_units); real: (B, T), which of them are not filling."""
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
    """Word vectors, places, attention, mean, map."""

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
class Lessons:
    """Sentences with the teacher's vectors."""

    ids: NDArray[np.uint16]
    """The student's ids of all sentences, one after the other."""
    offsets: NDArray[np.int64]
    """Where each sentence begins, and at the end the number of ids."""
    vectors: NDArray[np.float16]
    """(N, units), of unit length."""


@dataclass(frozen=True, kw_only=True)
class LearningConfig:
    """How a student is fitted."""

    model: StudentConfig
    batch: int = 2048
    steps: int = 20_000
    learning_rate: float = 1e-3
    warm_up: int = 500
    """Steps until the full learning rate; it then falls to zero along a cosine."""
    forgotten: float = 0.03
    """The share of words that are read as the unknown word, so that this one gets a meaning."""
    similarities: float = 5.0
    """The weight of the error in the similarities of a batch beside that in the vectors."""
    held_out: int = 8192
    """Lessons, the last ones, that are kept for judging."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that nothing could be learned with."""
        if min(self.steps, self.warm_up, self.held_out) < 1:
            raise ConfigError("steps, warm_up and held_out must be 1 or more")
        if self.batch < 2:
            raise ConfigError("batch must be 2 or more: sentences are compared with each other")
        if not 0 <= self.forgotten <= 1:
            raise ConfigError("forgotten is a share of words, from 0 to 1")
        for name in ("learning_rate", "similarities"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ConfigError(f"{name} must be 0 or more, and finite")


def learn(
    config: LearningConfig,
    lessons: Lessons,
    device: torch.device,
    *,
    words: NDArray[np.float32] | None = None,
    seconds: float = math.inf,
    progress: ProgressCallback = ignore_progress,
) -> tuple[Student, dict[str, Any]]:
    """Fit a student; returns it and what was measured.

    Args:
        config: The sizes and the schedule, which is cut short where the time is over.
        lessons: What the teacher says.
        device: Where it happens.
        words: Word vectors to begin with: (vocabulary, word_units).
        seconds: How long it may take.
        progress: Called now and then.

    Raises:
        ConfigError: The lessons are too few, or there is no time at all.
    """
    if not seconds > 0:
        raise ConfigError("seconds must be above 0")
    torch.manual_seed(config.seed)
    student = Student(config.model).to(device)
    if words is not None:
        student.words.weight.data[:] = torch.from_numpy(words).to(device)
    else:
        nn.init.normal_(student.words.weight, std=0.5)
    student.words.weight.data[PADDING] = 0
    school = _School(config, lessons, device)
    fused = device.type == "cuda"
    optimizer = torch.optim.AdamW(student.parameters(), weight_decay=0.0, fused=fused)
    log: list[dict[str, float]] = []
    started = time.perf_counter()
    taken = 0
    for step in range(config.steps):
        # The schedule follows whichever ends first, the steps or the time.
        done = max(step / config.steps, (time.perf_counter() - started) / seconds)
        if done >= 1:
            break
        rate = config.learning_rate * min(1.0, (step + 1) / config.warm_up)
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 + math.cos(math.pi * done)) / 2
        ids, vectors = school.draw(step)
        with torch.autocast(device.type, torch.bfloat16, enabled=fused):
            found = student(ids)
        loss = _loss(found, vectors, config.similarities)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        taken = step + 1
        if taken % 1000 == 0:
            cosine = school.judge(student)
            elapsed = time.perf_counter() - started
            log.append({"step": taken, "held_out_cosine": cosine, "seconds": elapsed})
            progress(Progress(stage="learning", done=int(1000 * done), total=1000))
    elapsed = time.perf_counter() - started
    report = {
        "steps": taken,
        "seconds": elapsed,
        "passes": taken * config.batch / school.count,
        "held_out_cosine": school.judge(student),
        "log": log,
    }
    return student, report


def _loss(found: Tensor, expected: Tensor, weight: float) -> Tensor:
    """How far the vectors are from the teacher's, and the similarities among them."""
    vectors = 1 - (found * expected).sum(dim=1).mean()
    # Half a batch with the other half is enough, and no sentence meets itself.
    half = len(found) // 2
    ours = found[:half] @ found[half:].T
    theirs = expected[:half] @ expected[half:].T
    return vectors + weight * functional.mse_loss(ours, theirs)


class _School:
    """Lessons on the device, in batches of like lengths."""

    def __init__(self, config: LearningConfig, lessons: Lessons, device: torch.device) -> None:
        self.config = config
        self.device = device
        self.ids = torch.from_numpy(lessons.ids.astype(np.int32)).to(device)
        self.starts = torch.from_numpy(lessons.offsets[:-1]).to(device)
        lengths = np.minimum(np.diff(lessons.offsets), config.model.longest)
        self.lengths = torch.from_numpy(lengths).to(device)
        self.vectors = torch.from_numpy(lessons.vectors).to(device)
        self.count = len(lengths) - config.held_out
        if self.count < config.batch:
            raise ConfigError(f"{len(lengths):,} lessons are too few for a batch and for judging")
        self._batches = self._arrange(lengths[: self.count])
        by_length = self.count + np.argsort(lengths[self.count :], kind="stable")
        self._judged = np.array_split(by_length, min(8, config.held_out))

    def _arrange(self, lengths: NDArray[np.int64]) -> list[tuple[int, Tensor]]:
        """Cut the lessons, sorted by length and shuffled among equals, into batches."""
        rng = np.random.default_rng(self.config.seed)
        order = np.lexsort((rng.random(len(lengths)), lengths))
        rows = len(order) // self.config.batch
        cut = order[len(order) - rows * self.config.batch :].reshape(rows, -1)
        return [(int(lengths[row].max()), torch.from_numpy(row).to(self.device)) for row in cut]

    def draw(self, step: int) -> tuple[Tensor, Tensor]:
        """The batch of a step: some words of it forgotten."""
        epoch, place = divmod(step, len(self._batches))
        if place == 0:
            rng = np.random.default_rng((self.config.seed, epoch))
            self._order = rng.permutation(len(self._batches))
        width, rows = self._batches[self._order[place]]
        ids = self._gather(rows, width)
        forgotten = torch.rand(ids.shape, device=self.device) < self.config.forgotten
        ids = ids.masked_fill(forgotten & (ids != PADDING), UNKNOWN)
        return ids, self.vectors[rows].float()

    def _gather(self, rows: Tensor, width: int) -> Tensor:
        places = torch.arange(width, device=self.device)
        index = (self.starts[rows][:, None] + places).clamp(max=len(self.ids) - 1)
        return self.ids[index].long().masked_fill(places >= self.lengths[rows][:, None], PADDING)

    @torch.no_grad()
    def judge(self, student: Student) -> float:
        """The mean cosine with the teacher on lessons that were held out."""
        total = 0.0
        for row in self._judged:
            rows = torch.from_numpy(row).to(self.device)
            ids = self._gather(rows, int(self.lengths[rows].max()))
            total += float((student(ids) * self.vectors[rows].float()).sum())
        return total / self.config.held_out
