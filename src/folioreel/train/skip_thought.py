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

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING


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
class Ragged:
    """The words of a batch of sentences, first words first, without any filling between them."""

    words: Tensor
    """Ids of the words that are read: (N,)."""
    targets: Tensor
    """Ids of the words that are to be written: (N,); empty for the sentence in the middle."""
    sentences: Tensor
    """The sentence of each word: (N,)."""
    order: Tensor
    """The sentences from the longest to the shortest: (B,), as cuDNN wants them."""
    places: Tensor
    """Where each sentence is in that order: (B,)."""
    sizes: Tensor
    """How many sentences have a first word, a second, …: (T,), on the CPU."""

    def pack(self, values: Tensor) -> nn.utils.rnn.PackedSequence:
        """A vector for each word as input of a recurrent layer."""
        return nn.utils.rnn.PackedSequence(values, self.sizes, self.order, self.places)


@dataclass(frozen=True, kw_only=True)
class Triples:
    """A batch of sentences with their neighbours; END begins and ends the neighbours alone."""

    middle: Ragged
    before: Ragged
    after: Ragged


class SkipThought(nn.Module):
    """One encoder, two decoders, one matrix of word vectors on each side."""

    def __init__(self, config: SkipThoughtConfig) -> None:
        super().__init__()
        self.config = config
        directions = 2 if config.bidirectional else 1
        read = _aligned(config.word_units)
        joined = _aligned(config.word_units + config.units)
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.encoder = nn.GRU(read, config.units // directions, bidirectional=config.bidirectional)
        self.before = nn.GRU(joined, config.units)
        self.after = nn.GRU(joined, config.units)
        self.vocabulary = nn.Linear(config.units, _aligned(config.vocabulary))
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

    def encode(self, middle: Ragged) -> Tensor:
        """The vector of each sentence: the state after its last word, or after both ends."""
        words = _fill(self.words(middle.words))  # (N, word_units)
        _, last = self.encoder(middle.pack(words))  # (directions, B, hidden)
        return torch.cat(list(last), dim=1)  # (B, units)

    def forward(self, triples: Triples) -> tuple[Tensor, Tensor]:
        """The mean negative log-likelihood of a word of the sentence before, and of the other."""
        vectors = self.encode(triples.middle)
        return (
            self._decode(self.before, vectors, triples.before),
            self._decode(self.after, vectors, triples.after),
        )

    def _decode(self, decoder: nn.GRU, vectors: Tensor, side: Ragged) -> Tensor:
        # index_select, as its gradient adds up in one pass; that of vectors[…] sorts first.
        given = vectors.index_select(0, side.sentences)  # (N, units)
        joined = _fill(torch.cat([self.words(side.words).to(given.dtype), given], dim=1))
        states, _ = decoder(side.pack(joined))
        return functional.cross_entropy(self.vocabulary(states.data).float(), side.targets)


def _aligned(size: int) -> int:
    """A size that tensor cores take at full speed; at 20,003 words they run at a quarter of it."""
    return -(-size // 8) * 8


def _fill(values: Tensor) -> Tensor:
    """Zeros at the end of each row, up to an aligned size."""
    return functional.pad(values, (0, -values.shape[1] % 8))
