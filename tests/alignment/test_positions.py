"""Posteriors of a hidden position against the sum over all paths, and on films of real length."""

import time
from itertools import product

import numpy as np
import pytest
from conftest import make_film
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.alignment.positions import Fixed, film_times, follow_book
from folioreel.config import STEPS, StepsConfig

FALLS = {"near": 0.5, "far": 0.85, "farther": 0.975, "back": 0.7, "far_back": 0.95}
SILENT = -np.inf


def step_kinds(steps: StepsConfig, sentences: int) -> np.ndarray:
    """How likely a step of each kind leads from j to k, by the definition: (8, J, J)."""
    found = np.zeros((len(STEPS), sentences, sentences))
    shares = [getattr(steps, name) for name in STEPS]
    for kind, (name, share) in enumerate(zip(STEPS, shares, strict=True)):
        for j, k in product(range(sentences), repeat=2):
            ahead = j - k if "back" in name else k - j
            if name == "anywhere":
                chance = 1 / sentences
            elif name in ("stay", "next"):
                chance = float(ahead == (name == "next"))
            else:
                chance = (1 - FALLS[name]) * FALLS[name] ** (ahead - 1) if ahead > 0 else 0.0
            found[kind, j, k] = share / sum(shares) * chance
    return found


def even_times(moments: int) -> np.ndarray:
    return np.linspace(0, 1, moments, dtype=np.float32)


def follow(scores, steps, fixed=None, times=None):
    return follow_book(scores, even_times(len(scores)) if times is None else times, steps, fixed)


def by_enumeration(scores, steps, fixed, times):
    """All paths one by one: each moment has a place, and renders it, or quotes another, or not."""
    moments, sentences = scores.shape
    kinds = step_kinds(steps, sentences)
    odds = np.exp(scores.astype(np.float64))
    unrendered = np.ones_like(odds)
    # Quotes of sentence k by moment i, wherever the film is.
    usual = np.sqrt((odds**2).mean(axis=1, keepdims=True))
    quotes = steps.elsewhere / sentences * odds**2 / np.maximum(usual, 1e-300)
    for moment, known in (fixed or {}).items():
        if known.rendered is True:
            unrendered[moment] = 0
        if known.rendered is False:
            odds[moment] = quotes[moment] = 0
        if known.sentences is not None:
            odds[moment, ~known.sentences] = unrendered[moment, ~known.sentences] = 0
            quotes[moment, ~known.sentences] = 0
            if known.rendered is None:
                quotes[moment] = 0
    total, freely, quoted = 0.0, 0.0, 0.0
    position, rendered = np.zeros_like(odds), np.zeros_like(odds)
    counts, turns = np.zeros(len(STEPS)), np.zeros((2, 2))
    rows = np.arange(moments)
    pull = np.ones_like(odds)
    for i, j in np.ndindex(*odds.shape):
        place = j / (sentences - 1) if sentences > 1 else 0.0
        pull[i, j] = np.exp(-steps.timeline * abs(float(times[i]) - place))
    odds, unrendered = odds * pull, unrendered * pull
    passages = np.array([[1 - steps.leave, steps.leave], [steps.come_back, 1 - steps.come_back]])
    lower = np.array([1.0, np.exp(steps.free)])
    for path in product(range(sentences), repeat=moments):
        taken = kinds[:, path[:-1], path[1:]]  # (8, I - 1)
        moved = np.prod(taken.sum(axis=0)) / sentences
        for modes in product((0, 1), repeat=moments):
            renders = lower[list(modes)] * odds[rows, path]
            saying = quotes * pull[rows, path][:, None]  # (I, J)
            both = renders + unrendered[rows, path] + saying.sum(axis=1)
            turned = passages[modes[:-1], modes[1:]]
            weight = np.prod(both) * moved * np.prod(turned) / 2
            if weight == 0:
                continue
            total += weight
            position[rows, path] += weight
            rendered[rows, path] += weight * renders / both
            rendered += weight * saying / both[:, None]
            quoted += weight * (saying.sum(axis=1) / both).sum()
            freely += weight * (renders / both)[np.array(modes) == 1].sum()
            counts += weight * (taken / taken.sum(axis=0)).sum(axis=1)
            np.add.at(turns, (modes[:-1], modes[1:]), weight)
    whole = (position, rendered, counts, turns, freely, quoted)
    return np.log(total), *(part / total for part in whole)


