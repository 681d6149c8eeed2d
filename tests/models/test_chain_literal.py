"""The chain to the letter of the paper: probabilities, and sentences pruned."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

from folioreel.alignment.decode import decode_chain
from folioreel.alignment.marginals import chain_marginals
from folioreel.config import ChainConfig
from folioreel.errors import ConfigError
from folioreel.models.chain import make_chain
from folioreel.train.chain import clamp_chain, log_likelihood
from folioreel.train.judged import JudgedMoment

LITERAL = ChainConfig(unary=4.0, pace=1.5, stay=0.7, sigma=0.2, sigmoid=True, reach=1 / 3)
STEPS = np.array([0.3, 0.1, 0.3])


def energies(logits, config):
    """The energy of every allowed path, straight from the paper's formulas."""
    moments, sentences = logits.shape
    times = np.concatenate([[0.0], np.cumsum(STEPS)])
    found = {}
    for path in itertools.product(range(sentences), repeat=moments):
        places = (np.array(path) + 0.5) / sentences
        if config.reach is not None and (np.abs(places - times) > config.reach).any():
            continue
        own = logits[range(moments), path].astype(np.float64)
        energy = -config.unary * (expit(own) if config.sigmoid else own).sum()
        for i in range(1, moments):
            jump = (path[i] - path[i - 1]) / sentences
            lag = (STEPS[i - 1] - jump) ** 2
            energy += config.pace * lag / (lag + config.sigma**2)
            energy += config.stay * jump**2 / (jump**2 + config.sigma**2)
        found[path] = energy
    return found


@pytest.mark.parametrize("seed", range(5))
def test_path_and_marginals_against_enumeration(seed):
    logits = np.random.default_rng(seed).normal(0, 3, (4, 6)).astype(np.float32)
    chain = make_chain(logits, STEPS, LITERAL)
    paths = energies(logits, LITERAL)
    best = min(paths, key=paths.get)
    decoded = decode_chain(chain)
    assert tuple(decoded.sentences) == best
    assert decoded.energy == pytest.approx(paths[best], abs=1e-5)
    weights = {path: np.exp(-energy) for path, energy in paths.items()}
    total = sum(weights.values())
    expected = np.zeros(logits.shape)
    for path, weight in weights.items():
        expected[range(4), path] += weight / total
    np.testing.assert_allclose(chain_marginals(chain).probability, expected, atol=1e-5)


def test_the_usual_chain_is_left_as_it_is(rng):
    logits = rng.normal(0, 3, (4, 6)).astype(np.float32)
    assert make_chain(logits, STEPS, ChainConfig()).unary is logits


def test_a_moment_keeps_all_sentences_if_none_is_near():
    config = ChainConfig(reach=0.01)
    chain = make_chain(np.zeros((4, 2), dtype=np.float32), STEPS, config)
    assert np.isfinite(chain.unary).all()


def test_a_pruned_match_is_not_clamped(rng):
    logits = rng.normal(0, 1, (4, 6)).astype(np.float32)
    chain = make_chain(logits, STEPS, LITERAL)
    pruned = JudgedMoment(moment=0, verdict="match", sentences=(5,))
    kept = JudgedMoment(moment=3, verdict="match", sentences=(0, 4))
    assert log_likelihood([clamp_chain(chain, [pruned])], LITERAL)[0] == pytest.approx(0, abs=1e-9)
    value, _ = log_likelihood([clamp_chain(chain, [pruned, kept])], LITERAL)
    paths = energies(logits, LITERAL)
    inside = sum(np.exp(-e) for path, e in paths.items() if path[3] in (0, 4))
    assert value == pytest.approx(
        np.log(inside / sum(np.exp(-e) for e in paths.values())), abs=1e-5
    )


@pytest.mark.parametrize("reach", [0.0, -1.0, 1.5, float("nan")])
def test_a_reach_is_a_share(reach):
    with pytest.raises(ConfigError, match="reach"):
        ChainConfig(reach=reach)
