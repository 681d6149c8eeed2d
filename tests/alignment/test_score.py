"""Scores over the whole tensor: block by block the same as at once."""

import numpy as np
import pytest
from made_context import MadeRows, made_model

from folioreel.alignment.score import context_scores


@pytest.fixture
def rows(rng):
    return MadeRows(rng.random((3, 200, 30)).astype(np.float32), ("prior", "bleu1", "tfidf"))


def test_blocks_give_what_the_whole_gives(rows, rng):
    model = made_model((rng.random((1, 2, 5, 3)) - 0.5).astype(np.float32))
    whole = np.pad(rows.planes[[2, 0]], ((0, 0), (2, 2), (0, 0)))  # the model's own order
    seen = []
    found = context_scores(rows, model, seen.append)
    np.testing.assert_allclose(found, model.log_odds(whole), atol=1e-5)
    assert seen[-1].done == seen[-1].total == 200


def test_a_measure_that_is_not_computed_is_named(rows, rng):
    model = made_model(rng.random((1, 2, 1, 1)).astype(np.float32))
    rows.measures = ("prior", "bleu1", "bleu2")
    with pytest.raises(ValueError, match="tfidf"):
        context_scores(rows, model)
