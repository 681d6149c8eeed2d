"""Teaching a sentence encoder what films make of their books.

An example is a run of a film's lines with the sentences they render: as the aligner's posteriors
say, which know the neighbours of a line (the encoder does not), or as somebody wrote them down. The
encoder learns to tell these sentences from others of the same book: from their neighbours, from
those it confuses them with, and from random ones. A line may also be in none of them: a learned
threshold competes with the sentences, so that cosines of different lines can be compared.

Each loss is computed twice, with the vectors of sentences and with those of windows: the mean over
a sentence and two neighbours on each side, which is how the aligner sees the scene of a line.

Imports nothing but NumPy and PyTorch besides this package's light modules, so that it runs on a
bare GPU machine (training/paraphrase.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.config import WINDOW
from folioreel.errors import ConfigError
from folioreel.train.loop import Training, check_least, check_shares

_RENDERED = 0.5  # the least sum of a sentence's shares for which its lines are asked
_CHUNKS = 3  # texts of a step are encoded in so many parts of like length, to spare padding


class Pieces(NamedTuple):
    """Texts as piece numbers, one after the other, without marks of beginning and end."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]  # where each text begins, and the end of the last one

    @classmethod
    def join(cls, texts: Sequence[Sequence[int]]) -> Pieces:
        """The pieces of each text."""
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        ids = np.fromiter((number for text in texts for number in text), np.int32, int(starts[-1]))
        return cls(ids, starts)

    def __len__(self) -> int:
        """The number of texts."""
        return len(self.starts) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Lesson:
    """A film's lines, its book's sentences, and which sentences each line renders."""

    name: str
    source: str  # lessons of one source share its part of the batches
    lines: Pieces
    sentences: Pieces
    starts: NDArray[np.int64]  # where the targets of each line begin, and the end: (lines + 1,)
    places: NDArray[np.int32]  # the sentences of the targets
    shares: NDArray[np.float32]  # the probability of each; what a line lacks to 1 is "none of them"
    new: NDArray[np.bool_]
    """Lines that render no sentence; their targets say where their scene is: (lines,)."""


