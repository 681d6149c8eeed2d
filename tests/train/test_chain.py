"""The chain's likelihood and gradient against the sum over every path, one by one."""

import itertools

import numpy as np
import pytest

from folioreel.alignment.marginals import chain_marginals
from folioreel.config import ChainConfig
from folioreel.models.chain import make_chain
from folioreel.train.chain import WEIGHTS, clamp_chain, fit_chain, log_likelihood, log_partition
from folioreel.train.judged import JudgedMoment

CONFIG = ChainConfig(unary=3.0, pace=1.5, stay=0.7, sigma=0.2)
JUDGED = (
    JudgedMoment(moment=1, verdict="match", sentences=(2, 3)),
    JudgedMoment(moment=2, verdict="none", sentences=()),
    JudgedMoment(moment=3, verdict="match", sentences=(0,)),
)


@pytest.fixture
def pair(rng):
    unary = rng.random((5, 4)).astype(np.float32)
    steps = rng.random(4) / 5
    return clamp_chain(make_chain(unary, steps, CONFIG), JUDGED)


def brute_force(pair, config: ChainConfig) -> float:
    """log of (sum over paths that keep to the judgements / sum over all paths)."""
    unary, steps = pair.free.unary.astype(float), pair.free.steps
    moments, sentences = unary.shape
    allowed = {j.moment: j.sentences for j in JUDGED if j.verdict == "match"}
    kept = total = 0.0
    for path in itertools.product(range(sentences), repeat=moments):
        score = sum(config.unary * unary[i, j] for i, j in enumerate(path))
        for i in range(1, moments):
            jump = (path[i] - path[i - 1]) / sentences
            lag = steps[i - 1] - jump
            score -= config.pace * lag**2 / (lag**2 + config.sigma**2)
            score -= config.stay * jump**2 / (jump**2 + config.sigma**2)
        total += np.exp(score)
        if all(path[i] in where for i, where in allowed.items()):
            kept += np.exp(score)
    return float(np.log(kept / total))


def changed(config: ChainConfig, name: str, by: float) -> ChainConfig:
    values = {key: getattr(config, key) for key in WEIGHTS}
    return ChainConfig(**{**values, name: values[name] + by})


def test_likelihood_is_that_of_all_paths(pair):
    value, _ = log_likelihood([pair], CONFIG)
    assert value == pytest.approx(brute_force(pair, CONFIG), abs=1e-9)


@pytest.mark.parametrize("place", range(4))
def test_gradient_is_the_slope_of_the_brute_force_likelihood(pair, place):
    _, gradient = log_likelihood([pair], CONFIG)
    name, step = WEIGHTS[place], 1e-5
    above = brute_force(pair, changed(CONFIG, name, step))
    below = brute_force(pair, changed(CONFIG, name, -step))
    assert gradient[place] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-7)


def test_partition_agrees_with_the_marginals_of_a_longer_chain(rng):
    unary = rng.random((40, 300)).astype(np.float32)
    config = ChainConfig(unary=12.0, pace=6.0, stay=5.0, sigma=0.01)
    chain = make_chain(unary, rng.random(39) / 40, config)
    value, gradient = log_partition(chain)
    exact = chain_marginals(chain)
    assert value == pytest.approx(exact.log_partition, rel=1e-9)
    assert gradient[0] == pytest.approx(float((exact.probability * unary).sum()), rel=1e-5)


def test_two_pairs_count_as_the_sum(pair):
    one, slope = log_likelihood([pair], CONFIG)
    two, slopes = log_likelihood([pair, pair], CONFIG)
    assert two == pytest.approx(2 * one)
    np.testing.assert_allclose(slopes, 2 * slope)


def test_fitting_finds_the_weights_that_drew_the_truth(rng):
    # Paths are drawn from a chain; with many of them the likeliest weights are near its own.
    true = ChainConfig(unary=2.0, pace=3.0, stay=0.5, sigma=0.1)
    pairs = []
    for _ in range(30):
        unary = rng.random((30, 12)).astype(np.float32)
        chain = make_chain(unary, np.full(29, 1 / 30), true)
        path = draw_path(chain, rng)
        judged = [
            JudgedMoment(moment=i, verdict="match", sentences=(int(j),))
            for i, j in enumerate(path)
            if i % 3 != 1  # the rest stays hidden
        ]
        pairs.append(clamp_chain(chain, judged))
    start = ChainConfig(unary=5.0, pace=1.0, stay=1.0, sigma=0.3)
    learned = fit_chain(pairs, start)
    at_truth, _ = log_likelihood(pairs, true)
    assert learned.log_likelihood > learned.start_log_likelihood
    assert learned.log_likelihood >= at_truth - 1e-6
    assert learned.config.unary == pytest.approx(true.unary, rel=0.25)
    assert learned.config.sigma == pytest.approx(true.sigma, rel=0.5)


def test_a_weight_at_its_bound_is_reported(rng, caplog):
    """Scores that are always wrong are best ignored."""
    unary = rng.random((30, 12)).astype(np.float32)
    worst = [
        JudgedMoment(moment=i, verdict="match", sentences=(int(j),))
        for i, j in enumerate(unary.argmin(axis=1))
    ]
    pair = clamp_chain(make_chain(unary, np.full(29, 1 / 30), CONFIG), worst)
    learned = fit_chain([pair], CONFIG)
    assert learned.config.unary == pytest.approx(1e-4)
    said = [line for line in caplog.messages if "unary" in line]
    assert said == [
        "the chain's weight unary is at the bound of its search, 0.0001, so the network's scores"
        " are ignored"
    ]


def draw_path(chain, rng):
    """A path from the chain's own distribution, from the last moment back."""
    moments, sentences = chain.shape
    weights = np.exp(chain.config.unary * chain.unary.astype(float))
    kernels = [
        np.exp(-chain.costs(i)[np.arange(sentences) - k + sentences - 1])
        for i in range(1, moments)
        for k in range(sentences)
    ]
    steps = np.array(kernels).reshape(moments - 1, sentences, sentences)  # from k to j
    forward = [weights[0]]
    for i in range(1, moments):
        forward.append((forward[-1] @ steps[i - 1]) * weights[i] / forward[-1].sum())
    path = [rng.choice(sentences, p=forward[-1] / forward[-1].sum())]
    for i in range(moments - 2, -1, -1):
        shares = forward[i] * steps[i][:, path[0]]
        path.insert(0, rng.choice(sentences, p=shares / shares.sum()))
    return path
