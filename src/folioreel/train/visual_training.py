"""Training the visual-semantic embedding: described clips and the run over them (section 4.2).

Imports nothing but NumPy, ONNX and PyTorch besides this package's light modules, so that it runs on
a bare GPU machine (training/visual.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING, UNKNOWN
from folioreel.train import visual_semantic
from folioreel.train.loop import Training, check_least, check_shares, epoch_generator
from folioreel.train.visual_semantic import VisualSemanticConfig, VisualSemanticNetwork

if TYPE_CHECKING:
    from folioreel.models.word_encoder import WordEncoder


@dataclass(frozen=True, kw_only=True)
class VisualTrainingConfig:
    """How an embedding is trained; the defaults did best on the dev split of Flickr8k."""

    model: VisualSemanticConfig
    optimizer: Literal["adam", "sgd"] = "adam"
    contrast: visual_semantic.Contrast = "softmax"
    margin: float = 0.08  # the α of the ranking loss, or the temperature of `softmax`
    batch: int = 512
    """Clips per step, each with one of its sentences; the rest of the batch are the negatives."""
    epochs: int = 60  # in each epoch, every clip comes with one of its sentences, drawn at random
    learning_rate: float = 5e-4
    pretrained_rate: float = 0.5
    """The learning rate of the pretrained attention layers, relative to that of the rest."""
    weight_decay: float = 1e-4
    clip_dropout: float = 0.2  # the share of a clip's features that are set to zero
    word_dropout: float = 0.1  # the share of words that are replaced by the unknown word
    mixing: float = 0.8  # how far a clip's features move towards a random mixture of its views
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "epochs")
        check_least(self, 2, "batch")  # clips are contrasted with each other
        check_shares(self, "clip_dropout", "word_dropout", "mixing")
        for name in ("margin", "learning_rate"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ConfigError(f"{name} must be a number above 0")


def paper_settings(model: VisualSemanticConfig) -> VisualTrainingConfig:
    """The paper's own: LSTM, every other clip and sentence as a negative, SGD without momentum."""
    return VisualTrainingConfig(
        model=replace(model, reader="lstm", root=False),
        optimizer="sgd",
        contrast="all",
        margin=0.2,
        batch=128,
        learning_rate=0.5,
        weight_decay=0.0,
        clip_dropout=0.0,
        word_dropout=0.0,
        mixing=0.0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DescribedClips:
    """Clips as features, and their sentences as word ids."""

    features: Tensor  # (N, D)
    views: Tensor | None = None
    """(N, V, D): other views of the same clips, such as crops, which only training uses."""
    ids: Tensor  # (S, T), padded at the end
    clip_of: Tensor
    """(S,): the clip of each sentence, ascending; each clip has at least one sentence."""

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.features) or int(self.counts.min()) < 1:
            raise ConfigError("each clip needs at least one sentence, and each sentence a clip")

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def counts(self) -> Tensor:
        """The number of sentences of each clip: (N,)."""
        return torch.bincount(self.clip_of, minlength=len(self.features))

    def to(self, device: torch.device) -> DescribedClips:
        """The same on a device."""
        named: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: v.to(device) for k, v in named.items() if v is not None})

    def some_sentences(self, clips: Tensor, generator: torch.Generator) -> Tensor:
        """A random sentence of each of some clips: (B,) → (B, T), T being the longest of them."""
        counts = self.counts[clips]
        first = (self.counts.cumsum(0) - self.counts)[clips]
        chance = torch.rand(len(clips), generator=generator).to(counts.device)
        ids = self.ids[first + (chance * counts).long().clamp(max=counts - 1)]
        return ids[:, : int((ids != PADDING).sum(dim=1).max())]

    def some_features(self, clips: Tensor, mixing: float, generator: torch.Generator) -> Tensor:
        """The features of some clips, moved towards random mixtures of their views: (B, D)."""
        features = self.features[clips]
        if self.views is None or not mixing:
            return features
        # Shares from a flat Dirichlet distribution: exponential variates that add up to one.
        chances = 1 - torch.rand(len(clips), self.views.shape[1], generator=generator)
        shares = -chances.log()  # rand can be 0 but never 1, so this is finite
        shares = (shares / shares.sum(dim=1, keepdim=True).clamp(min=1e-9)).to(features.device)
        views = torch.einsum("bv,bvd->bd", shares, self.views[clips])
        return features + mixing * (views - features)


def pad_ids(sentences: Sequence[Sequence[int]], longest: int) -> NDArray[np.int64]:
    """Word ids with padding at the end, cut after the `longest` words: (S, T)."""
    rows = [list(ids[:longest]) or [UNKNOWN] for ids in sentences]
    padded = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
    return padded


def described_clips(
    views: NDArray[np.float32], sentences: Sequence[Sequence[Sequence[int]]], longest: int
) -> DescribedClips:
    """Clips (N, V, D), the whole clip as first view, with the word ids of their sentences."""
    counts = torch.tensor([len(texts) for texts in sentences])
    return DescribedClips(
        features=torch.from_numpy(np.ascontiguousarray(views[:, 0])),
        views=torch.from_numpy(views) if views.shape[1] > 1 else None,
        ids=torch.from_numpy(pad_ids([ids for texts in sentences for ids in texts], longest)),
        clip_of=torch.arange(len(counts)).repeat_interleave(counts),
    )


