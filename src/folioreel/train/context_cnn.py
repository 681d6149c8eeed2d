"""The context-aware CNN over the similarity tensor, and the linear SVM (paper, section 4.3).

score(i, j) is a function of all measures in a window around moment i and sentence j. The tensor is
padded once, by zeros, and the convolutions take none of their own: a block of rows with its halo
then gives the same scores as the whole, and one window of cells is a training example by itself.

Of a film's cells nearly all are wrong, and easy. Each step sees every right cell of its moments, as
many chance cells, and the wrong cells that the network of a moment ago believed in most.

The SVM of the paper is the same with a single cell, one layer and the hinge loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.onnx_graphs import GraphBuilder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.similarity.tensor import SimilarityTensor
from folioreel.train.judged import JudgedMoment

_JUDGED_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class ContextConfig:
    """The shape of the network and how it is fitted; the paper gives three layers and no sizes."""

    measures: tuple[str, ...]
    layers: Literal[1, 3] = 3
    window: int | tuple[int, int] = (3, 5)
    """Moments and sentences that each layer sees around a cell, itself included."""
    channels: int = 16
    dropout: float = 0.5
    """The share of values that are left out behind each hidden layer."""
    loss: Literal["cross-entropy", "hinge"] = "cross-entropy"
    passes: int = 30
    """How often every judged moment is seen."""
    batch: int = 16
    """Judged moments a step."""
    learning_rate: float = 3e-3
    decay: float = 1e-3
    """Weight decay, apart from Adam's own steps."""
    hard: int = 12
    """Wrong cells of each moment and step that the network believes in most."""
    chance: int = 30
    """Wrong cells of each moment and step that are drawn at random."""
    margin: int = 3
    """Sentences beside a right one that are neither right nor wrong."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        if self.layers not in (1, 3):
            raise ConfigError("a context model has 1 or 3 layers")
        if any(size < 1 or size % 2 == 0 for size in self.sizes):
            raise ConfigError("a context model's window must be odd, so that it has a middle")
        if not self.measures or min(self.channels, self.passes, self.batch, self.hard) < 1:
            raise ConfigError("a context model needs measures, channels, passes, batch and hard")
        if not 0 <= self.dropout < 1:
            raise ConfigError("dropout is a share of 0 to below 1")

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows and columns of each layer's window."""
        return self.window if isinstance(self.window, tuple) else (self.window, self.window)

    @property
    def halo(self) -> tuple[int, int]:
        """Moments above and below, sentences left and right, that a score depends on."""
        rows, columns = self.sizes
        return self.layers * (rows // 2), self.layers * (columns // 2)


def svm_config(measures: tuple[str, ...], seed: int = 0) -> ContextConfig:
    """The paper's baseline: a linear SVM over the measures of a single cell."""
    return ContextConfig(
        measures=measures,
        layers=1,
        window=1,
        dropout=0.0,
        loss="hinge",
        passes=60,
        learning_rate=1e-2,
        seed=seed,
    )


def one_layer_config(measures: tuple[str, ...], seed: int = 0) -> ContextConfig:
    """The paper's CNN of one layer, by which it compares measures."""
    return ContextConfig(
        measures=measures, layers=1, window=5, dropout=0.0, passes=60, decay=0.3, seed=seed
    )


class ContextNetwork(nn.Module):
    """Convolutions with ReLU and dropout between them; the last gives the log-odds."""

    scale: Tensor

    def __init__(self, config: ContextConfig) -> None:
        super().__init__()
        self.config = config
        widths = [len(config.measures), *[config.channels] * (config.layers - 1), 1]
        self.layers = nn.ModuleList(
            nn.Conv2d(before, after, config.sizes) for before, after in pairwise(widths)
        )
        self.dropout = nn.Dropout(config.dropout)
        # Measures differ tenfold in size; without a shift, padding stays zero.
        self.register_buffer("scale", torch.ones(len(config.measures), 1, 1))

    def forward(self, planes: Tensor) -> Tensor:
        """Log-odds of the cells that have their whole halo: (N, M, R, C) → (N, R', C')."""
        values = planes * self.scale
        for layer in self.layers[:-1]:
            values = self.dropout(functional.relu(layer(values)))
        scores: Tensor = self.layers[-1](values)[:, 0]
        return scores


class Blocks(Protocol):
    """What gives rows of the similarity tensor, such as `SimilarityRows`."""

    def block(self, first: int, last: int, halo: int = 0) -> SimilarityTensor:
        """Rows first … last - 1 with their halo."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """The judged moments of one pair, each with the rows around it."""

    planes: NDArray[np.float16]
    """(N, M, rows, columns): with the halo on all four sides."""
    judged: tuple[JudgedMoment, ...]


def make_lessons(rows: Blocks, judged: Sequence[JudgedMoment], config: ContextConfig) -> Lessons:
    """Compute the rows of the moments that teach something: matches, and those not in the book."""
    kept = tuple(moment for moment in judged if moment.verdict != "scene")
    height, width = config.halo
    planes = []
    for moment in kept:
        block = rows.block(moment.moment, moment.moment + 1, height)
        chosen = np.stack([block[name] for name in config.measures]).astype(np.float16)
        planes.append(np.pad(chosen, ((0, 0), (0, 0), (width, width))))
    if not planes:
        raise ConfigError("no judged moment to learn from; give a pair with matches")
    return Lessons(planes=np.stack(planes), judged=kept)


def fit_context(
    config: ContextConfig,
    pairs: Sequence[Lessons],
    progress: ProgressCallback = ignore_progress,
) -> ContextNetwork:
    """A network fitted to the judged moments of some pairs; the same seed gives the same one."""
    if not any(moment.verdict == "match" for pair in pairs for moment in pair.judged):
        raise ConfigError("no match to learn from; give a pair with matches")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = ContextNetwork(config)
        network.scale[:] = _scale(pairs)
        if config.layers == 1:  # linear: no symmetry to be broken
            next(network.layers.parameters()).data.zero_()
        examples = _Examples(config, pairs)
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.decay
        )
        count = examples.count
        steps = -(-count // config.batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, config.learning_rate, total_steps=steps * config.passes
        )
        for done in range(config.passes):
            if done in (0, 2) or done % 5 == 4:
                examples.find_hard(network)
            network.train()
            for moments in examples.order():
                cells, right = examples.draw(moments)
                loss = _loss(network(cells)[:, 0, 0], right, config.loss)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                schedule.step()
            progress(Progress(stage="learning", done=done + 1, total=config.passes))
    return network.eval()


def _scale(pairs: Sequence[Lessons]) -> Tensor:
    """One over the root mean square of each measure: (M, 1, 1)."""
    squares = np.mean(
        [np.square(pair.planes, dtype=np.float32).mean(axis=(0, 2, 3)) for pair in pairs], axis=0
    )
    return torch.from_numpy(np.where(squares > 0, squares, 1.0) ** -0.5).float()[:, None, None]


def _loss(scores: Tensor, right: Tensor, kind: str) -> Tensor:
    """The mean over right cells and over wrong cells weigh the same."""
    signed = torch.where(right, scores, -scores)
    losses = functional.relu(1 - signed) if kind == "hinge" else functional.softplus(-signed)
    parts = [losses[chosen].mean() for chosen in (right, ~right) if chosen.any()]
    return torch.stack(parts).mean()


class _Examples:
    """Cells with their windows, drawn from the judged moments of all pairs."""

    def __init__(self, config: ContextConfig, pairs: Sequence[Lessons]) -> None:
        self.config = config
        self._rng = np.random.default_rng(config.seed)
        self._pairs = pairs
        self._places = [(p, n) for p, pair in enumerate(pairs) for n in range(len(pair.judged))]
        self._wrong = [self._wrong_cells(p, n) for p, n in self._places]
        self._hard: list[NDArray[np.int64]] = []
        self.count = len(self._places)

    def _wrong_cells(self, p: int, n: int) -> NDArray[np.bool_]:
        """Which sentences a moment does not mean: (J,)."""
        width = self.config.halo[1]
        wrong = np.ones(self._pairs[p].planes.shape[-1] - 2 * width, dtype=np.bool_)
        for sentence in self._pairs[p].judged[n].sentences:
            low = max(0, sentence - self.config.margin)
            wrong[low : sentence + self.config.margin + 1] = False
        return wrong

    def order(self) -> list[NDArray[np.int64]]:
        """All moments in batches, shuffled."""
        shuffled = self._rng.permutation(self.count)
        return [
            shuffled[first : first + self.config.batch]
            for first in range(0, self.count, self.config.batch)
        ]

    @torch.no_grad()
    def find_hard(self, network: ContextNetwork) -> None:
        """Rank the wrong cells of every moment by what the network thinks of them."""
        network.eval()
        kept = 4 * self.config.hard
        self._hard = []
        for pair in self._pairs:
            for first in range(0, len(pair.planes), _JUDGED_AT_ONCE):
                some = torch.from_numpy(pair.planes[first : first + _JUDGED_AT_ONCE]).float()
                scores = network(some)[:, 0].numpy()  # (n, J)
                for row in scores:
                    row[~self._wrong[len(self._hard)]] = -np.inf
                    top = np.argsort(-row, kind="stable")[:kept]
                    self._hard.append(top[row[top] > -np.inf])

    def draw(self, moments: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Windows of cells, and which of them are right: (B, M, rows, columns), (B,)."""
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


def context_graph(network: ContextNetwork) -> bytes:
    """The network as ONNX: `planes` (N, M, R, C) → `log_odds` (N, 1, R', C')."""
    graph = GraphBuilder()
    values = "planes"
    last = len(network.layers) - 1
    for k, layer in enumerate(network.layers):
        weight, bias = (parameter.detach() for parameter in layer.parameters())
        if k == 0:
            weight = weight * network.scale  # users need not know of it
        given = (values, graph.constant(weight.numpy()), graph.constant(bias.numpy()))
        values = graph.node("Conv", *given, output="log_odds" if k == last else "")
        if k < last:
            values = graph.node("Relu", values)
    planes = ("FLOAT", ("N", len(network.config.measures), "R", "C"))
    proto = graph.model("context model", {"planes": planes}, {"log_odds": ("N", 1, "S", "D")})
    data: bytes = proto.SerializeToString()
    return data


def without_measures(config: ContextConfig, *names: str) -> ContextConfig:
    """The same network with some measures taken away, for ablations."""
    return replace(config, measures=tuple(m for m in config.measures if m not in names))


def training_settings(config: ContextConfig) -> dict[str, Any]:
    """What the model folder says of how the network was fitted."""
    rows, columns = config.sizes
    return {
        "layers": config.layers,
        "window": [rows, columns],
        "channels": config.channels,
        "dropout": config.dropout,
        "loss": config.loss,
        "passes": config.passes,
        "batch": config.batch,
        "learning_rate": config.learning_rate,
        "decay": config.decay,
        "hard": config.hard,
        "chance": config.chance,
        "margin": config.margin,
        "seed": config.seed,
    }
