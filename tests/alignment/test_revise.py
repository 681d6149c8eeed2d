"""Links that follow a judgement: the window that is solved again against the whole film."""

import numpy as np
import pytest
from conftest import make_book, make_film

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.links import fix_positions
from folioreel.alignment.positions import film_times
from folioreel.alignment.revise import Reviser
from folioreel.config import AlignConfig, CalibrationConfig, ChainConfig, StepsConfig
from folioreel.models.chain import ABSENT

MOMENTS, SENTENCES = 200, 150
POSITIONS = AlignConfig(
    weights={"rare": 1.0},
    steps=StepsConfig(timeline=0.05),
    calibration=CalibrationConfig(link=0.8, evidence=0.2, around=1.5, bias=-0.5),
)
CHAIN = AlignConfig(weights={"rare": 1.0}, chain=ChainConfig(unary=1.0))


@pytest.fixture
def long_film():
    spoken = tuple((2.0 * k, 2.0 * k + 1.5, f"Line {k}.") for k in range(MOMENTS))
    return make_film(spoken, duration_s=2.0 * MOMENTS, shots=False)


@pytest.fixture
def long_book():
    return make_book(tuple(f"Sentence number {k}." for k in range(SENTENCES)), 3)


@pytest.fixture
def scores(rng):
    """Half of the moments are rendered at an even pace."""
    found = rng.normal(-6, 1.5, (MOMENTS, SENTENCES)).astype(np.float32)
    for moment in np.flatnonzero(rng.random(MOMENTS) < 0.5):
        found[moment, moment * SENTENCES // MOMENTS] = 5.0
    return found


JUDGEMENTS = [(100, 20), (101, ABSENT), (20, 140), (21, 141), (199, 0), (0, ABSENT), (100, None)]


@pytest.mark.parametrize("config", [POSITIONS, CHAIN])
def test_a_window_gives_what_the_whole_film_gives(config, long_film, long_book, scores):
    aligner = Aligner(config)
    before = scores.copy()
    links = list(aligner.link(long_film, long_book, scores)[0])
    reviser = Reviser(aligner, long_film, long_book, scores)
    judged = {}
    for moment, sentence in JUDGEMENTS:
        for link in reviser.judge(moment, sentence):
            links[link.moment] = link
        if sentence is None:
            del judged[moment]
        else:
            judged[moment] = sentence
        whole = aligner.link(long_film, long_book, scores, judged)[0]
        assert [link.sentence for link in links] == [link.sentence for link in whole]
        assert [link.in_book for link in links] == [link.in_book for link in whole]
        assert np.allclose([k.score for k in links], [k.score for k in whole], atol=2e-3)
        known = [
            [{a.sentence: a.score for a in k.alternatives} for k in some] for some in (links, whole)
        ]
        same = [one.keys() == other.keys() for one, other in zip(*known, strict=True)]
        assert np.mean(same) > 0.98  # of two passages that are as likely, either may be third
        for one, other in zip(*known, strict=True):
            assert all(abs(one[k] - other[k]) < 2e-3 for k in one.keys() & other.keys())
    assert np.array_equal(scores, before)


@pytest.mark.parametrize("config", [POSITIONS, CHAIN])
def test_only_the_surroundings_are_solved_again(config, long_film, long_book, scores):
    reviser = Reviser(Aligner(config), long_film, long_book, scores)
    links = reviser.judge(100, 20)
    assert 1 < len(links) < MOMENTS
    moments = [link.moment for link in links]
    assert moments == list(range(moments[0], moments[-1] + 1))


@pytest.mark.parametrize("config", [POSITIONS, CHAIN])
def test_a_judged_link_is_certain(config, film, book):
    """Moment 2 is silent, moment 3 spoken; neighbours follow a judgement."""
    scores = np.full((6, 12), -2.0, dtype=np.float32)
    links = Aligner(config).link(film, book, scores, {2: 7, 3: 8, 4: ABSENT})[0]
    assert [(links[i].sentence, links[i].score, links[i].in_book) for i in (2, 3)] == [
        (7, 1.0, True),
        (8, 1.0, True),
    ]
    assert (links[4].score, links[4].in_book) == (0.0, False)
    assert 6 <= links[4].sentence <= 10
    free = Aligner(config).link(film, book, scores)[0]
    assert free[4].score > 0


def test_judgements_known_from_the_start(long_film, long_book, scores):
    aligner = Aligner(POSITIONS)
    judged = {50: 120, 51: 121, 120: ABSENT}
    reviser = Reviser(aligner, long_film, long_book, scores, judged)
    links = {link.moment: link for link in reviser.judge(52, 122)}
    whole = aligner.link(long_film, long_book, scores, {**judged, 52: 122})[0]
    for moment, link in links.items():
        assert link.sentence == whole[moment].sentence
        assert link.score == pytest.approx(whole[moment].score, abs=2e-3)


def test_what_is_known_of_silent_moments(film, book):
    scores = Aligner.load().score(film, book)
    assert np.isneginf(scores).all(axis=1).tolist() == [not m.text for m in film.moments]
    fixed = fix_positions(scores, {0: 3, 2: 5})
    assert fixed[0].rendered is True
    assert np.flatnonzero(fixed[0].sentences).tolist() == [3]
    # The silent shot has a place, and no words that could be a rendering.
    assert fixed[2].rendered is False
    assert np.flatnonzero(fixed[2].sentences).tolist() == [5]
    assert np.isfinite(film_times(film)).all()