def assert_exact(scores, steps, fixed=None, times=None):
    times = even_times(len(scores)) if times is None else times
    found = follow(scores, steps, fixed, times)
    log_total, position, rendered, counts, turns, freely, quoted = by_enumeration(
        scores, steps, fixed, times
    )
    assert found.log_partition == pytest.approx(log_total, abs=1e-4, rel=1e-5)
    assert found.position == pytest.approx(position, abs=2e-5)
    assert found.rendered == pytest.approx(rendered, abs=2e-5)
    assert found.steps == pytest.approx(counts, abs=1e-4)
    assert found.passages == pytest.approx(turns, abs=1e-4)
    assert found.rendered_freely == pytest.approx(freely, abs=1e-4)
    assert found.quoted.sum() == pytest.approx(quoted, abs=1e-4)
    assert found.steps.sum() == pytest.approx(len(scores) - 1)


def at(*places, sentences=5, rendered=None):
    mask = np.zeros(sentences, dtype=bool)
    mask[list(places)] = True
    return Fixed(sentences=mask, rendered=rendered)


@pytest.mark.parametrize("elsewhere", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (4, 1), (3, 6), (4, 5)])
def test_every_path_is_counted(shape, elsewhere, rng):
    scores = rng.normal(-1, 2, shape).astype(np.float32)
    assert_exact(scores, StepsConfig(elsewhere=elsewhere))


@pytest.mark.parametrize("kind", STEPS)
def test_every_kind_of_step_alone(kind, rng):
    """With `anywhere`, which is never quite absent."""
    shares = dict.fromkeys(STEPS, 0.0) | {"anywhere": 0.01} | {kind: 1.0}
    assert_exact(rng.normal(0, 2, (4, 5)).astype(np.float32), StepsConfig(**shares))


@pytest.mark.parametrize("strength", [0.5, 4.0])
def test_a_timeline_draws_every_moment(strength, rng):
    scores = rng.normal(-1, 2, (4, 5)).astype(np.float32)
    scores[2] = SILENT
    times = np.array([0.0, 0.1, 0.7, 1.0], dtype=np.float32)
    for elsewhere in (0.0, 0.2):
        steps = StepsConfig(timeline=strength, elsewhere=elsewhere)
        assert_exact(scores, steps, times=times)
        assert_exact(scores, steps, {1: at(0, 3, rendered=True), 3: at(0, 1)}, times)


def test_on_a_timeline_alone_the_film_is_where_its_time_is():
    nothing = np.full((30, 61), SILENT, dtype=np.float32)
    times = np.linspace(0, 1, 30, dtype=np.float32) ** 2
    found = follow(nothing, StepsConfig(timeline=10.0), times=times)
    assert np.abs(found.position.argmax(axis=1) / 60 - times).max() < 0.1


def test_times_of_a_film(film):
    times = film_times(film)
    starts = [moment.start_s for moment in film.moments]
    assert times == pytest.approx([(s - starts[0]) / (starts[-1] - starts[0]) for s in starts])
    assert film_times(make_film(((1.0, 2.0, "Hello."),), shots=False)) == pytest.approx([0.0])


@pytest.mark.parametrize(
    "fixed",
    [
        {1: at(3, rendered=True)},
        {1: at(0, 3, rendered=True), 3: at(2, rendered=True)},
        {0: Fixed(sentences=None, rendered=False), 2: Fixed(sentences=None, rendered=False)},
        {2: at(1, 2, 3)},
        {0: at(4, rendered=True), 1: Fixed(sentences=None, rendered=False), 3: at(0, 1)},
        {2: Fixed(sentences=None, rendered=True)},
        {2: at(4, rendered=False)},
        {k: at(k, rendered=True) for k in range(4)},
        {1: Fixed(sentences=None, rendered=None)},
    ],
    ids=[
        *("rendered here", "two of them", "not in the book", "in a scene", "all three"),
        *("rendered somewhere", "not in the book but here", "every moment", "nothing known"),
    ],
)
def test_what_is_known_is_obeyed(fixed, rng):
    scores = rng.normal(-1, 2, (4, 5)).astype(np.float32)
    assert_exact(scores, StepsConfig(), fixed)
    found = follow(scores, StepsConfig(), fixed)
    for moment, known in fixed.items():
        if known.sentences is not None:
            assert not found.position[moment, ~known.sentences].any()
        if known.rendered is not None:
            assert found.rendered[moment].sum() == pytest.approx(float(known.rendered), abs=1e-6)
    # With quotes, where a moment's sentence is known but not where the film is.
    quoting = StepsConfig(elsewhere=0.3)
    assert_exact(scores, quoting, fixed)
    found = follow(scores, quoting, fixed)
    for moment, known in fixed.items():
        if known.sentences is not None:
            assert not found.rendered[moment, ~known.sentences].any()
            assert found.position[moment, ~known.sentences].any() == (known.rendered is True)
        if known.rendered is not None:
            assert found.rendered[moment].sum() == pytest.approx(float(known.rendered), abs=1e-5)


