"""Small sentence encoders with weights by chance, which several tests share."""

import numpy as np
import torch

from folioreel.models.onnx_graphs import quantize_rows
from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary
from folioreel.models.word_encoder import EncoderPart, WordEncoder
from folioreel.train.onnx import skip_thought_graph
from folioreel.train.skip_thought import SkipThought, SkipThoughtConfig

WORDS = (
    "the ferry crossed river at dawn petra read dial and wrote figure down she said to old ."
    " , \" ' he looked water nothing all in evening band played -- sixty one kilos"
).split()


def made_vocabulary() -> Vocabulary:
    words = (*SPECIAL_TOKENS, *WORDS)
    return Vocabulary(words=words, counts=tuple(range(len(words), 0, -1)))


def made_networks() -> list[SkipThought]:
    """A uni- and a bi-directional network whose weights are what bytes and scales can hold."""
    torch.manual_seed(7)
    torch.set_num_threads(1)
    vocabulary = len(made_vocabulary())
    networks = []
    for bidirectional in (False, True):
        config = SkipThoughtConfig(
            vocabulary=vocabulary, word_units=16, units=24, bidirectional=bidirectional
        )
        network = SkipThought(config).eval()
        for name, parameter in network.encoder.named_parameters():
            if "bias" in name:
                torch.nn.init.uniform_(parameter, -0.5, 0.5)
            else:
                parameter.data = rounded(parameter.data * 3)
        network.words.weight.data = rounded(network.words.weight.data * 5)
        networks.append(network)
    return networks


def rounded(values: torch.Tensor) -> torch.Tensor:
    rows, scales = quantize_rows(values.detach().numpy())
    return torch.from_numpy(rows * scales[:, None])


def made_model(**changes) -> WordEncoder:
    """The two networks as an encoder."""
    parts = []
    for name, network in zip(("uni-skip", "bi-skip"), made_networks(), strict=True):
        words, scales = quantize_rows(network.words.weight.detach().numpy())
        graph = skip_thought_graph(network).SerializeToString()
        parts.append(EncoderPart(name=name, graph=graph, words=words, scales=scales))
    settings = {
        "name": "made",
        "vocabulary": made_vocabulary(),
        "parts": tuple(parts),
        "longest": 12,
        "normalize": False,
        "training": {"seed": 7, "data": "made é"},
        "card": "# Made\n\nBy chance — for tests.\n",
    }
    return WordEncoder(**settings | changes)


def by_pytorch(ids: list[int]) -> np.ndarray:
    """PyTorch's own GRU over one sentence, both networks' vectors one after the other."""
    found = []
    with torch.no_grad():
        for network in made_networks():
            words = network.words.weight[torch.tensor(ids)]  # (T, 16)
            _, last = network.encoder(words[:, None])  # (directions, 1, hidden)
            found.append(last.flatten().numpy())
    return np.concatenate(found)
