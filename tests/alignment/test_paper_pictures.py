"""The preset `paper`: pictures where the film was watched, and all as without them where not."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_context import MadeRows

import folioreel
from folioreel import Aligner, load_book, load_film
from folioreel.alignment.score import context_scores
from folioreel.models.context_cnn import ContextModel
from folioreel.models.presets import load_preset

DEMO = Path(folioreel.__file__).parent / "demo"
PUBLISHED = "1d92e15dfdf0207a6835d2a58b9e24d4500979a8addd75a5c7db598133f44a24"
"""The context model that the figures of docs/explanation/results.md are of."""


def test_the_model_of_dialogue_is_the_published_one():
    model = ContextModel.load(load_preset("paper").context)
    assert hashlib.sha256(model.graph).hexdigest() == PUBLISHED


def test_a_film_that_was_not_watched_is_aligned_as_without_pictures():
    film, book = load_film(DEMO / "film.srt"), load_book(DEMO / "book.txt")
    aligner = Aligner.load("paper")
    dialogue_alone = Aligner(replace(aligner.config, context_pictures=None))
    np.testing.assert_array_equal(aligner.score(film, book), dialogue_alone.score(film, book))
    found, expected = aligner.align(film, book), dialogue_alone.align(film, book)
    assert found.links == expected.links
    assert found.signature["energy"] == expected.signature["energy"]
    assert not {"visual", "scene"} & set(found.signature["measures"])


def test_a_film_that_was_watched_is_aligned_by_its_pictures_too():
    aligner = Aligner.load("paper")
    film = load_film(DEMO / "film.mp4", encoder=aligner.frame_features())
    found = aligner.align(film, load_book(DEMO / "book.txt"))
    assert found.signature["measures"][-2:] == ["visual", "scene"]
    assert len(found.links) == len(film.moments)


@pytest.mark.parametrize("kind", ["visual", "scene"])
def test_a_sentence_that_describes_a_silent_shot_is_likelier(kind, rng):
    model = ContextModel.load(load_preset("paper").context_pictures)
    assert model.measures == load_preset("paper").with_pictures().measures
    planes = np.zeros((len(model.measures), 40, 200), dtype=np.float32)
    planes[model.measures.index("prior")] = 0.5
    for name in ("visual", "scene"):
        planes[model.measures.index(name)] = rng.normal(0.1, 0.1, (40, 200))
    cells = np.arange(40), rng.integers(10, 190, 40)
    before = context_scores(MadeRows(planes, model.measures), model)
    planes[model.measures.index(kind)][cells] += 0.4
    after = context_scores(MadeRows(planes, model.measures), model)
    assert np.mean(after[cells] > before[cells]) > 0.75  # a blind model: never
