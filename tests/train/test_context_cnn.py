"""The context network: what it sees, what it learns, and that the exported graph is the same."""

import numpy as np
import pytest
import torch
from made_context import MadeRows

from folioreel.alignment.score import context_scores
from folioreel.errors import ConfigError
from folioreel.models.context_cnn import ContextModel
from folioreel.train.context_cnn import (
    ContextConfig,
    ContextExamples,
    ContextNetwork,
    context_examples,
    fit_context,
    svm_config,
    without_measures,
)
from folioreel.train.judged import JudgedMoment
from folioreel.train.onnx import context_graph

MEASURES = ("tfidf", "sentence")


def made_pair(rng, moments=60, sentences=80):
    """A film that follows its book; true cells are no brighter than false ones standing alone."""
    planes = (rng.random((2, moments, sentences)) * 0.3).astype(np.float32)
    truth = np.arange(moments) + 7
    planes[0, np.arange(moments), truth] = 1.0
    planes[0, np.arange(moments), rng.permutation(sentences)[:moments]] = 1.0
    judged = tuple(
        JudgedMoment(moment=i, verdict="match", sentences=(int(truth[i]),)) for i in range(moments)
    )
    return MadeRows(planes, MEASURES), judged, truth


def exported(network):
    config = network.config
    return ContextModel(
        name="made", measures=config.measures, halo=config.halo, graph=context_graph(network)
    )


@pytest.mark.parametrize("window", [3, (3, 5)])
@pytest.mark.parametrize("layers", [1, 3])
def test_the_graph_gives_the_numbers_of_the_network(rng, layers, window):
    config = ContextConfig(measures=MEASURES, layers=layers, window=window, channels=4)
    torch.manual_seed(1)
    network = ContextNetwork(config).eval()
    network.scale[:] = torch.tensor([2.0, 0.5])[:, None, None]
    planes = rng.random((2, 150, 40)).astype(np.float32)
    height, width = config.halo
    whole = np.pad(planes, ((0, 0), (height, height), (width, width)))
    with torch.no_grad():
        expected = network(torch.from_numpy(whole)[None])[0].numpy()
    assert expected.shape == (150, 40)
    found = context_scores(MadeRows(planes, MEASURES), exported(network))  # in several blocks
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_window_as_an_example_gives_the_score_of_its_cell(rng):
    rows, judged, _ = made_pair(rng)
    config = ContextConfig(measures=MEASURES, window=3, channels=4)
    network = ContextNetwork(config).eval()
    examples = context_examples(rows, judged[:3], config)
    with torch.no_grad():
        scores = network(torch.from_numpy(examples.planes).float())[:, 0].numpy()  # (3, J)
    whole = context_scores(rows, exported(network))
    np.testing.assert_allclose(scores, whole[:3], atol=5e-3)  # examples are kept in half precision


def test_context_tells_cells_apart_that_look_the_same_alone(rng):
    rows, judged, _ = made_pair(rng)
    other, _, other_truth = made_pair(rng)
    shares = {}
    for name, config in {
        "cnn": ContextConfig(measures=MEASURES, window=3, channels=8, dropout=0.1, epochs=20),
        "cnn-1": ContextConfig(measures=MEASURES, layers=1, window=5, dropout=0.0, epochs=40),
        "svm": svm_config(MEASURES),
    }.items():
        network = fit_context(config, [context_examples(rows, judged, config)])
        found = context_scores(other, exported(network)).argmax(axis=1)
        shares[name] = float((found == other_truth).mean())
    assert shares["cnn"] > 0.9
    assert shares["cnn-1"] > 0.9
    assert shares["svm"] < 0.8  # a single cell cannot know


def test_the_svm_is_a_weighted_sum_of_one_cell(rng):
    rows, judged, _ = made_pair(rng)
    config = svm_config(MEASURES)
    network = fit_context(config, [context_examples(rows, judged, config)])
    weights = (network.layers[0].weight[0] * network.scale).detach().numpy().ravel()
    expected = np.tensordot(weights, rows.planes, 1) + network.layers[0].bias.item()
    np.testing.assert_allclose(context_scores(rows, exported(network)), expected, atol=1e-4)
    assert weights[0] > 0


def test_the_same_seed_gives_the_same_network(rng):
    rows, judged, _ = made_pair(rng, moments=20)
    config = ContextConfig(measures=MEASURES, window=3, channels=4, epochs=3)
    examples = context_examples(rows, judged, config)
    first, second = (context_graph(fit_context(config, [examples])) for _ in range(2))
    assert first == second
    other = ContextConfig(measures=MEASURES, window=3, channels=4, epochs=3, seed=1)
    assert context_graph(fit_context(other, [examples])) != first


def test_moments_that_are_not_in_the_book_learn_low_scores(rng):
    rows, judged, truth = made_pair(rng)
    absent = (5, 20, 40, 50)
    rows.planes[0, list(absent)] = rng.random((4, 80)) * 0.3
    judged = tuple(
        JudgedMoment(moment=j.moment, verdict="none", sentences=()) if j.moment in absent else j
        for j in judged
    )
    config = ContextConfig(measures=MEASURES, layers=1, window=1, dropout=0.0)
    network = fit_context(config, [context_examples(rows, judged, config)])
    best = context_scores(rows, exported(network)).max(axis=1)
    assert best[list(absent)].max() < best[truth[:30] - 7].mean()


def test_a_scene_teaches_nothing(rng):
    rows, judged, _ = made_pair(rng)
    scene = JudgedMoment(moment=9, verdict="scene", sentences=(1,))
    config = ContextConfig(measures=MEASURES)
    assert context_examples(rows, [scene, judged[0]], config).judged == (judged[0],)
    with pytest.raises(ConfigError, match="no judged moment"):
        context_examples(rows, [scene], config)


def test_without_a_match_there_is_nothing_to_learn():
    none = JudgedMoment(moment=0, verdict="none", sentences=())
    config = ContextConfig(measures=("tfidf",), window=3)
    planes = np.zeros((1, 1, 7, 20), dtype=np.float16)
    with pytest.raises(ConfigError, match="no match"):
        fit_context(config, [ContextExamples(planes=planes, judged=(none,))])


@pytest.mark.parametrize(
    "wrong", [{"layers": 2}, {"window": 4}, {"window": (3, 0)}, {"dropout": 1.0}, {"channels": 0}]
)
def test_sizes_that_make_no_network_are_refused(wrong):
    with pytest.raises(ConfigError):
        ContextConfig(measures=MEASURES, **wrong)


def test_measures_can_be_taken_away():
    config = ContextConfig(measures=("prior", "bleu1", "bleu2", "sentence"))
    assert without_measures(config, "bleu1", "bleu2").measures == ("prior", "sentence")
