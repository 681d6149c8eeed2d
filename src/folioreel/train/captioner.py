"""A sentence for a picture: a decoder over its features, and how it is fitted.

As in Show and Tell (Vinyals et al. 2015) an LSTM writes the words; it is shown the picture before
each of them. models/captioner.py runs it without PyTorch.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.captioner import caption_tokens
from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.vocabulary import END, PADDING, SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.train.checkpoints import load_checkpoint, save_checkpoint


def caption_words(captions: Iterable[Sequence[str]], rarest: int = 4) -> Vocabulary:
    """The words that a captioner writes: those that the captions hold at least so often.

    Args:
        captions: What was written about each picture.
        rarest: How often a word must occur.
    """
    counts = Counter(word for texts in captions for text in texts for word in caption_tokens(text))
    kept = sorted(
        (item for item in counts.items() if item[1] >= rarest), key=lambda item: (-item[1], item[0])
    )
    rest = sum(counts.values()) - sum(count for _, count in kept)
    return Vocabulary(
        words=(*SPECIAL_TOKENS, *(word for word, _ in kept)),
        counts=(0, 0, rest, *(count for _, count in kept)),
    )


def caption_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    """The numbers of a caption's words."""
    return [vocabulary.ids.get(word, UNKNOWN) for word in caption_tokens(text)]


@dataclass(frozen=True, kw_only=True)
class CaptionerConfig:
    """The size of a captioner."""

    vocabulary: int
    picture_units: int
    """The length of a picture's features."""
    word_units: int = 256
    units: int = 512
    """The length of the state, and of what is kept of the picture."""

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        if min(asdict(self).values()) < 1:
            raise ConfigError("the sizes of a captioner must be 1 or more")


class Captioner(nn.Module):
    """What is kept of the picture, an LSTM, and one table of words for both ends."""

    centre: Tensor
    spread: Tensor

    def __init__(self, config: CaptionerConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.dropout = dropout
        units = config.units
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.picture = nn.Linear(config.picture_units, units)
        self.first = nn.Linear(units, 2 * units)  # the state and the cell to begin with
        self.lstm = nn.LSTM(config.word_units + units, units, batch_first=True)
        self.narrow = nn.Linear(2 * units, config.word_units)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))
        nn.init.normal_(self.words.weight, std=0.1)
        self.register_buffer("centre", torch.zeros(config.picture_units))
        self.register_buffer("spread", torch.ones(()))

    def set_scale(self, features: Tensor) -> None:
        """Take the mean and the spread of the features from the training pictures: (N, D)."""
        values = features.clamp(min=0).sqrt()
        self.centre.copy_(values.mean(dim=0))
        self.spread.copy_((values - self.centre).std().clamp(min=1e-6))

    def see(self, features: Tensor) -> Tensor:
        """What is kept of pictures: (B, D) → (B, units)."""
        values = (features.clamp(min=0).sqrt() - self.centre) / self.spread
        values = functional.dropout(values, self.dropout / 2, self.training)
        return torch.relu(self.picture(values))

    def forward(self, features: Tensor, ids: Tensor) -> Tensor:
        """The log-odds of each next word: (B, D), (B, T) → (B, T, V).

        ids: the words that are there already, beginning with END.
        """
        seen = self.see(features)
        state, cell = torch.tanh(self.first(seen)).chunk(2, dim=1)
        words = functional.dropout(self.words(ids), self.dropout, self.training)
        shown = seen[:, None].expand(-1, ids.shape[1], -1)
        states, _ = self.lstm(
            torch.cat([words, shown], dim=2), (state[None].contiguous(), cell[None].contiguous())
        )
        joined = functional.dropout(torch.cat([states, shown], dim=2), self.dropout, self.training)
        odds: Tensor = self.narrow(joined) @ self.words.weight.T + self.bias
        return odds

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All that models/captioner.py needs, by name; the features' scale is in `picture`."""
        state = {name: value.detach().float() for name, value in self.state_dict().items()}
        centre, spread = state.pop("centre"), state.pop("spread")
        state["picture.weight"] = state["picture.weight"] / spread
        state["picture.bias"] = state["picture.bias"] - state["picture.weight"] @ centre
        return {name: value.cpu().numpy() for name, value in state.items()}


