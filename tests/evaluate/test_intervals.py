"""The vectorised resampling against figures of lists that were really drawn."""

import time
from dataclasses import replace

import numpy as np
import pytest

from folioreel.evaluate.calibration import calibrate
from folioreel.evaluate.intervals import (
    FIGURES,
    difference_intervals,
    figure_intervals,
    weighted_figures,
)
from folioreel.evaluate.metrics import UNLINKED, Outcomes, score_outcomes


def drawn_outcomes(rng, lines, verdicts=("match", "none", "scene"), shares=(0.6, 0.25, 0.15)):
    verdict = rng.choice(verdicts, size=lines, p=shares)
    scores = np.round(rng.random(lines), 1)  # with many ties
    scores[rng.random(lines) < 0.1] = UNLINKED
    distances = rng.choice([0, 1, 3, 4, 80], size=lines)
    distances[(verdict == "none") | (scores == UNLINKED)] = 10**9
    return Outcomes(
        verdicts=verdict,
        hows=np.full(lines, "-"),
        kinds=np.full(lines, "dialogue"),
        scores=scores,
        distances=distances,
        recalled=(distances <= 3) | (rng.random(lines) < 0.3),
    )


def take(outcomes, chosen):
    names = ("verdicts", "hows", "kinds", "scores", "distances", "recalled")
    return Outcomes(**{name: getattr(outcomes, name)[chosen] for name in names})


def average_precision(outcomes):
    """One line after the other, surest first; in percent."""
    lines = zip(outcomes.scores, outcomes.near, outcomes.verdicts, strict=True)
    ranked = sorted(
        ((score, near) for score, near, verdict in lines if verdict != "scene" or near),
        key=lambda line: -line[0],
    )
    hits, summed = 0, 0.0
    for place, (score, near) in enumerate(ranked, 1):
        if score > UNLINKED and near:
            hits += 1
            summed += hits / place
    matches = int((outcomes.verdicts == "match").sum())
    return 100 * summed / max(matches, 1, sum(near for _, near in ranked))


def auroc(outcomes):
    """Every match against every `none`; ties count half."""
    positive = outcomes.scores[outcomes.verdicts == "match"]
    negative = outcomes.scores[outcomes.verdicts == "none"]
    if not len(positive) or not len(negative):
        return None
    return np.mean([(a > b) + 0.5 * (a == b) for a in positive for b in negative])


def test_weights_are_repeated_lines(rng):
    for _ in range(20):
        outcomes = drawn_outcomes(rng, int(rng.integers(5, 60)))
        lines = len(outcomes.verdicts)
        weights = rng.multinomial(lines, np.full(lines, 1 / lines), size=15)
        found = weighted_figures(outcomes, weights)
        for r, row in enumerate(weights):
            drawn = take(outcomes, np.repeat(np.arange(lines), row))
            match = drawn.verdicts == "match"
            for name, hits in (
                ("recall", drawn.recalled),
                ("near", drawn.distances <= 3),
                ("strict", drawn.distances == 0),
            ):
                truth = 100 * sum(hits[match]) / max(1, sum(match))
                assert found[name][r] == pytest.approx(truth), name
            assert found["ap"][r] == pytest.approx(average_precision(drawn))
            assert score_outcomes(drawn).ap == pytest.approx(average_precision(drawn), abs=0.0051)
            truth = auroc(drawn)
            if truth is None:
                assert np.isnan(found["auroc"][r])
                assert score_outcomes(drawn).auroc is None
            else:
                assert found["auroc"][r] == pytest.approx(truth)


def test_the_lines_as_they_are_have_the_figures_themselves(rng):
    outcomes = drawn_outcomes(rng, 110)
    found = figure_intervals([outcomes])
    truth = score_outcomes(outcomes)
    for name in ("recall", "near", "strict", "ap", "auroc"):
        assert found[name].value == getattr(truth, name)
    assert found["ece"].value == pytest.approx(calibrate(outcomes).ece, abs=6e-4)
    for name in FIGURES:
        assert found[name].low < found[name].value < found[name].high, name


def test_an_interval_of_a_share_is_that_of_the_binomial(rng):
    outcomes = drawn_outcomes(rng, 400, ("match",), (1.0,))
    near = figure_intervals([outcomes], resamples=4000)["near"]
    share = near.value / 100
    half = 196 * np.sqrt(share * (1 - share) / 400)
    assert near.low == pytest.approx(near.value - half, abs=0.6)
    assert near.high == pytest.approx(near.value + half, abs=0.6)


