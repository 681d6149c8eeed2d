"""Blocks of rows with their halo against the whole tensor."""

import numpy as np
import pytest

from folioreel.config import MEASURES, AlignConfig
from folioreel.similarity.tensor import SimilarityRows


@pytest.fixture
def rows(film, book):
    return SimilarityRows(film, book, AlignConfig())


def test_the_whole_has_every_measure(rows, film, book):
    whole = rows.block(0, rows.shape[0])
    assert whole.values.shape == (len(film.moments), len(book.sentences), len(MEASURES))
    assert whole.measures == MEASURES
    # "Who opened the hoarding?" is told by words.
    assert whole["tfidf"][4].argmax() == 8
    assert whole["bleu3"][4].argmax() == 8


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("halo", [0, 1, 4])
def test_blocks_are_slices_of_the_padded_whole(rows, size, halo):
    whole = rows.block(0, rows.shape[0]).values
    padded = np.pad(whole, ((halo, halo), (0, 0), (0, 0)))
    seen = 0
    for block in rows.blocks(size, halo):
        height = block.values.shape[0]
        assert block.first == seen
        assert block.halo == halo
        assert np.array_equal(block.values, padded[block.first : block.first + height])
        seen += height - 2 * halo
    assert seen == rows.shape[0]


def test_measures_can_be_taken_away(rows):
    block = rows.block(0, 3)
    less = block.without("tfidf", "bleu1")
    assert less.measures == ("prior", "bleu2", "bleu3", "bleu4", "bleu5")
    assert np.array_equal(less["bleu2"], block["bleu2"])


def test_only_what_the_config_names_is_computed(film, book):
    rows = SimilarityRows(film, book, AlignConfig(weights={"bleu2": 1.0}))
    assert rows.block(0, 2).measures == ("bleu2",)


def test_the_prior_is_a_band_around_the_diagonal(rows, film):
    prior = rows.block(0, rows.shape[0])["prior"]
    # The first line is spoken 1.5 s into 20 s: 0.075 of 12 sentences is the first.
    assert prior[0].argmax() == 0
    assert prior[-1].argmax() == 11
    assert prior.max() <= 1
    assert prior[0, -1] < 0.01
