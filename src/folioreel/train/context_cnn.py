"""The context-aware CNN over the similarity tensor, and the linear SVM (paper, section 4.3).

score(i, j) is a function of all measures in a window around moment i and sentence j. The tensor is
padded with zeros once, and the convolutions do not pad: a block of rows with its halo then gives
the same scores as the whole tensor, and one window of cells is a training example by itself.

Nearly all cells of a film are wrong, and easy. Each step sees every right cell of its moments, some
random wrong cells, and hard negatives: the wrong cells that the network scored highest.

The SVM of the paper is the same with a single cell, one layer and the hinge loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.similarity.tensor import SimilarityRows
from folioreel.train.judged import JudgedMoment
from folioreel.train.loop import Training, check_least, check_shares

# Moments that are scored together when hard negatives are sought: each is a whole row of the book
# with its halo, so that more of them would need much memory.
_SCORED_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class ContextConfig:
    """The network's shape and training; the paper says three layers, but gives no sizes."""

    measures: tuple[str, ...]
    layers: Literal[1, 3] = 3
    window: int | tuple[int, int] = (3, 5)
    """Moments and sentences that each layer sees around a cell, itself included."""
    channels: int = 16
    dropout: float = 0.5  # after each hidden layer
    loss: Literal["cross-entropy", "hinge"] = "cross-entropy"
    epochs: int = 30
    batch: int = 16  # judged moments per step
    learning_rate: float = 3e-3
    decay: float = 1e-3  # decoupled weight decay (AdamW)
    hard: int = 12  # hard negatives per moment and step
    chance: int = 30  # random negatives per moment and step
    margin: int = 3
    """Sentences this close to a right one count as neither right nor wrong: they are mostly part of
    the same exchange."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.layers not in (1, 3):
            raise ConfigError("a context model has 1 or 3 layers")
        if any(size < 1 or size % 2 == 0 for size in self.sizes):
            raise ConfigError("a context model's window must be odd, so that it has a centre")
        if not self.measures:
            raise ConfigError("a context model needs at least one measure")
        check_least(self, 1, "channels", "epochs", "batch", "hard")
        check_shares(self, "dropout", below_one=True)

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows and columns of each layer's window."""
        return self.window if isinstance(self.window, tuple) else (self.window, self.window)

    @property
    def halo(self) -> tuple[int, int]:
        """Moments above and below, sentences left and right, that a score depends on."""
        rows, columns = self.sizes
        return self.layers * (rows // 2), self.layers * (columns // 2)


def svm_config(measures: tuple[str, ...]) -> ContextConfig:
    """The paper's baseline: a linear SVM over the measures of a single cell."""
    one_cell = one_layer_config(measures, window=1)
    return replace(one_cell, loss="hinge", learning_rate=1e-2, decay=ContextConfig.decay)


def one_layer_config(measures: tuple[str, ...], window: int = 5) -> ContextConfig:
    """The paper's CNN with a single layer, which it compares measures with."""
    return ContextConfig(
        measures=measures, layers=1, window=window, dropout=0.0, epochs=60, decay=0.3
    )


class ContextNetwork(nn.Module):
    """Convolutions with ReLU and dropout in between; the last gives the logits."""

    scale: Tensor

    def __init__(self, config: ContextConfig) -> None:
        super().__init__()
        self.config = config
        widths = [len(config.measures), *[config.channels] * (config.layers - 1), 1]
        self.layers = nn.ModuleList(
            nn.Conv2d(before, after, config.sizes) for before, after in pairwise(widths)
        )
        self.dropout = nn.Dropout(config.dropout)
        # Measures differ tenfold in size. They are not centred, so that padding stays zero.
        self.register_buffer("scale", torch.ones(len(config.measures), 1, 1))

    def forward(self, planes: Tensor) -> Tensor:
        """The logits of the cells whose halo is complete: (N, M, R, C) → (N, R', C')."""
        values = planes * self.scale
        for layer in self.layers[:-1]:
            values = self.dropout(functional.relu(layer(values)))
        scores: Tensor = self.layers[-1](values)[:, 0]
        return scores


class ContextExamples(NamedTuple):
    """The judged moments of one pair, each with the rows around it."""

    planes: NDArray[np.float16]  # (N, M, rows, columns): with the halo on all four sides
    judged: tuple[JudgedMoment, ...]


def context_examples(
    rows: SimilarityRows,
    judged: Sequence[JudgedMoment],
    config: ContextConfig,
    progress: ProgressCallback = ignore_progress,
) -> ContextExamples:
    """Compute the rows around matches and around moments that are not in the book.

    A new moment of a known scene has no right cell, but its neighbours are not wrong either.
    """
    kept = tuple(moment for moment in judged if moment.verdict != "scene")
    height, width = config.halo
    planes = []
    for moment in track(kept, "comparing judged lines", progress):
        block = rows.block(moment.moment, moment.moment + 1, height)
        chosen = np.stack([block[name] for name in config.measures]).astype(np.float16)
        planes.append(np.pad(chosen, ((0, 0), (0, 0), (width, width))))
    if not planes:
        raise ConfigError("no judged moment to learn from; give a pair with matches")
    return ContextExamples(planes=np.stack(planes), judged=kept)


def fit_context(
    config: ContextConfig,
    pairs: Sequence[ContextExamples],
    progress: ProgressCallback = ignore_progress,
) -> ContextNetwork:
    """Train a network on the judged moments of some pairs; the same seed gives the same one."""
    if not any(moment.verdict == "match" for pair in pairs for moment in pair.judged):
        raise ConfigError("no match to learn from; give a pair with matches")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a network gains nothing from more, which only wait
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            training = ContextTraining(config, pairs)
            training.fit(progress=progress)
    finally:
        torch.set_num_threads(threads)
    return training.network


class ContextTraining(Training[tuple[Tensor, Tensor]]):
    """One run; a batch is windows of cells (B, M, rows, columns), and which are right (B,)."""

    network: ContextNetwork

    def __init__(self, config: ContextConfig, pairs: Sequence[ContextExamples]) -> None:
        network = ContextNetwork(config)
        network.scale[:] = _scale(pairs)
        if config.layers == 1:  # linear and convex: random weights would only add noise
            next(network.layers.parameters()).data.zero_()
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.decay
        )
        self._rng = np.random.default_rng(config.seed)
        self._pairs = pairs
        self._places = [(p, n) for p, pair in enumerate(pairs) for n in range(len(pair.judged))]
        steps = -(-len(self._places) // config.batch)
        super().__init__(config, network, optimizer, total=config.epochs, unit_steps=steps)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, config.learning_rate, total_steps=steps * config.epochs
        )
        self._wrong = [self._wrong_cells(p, n) for p, n in self._places]
        self._hard: list[NDArray[np.int64]] = []

    def set_learning_rate(self) -> None:
        """One-cycle, which sets the momentum too."""
        if self.step:
            self._schedule.step()

    def learning_rate(self, done: float) -> float:
        """The learning rate of the present step."""
        return float(self._schedule.get_last_lr()[0])

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Each judged moment once in an epoch, with its negatives."""
        for epoch in range(self.done, self.total):
            # The ranking changes fast in the first epochs, and little later.
            if epoch in (0, 2) or epoch % 5 == 4:
                self._find_hard()
            shuffled = self._rng.permutation(len(self._places))
            for first in range(0, len(shuffled), self.config.batch):
                yield self._draw(shuffled[first : first + self.config.batch])

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """The mean over right cells and the mean over wrong cells, with equal weight."""
        cells, right = batch
        scores = self.network(cells)[:, 0, 0]
        signed = torch.where(right, scores, -scores)
        hinge = self.config.loss == "hinge"
        losses = functional.relu(1 - signed) if hinge else functional.softplus(-signed)
        parts = [losses[chosen].mean() for chosen in (right, ~right) if chosen.any()]
        return torch.stack(parts).mean()

    def _wrong_cells(self, p: int, n: int) -> NDArray[np.bool_]:
        """Which sentences are wrong for a moment: (J,)."""
        width = self.config.halo[1]
        wrong = np.ones(self._pairs[p].planes.shape[-1] - 2 * width, dtype=np.bool_)
        for sentence in self._pairs[p].judged[n].sentences:
            low = max(0, sentence - self.config.margin)
            wrong[low : sentence + self.config.margin + 1] = False
        return wrong

    @torch.no_grad()
    def _find_hard(self) -> None:
        """Rank the wrong cells of every moment by the network's scores."""
        self.network.eval()
        kept = 4 * self.config.hard  # from which each step draws, so that steps differ
        self._hard = []
        for pair in self._pairs:
            for first in range(0, len(pair.planes), _SCORED_AT_ONCE):
                some = torch.from_numpy(pair.planes[first : first + _SCORED_AT_ONCE]).float()
                scores = self.network(some)[:, 0].numpy()  # (n, J)
                for row in scores:
                    row[~self._wrong[len(self._hard)]] = -np.inf
                    top = np.argsort(-row, kind="stable")[:kept]
                    self._hard.append(top[row[top] > -np.inf])
        self.network.train()

    def _draw(self, moments: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The right cells of some moments, and random and hard negatives."""
        cells, right = [], []
        width = 2 * self.config.halo[1] + 1
        for number in moments:
            p, n = self._places[number]
            sentences = self._pairs[p].judged[n].sentences
            hard = self._hard[number]
            wrong = np.flatnonzero(self._wrong[number])
            drawn = [
                self._rng.choice(hard, min(self.config.hard, len(hard)), replace=False),
                self._rng.choice(wrong, min(self.config.chance, len(wrong)), replace=False),
            ]
            columns = np.concatenate([np.array(sentences, dtype=np.int64), *drawn])
            windows = np.lib.stride_tricks.sliding_window_view(
                self._pairs[p].planes[n], width, axis=2
            )  # (M, rows, J, columns)
            cells.append(np.moveaxis(windows[:, :, columns], 2, 0))
            right += [True] * len(sentences) + [False] * (len(columns) - len(sentences))
        found = torch.from_numpy(np.concatenate(cells).astype(np.float32))
        return found, torch.tensor(right)


def _scale(pairs: Sequence[ContextExamples]) -> Tensor:
    """One over the root mean square of each measure: (M, 1, 1)."""
    squares = np.mean(
        [np.square(pair.planes, dtype=np.float32).mean(axis=(0, 2, 3)) for pair in pairs], axis=0
    )
    return torch.from_numpy(np.where(squares > 0, squares, 1.0) ** -0.5).float()[:, None, None]


def without_measures(config: ContextConfig, *names: str) -> ContextConfig:
    """The same network without some measures, for ablations."""
    return replace(config, measures=tuple(m for m in config.measures if m not in names))