def test_a_difference_is_paired(rng):
    first = drawn_outcomes(rng, 110)
    # The second system mends two lines that the first has wrong.
    wrong = np.flatnonzero((first.verdicts == "match") & (first.distances > 3))[:2]
    distances = first.distances.copy()
    distances[wrong] = 0
    second = replace(first, distances=distances)
    same = difference_intervals([first], [first])
    assert all((one.value, one.low, one.high) == (0.0, 0.0, 0.0) for one in same.values())
    better = difference_intervals([first], [second])["near"]
    matches = (first.verdicts == "match").sum()
    assert better.value == pytest.approx(200 / matches, abs=0.01)
    assert better.low >= 0.0
    alone = figure_intervals([first])["near"]
    assert better.high - better.low < 0.5 * (alone.high - alone.low)
    assert difference_intervals([second], [first])["near"].value == -better.value


def test_several_pairs_have_the_mean_and_a_narrower_interval(rng):
    pairs = [drawn_outcomes(rng, 110) for _ in range(9)]
    pairs.append(drawn_outcomes(rng, 110, ("match",), (1.0,)))  # has no auroc
    found = figure_intervals(pairs)
    scores = [score_outcomes(outcomes) for outcomes in pairs]
    assert found["ap"].value == pytest.approx(np.mean([s.ap for s in scores]), abs=0.01)
    known = [s.auroc for s in scores if s.auroc is not None]
    assert len(known) == 9
    assert found["auroc"].value == pytest.approx(np.mean(known), abs=0.001)
    one = figure_intervals(pairs[:1])["near"]
    assert found["near"].high - found["near"].low < 0.6 * (one.high - one.low)


def test_the_seed_decides(rng):
    outcomes = drawn_outcomes(rng, 110)
    assert figure_intervals([outcomes], seed=3) == figure_intervals([outcomes], seed=3)
    assert figure_intervals([outcomes], seed=3) != figure_intervals([outcomes], seed=4)


def test_what_has_no_value(rng):
    found = figure_intervals([drawn_outcomes(rng, 30, ("match",), (1.0,))])
    assert found["auroc"] is None
    assert found["near"] is not None
    silent = take(drawn_outcomes(rng, 30), slice(None))
    silent = replace(
        silent, scores=np.full(30, UNLINKED), distances=np.full(30, 10**9, dtype=np.int64)
    )
    found = figure_intervals([silent])
    assert found["ece"] is None
    assert (found["ap"].value, found["ap"].high) == (0.0, 0.0)


def test_systems_on_different_lines_are_refused(rng):
    with pytest.raises(ValueError, match="same pairs"):
        difference_intervals([drawn_outcomes(rng, 20)], [drawn_outcomes(rng, 21)])
    with pytest.raises(ValueError, match="same pairs"):
        difference_intervals([drawn_outcomes(rng, 20)], [])


def test_a_thousand_resamples_take_about_a_second(rng):
    outcomes = drawn_outcomes(rng, 400)
    start = time.perf_counter()
    figure_intervals([outcomes], resamples=1000)
    assert time.perf_counter() - start < 3.0


def calibrated_outcomes(rng, lines, power=1.0):
    """Links whose scores are true probabilities, or too high if `power` is above 1."""
    scores = rng.beta(2, 0.7, lines)
    right = rng.random(lines) < scores**power
    return Outcomes(
        verdicts=np.full(lines, "match"),
        hows=np.full(lines, "-"),
        kinds=np.full(lines, "dialogue"),
        scores=scores,
        distances=np.where(right, 0, 50),
        recalled=right,
    )


def test_no_interval_leaves_the_range_of_its_figure(rng):
    """Scores that are all sure and right: the error is near 0, and cannot be below it."""
    for lines in (5, 30, 110):
        for chance in (0.5, 0.999):
            outcomes = calibrated_outcomes(rng, lines)
            outcomes = replace(outcomes, scores=np.full(lines, chance))
            for name, interval in figure_intervals([outcomes, outcomes]).items():
                if interval is not None:
                    highest = 1 if name in ("auroc", "ece") else 100
                    assert 0 <= interval.low <= interval.value <= interval.high <= highest, name


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_the_interval_of_the_error_holds_the_figure_of_other_samples(rng, power):
    """It should contain the expected figure of a sample of that size 95 times of 100."""
    samples = [calibrated_outcomes(rng, 110, power) for _ in range(150)]
    expected = np.mean([calibrate(sample).ece for sample in samples])
    found = [figure_intervals([sample], resamples=300)["ece"] for sample in samples]
    assert 0.88 <= np.mean([one.low <= expected <= one.high for one in found]) <= 1


def test_a_difference_of_errors_may_be_negative(rng):
    honest, boastful = calibrated_outcomes(rng, 400), calibrated_outcomes(rng, 400, 3)
    found = difference_intervals([boastful], [honest])["ece"]
    assert found.low < found.value < found.high < 0
