"""The captioner: NumPy against PyTorch, the beam against all sentences there are."""

from itertools import product

import numpy as np
import pytest
import torch

from folioreel.errors import ModelFolderError
from folioreel.models.captioner import Captioner, caption_tokens
from folioreel.models.vocabulary import END, SPECIAL_TOKENS, Vocabulary
from folioreel.train.captioner import (
    CaptionerConfig,
    CaptionerNetwork,
    CaptionTraining,
    CaptionTrainingConfig,
    stored_weights,
)
from folioreel.train.visual_training import DescribedClips

WORDS = (*SPECIAL_TOKENS, "dog", "cat", "runs")


def made_network(seed=1):
    torch.manual_seed(seed)
    config = CaptionerConfig(vocabulary=len(WORDS), picture_units=6, word_units=8, units=10)
    network = CaptionerNetwork(config).eval()
    for parameter in network.parameters():
        parameter.data = (parameter.data * 4).half().float()
    return network


def made_captioner(network, **changes):
    settings = {
        "name": "made",
        "features": ("visual",),
        "vocabulary": Vocabulary(words=WORDS, counts=(1,) * len(WORDS)),
        "weights": {name: v.astype(np.float16) for name, v in network.weights().items()},
        "beam": 50,
        "length_power": 0.0,
        "training": {"seed": 1},
        "card": "# Made\n",
    }
    return Captioner(**settings | changes)


def likelihood(network, parts, words):
    """Of a sentence with its end, by PyTorch over the whole sentence at once."""
    with torch.no_grad():
        odds = network(parts[None], torch.tensor([[END, *words]]))
    logs = torch.log_softmax(odds[0], dim=1)
    return float(sum(logs[t, word] for t, word in enumerate([*words, END])))


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_a_wide_beam_finds_the_best_of_all_sentences(power, monkeypatch):
    monkeypatch.setattr("folioreel.models.captioner._LONGEST", 4)
    network = made_network()
    captioner = made_captioner(network, length_power=power)
    pictures = torch.rand(5, 6, generator=torch.Generator().manual_seed(3))
    found = captioner.caption(pictures.numpy())
    for caption, parts in zip(found, pictures, strict=True):
        sentences = [s for n in range(4) for s in product((3, 4, 5), repeat=n)]
        scores = [likelihood(network, parts, s) / (len(s) + 1) ** power for s in sentences]
        best = sentences[int(np.argmax(scores))]
        assert caption_tokens(caption.text) == [WORDS[word] for word in best]
        assert caption.score == pytest.approx(max(scores), abs=2e-3)


def test_the_second_and_third_best_are_found_too(monkeypatch):
    monkeypatch.setattr("folioreel.models.captioner._LONGEST", 4)
    network = made_network()
    pictures = torch.rand(5, 6, generator=torch.Generator().manual_seed(8))
    sentences = [s for n in range(4) for s in product((3, 4, 5), repeat=n)]
    for captions, parts in zip(
        made_captioner(network).captions(pictures.numpy(), 3), pictures, strict=True
    ):
        best = sorted((likelihood(network, parts, s) for s in sentences), reverse=True)
        assert [caption.score for caption in captions] == pytest.approx(best[:3], abs=2e-3)


def test_the_scale_of_the_features_is_part_of_the_weights():
    network = made_network()
    parts = torch.rand(20, 6)
    network.set_scale(parts)
    with torch.no_grad():
        seen = torch.relu(network.picture(network.scaled(parts, 0.0))).numpy()
    weights = network.weights()
    by_hand = np.sqrt(parts.numpy()) @ weights["picture.weight"].T + weights["picture.bias"]
    assert np.maximum(by_hand, 0) == pytest.approx(seen, abs=1e-4)


def test_saved_and_loaded_it_says_the_same(tmp_path):
    captioner = made_captioner(made_network(), beam=3, length_power=0.7)
    captioner.save(tmp_path / "captioner")
    again = Captioner.load(tmp_path / "captioner")
    pictures = np.random.default_rng(4).uniform(0, 1, (70, 6)).astype(np.float32)
    assert again.caption(pictures) == captioner.caption(pictures)
    assert again.caption(pictures[:0]) == []
    one_by_one = [again.caption(picture[None])[0].text for picture in pictures[:5]]
    assert one_by_one == [caption.text for caption in captioner.caption(pictures)[:5]]
    (tmp_path / "captioner" / "weights.safetensors").write_bytes(b"broken")
    with pytest.raises(ModelFolderError, match=r"weights\.safetensors is damaged"):
        Captioner.load(tmp_path / "captioner")


def test_weights_as_bytes_are_nearly_the_same(tmp_path):
    network = made_network()
    stored = stored_weights(network.weights())
    assert stored["words.weight"].dtype == np.int8
    captioner = made_captioner(network, weights=stored)
    captioner.save(tmp_path / "captioner")
    again = Captioner.load(tmp_path / "captioner")
    pictures = np.random.default_rng(4).uniform(0, 1, (20, 6)).astype(np.float32)
    exact = made_captioner(network).caption(pictures)
    for found, expected in zip(again.caption(pictures), exact, strict=True):
        assert found.score == pytest.approx(expected.score, abs=0.15)
    assert again.caption(pictures) == captioner.caption(pictures)


def made_clips():
    """Pictures of a dog or a cat; the sentence tells which."""
    rng = np.random.default_rng(5)
    kinds = rng.integers(0, 2, 60)
    parts = rng.uniform(0, 0.2, (60, 6)) + np.where(kinds[:, None] == 0, 0.0, 1.0)
    ids = np.stack([[3 + kind, 5] for kind in kinds])
    pictures = torch.tensor(parts, dtype=torch.float32)
    clips = DescribedClips(features=pictures, ids=torch.from_numpy(ids), clip_of=torch.arange(60))
    return clips, kinds


def made_training(clips, **changes):
    config = CaptionerConfig(vocabulary=len(WORDS), picture_units=6, word_units=8, units=16)
    settings = {"batch": 10, "epochs": 12, "learning_rate": 1e-2, "dropout": 0.1}
    settings["smoothing"] = 0.0
    config = CaptionTrainingConfig(model=config, **settings | changes)
    return CaptionTraining(config, clips, clips)


def test_it_learns_what_is_to_be_seen():
    clips, kinds = made_clips()
    training = made_training(clips, epochs=30, learning_rate=3e-2)
    report = training.fit()
    assert report["best"]["held_out_loss"] < 0.1
    captioner = made_captioner(training.network, beam=2)
    found = [caption.text for caption in captioner.caption(clips.features.numpy())]
    assert found == ["Dog runs." if kind == 0 else "Cat runs." for kind in kinds]


def test_a_resumed_run_ends_as_one_that_was_not_stopped(tmp_path):
    clips, _ = made_clips()
    whole = made_training(clips, epochs=4).fit()
    first = made_training(clips, epochs=4)
    first.fit(seconds=0, checkpoint=tmp_path / "run.pt")
    assert first.done == 1
    found = made_training(clips, epochs=4).fit(checkpoint=tmp_path / "run.pt")
    assert found["steps"] == 3 * 6
    losses = [[entry["held_out_loss"] for entry in report["log"]] for report in (found, whole)]
    assert losses[0] == losses[1]
