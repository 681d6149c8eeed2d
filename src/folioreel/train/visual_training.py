"""Fitting the embedding: described clips, rounds over them, checkpoints (paper, section 4.2).

Imports nothing but NumPy, ONNX and PyTorch beside this package's light modules, so that it runs on
a bare training machine.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING, UNKNOWN
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.train.checkpoints import load_checkpoint, save_checkpoint
from folioreel.train.visual_semantic import (
    Contrast,
    VisualSemantic,
    VisualSemanticConfig,
    ranking_loss,
)


@dataclass(frozen=True, kw_only=True)
class VisualTrainingConfig:
    """How an embedding is fitted; by default as does best on the dev split of Flickr8k."""

    model: VisualSemanticConfig
    optimizer: Literal["adam", "sgd"] = "adam"
    contrast: Contrast = "softmax"
    margin: float = 0.08
    """The α of the ranking loss, or the temperature of `softmax`."""
    batch: int = 512
    """Clips a step, each with one of its sentences; the others of the batch are the contrast."""
    rounds: int = 60
    """Times that each clip is seen, each time with one sentence by chance."""
    learning_rate: float = 5e-4
    """It rises over the first rounds, then falls to zero along a cosine; `sgd` keeps it."""
    pretrained_rate: float = 0.5
    """The learning rate of the attention layers, which are not new, as a share of the others'."""
    weight_decay: float = 1e-4
    clip_dropout: float = 0.2
    """The share of a clip's features that are left out."""
    forgotten: float = 0.1
    """The share of words that are read as the unknown word."""
    mixing: float = 0.8
    """How far a clip's features are drawn towards a mixture of its views by chance."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that nothing could be learned with."""
        if self.batch < 2 or self.rounds < 1:
            raise ConfigError("batch must be 2 or more, and rounds 1 or more")
        for name in ("clip_dropout", "forgotten", "mixing"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is a share, from 0 to 1")
        for name in ("margin", "learning_rate"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ConfigError(f"{name} must be above 0, and finite")


def paper_settings(model: VisualSemanticConfig) -> VisualTrainingConfig:
    """As the paper says: LSTM, all contrasts, gradient descent without momentum."""
    return VisualTrainingConfig(
        model=replace(model, reader="lstm", root=False),
        optimizer="sgd",
        contrast="all",
        margin=0.2,
        batch=128,
        learning_rate=0.5,
        weight_decay=0.0,
        clip_dropout=0.0,
        forgotten=0.0,
        mixing=0.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DescribedClips:
    """Clips as features, and their sentences as numbers."""

    features: Tensor
    """(N, D)."""
    views: Tensor | None = None
    """(N, V, D): the same clips seen otherwise, for training alone."""
    ids: Tensor
    """(S, T), padded at the end."""
    clip_of: Tensor
    """(S,): the clip of each sentence, in rising order; each clip has one or more."""

    def __post_init__(self) -> None:
        """Refuse sentences that do not fit the clips."""
        counts = torch.bincount(self.clip_of, minlength=len(self.features))
        if len(counts) != len(self.features) or int(counts.min()) < 1:
            raise ConfigError("each clip needs at least one sentence, and each sentence a clip")
        object.__setattr__(self, "_counts", counts)
        object.__setattr__(self, "_first", counts.cumsum(0) - counts)

    def __len__(self) -> int:
        return len(self.features)

    def to(self, device: torch.device) -> DescribedClips:
        """The same on a device."""
        views = self.views if self.views is None else self.views.to(device)
        moved = (value.to(device) for value in (self.features, self.ids, self.clip_of))
        features, ids, clip_of = moved
        return DescribedClips(features=features, views=views, ids=ids, clip_of=clip_of)

    def some_sentences(self, clips: Tensor, generator: torch.Generator) -> Tensor:
        """One sentence of each of some clips by chance: (B,) → (B, T), without needless padding."""
        counts: Tensor = self._counts[clips]  # type: ignore[attr-defined]
        first: Tensor = self._first[clips]  # type: ignore[attr-defined]
        chance = torch.rand(len(clips), generator=generator).to(counts.device)
        ids = self.ids[first + (chance * counts).long().clamp(max=counts - 1)]
        return ids[:, : int((ids != PADDING).sum(dim=1).max())]

    def some_features(self, clips: Tensor, mixing: float, generator: torch.Generator) -> Tensor:
        """The features of some clips, drawn towards their views by chance: (B,) → (B, D)."""
        features = self.features[clips]
        if self.views is None or not mixing:
            return features
        # Shares of the views that add up to one, all equally likely (Dirichlet).
        chances = 1 - torch.rand(len(clips), self.views.shape[1], generator=generator)
        shares = -chances.log()  # a chance of 0 would be no number
        shares = (shares / shares.sum(dim=1, keepdim=True).clamp(min=1e-9)).to(features.device)
        views = torch.einsum("bv,bvd->bd", shares, self.views[clips])
        return features + mixing * (views - features)


def pad_ids(sentences: Sequence[Sequence[int]], longest: int) -> NDArray[np.int64]:
    """Numbers of words with padding at the end, cut to the longest that is read: (S, T)."""
    rows = [list(ids[:longest]) or [UNKNOWN] for ids in sentences]
    padded = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return padded


def described_clips(
    views: NDArray[np.float32], sentences: Sequence[Sequence[Sequence[int]]], longest: int
) -> DescribedClips:
    """Clips and the sentences of each as tensors.

    Args:
        views: (N, V, D); the first view of each clip is the clip as it is.
        sentences: The numbers of the words of each sentence of each clip.
        longest: Words of a sentence that are read.
    """
    counts = torch.tensor([len(texts) for texts in sentences])
    return DescribedClips(
        features=torch.from_numpy(np.ascontiguousarray(views[:, 0])),
        views=torch.from_numpy(views) if views.shape[1] > 1 else None,
        ids=torch.from_numpy(pad_ids([ids for texts in sentences for ids in texts], longest)),
        clip_of=torch.arange(len(counts)).repeat_interleave(counts),
    )


class VisualTraining:
    """One run: network, optimiser, round; it can be saved and taken up again."""

    def __init__(self, config: VisualTrainingConfig, device: torch.device) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.device = device
        self.network = VisualSemantic(config.model).to(device)
        self.round = 0
        self.best: dict[str, Any] = {"recall": -1.0}
        self.log: list[dict[str, float]] = []

    def start(self, clips: DescribedClips) -> None:
        """Make ready for the first round: the scale of the features, the optimiser."""
        self.network.set_scale(clips.features)
        slow: list[Tensor] = []
        fast: list[Tensor] = []
        for name, value in self.network.named_parameters():
            if value.requires_grad:
                old = name.startswith(("reader.layers", "reader.norm", "reader.places"))
                (slow if old else fast).append(value)
        groups = [
            {"params": fast, "share": 1.0},
            {"params": slow, "share": self.config.pretrained_rate},
        ]
        learned = [group for group in groups if group["params"]]
        rate, decay = self.config.learning_rate, self.config.weight_decay
        self.optimizer: torch.optim.Optimizer
        if self.config.optimizer == "sgd":
            self.optimizer = torch.optim.SGD(learned, lr=rate, weight_decay=decay)
        else:
            self.optimizer = torch.optim.AdamW(learned, lr=rate, weight_decay=decay)

    def save(self, path: Path) -> None:
        """Everything that is needed to go on as if nothing had happened."""
        state = {
            "config": asdict(self.config),
            "round": self.round,
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
        self.round, self.best, self.log = state["round"], state["best"], state["log"]

    def rate(self, done: float) -> float:
        """The learning rate when a share of all rounds is done."""
        if self.config.optimizer == "sgd":
            return self.config.learning_rate
        rising = min(1.0, done / 0.05)
        return self.config.learning_rate * rising * (1 + math.cos(math.pi * done)) / 2

    def learn_round(self, clips: DescribedClips) -> float:
        """Each clip once, in an order that depends on the seed and the round alone; the loss."""
        config = self.config
        seed = config.seed * 100_003 + self.round
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)  # of what is dropped: a run taken up again goes on the same
        self.network.train()
        order = torch.randperm(len(clips), generator=generator)
        steps = max(1, len(clips) // config.batch)
        total = torch.zeros((), device=self.device)
        for step, drawn in enumerate(order[: steps * config.batch].tensor_split(steps)):
            for group in self.optimizer.param_groups:
                group["lr"] = group["share"] * self.rate(
                    (self.round + step / steps) / config.rounds
                )
            numbers = drawn.to(self.device)
            ids = clips.some_sentences(numbers, generator)
            lost = torch.rand(ids.shape, generator=generator).to(self.device) < config.forgotten
            ids = torch.where(lost & (ids != PADDING), UNKNOWN, ids)
            features = clips.some_features(numbers, config.mixing, generator)
            vectors = self.network.embed_clips(features, config.clip_dropout)
            scores = vectors @ self.network.embed_sentences(ids).T
            loss = ranking_loss(scores, config.contrast, config.margin)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 2.0)
            self.optimizer.step()
            total += loss.detach()
        self.round += 1
        return float(total) / steps

    @torch.no_grad()
    def scores(self, clips: DescribedClips) -> Tensor:
        """All clips by all sentences: (N, S)."""
        self.network.eval()
        vectors = self.network.embed_clips(clips.features)
        parts = [self.network.embed_sentences(ids) for ids in torch.split(clips.ids, 512)]
        return vectors @ torch.cat(parts).T

    def judge(self, clips: DescribedClips) -> dict[str, float]:
        """Recall on clips that are not learned from; the best network so far is kept."""
        found = recalls(self.scores(clips), clips.clip_of)
        if found["recall"] > self.best["recall"]:
            weights = dict(self.network.state_dict())
            if not self.network.reader.words.weight.requires_grad:
                del weights["reader.words.weight"]  # it is large, and stays as it is
            self.best = {**found, "round": self.round, "weights": copy.deepcopy(weights)}
        return found


def recalls(scores: Tensor, clip_of: Tensor) -> dict[str, float]:
    """Recall in percent, both ways, and their mean, by which networks are chosen."""
    own = scores.gather(0, clip_of[None])[0]  # (S,)
    to_clip = (scores > own).sum(dim=0)
    mine = clip_of[None] == torch.arange(len(scores), device=scores.device)[:, None]
    best = scores.masked_fill(~mine, -math.inf).amax(dim=1)
    to_sentence = (scores > best[:, None]).sum(dim=1)
    found = {}
    for name, ranks in (("to_sentence", to_sentence), ("to_clip", to_clip)):
        for k in (1, 5, 10):
            found[f"{name}_r{k}"] = 100 * float((ranks < k).float().mean())
    if scores.isnan().any():  # a network that broke finds nothing
        found = dict.fromkeys(found, 0.0)
    return {**found, "recall": sum(found.values()) / len(found)}


def fit(
    training: VisualTraining,
    clips: DescribedClips,
    judged: DescribedClips,
    *,
    seconds: float = math.inf,
    judged_every: int = 5,
    checkpoint: Path | None = None,
    checkpoint_every_s: float = 60.0,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Train until the rounds or the time are over; the network ends as the best one was.

    Args:
        training: The run, started.
        clips: What it learns from.
        judged: What the best round is chosen by.
        seconds: How long it may take.
        judged_every: Rounds between judgements.
        checkpoint: Where the run is saved, now and then and at the end.
        checkpoint_every_s: Seconds of work that a killed run loses at most, or little more.
        progress: Told of the rounds.
    """
    started = saved = time.perf_counter()
    rounds = training.config.rounds
    over = training.round >= rounds
    while not over:
        loss = training.learn_round(clips)
        now = time.perf_counter()
        over = training.round >= rounds or now - started > seconds
        if training.round % judged_every == 0 or over:
            entry = {"round": training.round, "loss": loss, **training.judge(judged)}
            training.log.append({**entry, "seconds": now - started})
        if checkpoint is not None and (over or now - saved > checkpoint_every_s):
            training.save(checkpoint)
            saved = now
        progress(Progress(stage="training", done=training.round, total=rounds))
    training.network.load_state_dict(training.best.get("weights", {}), strict=False)
    best = {key: value for key, value in training.best.items() if key != "weights"}
    return {"best": best, "seconds": time.perf_counter() - started, "log": training.log}
