"""The visual-semantic embedding: its networks and the ranking loss (paper, section 4.2).

A sentence is read by the paper's LSTM with peepholes or by the attention layers of the student
(train/student.py); a clip's features go through a linear map. Both vectors have unit length, and
their product is the score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import onnx
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

from folioreel.errors import ConfigError
from folioreel.models.vocabulary import PADDING
from folioreel.train.loop import check_least
from folioreel.train.student import AttentionLayer, Student, StudentConfig

if TYPE_CHECKING:
    from folioreel.models.word_encoder import WordEncoder

Reader = Literal["lstm", "attention"]
Contrast = Literal["all", "hardest", "softmax"]


@dataclass(frozen=True, kw_only=True)
class VisualSemanticConfig:
    """The size of an embedding."""

    clip_units: int  # the length of a clip's features
    vocabulary: int
    word_units: int = 256
    units: int = 512
    """The length of a vector in the common space; with `lstm`, of the reader's state too."""
    reader: Reader = "attention"
    root: bool = True
    """Whether to take the square root of the features, which come from a ReLU and are never
    negative: it keeps a few large features from drowning the rest."""
    longest: int = 48  # sentences are cut after this many words
    layers: int = 4  # of the attention reader
    inner_units: int = 1024  # of the attention reader

    def __post_init__(self) -> None:
        check_least(self, 1, "clip_units", "vocabulary", "word_units", "units", "longest")
        if self.reader not in ("lstm", "attention"):
            raise ConfigError(f"unknown reader {self.reader!r}; choose lstm or attention")


