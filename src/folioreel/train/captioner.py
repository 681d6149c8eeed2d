"""The captioner: an LSTM that writes a sentence for a picture, and how it is trained.

As in Show and Tell (Vinyals et al. 2015), but the picture is part of the input at every word.
models/captioner.py runs it without PyTorch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor, nn

from folioreel.models.captioner import caption_tokens
from folioreel.models.vocabulary import END, PADDING, SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.train.loop import Training, check_least, check_shares, epoch_generator
from folioreel.train.visual_semantic import ScaledFeatures
from folioreel.train.visual_training import DescribedClips


def caption_words(captions: Iterable[Sequence[str]], rarest: int = 4) -> Vocabulary:
    """The words that a captioner can write: those that occur at least `rarest` times.

    A word that was seen fewer times has a vector that is little better than random.
    """
    counts = Counter(word for texts in captions for text in texts for word in caption_tokens(text))
    words = sorted((w for w in counts if counts[w] >= rarest), key=lambda w: (-counts[w], w))
    kept = [counts[word] for word in words]
    rest = counts.total() - sum(kept)  # the occurrences of the unknown word
    return Vocabulary(words=(*SPECIAL_TOKENS, *words), counts=(0, 0, rest, *kept))


def caption_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    """The word ids of a caption."""
    return [vocabulary.ids.get(word, UNKNOWN) for word in caption_tokens(text)]


@dataclass(frozen=True, kw_only=True)
class CaptionerConfig:
    """The size of a captioner."""

    vocabulary: int
    picture_units: int  # the length of a picture's features
    word_units: int = 256
    units: int = 512  # the length of the LSTM's state, and of the vector of a picture

    def __post_init__(self) -> None:
        check_least(self, 1, "vocabulary", "picture_units", "word_units", "units")


class CaptionerNetwork(ScaledFeatures):
    """A map of the picture, an LSTM, and one table of word vectors for input and output."""

    def __init__(self, config: CaptionerConfig, dropout: float = 0.0) -> None:
        super().__init__(config.picture_units)
        self.config = config
        self.dropout = dropout
        units = config.units
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.picture = nn.Linear(config.picture_units, units)
        self.first = nn.Linear(units, 2 * units)  # the initial state and cell
        self.lstm = nn.LSTM(config.word_units + units, units, batch_first=True)
        self.narrow = nn.Linear(2 * units, config.word_units)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))
        # The same vectors give the logits, which should begin near 0: all words equally likely.
        nn.init.normal_(self.words.weight, std=0.1)

    def forward(self, features: Tensor, ids: Tensor) -> Tensor:
        """The logits of each next word: (B, D), (B, T) → (B, T, V).

        ids: the words so far, beginning with END.
        """
        seen = torch.relu(self.picture(self.scaled(features, self.dropout / 2)))  # (B, units)
        state, cell = torch.tanh(self.first(seen)).chunk(2, dim=1)
        words = functional.dropout(self.words(ids), self.dropout, self.training)
        shown = seen[:, None].expand(-1, ids.shape[1], -1)
        states, _ = self.lstm(
            torch.cat([words, shown], dim=2), (state[None].contiguous(), cell[None].contiguous())
        )
        joined = functional.dropout(torch.cat([states, shown], dim=2), self.dropout, self.training)
        logits: Tensor = self.narrow(joined) @ self.words.weight.T + self.bias
        return logits

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All that models/captioner.py needs; centring and scaling are folded into `picture`."""
        state = {name: value.float().cpu().numpy() for name, value in self.state_dict().items()}
        state["picture.weight"], state["picture.bias"] = self.fold(self.picture)
        return {name: value for name, value in state.items() if name not in ("centre", "spread")}


def stored_weights(weights: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """The weights as they are saved: matrices as bytes, with a scale for each row."""
    # Imported here, since a bare GPU machine has no ONNX Runtime.
    from folioreel.models.onnx_graphs import quantize_rows

    found: dict[str, NDArray[Any]] = {}
    for name, values in weights.items():
        if values.ndim == 2:
            found[name], found[f"{name}.scales"] = quantize_rows(values)
        else:
            found[name] = values
    return found


@dataclass(frozen=True, kw_only=True)
class CaptionTrainingConfig:
    """How a captioner is trained."""

    model: CaptionerConfig
    batch: int = 128  # sentences per step
    epochs: int = 25
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    dropout: float = 0.5
    smoothing: float = 0.1
    """Label smoothing: the share of each target's probability that is spread over all words."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_least(self, 1, "batch", "epochs")
        check_shares(self, "dropout", "smoothing", below_one=True)


class CaptionTraining(Training[Tensor]):
    """One run; a batch is the numbers of some sentences: (B,)."""

    network: CaptionerNetwork
    best_metric = "held_out_loss"
    higher_is_better = False
    clip_norm = 5.0  # for the recurrent weights, whose gradients explode now and then

    def __init__(
        self, config: CaptionTrainingConfig, pictures: DescribedClips, held_out: DescribedClips
    ) -> None:
        torch.manual_seed(config.seed)
        self.pictures, self.held_out = pictures, held_out
        network = CaptionerNetwork(config.model, config.dropout).to(pictures.ids.device)
        network.set_scale(pictures.features)
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        steps = -(-len(pictures.ids) // config.batch)
        super().__init__(config, network, optimizer, total=config.epochs, unit_steps=steps)

    def batches(self) -> Iterator[Tensor]:
        """Each sentence once in an epoch."""
        for epoch in range(self.done, self.total):
            generator = epoch_generator(self.config.seed, epoch)
            order = torch.randperm(len(self.pictures.ids), generator=generator)
            for rows in torch.split(order, self.config.batch):
                yield rows.to(self.device)

    def loss(self, batch: Tensor) -> Tensor:
        """The mean cross-entropy of a word."""
        return self._cross_entropy(self.pictures, batch, self.config.smoothing)

    def learning_rate(self, done: float) -> float:
        """Rises over the first 3 percent, then falls to zero along a cosine."""
        rate: float = self.config.learning_rate
        return rate * min(1.0, done / 0.03) * (1 + math.cos(math.pi * done)) / 2

    def validate(self) -> dict[str, float]:
        """The loss per word on sentences about held-out pictures."""
        count = len(self.held_out.ids)
        losses = [
            float(self._cross_entropy(self.held_out, rows, 0.0)) * len(rows)
            for rows in torch.split(torch.arange(count, device=self.device), 500)
        ]
        return {"held_out_loss": sum(losses) / count}

    def _cross_entropy(self, clips: DescribedClips, rows: Tensor, smoothing: float) -> Tensor:
        """The mean over the words of some sentences, END included."""
        features, ids = clips.features[clips.clip_of[rows]], clips.ids[rows]
        lengths = (ids != PADDING).sum(dim=1)
        ids = ids[:, : int(lengths.max())]
        targets = functional.pad(ids, (0, 1), value=PADDING)
        targets.scatter_(1, lengths[:, None], END)
        logits = self.network(features, functional.pad(ids, (1, 0), value=END))
        return functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=PADDING, label_smoothing=smoothing
        )
