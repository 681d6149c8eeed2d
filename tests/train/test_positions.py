"""Learning positions: exact gradients, films made with known steps, calibration as elsewhere."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from folioreel.alignment.positions import Fixed, follow_book
from folioreel.config import STEPS, AlignConfig, CalibrationConfig, StepsConfig
from folioreel.progress import Progress
from folioreel.train.position_fit import (
    FitConfig,
    MeasuredFilm,
    _film_gradient,
    _from_vector,
    _objective,
    _to_vector,
    fit_calibration,
    fit_positions,
)

TRUE_STEPS = StepsConfig(
    stay=0.45,
    next=0.0,
    near=0.0,
    far=0.3,
    farther=0.0,
    back=0.2,
    far_back=0.0,
    anywhere=0.05,
)
START = AlignConfig(weights={"rare": 0.5, "covered": 0.0}, bias=-2.0, steps=StepsConfig())


def log_likelihood(film: MeasuredFilm, config: AlignConfig) -> float:
    """The log-likelihood of a film's judgements, without a gradient."""
    scores = film.scores(config)
    fixed = follow_book(scores, film.times, config.steps, film.fixed)
    return fixed.log_partition - follow_book(scores, film.times, config.steps).log_partition


def walk(rng, moments: int, sentences: int) -> list[int]:
    """Where a film is that takes the true steps."""
    path = [int(rng.integers(sentences))]
    shares = [getattr(TRUE_STEPS, name) for name in STEPS]
    while len(path) < moments:
        kind = STEPS[rng.choice(len(STEPS), p=np.array(shares) / sum(shares))]
        ahead = {
            "stay": lambda: 0,
            "far": lambda: rng.geometric(1 - 0.85),
            "back": lambda: -rng.geometric(1 - 0.7),
        }
        if kind == "anywhere":
            path.append(int(rng.integers(sentences)))
        else:
            path.append(int(np.clip(path[-1] + ahead[kind](), 0, sentences - 1)))
    return path


def made_film(rng, moments=90, sentences=250, judged=0.7, quotes=0.0) -> MeasuredFilm:
    """`rare` is high where a moment renders a sentence, `covered` is noise; some are judged.

    A share of the moments that render a sentence quote one from elsewhere.
    """
    path = walk(rng, moments, sentences)
    rendered = rng.random(moments) < 0.7
    if quotes:
        for moment in np.flatnonzero(rendered & (rng.random(moments) < quotes)):
            path[moment] = int(rng.integers(sentences))
    planes = rng.normal(0, 1, (2, moments, sentences)).astype(np.float32)
    rows = np.flatnonzero(rendered)
    planes[0, rows, np.array(path)[rows]] += 3
    silent = rng.random(moments) < 0.1
    fixed = {}
    for moment in np.flatnonzero((rng.random(moments) < judged) & ~silent):
        here = np.zeros(sentences, dtype=bool)
        here[path[moment]] = True
        if rendered[moment]:
            fixed[int(moment)] = Fixed(sentences=here, rendered=True)
        elif moment % 2:
            fixed[int(moment)] = Fixed(sentences=None, rendered=False)
        else:
            here[max(0, path[moment] - 2) : path[moment] + 3] = True
            fixed[int(moment)] = Fixed(sentences=here, rendered=None)
    times = np.linspace(0, 1, moments, dtype=np.float32)
    return MeasuredFilm(planes=planes, silent=silent, times=times, fixed=fixed)


def shares_of(config: AlignConfig) -> dict[str, float]:
    return {name: getattr(config.steps, name) for name in STEPS}


@pytest.mark.parametrize("elsewhere", [0.0, 0.1])
@pytest.mark.parametrize("timeline", [0.0, 1.5])
def test_the_gradient_is_that_of_the_likelihood(timeline, elsewhere, rng):
    film = made_film(rng, moments=12, sentences=15)
    start = replace(START, steps=StepsConfig(timeline=timeline, elsewhere=elsewhere))
    values = _to_vector(start) + rng.normal(0, 0.2, len(_to_vector(start)))
    values[len(START.measures) + 1] = timeline + 0.05  # it is not to be negative
    likelihood, gradient = _film_gradient(film, _from_vector(start, values))
    assert likelihood == pytest.approx(log_likelihood(film, _from_vector(start, values)))
    for k in range(len(values)):
        ends = []
        for change in (-0.02, 0.02):
            moved = values.copy()
            moved[k] += change
            ends.append(log_likelihood(film, _from_vector(start, moved)))
        assert gradient[k] == pytest.approx((ends[1] - ends[0]) / 0.04, rel=0.01, abs=0.003), k


def test_the_objective_adds_the_pulls(rng):
    films = [made_film(rng, moments=8, sentences=12) for _ in range(3)]
    values = _to_vector(START) + rng.normal(0, 0.3, len(_to_vector(START)))
    values[len(START.measures) + 1] = 0.2
    config = FitConfig(weight_decay=3.0, step_decay=0.7)
    found, gradient = _objective(films, START, values, config)
    parts = [_film_gradient(film, _from_vector(START, values)) for film in films]
    weights, steps = values[:2], values[-len(STEPS) :]
    pull = 1.5 * (weights**2).sum() + 0.35 * (steps**2).sum()
    assert found == pytest.approx(pull - sum(part[0] for part in parts))
    expected = -sum(part[1] for part in parts)
    expected[:2] += 3 * weights
    expected[-len(STEPS) :] += 0.7 * steps
    assert gradient == pytest.approx(expected)


