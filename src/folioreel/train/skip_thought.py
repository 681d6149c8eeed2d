"""Skip-thoughts: a GRU reads a sentence, two GRUs write its neighbours (paper, section 4.1).

The paper's encoder is h = (1 - z) ⊙ h' + z ⊙ tanh(W x + U (r ⊙ h')). PyTorch's GRU differs twice,
and we take PyTorch's, as its fused kernels are several times as fast: the reset gate is applied
after the product, r ⊙ (U h'), which is the same model but for where the gate acts; and z and 1 - z
change places, which is only a change of sign in the gate's weights.

The decoders see the sentence vector at every gate: it is joined to every input word, and a product
with the joined input is the paper's W x + C h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import END, PADDING


@dataclass(frozen=True, kw_only=True)
class SkipThoughtConfig:
    """The size of one encoder with its two decoders."""

    vocabulary: int = 20_000
    word_units: int = 620
    units: int = 2400
    """The length of the sentence vector; a bi-directional encoder gives half to each direction."""
    bidirectional: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes that make no network."""
        if min(self.vocabulary, self.word_units, self.units) < 1:
            raise ConfigError("a skip-thought model needs sizes above 0")
        if self.bidirectional and self.units % 2:
            raise ConfigError("a bi-directional encoder needs an even number of units")


@dataclass(frozen=True, kw_only=True)
class Triples:
    """A batch of sentences with their neighbours, padded on the right."""

    middle: Tensor
    """Ids of each sentence: (B, T), int64."""
    lengths: Tensor
    """Its number of words: (B,)."""
    before: Tensor
    """Ids of the sentence before, with END: (B, T')."""
    after: Tensor
    """Ids of the sentence after, with END: (B, T'')."""


class SkipThought(nn.Module):
    """One encoder, two decoders, one matrix of word vectors on each side."""

    def __init__(self, config: SkipThoughtConfig) -> None:
        super().__init__()
        self.config = config
        directions = 2 if config.bidirectional else 1
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.encoder = nn.GRU(
            config.word_units,
            config.units // directions,
            batch_first=True,
            bidirectional=config.bidirectional,
        )
        joined = config.word_units + config.units
        self.before = nn.GRU(joined, config.units, batch_first=True)
        self.after = nn.GRU(joined, config.units, batch_first=True)
        self.vocabulary = nn.Linear(config.units, config.vocabulary)
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

    def encode(self, middle: Tensor, lengths: Tensor) -> Tensor:
        """The vector of each sentence: the state after its last word, or after both ends."""
        words = self.words(middle)  # (B, T, word_units)
        if self.config.bidirectional:
            # The backward direction must begin at the last word, not at the padding.
            packed = nn.utils.rnn.pack_padded_sequence(
                words, lengths.cpu(), batch_first=True, enforce_sorted=False
            )
            _, last = self.encoder(packed)  # (2, B, units / 2)
            return torch.cat([last[0], last[1]], dim=1)
        states, _ = self.encoder(words)  # (B, T, units)
        ends = (lengths - 1)[:, None, None].expand(-1, 1, states.shape[2])
        return cast(Tensor, states.gather(1, ends)[:, 0])  # (B, units)

    def forward(self, triples: Triples) -> tuple[Tensor, Tensor]:
        """The mean negative log-likelihood of a word of the sentence before, and of the other."""
        vectors = self.encode(triples.middle, triples.lengths)
        return (
            self._decode(self.before, vectors, triples.before),
            self._decode(self.after, vectors, triples.after),
        )

    def _decode(self, decoder: nn.GRU, vectors: Tensor, target: Tensor) -> Tensor:
        # Each word is predicted from those before it; the first from END.
        inputs = functional.pad(target[:, :-1], (1, 0), value=END)
        words = self.words(inputs)  # (B, T, word_units)
        joined = torch.cat([words, vectors[:, None].expand(-1, words.shape[1], -1)], dim=2)
        states, _ = decoder(joined)  # (B, T, units)
        # Padding is left out before the softmax: it would be a third of the work.
        real = target != PADDING
        return functional.cross_entropy(self.vocabulary(states[real]).float(), target[real])
