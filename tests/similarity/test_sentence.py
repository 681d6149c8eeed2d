"""The cosine of sentence vectors by brute force."""

import numpy as np
import pytest
from conftest import make_book, make_film
from made_encoders import made_model

from folioreel.similarity.sentence import SentenceMeasure
from folioreel.text import tokenize


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def encoder():
    return made_model()


def by_brute_force(encoder, film, book):
    values = np.zeros((len(film.moments), len(book.sentences)))
    for i, moment in enumerate(film.moments):
        for j, sentence in enumerate(book.sentences):
            said, written = encoder.encode([moment.text, sentence.text]).astype(np.float64)
            if said.any() and written.any():
                values[i, j] = said @ written / np.linalg.norm(said) / np.linalg.norm(written)
    return values


def rows(measure, first, last, sentences):
    out = np.full((1, last - first, sentences), np.nan, dtype=np.float32)
    measure.rows(first, last, out)
    return out[0]


def test_against_brute_force(encoder, film):
    texts = ("The ferry crossed the river at dawn.", "", "Sixty-one kilos.", "She said nothing.")
    book = make_book(texts)
    measure = SentenceMeasure("sentence", encoder, film, book)
    found = rows(measure, 0, len(film.moments), 4)
    # The vectors are kept in half precision, of which 11 bits are left.
    assert found == pytest.approx(by_brute_force(encoder, film, book), abs=2e-3)
    assert not found[:, 1].any()
    silent = [moment.index for moment in film.moments if not moment.text]
    assert silent
    assert not found[silent].any()
    spoken = next(moment.index for moment in film.moments if moment.text == "Sixty-one kilos.")
    assert found[spoken, 2] == pytest.approx(1, abs=1e-6)


def test_blocks_of_rows_are_those_of_the_whole(encoder, film, book):
    measure = SentenceMeasure("sentence", encoder, film, book)
    moments, sentences = len(film.moments), len(book.sentences)
    assert measure.names == ("sentence",)
    whole = rows(measure, 0, moments, sentences)
    parts = [rows(measure, k, min(k + 2, moments), sentences) for k in range(0, moments, 2)]
    assert np.concatenate(parts) == pytest.approx(whole, abs=1e-6)
    assert rows(measure, 2, 2, sentences).shape == (0, sentences)


def test_the_three_forms_of_semantic(encoder, film, book):
    """Standard scores by hand, and the length of the line as a factor."""
    measure = SentenceMeasure("semantic", encoder, film, book)
    assert measure.names == ("semantic", "semantic_z", "semantic_long")
    found = np.empty((3, len(film.moments), len(book.sentences)), dtype=np.float32)
    measure.rows(0, len(film.moments), found)
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    for i in spoken:
        cosines = found[0, i].astype(np.float64)
        scores = (cosines - cosines.mean()) / cosines.std()
        assert found[1, i] == pytest.approx(scores / 3, abs=1e-3)
        words = len(tokenize(film.moments[i].text))
        assert found[2, i] == pytest.approx(found[1, i] * np.log(1 + words) / 3, abs=1e-5)
    silent = [k for k, moment in enumerate(film.moments) if not moment.text]
    assert silent
    assert not found[:, silent].any()


def test_a_film_in_which_nobody_speaks(encoder, book):
    film = make_film(spoken=())
    measure = SentenceMeasure("sentence", encoder, film, book)
    assert not rows(measure, 0, len(film.moments), len(book.sentences)).any()


def test_a_second_run_reads_the_cache(encoder, film, book):
    seen = []
    first = SentenceMeasure("sentence", encoder, film, book, seen.append)
    assert seen
    told = len(seen)
    again = SentenceMeasure("sentence", encoder, film, book, seen.append)
    assert len(seen) == told
    shape = len(film.moments), len(book.sentences)
    assert np.array_equal(rows(first, 0, *shape), rows(again, 0, *shape))
