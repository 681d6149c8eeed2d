"""A small transformer over pieces of words, ready for arithmetic in bytes.

The network is BERT's: word-piece, position and type vectors, layers of attention with the norm
after each sum, and the mean over the pieces as the vector of the text. So it can start from any
published model of that shape.

Users run its products in bytes (`transformer_graph` in onnx.py), several times as fast as in
float32. `ByteLinear` rounds in training exactly as the graph does, so that the network learns to
live with it.

Imports nothing but NumPy and PyTorch besides this package's light modules, so that it runs on a
bare GPU machine (training/paraphrase.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from folioreel.errors import ConfigError

_STEPS = 255  # an activation is one of 256 values, a weight one of 255
_FOLLOWED = 16  # one in so many calls moves the bounds of activations: looking takes time
_KEPT = 0.9  # of the bounds whenever they move


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The size of a transformer."""

    vocabulary: int = 30_522
    units: int = 384
    layers: int = 6
    heads: int = 12
    inner_units: int = 1536  # of the two-layer network after each attention
    longest: int = 128  # texts are cut after this many pieces

    def __post_init__(self) -> None:
        if self.units % self.heads:
            raise ConfigError("a transformer's units must be a multiple of its heads")


class ByteLinear(nn.Linear):
    """A linear layer that can round its inputs and weights to bytes, as the graph will.

    Inputs are rounded between two bounds that follow what is seen in training, weights by one scale
    for each output. Gradients pass through the rounding as if it were not there.
    """

    low: Tensor
    high: Tensor

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.zeros(()))
        self.rounds = False
        self.follows = True  # whether the bounds follow what is seen
        self._calls = 0

    @property
    def input_scale(self) -> Tensor:
        """What one step of an input byte is worth."""
        return (self.high - self.low).clamp(min=1e-6) / _STEPS

    @property
    def input_zero(self) -> Tensor:
        """The input byte that means 0."""
        return torch.round(-self.low / self.input_scale).clamp(0, _STEPS)

    @property
    def weight_scales(self) -> Tensor:
        """What one step of a weight's byte is worth, for each output: (outputs, 1)."""
        return self.weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-9) / (_STEPS // 2)

    def forward(self, values: Tensor) -> Tensor:
        """values: (..., inputs) → (..., outputs)."""
        if self.training and self.follows:
            if self._calls % _FOLLOWED == 0:
                self._follow(values.detach())
            self._calls += 1
        if not self.rounds:
            return super().forward(values)
        scale, zero = self.input_scale.to(values.dtype), self.input_zero.to(values.dtype)
        steps = (torch.round(values.detach() / scale) + zero).clamp(0, _STEPS)
        # Values beyond the bounds are cut off, and pass no gradient.
        kept = values.clamp(-zero * scale, (_STEPS - zero) * scale)
        values = kept + ((steps - zero) * scale - kept).detach()
        scales = self.weight_scales
        rounded = torch.round(self.weight.detach() / scales) * scales
        return functional.linear(values, self.weight + (rounded - self.weight).detach(), self.bias)

    def _follow(self, values: Tensor) -> None:
        low, high = values.amin().float().clamp(max=0), values.amax().float().clamp(min=0)
        # The first bounds are those of the first values; loaded ones move on. No `if`, which would
        # wait for the GPU.
        share = torch.where(self.high > self.low, 1 - _KEPT, 1.0)
        self.low.lerp_(low, share)
        self.high.lerp_(high, share)


class TransformerLayer(nn.Module):
    """Self-attention and a two-layer network; each is added to its input, then normed."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        units = config.units
        self.heads = config.heads
        self.queries_keys_values = ByteLinear(units, 3 * units)
        self.mix = ByteLinear(units, units)
        self.attention_norm = nn.LayerNorm(units, eps=1e-12)
        self.widen = ByteLinear(units, config.inner_units)
        self.narrow = ByteLinear(config.inner_units, units)
        self.inner_norm = nn.LayerNorm(units, eps=1e-12)

    def forward(self, pieces: Tensor, real: Tensor) -> Tensor:
        """pieces: (B, T, units); real: (B, T), which of them are not padding."""
        count, length, units = pieces.shape
        joined = self.queries_keys_values(pieces)
        parts = joined.view(count, length, 3, self.heads, units // self.heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # each (B, heads, T, ·)
        seen = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=real[:, None, None, :]
        )
        seen = seen.transpose(1, 2).reshape(count, length, units)
        pieces = self.attention_norm(pieces + self.mix(seen))
        inner = functional.gelu(self.widen(pieces))
        normed: Tensor = self.inner_norm(pieces + self.narrow(inner))
        return normed


class Transformer(nn.Module):
    """Piece and position vectors, attention, mean."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.pieces = nn.Embedding(config.vocabulary, config.units)
        self.places = nn.Parameter(torch.zeros(config.longest, config.units))
        self.norm = nn.LayerNorm(config.units, eps=1e-12)
        self.layers = nn.ModuleList(TransformerLayer(config) for _ in range(config.layers))

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        """The unit vectors of texts: piece numbers and which are real, (B, T) → (B, units)."""
        pieces = self.norm(self.pieces(ids) + self.places[: ids.shape[1]])
        for layer in self.layers:
            pieces = layer(pieces, real)
        weights = real[:, :, None].to(pieces.dtype)
        mean = (pieces * weights).sum(dim=1) / weights.sum(dim=1)
        return functional.normalize(mean.float(), dim=1)

    def with_layers(self, count: int) -> Transformer:
        """A deeper network that starts from this one, with some of its layers repeated."""
        if count < len(self.layers):
            raise ConfigError(
                f"a network of {len(self.layers)} layers cannot become one of {count}"
            )
        network = Transformer(replace(self.config, layers=count))
        own = self.state_dict()
        chosen = {name: value for name, value in own.items() if not name.startswith("layers.")}
        for k in range(count):
            source = f"layers.{k * len(self.layers) // count}."
            for name, value in own.items():
                if name.startswith(source):
                    chosen[f"layers.{k}.{name.removeprefix(source)}"] = value
        network.load_state_dict(chosen)
        return network

    def round_to_bytes(self, rounds: bool = True) -> None:
        """Whether linear layers compute as the graph will."""
        for module in self.modules():
            if isinstance(module, ByteLinear):
                module.rounds = rounds

    def keep_bounds(self) -> None:
        """Leave the bounds of activations as they are, as where they come from a graph."""
        for module in self.modules():
            if isinstance(module, ByteLinear):
                module.follows = False

    @classmethod
    def from_graph(cls, model: Any) -> Transformer:
        """The network of an ONNX graph that `transformer_graph` made, with its bounds."""
        # A bare GPU machine need not have ONNX.
        from folioreel.train.graph_weights import network_from_graph

        return network_from_graph(model)

    @classmethod
    def from_bert(cls, state: Mapping[str, Tensor], longest: int = 128) -> Transformer:
        """The network with the weights of a published BERT, by the names they have there."""
        pieces = state["embeddings.word_embeddings.weight"]
        layers = sum(name.endswith("attention.self.query.weight") for name in state)
        vocabulary, units = pieces.shape
        inner = len(state["encoder.layer.0.intermediate.dense.bias"])
        network = cls(
            TransformerConfig(
                vocabulary=vocabulary,
                units=units,
                layers=layers,
                heads=units // 32 if units < 768 else units // 64,
                inner_units=inner,
                longest=longest,
            )
        )
        # Every text is of type 0, so its vector can be added to those of the places.
        places = state["embeddings.position_embeddings.weight"][:longest]
        own = {
            "pieces.weight": pieces,
            "places": places + state["embeddings.token_type_embeddings.weight"][0],
            "norm.weight": state["embeddings.LayerNorm.weight"],
            "norm.bias": state["embeddings.LayerNorm.bias"],
        }
        names = {
            "mix": "attention.output.dense",
            "attention_norm": "attention.output.LayerNorm",
            "widen": "intermediate.dense",
            "narrow": "output.dense",
            "inner_norm": "output.LayerNorm",
        }
        for k in range(layers):
            theirs = f"encoder.layer.{k}"
            for kind in ("weight", "bias"):
                parts = (state[f"{theirs}.attention.self.{n}.{kind}"] for n in _PARTS)
                own[f"layers.{k}.queries_keys_values.{kind}"] = torch.cat(list(parts))
                for ours, name in names.items():
                    own[f"layers.{k}.{ours}.{kind}"] = state[f"{theirs}.{name}.{kind}"]
        network.load_state_dict({k: v.float() for k, v in own.items()}, strict=False)
        return network


_PARTS = ("query", "key", "value")
