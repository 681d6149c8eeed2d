"""A context model's folder: the same numbers after a round trip, and refused where damaged."""

import json

import numpy as np
import pytest
from made_context import made_model

from folioreel.errors import ModelFolderError
from folioreel.models.context_cnn import GRAPH, ContextModel
from folioreel.models.folders import CARD, CONFIG


@pytest.fixture
def model(rng) -> ContextModel:
    return made_model(rng.random((1, 2, 3, 5)).astype(np.float32))


def test_scores_are_the_sum_over_the_window(rng):
    weights = rng.random((1, 2, 3, 5)).astype(np.float32)
    planes = rng.random((2, 4 + 2, 9)).astype(np.float32)
    padded = np.pad(planes, ((0, 0), (0, 0), (2, 2)))
    expected = [
        [(weights[0] * padded[:, i : i + 3, j : j + 5]).sum() for j in range(9)] for i in range(4)
    ]
    np.testing.assert_allclose(made_model(weights).log_odds(planes), expected, rtol=1e-5)


def test_a_saved_model_is_the_same(model, tmp_path, rng):
    model.save(tmp_path / "context")
    loaded = ContextModel.load(tmp_path / "context")
    assert (loaded.name, loaded.measures, loaded.halo) == (model.name, model.measures, model.halo)
    assert (loaded.graph, loaded.training, loaded.card) == (model.graph, model.training, model.card)
    planes = rng.random((2, 6, 9)).astype(np.float32)
    np.testing.assert_array_equal(loaded.log_odds(planes), model.log_odds(planes))
    assert [path.name for path in tmp_path.iterdir()] == ["context"]


def test_nothing_else_is_replaced(model, tmp_path):
    folder = tmp_path / "context"
    model.save(folder)
    with pytest.raises(ModelFolderError, match="already"):
        model.save(folder)
    model.save(folder, replace=True)
    other = tmp_path / "mine"
    other.mkdir()
    (other / "letter.txt").write_text("keep me")
    with pytest.raises(ModelFolderError, match="something else"):
        model.save(other, replace=True)
    assert (other / "letter.txt").read_text() == "keep me"


@pytest.mark.parametrize("name", [GRAPH, CARD])
def test_damaged_and_missing_files_are_named(model, tmp_path, name):
    folder = tmp_path / "context"
    model.save(folder)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data + b"x")
    with pytest.raises(ModelFolderError, match=f"{name} is damaged"):
        ContextModel.load(folder)
    (folder / name).unlink()
    with pytest.raises(ModelFolderError, match=f"{name} is missing"):
        ContextModel.load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "folioreel-sentence-encoder"}, "not a context model"),
        ({"version": 99}, "upgrade"),
        ({"halo": [1]}, "damaged"),
        ({"measures": ["tfidf"]}, "takes 2 measures"),
    ],
)
def test_a_wrong_config_is_refused(model, tmp_path, changes, message):
    folder = tmp_path / "context"
    model.save(folder)
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps({**config, **changes}))
    with pytest.raises(ModelFolderError, match=message):
        ContextModel.load(folder)


def test_a_folder_that_is_not_there():
    with pytest.raises(ModelFolderError, match=r"config\.json is missing"):
        ContextModel.load("no-such-model")
