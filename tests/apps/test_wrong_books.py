"""Whether a p-value from wrong books is what it says."""

import numpy as np
import pytest

from folioreel.apps.wrong_books import wrong_book_chances


def draw_wrong(rng, count, level=-4.2, scatter=0.4):
    return np.sort(rng.normal(level, scatter, count))[::-1]


@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("level", [-4.6, -4.0])
def test_false_alarms_are_as_rare_as_they_should_be(rng, count, level):
    trials = 600
    least = [wrong_book_chances(draw_wrong(rng, count, level)).min() for _ in range(trials)]
    # Three standard deviations of the count above what is promised.
    for promised in (0.001, 0.05):
        allowed = promised * trials + 3 * np.sqrt(promised * trials)
        assert sum(chance < promised for chance in least) <= allowed


@pytest.mark.parametrize("count", [0, 1, 7, 29])
def test_the_right_book_stands_out(rng, count):
    chances = wrong_book_chances(np.array([0.0, *draw_wrong(rng, count)]))
    assert chances[0] < 0.001
    assert (chances[1:] > 0.05).all()


def test_two_editions_do_not_hide_each_other(rng):
    chances = wrong_book_chances(np.array([1.0, 0.9, 0.0, *draw_wrong(rng, 6)]))
    assert (chances[:3] < 0.001).all()
    assert (chances[3:] > 0.05).all()


def test_more_evidence_is_never_less_sure(rng):
    wrong = draw_wrong(rng, 7)
    before = 1.0
    for value in np.linspace(wrong[0], 1.0, 50):
        chance = wrong_book_chances(np.array([value, *wrong]))[0]
        assert chance <= before
        before = chance