@pytest.mark.parametrize("elsewhere", [0.0, 0.03])
def test_numbers_survive_the_vector(elsewhere):
    config = replace(START, steps=StepsConfig(stay=0.5, timeline=2.0, elsewhere=elsewhere))
    again = _from_vector(config, _to_vector(config))
    assert again.steps.elsewhere == pytest.approx(elsewhere)
    assert again.weights == pytest.approx(config.weights)
    assert (again.bias, again.steps.timeline) == pytest.approx((config.bias, 2.0))
    total = sum(shares_of(config).values())
    assert shares_of(again) == pytest.approx({n: s / total for n, s in shares_of(config).items()})


def test_made_films_teach_how_they_were_made(rng):
    films = [made_film(rng) for _ in range(6)]
    taught, held_out = films[:4], films[4:]
    seen: list[Progress] = []
    fitted = fit_positions(taught, START, FitConfig(iterations=30, step_decay=0.01), seen.append)
    before, after = (
        sum(log_likelihood(film, config) for film in held_out) for config in (START, fitted)
    )
    assert after > before + 10
    # Unit normals that lie 3 apart have log odds of 3 x.
    assert fitted.weights["rare"] == pytest.approx(3, abs=0.6)
    assert abs(fitted.weights["covered"]) < 0.3
    shares = shares_of(fitted)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["stay"] == pytest.approx(0.45, abs=0.1)
    ahead = shares["next"] + shares["near"] + shares["far"] + shares["farther"]
    back = shares["back"] + shares["far_back"]
    assert shares["stay"] > ahead > back > shares["anywhere"]
    assert shares["far"] > max(shares["next"], shares["near"], shares["farther"])
    assert shares["back"] > shares["far_back"]
    *steps, last = (progress.done for progress in seen)
    assert (steps, last) == (list(range(1, len(seen))), 30)
    assert {progress.stage for progress in seen} == {"fitting"}


@pytest.mark.parametrize(("quotes", "least", "most"), [(0.0, 0.0, 0.03), (0.1, 0.06, 0.15)])
def test_made_films_teach_how_often_they_quote(quotes, least, most, rng):
    films = [made_film(rng, quotes=quotes) for _ in range(4)]
    start = replace(START, steps=StepsConfig(elsewhere=0.01))
    fitted = fit_positions(films, start, FitConfig(iterations=30, step_decay=0.01))
    assert fitted.steps is not None
    found = [follow_book(film.scores(fitted), film.times, fitted.steps) for film in films]
    rendered = sum(positions.rendered.sum() for positions in found)
    assert least <= sum(positions.quoted.sum() for positions in found) / rendered < most
    without = fit_positions(films, START, FitConfig(iterations=30, step_decay=0.01))
    assert without.steps.elsewhere == 0
    if quotes:
        assert fitted.steps.anywhere < without.steps.anywhere


def test_more_steps_are_likelier_on_what_is_taught(rng):
    films = [made_film(rng, moments=40, sentences=60) for _ in range(2)]
    values = []
    for iterations in (1, 4, 16):
        fitted = fit_positions(films, START, FitConfig(iterations=iterations))
        values.append(_objective(films, START, _to_vector(fitted), FitConfig())[0])
    assert _objective(films, START, _to_vector(START), FitConfig())[0] > values[0]
    assert values[0] > values[1] > values[2]


def test_only_what_is_learned_changes(rng):
    start = replace(START, prior_width=0.3, in_book_from=0.4, semantic_encoder="minilm")
    film = made_film(rng, moments=10, sentences=12)
    fitted = fit_positions([film], start, FitConfig(iterations=2))
    kept = replace(fitted, weights=start.weights, bias=start.bias, steps=start.steps)
    assert kept == start


def made_links(rng, count, weights=(1.0, 0.0, 0.0), bias=0.0):
    evidence = rng.normal(0, 2, (count, 3))
    right = rng.random(count) < 1 / (1 + np.exp(-(evidence @ np.array(weights) + bias)))
    return evidence, right


def numbers(calibration):
    return np.array(list(asdict(calibration).values()))  # link, evidence, around, bias


@pytest.mark.parametrize(
    ("weights", "bias"), [((1.0, 0.2, 0.2), 0.0), ((0.4, 0.5, 1.0), -1.0), ((2.5, 1.0, 0.4), 0.7)]
)
def test_calibration_is_logistic_regression(weights, bias, rng):
    evidence, right = made_links(rng, 1000, weights, bias)
    model = LogisticRegression(C=1e10, tol=1e-10).fit(evidence, right)
    found = numbers(fit_calibration(evidence, right, decay=1e-10))
    assert found == pytest.approx([*model.coef_[0], model.intercept_[0]], abs=2e-3)


def test_calibrated_links_stay_as_they_are(rng):
    found = numbers(fit_calibration(*made_links(rng, 20_000)))
    assert found == pytest.approx([1, 0, 0, 0], abs=0.05)


def test_without_links_nothing_is_calibrated():
    found = fit_calibration(np.zeros((0, 3)), np.zeros(0, dtype=bool))
    assert found == CalibrationConfig()


def test_more_evidence_never_makes_a_link_less_sure(rng):
    found = fit_calibration(*made_links(rng, 500, weights=(-2.0, -1.0, -1.0)))
    assert (found.link, found.evidence, found.around) == (0.05, 0, 0)


@pytest.mark.parametrize("decay", [1.0, 1e-6])
def test_links_that_are_all_as_they_should_be(decay):
    evidence = np.zeros((80, 3))
    evidence[:, 0] = [-13.8, -5.0, 3.0, 13.8] * 20
    found = fit_calibration(evidence, evidence[:, 0] > 0, decay)
    assert found.link >= 1
    assert np.isfinite(numbers(found)).all()