@dataclass(frozen=True, kw_only=True)
class ParaphraseConfig:
    """How an encoder is taught."""

    steps: int = 2000
    groups: int = 8  # runs of lines in a batch, each of one film
    lines: int = 32  # lines in a run
    confused: int = 4  # sentences that each line is confused with
    random_windows: int = 8  # windows at random places of the book
    temperature: float = 0.05
    windows: float = 0.5  # the weight of the loss of windows, relative to that of sentences
    backward: float = 0.5  # the weight of the loss from sentences to lines
    learning_rate: float = 2e-5
    warm_up: int = 100
    weight_decay: float = 0.01
    longest: int = 64  # texts are cut after this many pieces
    sources: tuple[tuple[str, float], ...] = ()
    """Each source of lessons with its share of the groups; by default as many as it has lines."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "steps", "groups", "warm_up", "confused", "random_windows")
        check_least(self, 2, "lines", "longest")
        check_least(self, 0, "learning_rate", "windows", "backward", "weight_decay")
        check_shares(self, "temperature")


class Marks(NamedTuple):
    """The pieces that a tokenizer puts around each text, and the one that pads it."""

    first: int
    last: int
    padding: int


class _Group(NamedTuple):
    """A run of lines with the sentences they are compared with."""

    lesson: Lesson
    lines: NDArray[np.int64]  # (L,), consecutive
    sentences: NDArray[np.int64]  # (C,), ascending
    targets: NDArray[np.float32]  # (L, C + 1); the last column is "none of them"
    window_targets: NDArray[np.float32]  # the same where new lines have their scenes
    whole: NDArray[np.bool_]  # sentences whose neighbours are all there: (C,)


class ParaphraseNetwork(nn.Module):
    """An encoder with its thresholds."""

    def __init__(self, encoder: nn.Module) -> None:
        """The encoder maps piece numbers (B, T) and which are real to unit vectors (B, units)."""
        super().__init__()
        self.encoder = encoder
        self.nowhere = nn.Parameter(torch.tensor([0.4, 0.6]))
        """The cosines, of sentences and of windows, below which a line is in none of them."""


class ParaphraseTraining(Training[list[_Group]]):
    """One run over lessons."""

    network: ParaphraseNetwork
    unit = "step"
    validate_every = 500
    clip_norm = 1.0

    def __init__(
        self,
        config: ParaphraseConfig,
        encoder: nn.Module,
        lessons: Sequence[Lesson],
        marks: Marks,
        held_out: Sequence[Lesson] = (),
    ) -> None:
        network = ParaphraseNetwork(encoder).to(next(encoder.parameters()).device)
        groups: list[dict[str, Any]] = [
            {"params": list(encoder.parameters())},
            {"params": [network.nowhere], "share": 100.0, "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=config.weight_decay)
        super().__init__(config, network, optimizer, total=config.steps)
        self.lessons = [lesson for lesson in lessons if len(lesson.lines) >= 2]
        if not self.lessons:
            raise ConfigError("there is nothing to learn from: no film has two lines")
        self.held_out, self.marks = list(held_out), marks
        self._chances = self._source_chances()
        # For each lesson, the sentences that each of its lines is confused with: (lines, kept).
        self.confused: list[NDArray[np.int32]] = []

    def _source_chances(self) -> NDArray[np.float64]:
        """How often each lesson is drawn: by its lines within its source."""
        counts = np.array([len(lesson.lines) for lesson in self.lessons], dtype=np.float64)
        shares = dict(self.config.sources)
        if shares:
            for source in {lesson.source for lesson in self.lessons}:
                own = np.array([lesson.source == source for lesson in self.lessons])
                counts[own] *= shares.get(source, 0.0) / counts[own].sum()
        chances: NDArray[np.float64] = counts / counts.sum()
        return chances

    def find_confused(self, kept: int = 24, sources: Sequence[str] | None = None) -> None:
        """For each line, the sentences that the encoder as it is finds most like it, but wrong.

        With `sources`, only for the lessons of these; what was found for others stays.
        """
        before, self.confused = self.confused, []
        for number, lesson in enumerate(self.lessons):
            if sources is not None and lesson.source not in sources:
                self.confused.append(before[number])
                continue
            lines, sentences = self.encode(lesson.lines), self.encode(lesson.sentences)
            cosines = lines @ sentences.T
            owners = np.repeat(np.arange(len(lesson.lines)), np.diff(lesson.starts))
            for away in (-1, 0, 1):
                places = np.clip(lesson.places + away, 0, len(lesson.sentences) - 1)
                cosines[torch.from_numpy(owners), torch.from_numpy(places).long()] = -1.0
            found = cosines.topk(min(kept, cosines.shape[1]), dim=1).indices
            self.confused.append(found.cpu().numpy().astype(np.int32))

    def load(self, path: Path) -> None:
        """Continue; lines stay confused with what the network at the start took for them."""
        start = _copy_state(self.network)
        super().load(path)
        if self.confused or self.done >= self.total:
            return
        reached = _copy_state(self.network)
        self.network.load_state_dict(start)
        self.find_confused()
        self.network.load_state_dict(reached)

    @torch.no_grad()
    def encode(self, texts: Pieces, batch: int = 2048) -> Tensor:
        """The vectors of all texts: (N, units)."""
        training = self.network.training
        self.network.eval()
        order = np.argsort(np.diff(texts.starts), kind="stable")
        pieces = _cut(texts, order)
        parts = [self._run(pieces[first : first + batch]) for first in range(0, len(order), batch)]
        self.network.train(training)
        vectors = torch.cat(parts)
        return vectors[torch.from_numpy(np.argsort(order)).to(vectors.device)]

    def _run(self, texts: list[NDArray[np.int32]]) -> Tensor:
        ids = self._pad(texts)
        with self.mixed_precision():
            vectors: Tensor = self.network.encoder(ids, ids != self.marks.padding)
        return vectors.float()

    def _pad(self, texts: list[NDArray[np.int32]]) -> Tensor:
        inside = self.config.longest - 2
        longest = min(inside, max(len(text) for text in texts))
        ids = np.full((len(texts), longest + 2), self.marks.padding, dtype=np.int64)
        for row, text in zip(ids, texts, strict=True):
            cut = text[:inside]
            row[0], row[len(cut) + 1] = self.marks.first, self.marks.last
            row[1 : len(cut) + 1] = cut
        return torch.from_numpy(ids).to(self.device, non_blocking=True)

    def batches(self) -> Iterator[list[_Group]]:
        """Runs of lines from lessons drawn at random."""
        if not self.confused:
            self.find_confused()
        while True:
            rng = np.random.default_rng((self.config.seed, self.step))
            drawn = rng.choice(len(self.lessons), self.config.groups, p=self._chances)
            yield [self._group(int(number), rng) for number in drawn]

    def _group(self, number: int, rng: np.random.Generator) -> _Group:
        lesson, config = self.lessons[number], self.config
        count, sentences = len(lesson.lines), len(lesson.sentences)
        first = int(rng.integers(max(1, count - config.lines + 1)))
        lines = np.arange(first, min(first + config.lines, count))
        own = np.arange(lesson.starts[first], lesson.starts[lines[-1] + 1])
        table = self.confused[number][lines]
        columns = rng.integers(table.shape[1], size=(len(lines), config.confused))
        confused = np.take_along_axis(table, columns, axis=1).ravel()
        centres = np.concatenate(
            [
                lesson.places[own],
                rng.choice(confused, min(len(confused), config.random_windows), replace=False),
                rng.integers(sentences, size=config.random_windows),
            ]
        )
        around = (centres[:, None] + np.arange(-WINDOW, WINDOW + 1)).ravel()
        chosen = np.unique(np.concatenate([np.clip(around, 0, sentences - 1), confused]))
        targets = np.zeros((len(lines), len(chosen) + 1), dtype=np.float32)
        owners = np.repeat(np.arange(len(lines)), np.diff(lesson.starts[first : lines[-1] + 2]))
        columns = np.searchsorted(chosen, lesson.places[own])
        targets[owners, columns] = lesson.shares[own]
        window_targets = targets.copy()
        targets[lesson.new[lines]] = 0
        for shares in (targets, window_targets):
            shares[:, -1] = np.clip(1 - shares[:, :-1].sum(axis=1), 0, 1)
        here = np.isin(np.arange(-WINDOW, sentences + WINDOW), chosen)
        here[:WINDOW] = here[-WINDOW:] = True  # nothing is missing beyond the ends of the book
        sums = np.convolve(here, np.ones(2 * WINDOW + 1), "valid")
        whole = sums[chosen] == 2 * WINDOW + 1
        return _Group(lesson, lines, chosen, targets, window_targets, whole)

    def loss(self, batch: list[_Group]) -> Tensor:
        """The cross-entropy of all lines with what they render."""
        texts = [(group.lesson.lines, group.lines) for group in batch]
        texts += [(group.lesson.sentences, group.sentences) for group in batch]
        vectors = self._encode_step(texts)
        parts = torch.split(vectors, [len(rows) for _, rows in texts])
        losses = [
            self._group_loss(group, lines, sentences)
            for group, lines, sentences in zip(
                batch, parts[: len(batch)], parts[len(batch) :], strict=True
            )
        ]
        return torch.stack(losses).mean()

    def _encode_step(self, texts: list[tuple[Pieces, NDArray[np.int64]]]) -> Tensor:
        """All texts of a step, in a few parts of like length."""
        pieces = [text for source, rows in texts for text in _cut(source, rows)]
        order = np.argsort([len(text) for text in pieces], kind="stable")
        chunks = np.array_split(order, _CHUNKS)
        parts = [self._run([pieces[row] for row in rows]) for rows in chunks]
        return torch.cat(parts)[torch.from_numpy(np.argsort(order)).to(self.device)]

    def _group_loss(self, group: _Group, lines: Tensor, sentences: Tensor) -> Tensor:
        targets = torch.from_numpy(group.targets).to(self.device, non_blocking=True)
        cosines = lines @ sentences.T
        loss: Tensor = self._cross_entropy(cosines, self.network.nowhere[0], targets)
        loss = loss + self.config.backward * self._backward_loss(cosines, targets[:, :-1])
        if not self.config.windows:
            return loss
        whole = torch.from_numpy(group.whole).to(self.device)
        targets = torch.from_numpy(group.window_targets).to(self.device, non_blocking=True)
        cosines = window_means(lines, group.lines) @ window_means(sentences, group.sentences).T
        cosines = cosines.masked_fill(~whole, -1.0)  # their windows are not what they seem
        windows = self._cross_entropy(cosines, self.network.nowhere[1], targets)
        total: Tensor = loss + self.config.windows * windows
        return total

    def _backward_loss(self, cosines: Tensor, targets: Tensor) -> Tensor:
        """The same from sentences to lines: some sentences are a little like everything."""
        masses = targets.sum(dim=0)  # (C,)
        rendered = masses > _RENDERED
        logits = cosines[:, rendered].T / self.config.temperature
        shares = (targets[:, rendered] / masses[rendered]).T
        # A sum over no sentence is 0, where a mean would not be a number.
        summed = -(shares * functional.log_softmax(logits, dim=1)).sum()
        loss: Tensor = summed / rendered.sum().clamp(min=1)
        return loss

    def _cross_entropy(self, cosines: Tensor, nowhere: Tensor, targets: Tensor) -> Tensor:
        column = nowhere.expand(len(cosines), 1)
        logits = torch.cat([cosines, column], dim=1) / self.config.temperature
        loss: Tensor = -(targets * functional.log_softmax(logits, dim=1)).sum(dim=1).mean()
        return loss

    def learning_rate(self, done: float) -> float:
        """Warm-up, then a cosine."""
        return self.warm_up_and_fall(done)

    def validate(self) -> dict[str, float]:
        """How often the nearest sentence, or one of the ten nearest, is right; see `recall`."""
        return recall(self.held_out, self.encode) if self.held_out else {}

    def fit(self, *, seconds: float = math.inf, **options: Any) -> dict[str, Any]:
        """Train; the report names the lessons too."""
        report = super().fit(seconds=seconds, **options)
        lines = sum(len(lesson.lines) for lesson in self.lessons)
        return {**report, "lessons": len(self.lessons), "lines": lines}


def window_means(vectors: Tensor, numbers: NDArray[np.int64]) -> Tensor:
    """The unit mean of each vector and its neighbours by number, as far as they are there."""
    away = np.abs(numbers[:, None] - numbers[None, :]) <= WINDOW  # (N, N)
    near = torch.from_numpy(away).to(vectors.device, vectors.dtype)
    means: Tensor = functional.normalize(near @ vectors, dim=1)
    return means


def recall(lessons: Sequence[Lesson], encode: Callable[[Pieces], Tensor]) -> dict[str, float]:
    """The share of rendered lines whose nearest sentence, or ten nearest, hold a right one."""
    first = tenth = total = 0
    for lesson in lessons:
        lines, sentences = encode(lesson.lines), encode(lesson.sentences)
        nearest = (lines @ sentences.T).topk(min(10, len(sentences)), dim=1).indices.cpu().numpy()
        for line, found in enumerate(nearest):
            right = lesson.places[lesson.starts[line] : lesson.starts[line + 1]]
            if lesson.new[line] or not len(right):
                continue
            hits = np.isin(found, right)
            first, tenth, total = first + bool(hits[0]), tenth + bool(hits.any()), total + 1
    return {"recall@1": first / max(1, total), "recall@10": tenth / max(1, total)}


def _copy_state(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _cut(texts: Pieces, rows: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    """The pieces of some of the texts."""
    return [texts.ids[texts.starts[row] : texts.starts[row + 1]] for row in rows.tolist()]