def test_silent_moments_say_nothing(rng):
    scores = rng.normal(0, 2, (4, 5)).astype(np.float32)
    scores[[0, 2]] = SILENT
    assert_exact(scores, StepsConfig())
    assert_exact(scores, StepsConfig(), {1: at(2, rendered=True), 2: at(3, 4)})
    assert not follow(scores, StepsConfig()).rendered[[0, 2]].any()
    nothing = np.full((4, 5), SILENT, dtype=np.float32)
    found = follow(nothing, StepsConfig())
    assert found.position[0].sum() == pytest.approx(1)
    assert not found.rendered.any()


_shares = st.floats(0, 1, width=32)
_steps = st.builds(
    StepsConfig,
    **{name: _shares for name in STEPS if name != "anywhere"},
    anywhere=st.floats(0.0625, 1, width=32),
    timeline=st.floats(0, 4, width=32),
    elsewhere=st.just(0.0) | st.floats(2**-16, 0.75, width=32),
)


@st.composite
def _films(draw):
    moments, sentences = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    score = st.one_of(st.floats(-8, 8, width=32), st.just(SILENT))
    rows = [draw(st.lists(score, min_size=sentences, max_size=sentences)) for _ in range(moments)]
    fixed = {}
    for moment in draw(st.sets(st.integers(0, moments - 1))):
        places = draw(st.none() | st.sets(st.integers(0, sentences - 1), min_size=1))
        mask = None if places is None else at(*places, sentences=sentences).sentences
        said = [np.isfinite(rows[moment][j]) for j in (places or range(sentences))]
        # What nothing can be said of is not rendered.
        fates = (None, False, True) if any(said) else (None, False)
        fixed[moment] = Fixed(sentences=mask, rendered=draw(st.sampled_from(fates)))
    return np.array(rows, dtype=np.float32), fixed


@given(_films(), _steps)
@settings(max_examples=100, deadline=None)
def test_any_film_with_any_steps(film, steps):
    assert_exact(film[0], steps, film[1])


@given(st.integers(0, 2**32 - 1), _steps, st.sampled_from([5.0, 60.0]))
@settings(max_examples=30, deadline=None)
def test_rows_are_distributions_whatever_the_scores(seed, steps, size):
    rng = np.random.default_rng(seed)
    scores = rng.choice([-size, size, SILENT, 0.0], size=(30, 40)).astype(np.float32)
    mask = rng.random(40) < 0.2
    mask[7] = True
    scores[3, 7] = -size
    fixed = {3: Fixed(sentences=mask, rendered=True), 9: Fixed(sentences=None, rendered=False)}
    for known in (None, fixed):
        found = follow(scores, steps, known)
        assert np.isfinite(found.log_partition)
        assert np.isfinite(found.steps).all()
        assert found.position.sum(axis=1) == pytest.approx(np.ones(30), abs=1e-4)
        assert (found.rendered >= 0).all()
        assert found.rendered.sum(axis=1).max() < 1 + 1e-4
        if steps.elsewhere == 0:
            assert found.quoted.sum() == 0
            assert (found.rendered <= found.position).all()
        assert found.steps.sum() == pytest.approx(29, abs=1e-4)


def test_the_sizes_of_shares_do_not_matter_but_their_ratios_do(rng):
    scores = rng.normal(0, 2, (6, 9)).astype(np.float32)
    shares = {name: getattr(StepsConfig(), name) for name in STEPS}
    one = follow(scores, StepsConfig())
    other = follow(scores, StepsConfig(**{name: 7 * s for name, s in shares.items()}))
    assert one.position == pytest.approx(other.position, abs=1e-6)
    third = follow(scores, StepsConfig(**shares | {"stay": 5.0}))
    assert np.abs(one.position - third.position).max() > 0.01