class PeepholeLstm(nn.Module):
    """The paper's LSTM: the gates look at the cell through diagonal weights."""

    def __init__(self, word_units: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.inputs = nn.Linear(word_units, 4 * units)  # of i, f, a, o
        self.states = nn.Linear(units, 4 * units, bias=False)
        self.peepholes = nn.Parameter(torch.zeros(3, units))  # of i, f, o

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """The state m after the last word: (B, T, word_units), (B,) → (B, units)."""
        state = cell = words.new_zeros(len(words), self.units)
        given = self.inputs(words)  # (B, T, 4 · units)
        into, keep, out = self.peepholes
        for t in range(words.shape[1]):
            i, f, a, o = (given[:, t] + self.states(state)).chunk(4, dim=1)
            i = torch.sigmoid(i + into * cell)
            f = torch.sigmoid(f + keep * cell)
            new_cell = f * cell + i * torch.tanh(a)
            o = torch.sigmoid(o + out * new_cell)
            real = (t < lengths)[:, None]
            state = torch.where(real, o * torch.tanh(new_cell), state)
            cell = torch.where(real, new_cell, cell)
        return state


class LstmReader(nn.Module):
    """Word vectors and the LSTM over them."""

    def __init__(self, config: VisualSemanticConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocabulary, config.word_units, padding_idx=PADDING)
        self.lstm = PeepholeLstm(config.word_units, config.units)

    def forward(self, ids: Tensor) -> Tensor:
        """The unit vectors of sentences, padded at the end: (B, T) → (B, units)."""
        state = self.lstm(self.words(ids), (ids != PADDING).sum(dim=1))
        return functional.normalize(state.float(), dim=1)


class ScaledFeatures(nn.Module):
    """Centres and scales frame features for the optimiser; saving folds both into a linear map."""

    centre: Tensor
    spread: Tensor

    def __init__(self, units: int, *, root: bool = True) -> None:
        super().__init__()
        self.root = root  # see `VisualSemanticConfig.root`
        self.register_buffer("centre", torch.zeros(units))
        self.register_buffer("spread", torch.ones(()))

    def set_scale(self, features: Tensor) -> None:
        """Take the mean and the standard deviation from the training examples' features: (N, D)."""
        values = features.clamp(min=0).sqrt() if self.root else features
        self.centre.copy_(values.mean(dim=0))
        self.spread.copy_((values - self.centre).std().clamp(min=1e-6))

    def scaled(self, features: Tensor, dropout: float) -> Tensor:
        """Centred and scaled features, some of them set to zero in training: (B, D) → (B, D)."""
        values = features.clamp(min=0).sqrt() if self.root else features
        return functional.dropout((values - self.centre) / self.spread, dropout, self.training)

    def fold(self, linear: nn.Linear) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weight and bias of a linear map as they are for features that are not scaled."""
        weight = linear.weight.detach().float() / self.spread
        bias = linear.bias.detach().float() - weight @ self.centre
        return weight.cpu().numpy(), bias.cpu().numpy()


class VisualSemanticNetwork(ScaledFeatures):
    """A reader of sentences and a linear map of clips."""

    def __init__(self, config: VisualSemanticConfig) -> None:
        super().__init__(config.clip_units, root=config.root)
        self.config = config
        self.reader: LstmReader | Student
        if config.reader == "lstm":
            self.reader = LstmReader(config)
        else:
            shared = ("vocabulary", "word_units", "units", "longest", "layers", "inner_units")
            sizes = {name: getattr(config, name) for name in shared}
            self.reader = Student(StudentConfig(**sizes))
        self.clips = nn.Linear(config.clip_units, config.units)

    def use_words(self, words: Tensor) -> None:
        """Use pretrained word vectors, and freeze them."""
        self.reader.words.weight.data.copy_(words)
        self.reader.words.weight.requires_grad_(False)

    def embed_sentences(self, ids: Tensor) -> Tensor:
        """(B, T) → (B, units), of unit length."""
        vectors: Tensor = self.reader(ids)
        return vectors

    def embed_clips(self, features: Tensor, dropout: float = 0.0) -> Tensor:
        """(B, D) → (B, units), of unit length."""
        return functional.normalize(self.clips(self.scaled(features, dropout)), dim=1)


def ranking_loss(scores: Tensor, contrast: Contrast, margin: float) -> Tensor:
    """How far the scores are from ranking each clip's own sentence first, and vice versa.

    Args:
        scores: (B, B), clips by sentences; the right pairs are the diagonal.
        contrast: `all` other sentences and clips are negatives, as in the paper; or only the
            `hardest` one for each (VSE++); or `softmax`, the cross-entropy over the whole batch.
        margin: The α of the paper; for `softmax`, the temperature.
    """
    if contrast == "softmax":
        right = torch.arange(len(scores), device=scores.device)
        both = (scores / margin, scores.T / margin)
        return sum((functional.cross_entropy(one, right) for one in both), scores.new_zeros(()))
    own = scores.diagonal()
    diagonal = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    sentences = (margin - own[:, None] + scores).clamp(min=0).masked_fill(diagonal, 0)
    clips = (margin - own[None, :] + scores).clamp(min=0).masked_fill(diagonal, 0)
    if contrast == "hardest":
        return (sentences.amax(dim=1).sum() + clips.amax(dim=0).sum()) / len(scores)
    return (sentences.sum() + clips.sum()) / len(scores)


def begin_with_student(network: VisualSemanticNetwork, student: WordEncoder) -> None:
    """Give a network the word vectors of a student, and its layers if it reads with attention."""
    (part,) = student.parts
    words = torch.from_numpy(part.words * part.scales[:, None])
    words[PADDING] = 0
    network.use_words(words)
    if isinstance(network.reader, Student):
        load_student_layers(network.reader, part.graph)
    network.to(network.centre.device)


def load_student_layers(student: Student, graph: bytes) -> None:
    """Copy the layers of a trained student out of its ONNX graph.

    Its last map is not copied: it leads into the space of the student's teacher.
    """
    stored = _stored_weights(onnx.load_model_from_string(graph))
    student.places.data = _tensor(stored[0])
    for number, layer in enumerate(cast(Iterable[AttentionLayer], student.layers)):
        first = 1 + _ARRAYS_A_LAYER * number
        values = iter(stored[first : first + _ARRAYS_A_LAYER])
        _load(layer.attention_norm, values)
        thirds = [(next(values), next(values)) for _ in range(3)]
        layer.queries_keys_values.weight.data = _tensor(np.concatenate([w for w, _ in thirds]))
        layer.queries_keys_values.bias.data = _tensor(np.concatenate([b for _, b in thirds]))
        for part in (layer.mix, layer.inner_norm, layer.widen, layer.narrow):
            _load(part, values)
    _load(student.norm, iter(stored[-4:-2]))


_ARRAYS_A_LAYER = 16  # weights and biases of two norms, queries, keys, values and three maps


def _stored_weights(model: onnx.ModelProto) -> list[NDArray[np.float32]]:
    """The weights of a graph in order; bytes are multiplied by the scales that follow them."""
    arrays = [numpy_helper.to_array(stored) for stored in model.graph.initializer]
    found = []
    for number, values in enumerate(arrays):
        if values.dtype == np.int8:
            found.append(values * arrays[number + 1])
        elif values.dtype == np.float32 and values.ndim and arrays[number - 1].dtype != np.int8:
            found.append(values)
    return found


def _load(module: Any, values: Any) -> None:
    module.weight.data, module.bias.data = _tensor(next(values)), _tensor(next(values))


def _tensor(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(values, dtype=np.float32))
