"""Calibration and precision at coverage, by hand and by simulation."""

import numpy as np
import pytest

from folioreel.evaluate.calibration import (
    Calibration,
    CalibrationBin,
    calibrate,
    equal_mass_bins,
    precision_at,
    write_precision_coverage,
    write_reliability,
)
from folioreel.evaluate.metrics import UNLINKED, Outcomes


def outcomes_of(scores, right, verdicts=None):
    verdicts = verdicts or ["match"] * len(scores)
    return Outcomes(
        verdicts=np.array(verdicts),
        hows=np.array(["verbatim"] * len(scores)),
        kinds=np.array(["dialogue"] * len(scores)),
        scores=np.array(scores, dtype=np.float64),
        distances=np.where(right, 0, 50),
        recalled=np.array(right, dtype=np.bool_),
    )


def test_calibration_by_hand():
    # Two bins of three: scores 0.1 0.2 0.3 with none right, 0.6 0.8 1.0 with two right.
    scores, right = [0.8, 0.1, 1.0, 0.2, 0.6, 0.3], [1, 0, 1, 0, 0, 0]
    found = calibrate(outcomes_of(scores, right), bins=2)
    assert [b.links for b in found.bins] == [3, 3]
    assert [b.score for b in found.bins] == pytest.approx([0.2, 0.8])
    assert [b.right for b in found.bins] == pytest.approx([0, 2 / 3])
    assert found.ece == pytest.approx(0.5 * 0.2 + 0.5 * (0.8 - 2 / 3), abs=1e-4)


def test_calibration_takes_matches_and_nones_that_are_linked():
    scores, right = [0.9, 0.9, 0.9, UNLINKED], [True, False, True, False]
    found = calibrate(outcomes_of(scores, right, ["match", "none", "scene", "match"]))
    # All scores equal: one bin, of the match and the none.
    assert found.links == 2
    assert len(found.bins) == 1
    assert found.ece == pytest.approx(0.4)
    assert calibrate(outcomes_of([UNLINKED], [False])).ece is None


def test_bins_are_equal_and_do_not_depend_on_order(rng):
    scores = rng.random(100)
    bins = equal_mass_bins(scores, 15)
    assert set(np.bincount(bins)) <= {6, 7}
    order = rng.permutation(100)
    assert np.array_equal(equal_mass_bins(scores[order], 15), bins[order])
    assert np.array_equal(np.argsort(np.lexsort((scores, bins))), np.argsort(np.argsort(scores)))


def test_scores_that_keep_their_promise_have_a_small_error(rng):
    scores = rng.random(20_000)
    honest = calibrate(outcomes_of(scores, rng.random(20_000) < scores)).ece
    boastful = calibrate(outcomes_of(scores, rng.random(20_000) < scores**2)).ece
    assert honest < 0.02
    assert boastful == pytest.approx(1 / 2 - 1 / 3, abs=0.02)


def test_the_error_that_chance_alone_makes():
    # Four tosses of a fair coin: the share of heads is off by 1/2 twice in 16, by 1/4 eight times.
    found = calibrate(outcomes_of([0.5] * 4, [True, True, False, False]))
    assert found.ece == 0
    assert found.by_chance == pytest.approx((2 * 0.5 + 8 * 0.25) / 16, abs=0.02)
    sure = calibrate(outcomes_of([1.0] * 4, [True] * 4))
    assert sure.by_chance == 0


def test_precision_at_coverage_by_hand():
    scores = [0.9, 0.8, 0.8, 0.4, UNLINKED, 0.95]
    right = [True, True, False, True, False, True]
    found = outcomes_of(scores, right, ["match", "match", "none", "match", "match", "scene"])
    # Five lines (the scene is left out): right, two equal of which one is right, right, unlinked.
    assert precision_at(found, (20, 40, 60, 80, 100)) == {
        20: 100.0,
        40: 75.0,
        60: round(200 / 3, 2),
        80: 75.0,
        100: 60.0,
    }
    assert precision_at(outcomes_of([0.5], [True], ["scene"])) == {}


def test_plots_as_svg(tmp_path):
    bins = (
        CalibrationBin(links=3, score=0.2, right=0.0),
        CalibrationBin(links=3, score=0.8, right=1),
    )
    for path in (tmp_path / "a.svg", tmp_path / "b.svg"):
        write_reliability(Calibration(links=6, ece=0.2, by_chance=0.1, bins=bins), path, "Costs $5")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    write_reliability(
        Calibration(links=0, ece=None, by_chance=None, bins=()), tmp_path / "empty.svg"
    )
    write_precision_coverage({"one": {50: 90.0, 100: 70.0}, "two": {}}, tmp_path / "c.svg")
    assert b"<svg" in (tmp_path / "c.svg").read_bytes()
