"""A trained network, saved and read again: the vectors that users get are those of PyTorch."""

import numpy as np
import pytest
import torch
from made_encoders import by_pytorch, made_networks, made_vocabulary

from folioreel.models.sentence_encoder import load_encoder
from folioreel.models.word_encoder import WordEncoder
from folioreel.train.onnx import encoder_part, skip_thought_graph
from folioreel.train.sentences import skip_thought_encoder
from folioreel.train.skip_thought import SkipThought, SkipThoughtConfig

TEXTS = (
    "The ferry crossed the river at dawn.",
    "Petra read the dial, and wrote the figure down.",
    "Kilos.",
    "He looked at the water -- and said nothing at all in the evening. " * 4,
    "Nobody here knows Zyx.",
)
REPORT = {
    "corpus": {"folder": "corpus", "books": 1234, "sentences": 5_678_901},
    "step": 2000,
    "log": [{"step": 1000, "loss": 8.5}, {"step": 2000, "loss": 7.25, "perplexity_after": 45.678}],
}
LONGEST = 30


def unit(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_rounded_weights_come_back_exactly(bidirectional, tmp_path):
    network = made_networks()[bidirectional]
    vocabulary = made_vocabulary()
    skip_thought_encoder(network, vocabulary, LONGEST, REPORT).save(tmp_path / "encoder")
    encoder = load_encoder(str(tmp_path / "encoder"))
    assert encoder.name == ("bi-skip" if bidirectional else "uni-skip")
    assert encoder.units == 24
    half = slice(24, 48) if bidirectional else slice(24)
    for text, found in zip(TEXTS, encoder.encode(TEXTS), strict=True):
        expected = unit(by_pytorch(vocabulary.encode(text)[:LONGEST])[half])
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_other_weights_come_back_as_well_as_bytes_hold_them(bidirectional, tmp_path):
    torch.manual_seed(11)
    vocabulary = made_vocabulary()
    config = SkipThoughtConfig(
        # A word vector that has to be filled up for the network.
        vocabulary=len(vocabulary),
        word_units=12,
        units=32,
        bidirectional=bidirectional,
    )
    network = SkipThought(config).eval()
    network.words.weight.data *= 8
    for name, parameter in network.encoder.named_parameters():
        if "bias" in name:
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
    skip_thought_encoder(network, vocabulary, LONGEST, REPORT).save(tmp_path / "encoder")
    encoder = WordEncoder.load(tmp_path / "encoder")
    for text, found in zip(TEXTS, encoder.encode(TEXTS), strict=True):
        ids = torch.tensor(vocabulary.encode(text)[:LONGEST])
        with torch.no_grad():
            words = torch.nn.functional.pad(network.words(ids), (0, 4))
            expected = unit(network.encoder(words[:, None])[1].flatten().numpy())
        assert found @ expected > 0.9995
        assert not np.array_equal(found, expected), "bytes are no floats"


def test_the_card_and_the_settings():
    model = skip_thought_encoder(made_networks()[0], made_vocabulary(), LONGEST, REPORT)
    assert (model.longest, model.normalize, model.back_off) == (LONGEST, True, False)
    assert model.training == REPORT
    for says in (
        "uni-skip",
        "1,234",
        "5,678,901",
        "perplexity after: 45.68",
        "sentence vector: 24",
    ):
        assert says in model.card
    early = skip_thought_encoder(
        made_networks()[0], made_vocabulary(), LONGEST, {**REPORT, "log": []}
    )
    assert "perplexity" not in early.card


def test_a_part_holds_the_words_to_half_a_step():
    network = made_networks()[0]
    torch.manual_seed(2)
    words = torch.randn(len(made_vocabulary()), 16)
    words[0] = 0
    part = encoder_part("uni-skip", skip_thought_graph(network), words)
    step = np.abs(words.numpy()).max(axis=1, keepdims=True) / 127
    errors = np.abs(part.words * part.scales[:, None] - words.numpy())
    assert (errors <= 0.5001 * step + 1e-7).all()
    assert not part.words[0].any()
