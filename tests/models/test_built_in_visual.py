"""The embeddings and the captioner that come with the package."""

import re

import numpy as np
import pytest

from folioreel.models.captioner import Captioner
from folioreel.models.folders import builtin_folder
from folioreel.models.frame_features import load_frame_features
from folioreel.models.visual_semantic import VisualSemantic

KINDS = ("visual", "scene")
NAMES = (*KINDS, "captioner")


def noise(units, rows=3):
    return np.random.default_rng(0).uniform(0, 2, (rows, units)).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_an_embedding_takes_the_features_that_frames_are_given(kind):
    model = VisualSemantic.load(kind)
    network = load_frame_features()
    assert (model.name, model.features) == (kind, kind)
    assert model.feature_units == network.units[kind]
    assert model.sentences.training["fingerprint"] == network.fingerprint
    clips = model.embed_clips(noise(model.feature_units))
    assert clips.shape == (3, model.units)
    assert np.linalg.norm(clips, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_about_the_same_sight_are_near_each_other(kind):
    model = VisualSemantic.load(kind)
    texts = ("A dog runs on the beach.", "A hound dashes along the shore.", "Two men play chess.")
    found = model.embed_sentences([*texts, ""])
    assert np.linalg.norm(found[:3], axis=1) == pytest.approx(1, abs=1e-5)
    assert not found[3].any()
    near, far, other = (found[a] @ found[b] for a, b in ((0, 1), (0, 2), (1, 2)))
    assert near > max(far, other) + 0.2


def test_the_captioner_writes_sentences_of_words():
    captioner = Captioner.load()
    network = load_frame_features()
    units = sum(network.units[kind] for kind in captioner.features)
    assert captioner.training["fingerprint"] == network.fingerprint
    found = captioner.caption(noise(units))
    assert all(re.fullmatch(r"[A-Z][a-z' -]+\.", caption.text) for caption in found)
    assert found == captioner.caption(noise(units))


def test_they_are_small():
    files = [path for name in NAMES for path in builtin_folder(name).iterdir()]
    assert sum(path.stat().st_size for path in files) < 14e6


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_what_one_asks(name):
    card = (builtin_folder(name) / "README.md").read_text(encoding="utf-8")
    assert re.search(r"30,000 sentences", card), "on what it was trained"
    assert re.search(r"`python [^`]*`", card), "by which command"
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", card), "when"
    assert re.search(r"\b\d+\.\d\b", card), "how well it does"
