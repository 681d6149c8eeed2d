"""Centred and half whitened vectors, against the definition and on made vectors."""

import numpy as np
import pytest
from conftest import make_book, make_film
from scipy.linalg import fractional_matrix_power

from folioreel.config import AlignConfig
from folioreel.models.onnx_graphs import unit_rows
from folioreel.similarity.tensor import SimilarityRows
from folioreel.similarity.whitening import whiten


def made(rng, count, scales, mean=0.0):
    return unit_rows((rng.normal(size=(count, len(scales))) * scales + mean).astype(np.float32))


def test_by_definition(rng):
    """The fourth root of the inverse covariance, by SciPy."""
    scales = np.array([9.0, 4.0, 1.0, 1.0, 0.5, 0.1])
    sides = [made(rng, 400, scales, mean=0.5), made(rng, 700, scales, mean=-1.0)]
    centred = [side - side.sum(axis=0) / (len(side) + 50) for side in sides]
    covariance = sum(side.T @ side / len(side) for side in centred) / 2
    least = (0.1 + 6 / 1100) * np.trace(covariance) / 6
    turn = fractional_matrix_power(covariance + least * np.eye(6), -0.25)
    for found, side in zip(whiten(*sides), centred, strict=True):
        np.testing.assert_allclose(found, unit_rows(side @ turn), atol=1e-5)


def test_what_all_have_in_common_is_taken_away(rng):
    sides = [made(rng, 4000, np.ones(8), mean) for mean in (3.0, -2.0)]  # as of two languages
    assert (sides[0] @ sides[1].T).mean() < -0.8
    moments, sentences = whiten(*sides)
    assert abs((moments @ sentences.T).mean()) < 0.01


def test_a_match_stands_out_more(rng):
    """A theme outweighs the meaning of each sentence until it is taken away."""
    meaning = rng.normal(size=(500, 64))
    theme = 3 * rng.normal(size=64)
    sides = [
        unit_rows((meaning + rng.normal(size=(500, 1)) * theme + noise).astype(np.float32))
        for noise in 0.8 * rng.normal(size=(2, 500, 64))
    ]

    def found(moments, sentences):
        return float(((moments @ sentences.T).argmax(axis=1) == np.arange(500)).mean())

    assert found(*whiten(*sides)) > found(*sides) + 0.1


@pytest.mark.parametrize("count", [0, 1, 3])
def test_few_lines_keep_their_direction(rng, count):
    sentences = made(rng, 3, np.ones(32))
    moments = made(rng, count, np.ones(32))
    few = whiten(moments, sentences)
    assert all(np.isfinite(side).all() for side in few)
    for before, after in zip((moments, sentences), few, strict=True):
        assert (np.einsum("nu,nu->n", before, after) > 0.8).all()


def test_presets_choose_it():
    """Silent moments have no part in it."""
    film, book = make_film(), make_book()
    planes = {}
    for whitened in (False, True):
        config = AlignConfig(
            weights={"semantic": 1.0}, semantic_encoder="student", whitened=whitened
        )
        rows = SimilarityRows(film, book, config)
        planes[whitened] = rows.block(0, rows.shape[0])["semantic"]
    silent = rows.silent
    assert silent.any()
    assert not planes[True][silent].any()
    assert (planes[True][~silent] != planes[False][~silent]).all()