def start_network(
    config: VisualTrainingConfig, device: torch.device, student: WordEncoder | None = None
) -> VisualSemanticNetwork:
    """A new network by the seed, which may begin with the words and layers of a student."""
    torch.manual_seed(config.seed)
    network = VisualSemanticNetwork(config.model).to(device)
    if student is not None:
        visual_semantic.begin_with_student(network, student)
    return network


class VisualTraining(Training[tuple[Tensor, Tensor]]):
    """One run; a batch is the features of some clips (B, D) and a sentence of each (B, T)."""

    network: VisualSemanticNetwork
    best_metric = "recall"
    clip_norm = 2.0  # exploding gradients of the LSTM would undo an epoch's work
    validate_every = 5  # epochs are short, and a validation compares all clips with all sentences

    def __init__(
        self,
        config: VisualTrainingConfig,
        network: VisualSemanticNetwork,
        clips: DescribedClips,
        held_out: DescribedClips,
    ) -> None:
        self.clips, self.held_out = clips, held_out
        network.set_scale(clips.features)
        super().__init__(
            config,
            network,
            _optimizer(config, network),
            total=config.epochs,
            # The clips that do not fill a batch are left to another epoch.
            unit_steps=max(1, len(clips) // config.batch),
        )

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Each clip once in an epoch, with one of its sentences."""
        config, clips, device = self.config, self.clips, self.device
        for epoch in range(self.done, self.total):
            generator = epoch_generator(config.seed, epoch)
            order = torch.randperm(len(clips), generator=generator)
            order = order[: self.unit_steps * config.batch]
            for drawn in order.tensor_split(self.unit_steps):
                numbers = drawn.to(device)
                ids = clips.some_sentences(numbers, generator)
                dropped = torch.rand(ids.shape, generator=generator).to(device)
                dropped = (dropped < config.word_dropout) & (ids != PADDING)
                features = clips.some_features(numbers, config.mixing, generator)
                yield features, torch.where(dropped, UNKNOWN, ids)

    def loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        """The ranking loss over all clips and sentences of the batch."""
        features, ids = batch
        vectors = self.network.embed_clips(features, self.config.clip_dropout)
        scores = vectors @ self.network.embed_sentences(ids).T
        return visual_semantic.ranking_loss(scores, self.config.contrast, self.config.margin)

    def learning_rate(self, done: float) -> float:
        """Rises over the first twentieth, then falls to zero along a cosine; `sgd` keeps it."""
        rate: float = self.config.learning_rate
        if self.config.optimizer == "sgd":
            return rate
        return rate * min(1.0, done / 0.05) * (1 + math.cos(math.pi * done)) / 2

    def validate(self) -> dict[str, float]:
        """Recall on the held-out clips."""
        return recalls(self.scores(self.held_out), self.held_out.clip_of)

    @torch.no_grad()
    def scores(self, clips: DescribedClips) -> Tensor:
        """All clips by all sentences: (N, S)."""
        self.network.eval()
        vectors = self.network.embed_clips(clips.features)
        parts = [self.network.embed_sentences(ids) for ids in torch.split(clips.ids, 512)]
        return vectors @ torch.cat(parts).T


def _optimizer(
    config: VisualTrainingConfig, network: VisualSemanticNetwork
) -> torch.optim.Optimizer:
    """AdamW or SGD, with a lower learning rate for the layers that were trained before."""
    shares: dict[float, list[Tensor]] = {1.0: []}
    for name, value in network.named_parameters():
        if value.requires_grad:
            known = name.startswith(("reader.layers", "reader.norm", "reader.places"))
            shares.setdefault(config.pretrained_rate if known else 1.0, []).append(value)
    groups = [{"params": values, "share": share} for share, values in shares.items()]
    kind = torch.optim.SGD if config.optimizer == "sgd" else torch.optim.AdamW
    return kind(groups, lr=config.learning_rate, weight_decay=config.weight_decay)


def recalls(scores: Tensor, clip_of: Tensor) -> dict[str, float]:
    """Recall at 1, 5 and 10 in percent, in both directions, and their mean, `recall`."""
    own = scores.gather(0, clip_of[None])[0]  # (S,)
    to_clip = (scores > own).sum(dim=0)
    mine = clip_of[None] == torch.arange(len(scores), device=scores.device)[:, None]
    best = scores.masked_fill(~mine, -math.inf).amax(dim=1)
    to_sentence = (scores > best[:, None]).sum(dim=1)
    found = {}
    for name, ranks in (("to_sentence", to_sentence), ("to_clip", to_clip)):
        for k in (1, 5, 10):
            found[f"{name}_r{k}"] = 100 * float((ranks < k).float().mean())
    if scores.isnan().any():  # nothing is greater than nan, so that all ranks would be first
        found = dict.fromkeys(found, 0.0)
    return {**found, "recall": sum(found.values()) / len(found)}
