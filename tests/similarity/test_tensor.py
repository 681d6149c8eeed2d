"""Blocks of rows with their halo against the whole tensor."""

import numpy as np
import pytest
from made_encoders import made_model

from folioreel.config import MEASURES, AlignConfig
from folioreel.errors import ModelFolderError
from folioreel.models.sentence_encoder import load_encoder
from folioreel.similarity.sentence import SentenceMeasure
from folioreel.similarity.tensor import SimilarityRows

WORDY = ("prior", "tfidf", "bleu1", "bleu2", "bleu3", "bleu4", "bleu5")
"""The measures that need no model."""


@pytest.fixture
def rows(film, book):
    return SimilarityRows(film, book, AlignConfig(weights=dict.fromkeys(WORDY, 1.0)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of an encoder by chance."""
    folder = tmp_path_factory.mktemp("made") / "encoder"
    made_model().save(folder)
    return folder


def test_the_whole_has_every_measure(film, book, folder):
    config = AlignConfig(weights=dict.fromkeys(MEASURES, 1.0), sentence_encoder=str(folder))
    rows = SimilarityRows(film, book, config)
    whole = rows.block(0, rows.shape[0])
    assert whole.values.shape == (len(film.moments), len(book.sentences), len(MEASURES))
    assert whole.measures == MEASURES
    # Nobody watched this film, so that its pictures say nothing.
    assert {measure for measure in MEASURES if not whole[measure].any()} == {"visual", "scene"}
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


def test_sentence_vectors_are_those_of_their_encoders(film, book, folder):
    """Each of the two measures has its own encoder, and its own plane in the stack."""
    config = AlignConfig(
        weights={"semantic": 1.0, "sentence": 1.0, "bleu2": 1.0},
        sentence_encoder=str(folder),
        semantic_encoder="student",
    )
    rows = SimilarityRows(film, book, config)
    block = rows.block(1, 4, halo=2)
    assert block.measures == ("bleu2", "sentence", "semantic")
    encoders = {"sentence": made_model(), "semantic": load_encoder("student")}
    for name, encoder in encoders.items():
        measure = SentenceMeasure((name,), encoder, film, book)
        expected = np.zeros((len(measure.names), 7, len(book.sentences)), dtype=np.float32)
        # One row above the first moment is beyond the film.
        measure.rows(0, 6, expected[:, 1:])
        assert block[name] == pytest.approx(expected[0], abs=1e-6)
    assert not np.allclose(block["sentence"], block["semantic"], atol=0.05)
    # A line that is in the book is nearest to itself by its meaning.
    assert rows.block(4, 5)["semantic"][0].argmax() == 8


def test_the_encoder_that_the_config_names(film, book, folder):
    named = [
        SimilarityRows(film, book, AlignConfig(weights={"semantic": 1.0}, semantic_encoder=name))
        for name in ("student", str(folder))
    ]
    one, other = (rows.block(0, rows.shape[0])["semantic"] for rows in named)
    assert np.abs(one - other).max() > 0.1


def test_encoders_are_opened_only_where_they_are_needed(film, book):
    broken = {"sentence_encoder": "./nothing", "semantic_encoder": "./nothing"}
    SimilarityRows(film, book, AlignConfig(weights={"bleu1": 1.0}, **broken))
    for measure in ("sentence", "semantic", "window_z"):
        with pytest.raises(ModelFolderError, match="no such folder"):
            SimilarityRows(film, book, AlignConfig(weights={measure: 1.0}, **broken))