def test_what_is_passed_in_stays_as_it_is(rng):
    scores = rng.normal(0, 2, (6, 9)).astype(np.float32)
    before = scores.copy()
    follow(scores, StepsConfig(), {2: Fixed(sentences=None, rendered=False)})
    assert np.array_equal(scores, before)


def test_a_line_that_is_nowhere_keeps_its_scenes_place():
    """Lines 0 to 8 are sentences 40 to 48 word for word, but line 4 has nothing in the book."""
    scores = np.full((9, 100), -6.0, dtype=np.float32)
    for i in range(9):
        scores[i, 40 + i] = 8.0
    scores[4] = -6.0
    scores[4, 90] = -4.0  # a word by chance, far off
    found = follow(scores, StepsConfig())
    assert found.position[4].argmax() in (43, 44, 45)
    assert found.position[4, 42:47].sum() > 0.9
    assert found.rendered[4].sum() < 0.05
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    assert found.position[others].argmax(axis=1).tolist() == [40 + i for i in others]
    assert (found.rendered[others].sum(axis=1) > 0.95).all()


def test_neighbours_decide_between_two_equal_places():
    scores = np.full((5, 60), -6.0, dtype=np.float32)
    for i in range(5):
        scores[i, 20 + i] = 6.0
    scores[2, 50] = scores[2, 22] = 3.0
    found = follow(scores, StepsConfig())
    assert found.rendered[2, 22] > 0.9 > 0.05 > found.rendered[2, 50]


def test_a_quote_from_elsewhere_leaves_the_film_where_it_is():
    """Lines 0 to 8 are sentences 40 to 48, but line 4 is sentence 90 word for word."""
    scores = np.full((9, 100), -8.0, dtype=np.float32)
    for i in range(9):
        scores[i, 40 + i] = 5.0
    scores[4] = -8.0
    scores[4, 90] = 16.0
    torn, kept = (follow(scores, StepsConfig(elsewhere=rate)) for rate in (0.0, 0.05))
    for found in (torn, kept):
        assert found.rendered[4, 90] > 0.9
    assert torn.position[4, 90] > 0.9
    assert kept.position[4, 42:47].sum() > 0.9
    assert kept.quoted.sum() == pytest.approx(1, abs=0.1)
    # A judge who says so does not move the film either.
    told = follow(scores, StepsConfig(elsewhere=0.05), {4: at(90, sentences=100, rendered=True)})
    assert told.rendered[4, 90] == pytest.approx(1)
    assert told.position[4, 42:47].sum() > 0.9


def test_a_rate_of_nothing_is_the_limit_of_small_rates(rng):
    scores = rng.normal(-1, 2, (6, 9)).astype(np.float32)
    fixed = {1: at(3, sentences=9, rendered=True), 4: at(2, 3, sentences=9)}
    none, hardly = (follow(scores, StepsConfig(elsewhere=rate), fixed) for rate in (0.0, 1e-9))
    assert none.quoted.sum() == 0
    assert hardly.quoted.sum() == pytest.approx(0, abs=1e-6)
    for name in ("position", "rendered", "steps", "passages", "log_partition"):
        assert getattr(none, name) == pytest.approx(getattr(hardly, name), abs=1e-6), name


def test_quotes_of_the_surest_scores_stay_in_range():
    scores = np.full((5, 50), 60.0, dtype=np.float32)
    scores[2, 7] = -60.0
    fixed = {2: at(7, sentences=50, rendered=True)}
    found = follow(scores, StepsConfig(elsewhere=1e-5), fixed)
    assert np.isfinite(found.log_partition)
    assert found.position.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-4)
    assert found.rendered[2, 7] == pytest.approx(1, abs=1e-5)


def test_a_long_film_takes_seconds(rng):
    small = rng.normal(-3, 2, (3, 4)).astype(np.float32)
    follow(small, StepsConfig())  # compiled
    scores = rng.normal(-6, 1, (2000, 3000)).astype(np.float32)
    truth = np.linspace(0, 2999, 2000).astype(int)
    scores[np.arange(2000), truth] += 9
    started = time.process_time()
    found = follow(scores, StepsConfig(elsewhere=0.01))
    assert time.process_time() - started < 5
    assert np.isfinite(found.log_partition)
    assert found.position.sum(axis=1) == pytest.approx(np.ones(2000), abs=1e-4)
    assert (found.position.argmax(axis=1) == truth).mean() > 0.95
