"""The chain against enumeration on small inputs and a plain NumPy program on larger ones."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from folioreel.alignment.decode import decode_chain
from folioreel.alignment.marginals import chain_marginals
from folioreel.config import ChainConfig
from folioreel.errors import AlignmentError, ConfigError
from folioreel.models.chain import ABSENT, Chain, judge_chain, make_chain


def paper_cost(config, step, jump):
    """The two potentials as the paper writes them, for one displacement (a share of the book)."""
    pace = (step - jump) ** 2 / ((step - jump) ** 2 + config.sigma**2)
    stay = jump**2 / (jump**2 + config.sigma**2)
    return config.pace * pace + config.stay * stay


def random_chain(rng, moments, sentences) -> Chain:
    unary = rng.random((moments, sentences)).astype(np.float32)
    if rng.random() < 0.3:
        unary **= 20  # few cells stand out
    config = ChainConfig(
        unary=float(rng.choice([0.1, 1, 10, 100])),
        pace=float(rng.choice([0, 0.01, 1, 100])),
        stay=float(rng.choice([0, 0.01, 1, 100])),
        sigma=float(rng.choice([0.001, 0.03, 0.3, 1])),
    )
    steps = rng.random(moments - 1) / moments
    return make_chain(unary, steps, config)


def energy_of(path, chain):
    """The energy of one path, term by term."""
    config = chain.config
    total = -config.unary * sum(float(chain.unary[i, j]) for i, j in enumerate(path))
    for i, (k, j) in enumerate(itertools.pairwise(path)):
        total += paper_cost(config, chain.steps[i], (j - k) / chain.shape[1])
    return total


def enumerate_paths(chain):
    moments, sentences = chain.shape
    paths = list(itertools.product(range(sentences), repeat=moments))
    return paths, np.array([energy_of(path, chain) for path in paths])


def numpy_decode(chain):
    moments, sentences = chain.shape
    here = np.arange(sentences)
    values = chain.config.unary * chain.unary[0].astype(float)
    back = np.zeros((moments, sentences), dtype=int)
    for i in range(1, moments):
        jump = (here[:, None] - here[None, :]) / sentences  # (j, k)
        table = values[None, :] - paper_cost(chain.config, chain.steps[i - 1], jump)
        back[i] = table.argmax(axis=1)
        values = chain.config.unary * chain.unary[i].astype(float) + table.max(axis=1)
    path = [int(values.argmax())]
    for i in range(moments - 1, 0, -1):
        path.append(int(back[i][path[-1]]))
    return path[::-1], -float(values.max())


def numpy_marginals(chain):
    moments, sentences = chain.shape
    weights = chain.config.unary * chain.unary.astype(float)
    here = np.arange(sentences)
    jump = (here[:, None] - here[None, :]) / sentences
    ahead, back = np.zeros((moments, sentences)), np.zeros((moments, sentences))
    for i in range(1, moments):
        table = -paper_cost(chain.config, chain.steps[i - 1], jump)
        ahead[i] = logsumexp(table + (ahead[i - 1] + weights[i - 1])[None, :], axis=1)
    for i in range(moments - 2, -1, -1):
        table = -paper_cost(chain.config, chain.steps[i], jump)
        back[i] = logsumexp(table + (back[i + 1] + weights[i + 1])[:, None], axis=0)
    joint = ahead + back + weights
    total = logsumexp(joint, axis=1)
    return np.exp(joint - total[:, None]), total[0]


def test_costs_are_the_papers():
    config = ChainConfig(pace=2.0, stay=3.0, sigma=0.1)
    chain = make_chain(np.zeros((2, 5), dtype=np.float32), np.array([0.2]), config)
    assert chain.costs(1) == pytest.approx([paper_cost(config, 0.2, d / 5) for d in range(-4, 5)])


def test_best_path_against_enumeration(rng):
    for _ in range(150):
        chain = random_chain(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
        _, energies = enumerate_paths(chain)
        found = decode_chain(chain)
        assert found.energy == pytest.approx(energies.min(), rel=1e-9, abs=1e-9)
        assert energy_of(found.sentences, chain) == pytest.approx(found.energy)


def test_marginals_against_enumeration(rng):
    for _ in range(150):
        chain = random_chain(rng, int(rng.integers(1, 5)), int(rng.integers(1, 6)))
        paths, energies = enumerate_paths(chain)
        marginals = chain_marginals(chain)
        weights = np.exp(-energies - logsumexp(-energies))
        expected = np.zeros(chain.shape)
        for path, weight in zip(paths, weights, strict=True):
            expected[np.arange(len(path)), path] += weight
        assert np.abs(marginals.probability - expected).max() < 1e-6
        assert marginals.log_partition == pytest.approx(logsumexp(-energies), rel=1e-6, abs=1e-6)


def test_numpy_program(rng):
    for _ in range(60):
        chain = random_chain(rng, int(rng.integers(2, 30)), int(rng.integers(2, 400)))
        path, energy = numpy_decode(chain)
        found = decode_chain(chain)
        assert list(found.sentences) == path
        assert found.energy == pytest.approx(energy, rel=1e-12)
        expected, total = numpy_marginals(chain)
        marginals = chain_marginals(chain)
        assert np.abs(marginals.probability - expected).max() < 1e-6
        assert marginals.log_partition == pytest.approx(total, rel=1e-6)


@pytest.mark.slow
def test_a_large_chain(rng):
    config = ChainConfig(unary=10, pace=20, stay=5, sigma=0.01)
    unary = rng.random((60, 2500)).astype(np.float32)
    chain = make_chain(unary, np.full(59, 1 / 60), config)
    path, energy = numpy_decode(chain)
    found = decode_chain(chain)
    assert list(found.sentences) == path
    assert found.energy == pytest.approx(energy, rel=1e-12)
    expected, _ = numpy_marginals(chain)
    assert np.abs(chain_marginals(chain).probability - expected).max() < 1e-6


def test_fixed_links_are_kept_and_the_rest_is_the_best_around_them(rng):
    for _ in range(40):
        chain = random_chain(rng, 4, 5)
        fixed = {1: int(rng.integers(5)), 2: 3}
        found = decode_chain(judge_chain(chain, fixed))
        assert {i: found.sentences[i] for i in fixed} == fixed
        paths, energies = enumerate_paths(chain)
        allowed = [all(path[i] == j for i, j in fixed.items()) for path in paths]
        assert energy_of(found.sentences, chain) == pytest.approx(energies[allowed].min())


def test_a_moment_that_is_not_in_the_book_says_nothing_of_its_place(rng):
    chain = random_chain(rng, 4, 5)
    before = chain.unary.copy()
    judged = judge_chain(chain, {1: 2, 2: ABSENT})
    assert not judged.unary[2].any()
    assert np.array_equal(judged.unary[[0, 3]], before[[0, 3]])
    assert np.array_equal(chain.unary, before)
    assert judge_chain(chain, {}) is chain


def test_a_link_can_be_fixed_to_a_forbidden_cell(rng):
    chain = random_chain(rng, 3, 10)
    chain.unary[1, 4] = -np.inf
    assert decode_chain(judge_chain(chain, {1: 4})).sentences[1] == 4


def test_no_path_at_all_is_said(rng):
    chain = random_chain(rng, 4, 10)
    chain.unary[2] = -np.inf
    with pytest.raises(AlignmentError, match="no path"):
        decode_chain(chain)


def test_marginals_refuse_what_floats_cannot_follow(rng):
    chain = random_chain(rng, 4, 10)
    with pytest.raises(AlignmentError, match="too large"):
        chain_marginals(make_chain(chain.unary * 1000, chain.steps, ChainConfig(unary=1.0)))
    with pytest.raises(AlignmentError, match="too large"):
        chain_marginals(make_chain(chain.unary, chain.steps, ChainConfig(pace=800.0)))
    chain.unary[2] = -np.inf
    with pytest.raises(AlignmentError, match="no path"):
        chain_marginals(chain)


def test_a_link_outside_the_chain_is_a_mistake(rng):
    with pytest.raises(ValueError, match="outside"):
        judge_chain(random_chain(rng, 3, 10), {1: -3})


def test_two_runs_are_identical(rng):
    chain = random_chain(rng, 50, 700)
    first, second = decode_chain(chain), decode_chain(chain)
    assert np.array_equal(first.sentences, second.sentences)
    assert first.energy == second.energy
    once, again = chain_marginals(chain), chain_marginals(chain)
    assert np.array_equal(once.probability, again.probability)


@pytest.mark.parametrize(
    "setting", [{"sigma": 0}, {"pace": -1}, {"unary": 0}, {"stay": -1}, {"sigma": float("nan")}]
)
def test_bad_weights(setting):
    with pytest.raises(ConfigError):
        ChainConfig(**setting)
