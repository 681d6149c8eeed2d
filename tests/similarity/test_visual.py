"""The measures of pictures: cosines of shots and sentences, 0 where nothing was seen."""

import numpy as np
import pytest
from conftest import make_book, make_film
from made_embedding import ColourWords

from folioreel.config import AlignConfig
from folioreel.errors import ConfigError
from folioreel.similarity import tensor
from folioreel.similarity.tensor import SimilarityRows
from folioreel.similarity.visual import VisualMeasure
from folioreel.types import ShotFeatures

BOOK = make_book(("A red barn.", "Blue sky, red earth.", "Nobody came.", "Green, green grass."), 2)


def film_with(colours, **changes):
    film = make_film(**changes)
    assert len(colours) == len(film.shots)
    rows = np.array(colours, dtype=np.float16)
    features = ShotFeatures(
        network="colour-eyes", fingerprint="cd" * 32, vectors={"visual": rows, "scene": rows}
    )
    object.__setattr__(film, "features", features)
    return film


def rows_of(measure, film, first=0, last=None):
    last = len(film.moments) if last is None else last
    out = np.empty((1, last - first, len(BOOK.sentences)), dtype=np.float32)
    measure.rows(first, last, out)
    return out[0]


@pytest.fixture
def colours(rng):
    return rng.integers(0, 200, (len(make_film().shots), 3))


def test_cosines_of_shots_and_sentences(colours):
    colours[0] = 0  # a shot of which no frame could be seen
    film = film_with(colours)
    measure = VisualMeasure(ColourWords("visual"), film, BOOK)
    named = np.array([[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 2, 0]], dtype=float)
    found = rows_of(measure, film)
    for moment in film.moments:
        shot = colours[moment.shot].astype(float)
        sizes = np.linalg.norm(shot) * np.linalg.norm(named, axis=1)
        expected = np.divide(named @ shot, sizes, out=np.zeros(4), where=sizes > 0)
        np.testing.assert_allclose(found[moment.index], expected, atol=1e-3)
    assert measure.names == ("visual",)
    np.testing.assert_array_equal(measure.seen, [bool(m.shot) for m in film.moments])
    np.testing.assert_array_equal(rows_of(measure, film, 2, 4), found[2:4])


def test_moments_without_a_shot_get_zeros():
    film = make_film(shots=False)
    measure = VisualMeasure(ColourWords("scene"), film, BOOK)
    assert not rows_of(measure, film).any()
    assert not measure.seen.any()


def test_features_of_another_network_are_refused(colours):
    film = film_with(colours)
    film.features.vectors["visual"] = np.ones((len(film.shots), 7), dtype=np.float16)
    with pytest.raises(ConfigError, match="does not take the features of colour-eyes"):
        VisualMeasure(ColourWords("visual"), film, BOOK)


def test_stacked_with_the_other_measures(colours, monkeypatch):
    monkeypatch.setattr(tensor.VisualSemantic, "load", ColourWords)
    film = film_with(colours)
    config = AlignConfig(weights={"scene": 1.0, "tfidf": 1.0, "visual": 1.0})
    block = SimilarityRows(film, BOOK, config).block(1, 4, halo=2)
    assert block.measures == ("tfidf", "visual", "scene")
    alone = rows_of(VisualMeasure(ColourWords("visual"), film, BOOK), film)
    np.testing.assert_array_equal(block["visual"][1:], alone[:6])
    np.testing.assert_array_equal(block["scene"], block["visual"])