def stored_weights(weights: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Weights as they are saved: tables as bytes, with a scale for each row."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in weights.items():
        if values.ndim == 2:
            found[name], found[f"{name}.scales"] = quantize_rows(values)
        else:
            found[name] = values
    return found


@dataclass(frozen=True, kw_only=True)
class CaptionTrainingConfig:
    """How a captioner is fitted."""

    model: CaptionerConfig
    batch: int = 128
    """Sentences a step."""
    passes: int = 25
    """Times that each sentence is seen."""
    learning_rate: float = 1e-3
    """It rises over the first steps, then falls to zero along a cosine."""
    weight_decay: float = 1e-2
    dropout: float = 0.5
    smoothing: float = 0.1
    """The share of certainty that is spread over all words."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that nothing could be learned with."""
        if self.batch < 1 or self.passes < 1:
            raise ConfigError("batch and passes must be 1 or more")
        if not (0 <= self.dropout < 1 and 0 <= self.smoothing < 1):
            raise ConfigError("dropout and smoothing are shares, from 0 to below 1")


class CaptionTraining:
    """One run: network, optimiser, pass; it can be saved and taken up again."""

    def __init__(self, config: CaptionTrainingConfig, device: torch.device) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.device = device
        self.network = Captioner(config.model, config.dropout).to(device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self.passes = 0
        self.best: dict[str, Any] = {"loss": math.inf}
        self.log: list[dict[str, float]] = []

    def save(self, path: Path) -> None:
        """Everything that is needed to go on as if nothing had happened."""
        state = {
            "config": asdict(self.config),
            "passes": self.passes,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "log": self.log,
        }
        save_checkpoint(path, state)

    def load(self, path: Path) -> None:
        """Take up a run; a checkpoint of another configuration is refused."""
        state = load_checkpoint(path, asdict(self.config), self.device)
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.passes, self.best, self.log = state["passes"], state["best"], state["log"]

    def rate(self, done: float) -> float:
        """The learning rate when a share of all passes is done."""
        return (
            self.config.learning_rate * min(1.0, done / 0.03) * (1 + math.cos(math.pi * done)) / 2
        )

    def learn_pass(self, features: Tensor, ids: Tensor, picture_of: Tensor) -> float:
        """Each sentence once, in an order by the seed and the pass alone; the mean loss.

        Args:
            features: The pictures: (N, D).
            ids: The sentences without their ends, padded: (S, T).
            picture_of: The picture of each sentence: (S,).
        """
        config = self.config
        seed = config.seed * 100_003 + self.passes
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)  # of what is dropped: a run taken up again goes on the same
        self.network.train()
        order = torch.randperm(len(ids), generator=generator)
        drawn = torch.split(order, config.batch)
        total = 0.0
        for step, chosen in enumerate(drawn):
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate((self.passes + step / len(drawn)) / config.passes)
            rows = chosen.to(self.device)
            loss = self._loss(features[picture_of[rows]], ids[rows], config.smoothing)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
            self.optimizer.step()
            total += float(loss.detach())
        self.passes += 1
        return total / len(drawn)

    @torch.no_grad()
    def judge(self, features: Tensor, ids: Tensor, picture_of: Tensor) -> float:
        """The loss a word on sentences that are not learned from; the best network is kept."""
        self.network.eval()
        losses = [
            float(self._loss(features[picture_of[rows]], ids[rows], 0.0)) * len(rows)
            for rows in torch.split(torch.arange(len(ids), device=self.device), 500)
        ]
        loss = sum(losses) / len(ids)
        if loss < self.best["loss"]:
            weights = {k: v.detach().clone() for k, v in self.network.state_dict().items()}
            self.best = {"loss": loss, "passes": self.passes, "weights": weights}
        return loss

    def _loss(self, features: Tensor, ids: Tensor, smoothing: float) -> Tensor:
        """The mean over the words of these sentences, their ends among them."""
        lengths = (ids != PADDING).sum(dim=1)
        ids = ids[:, : int(lengths.max())]
        ends = functional.pad(ids, (0, 1), value=PADDING)
        ends.scatter_(1, lengths[:, None], END)
        odds = self.network(features, functional.pad(ids, (1, 0), value=END))
        return functional.cross_entropy(
            odds.flatten(0, 1), ends.flatten(), ignore_index=PADDING, label_smoothing=smoothing
        )


Captioned = tuple[Tensor, Tensor, Tensor]
"""Pictures (N, D), sentences (S, T), and the picture of each sentence (S,)."""


def fit_captioner(
    training: CaptionTraining,
    pictures: Captioned,
    judged: Captioned,
    *,
    seconds: float = math.inf,
    checkpoint: Path | None = None,
    checkpoint_every_s: float = 60.0,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train until the passes are done or the time is over; the network ends as the best one was."""
    started = saved = time.perf_counter()
    over = training.passes >= training.config.passes
    if not training.passes:
        training.network.set_scale(pictures[0])
    while not over:
        loss = training.learn_pass(*pictures)
        judgement = training.judge(*judged)
        now = time.perf_counter()
        elapsed = now - started
        over = training.passes >= training.config.passes or elapsed > seconds
        entry = {"pass": training.passes, "loss": loss, "judged_loss": judgement}
        training.log.append({**entry, "seconds": elapsed})
        if checkpoint is not None and (over or now - saved > checkpoint_every_s):
            training.save(checkpoint)
            saved = now
        progress(Progress(stage="training", done=training.passes, total=training.config.passes))
    if "weights" in training.best:
        training.network.load_state_dict(training.best["weights"])
    best = {key: value for key, value in training.best.items() if key != "weights"}
    return {"best": best, "seconds": time.perf_counter() - started, "log": training.log}
