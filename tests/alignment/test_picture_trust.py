"""What pictures are worth in a film: learned from made films whose truth is known."""

import numpy as np
import pytest
from made_payloads import make_book

from folioreel.alignment.align import align
from folioreel.alignment.blocks import SolvedRows
from folioreel.alignment.links import choose_sentences
from folioreel.alignment.pictures import average_hypotheses, weigh_pictures
from folioreel.alignment.positions import follow_book
from folioreel.apps.demo import demo_folder
from folioreel.config import StepsConfig
from folioreel.evaluate.dataset import load_pair
from folioreel.evaluate.metrics import placed_links, score_links, score_shots

SHOTS, SENTENCES = 60, 400
BOOK, SILENT = make_book(SENTENCES), np.ones(SHOTS, dtype=bool)


def make_film(rng, share, spread, signal):
    """Shots at known sentences: where dialogue puts them, and what their pictures say.

    A sentence that describes its shot stands out from the others, which spread normally.
    """
    truth = rng.integers(40, SENTENCES - 40, SHOTS)
    guessed = truth + np.round(rng.laplace(0, 6, SHOTS))
    place = np.exp(-np.abs(np.arange(SENTENCES) - guessed[:, None]) / 6).astype(np.float32)
    place /= place.sum(axis=1, keepdims=True)
    is_told = rng.random(SHOTS) < share
    sums = rng.normal(0, spread, (SHOTS, SENTENCES)).astype(np.float32)
    sums[np.flatnonzero(is_told), truth[is_told]] += signal
    return truth, is_told, place, sums


def solve(place, logits):
    """The posteriors of shots that say nothing of each other."""
    rendered = place * np.exp(logits)
    total = 1 + rendered.sum(axis=1, keepdims=True)
    return SolvedRows(first=0, rendered=rendered / total, position=(place + rendered) / total)


def near(solved, truth):
    paragraph = np.array(BOOK.paragraph_of)
    return np.abs(paragraph[choose_sentences(solved, BOOK, SILENT)] - paragraph[truth]) <= 3


def test_it_is_the_average_over_all_hypotheses():
    rng = np.random.default_rng(0)
    _, _, place, sums = make_film(rng, 0.5, 1.5, 4.0)
    weights, rendered, absent = [], [], []
    for sharpness in (0.5, 1.0):
        odds = np.exp(sharpness * sums.astype(float))
        ratio = odds / odds.mean(axis=1, keepdims=True)
        for share in (0.02, 0.05, *np.arange(0.1, 0.95, 0.1), 0.95):
            likelihood = 1 - share + share * (place * ratio).sum(axis=1)
            weights.append(likelihood.prod() * 0.5 / 24)
            rendered.append(share * ratio)
            absent.append(1 - share)
    weights.append(0.5)
    rendered.append(np.full_like(rendered[0], 1 / 11))
    absent.append(10 / 11)
    expected = np.tensordot(weights, rendered, 1) / np.dot(weights, absent)
    np.testing.assert_allclose(average_hypotheses(sums, place), np.log(expected), atol=1e-4)


@pytest.mark.parametrize(("spread", "signal"), [(1.2, 4.0), (1.5, 4.0), (2.4, 5.8)])
def test_the_more_shots_are_in_the_book_the_more_are_found(spread, signal):
    rng = np.random.default_rng(1)
    found = []
    for share in (0.0, 0.3, 0.6, 1.0):
        chances = []
        for _ in range(15):
            _, _, place, sums = make_film(rng, share, spread, signal)
            chances.append(solve(place, average_hypotheses(sums, place)).rendered.sum(axis=1))
        found.append(np.mean(chances))
        if share == 0:
            assert np.mean(np.array(chances) > 0.5) < 0.01  # hardly anything is claimed
    assert found[0] < 0.25
    assert found == sorted(found)
    assert found[-1] > 0.8


@pytest.mark.parametrize(("share", "spread", "signal"), [(0, 1.5, 0), (1, 1.2, 4), (1, 1.5, 4)])
def test_pictures_never_make_a_film_worse_than_its_dialogue(share, spread, signal):
    """Whether they tell of no shot or of all; on average, as chance helps either."""
    rng = np.random.default_rng(2)
    alone = watched = 0
    for _ in range(40):
        truth, _, place, sums = make_film(rng, share, spread, signal)
        alone += near(solve(place, np.full_like(place, -30)), truth).sum()
        watched += near(solve(place, average_hypotheses(sums, place)), truth).sum()
    assert watched >= alone - 0.001 * 40 * SHOTS
    if share:
        assert watched > alone


def test_only_the_rows_of_silent_shots_are_changed():
    rng = np.random.default_rng(3)
    scores = rng.normal(-4, 2, (12, 30)).astype(np.float32)
    looked_at = np.arange(12) % 3 == 1
    before, steps = scores.copy(), StepsConfig()
    times = np.linspace(0, 1, 12, dtype=np.float32)
    weigh_pictures(scores, looked_at, times, steps)
    np.testing.assert_array_equal(scores[~looked_at], before[~looked_at])
    unseen = np.where(looked_at[:, None], -np.inf, before).astype(np.float32)
    place = follow_book(unseen, times, steps).position[looked_at]
    expected = average_hypotheses(before[looked_at], place)
    np.testing.assert_allclose(scores[looked_at], expected, atol=1e-5)
    nobody = np.zeros(12, dtype=bool)
    weigh_pictures(before, nobody, times, steps)
    assert np.isfinite(before).all()


def test_a_silent_shot_quotes_nothing():
    scores = np.full((5, 40), -6.0, dtype=np.float32)
    scores[[0, 1, 3, 4], [4, 5, 6, 7]] = 8.0
    scores[2, 35] = 4.0  # what the shot in the middle looks like, far away
    times, steps = np.linspace(0, 1, 5, dtype=np.float32), StepsConfig(elsewhere=0.1)
    spoken = follow_book(scores, times, steps)
    silent = follow_book(scores, times, steps, silent=np.arange(5) == 2)
    assert spoken.quoted[2] > 0.4
    assert silent.quoted[2] == 0
    assert silent.rendered[2, 35] < spoken.rendered[2, 35] / 5
    np.testing.assert_allclose(silent.quoted[[0, 1, 3, 4]], spoken.quoted[[0, 1, 3, 4]], atol=0.02)


def test_the_demo_is_not_worse_for_being_watched():
    folder = demo_folder()
    pair = load_pair(folder)
    found = []
    for pictures in (False, True):
        alignment = align(
            folder / "book.txt", folder / "film.mp4", subtitles=pair.subtitles, pictures=pictures
        )
        found.append(placed_links(alignment))
    alone, watched = (score_shots(pair, links) for links in found)
    assert watched.near >= alone.near
    assert watched.claimed > 50
    lines = [score_links(pair, links) for links in found]
    assert lines[1].near >= lines[0].near
    assert lines[1].strict >= lines[0].strict
