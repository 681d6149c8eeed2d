"""The cosine of sentence vectors by brute force."""

import numpy as np
import pytest
from conftest import make_book, make_film
from made_encoders import made_model

from folioreel.config import SEMANTIC, WINDOW, AlignConfig
from folioreel.similarity import sentence as module
from folioreel.similarity.sentence import SentenceMeasure
from folioreel.similarity.tensor import SimilarityRows
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


def planes(encoder, film, book, names):
    """The planes of some measures: (names, I, J)."""
    measure = SentenceMeasure(names, encoder, film, book)
    assert measure.names == names
    found = np.full((len(names), len(film.moments), len(book.sentences)), np.nan, np.float32)
    measure.rows(0, len(film.moments), found)
    return found


class Letters:
    """Vectors that can be worked out by hand: a text has one unit for each of its letters."""

    name, units, fingerprint = "letters", 4, ""

    def encode(self, texts, progress=None):
        return np.array([[text.count(letter) for letter in "abcd"] for text in texts], np.float32)


def test_against_brute_force(encoder, film):
    texts = ("The ferry crossed the river at dawn.", "", "Sixty-one kilos.", "She said nothing.")
    book = make_book(texts)
    measure = SentenceMeasure(("sentence",), encoder, film, book)
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
    measure = SentenceMeasure(("sentence",), encoder, film, book)
    moments, sentences = len(film.moments), len(book.sentences)
    assert measure.names == ("sentence",)
    whole = rows(measure, 0, moments, sentences)
    parts = [rows(measure, k, min(k + 2, moments), sentences) for k in range(0, moments, 2)]
    assert np.concatenate(parts) == pytest.approx(whole, abs=1e-6)
    assert rows(measure, 2, 2, sentences).shape == (0, sentences)


def test_the_three_forms_of_semantic(encoder, film, book):
    """Standard scores by hand, and the length of the line as a factor."""
    found = planes(encoder, film, book, ("semantic", "semantic_z", "semantic_long"))
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


def test_windows_by_hand():
    """The window of a line skips the silent shot; at the ends there are fewer neighbours."""
    spoken = zip((1.0, 3.0, 9.0, 11.0, 15.0, 17.0), "aabcdd", strict=True)
    film = make_film(spoken=tuple((start, start + 1, text) for start, text in spoken))
    assert [moment.text for moment in film.moments] == ["a", "a", "", "b", "c", "d", "d"]
    book = make_book(("a", "b", "a", "c", "d"))
    (found,) = planes(Letters(), film, book, ("window",))
    # The line b with a a and c d around it; the sentences a b a, a b a c, and all five.
    line = np.array([2, 1, 1, 1]) / np.sqrt(7)
    assert found[3, 0] == pytest.approx(line @ [2, 1, 0, 0] / np.sqrt(5), abs=1e-3)
    assert found[3, 1] == pytest.approx(line @ [2, 1, 1, 0] / np.sqrt(6), abs=1e-3)
    assert found[3, 2] == pytest.approx(1, abs=1e-3)
    assert found[0, 4] == pytest.approx(
        np.array([2, 1, 0, 0]) @ [1, 0, 1, 1] / np.sqrt(5 * 3), abs=1e-3
    )
    assert not found[2].any()


def test_windows_by_brute_force(encoder, film, book):
    found = planes(encoder, film, book, SEMANTIC)
    spoken = [k for k, moment in enumerate(film.moments) if moment.text]
    sides = (
        [film.moments[k].text for k in spoken],
        [sentence.text for sentence in book.sentences],
    )
    means = []
    for texts in sides:
        rows = encoder.encode(texts).astype(np.float64)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        near = [rows[max(0, k - WINDOW) : k + WINDOW + 1].mean(axis=0) for k in range(len(rows))]
        means.append(np.array([row / np.linalg.norm(row) for row in near]))
    assert found[3, spoken] == pytest.approx(means[0] @ means[1].T, abs=2e-3)
    for i in spoken:
        cosines = found[3, i].astype(np.float64)
        assert found[4, i] == pytest.approx(
            (cosines - cosines.mean()) / max(cosines.std(), 1e-3) / 3, abs=1e-3
        )
        words = len(tokenize(film.moments[i].text))
        assert found[5, i] == pytest.approx(found[4, i] * np.log(1 + words) / 3, abs=1e-5)
    silent = [k for k, moment in enumerate(film.moments) if not moment.text]
    assert not found[:, silent].any()


@pytest.mark.parametrize("names", [("window_long",), ("semantic_z", "window"), SEMANTIC[1:]])
def test_some_forms_are_those_of_all(names, encoder, film, book):
    everything = planes(encoder, film, book, SEMANTIC)
    found = planes(encoder, film, book, names)
    for name, plane in zip(names, found, strict=True):
        assert np.array_equal(plane, everything[SEMANTIC.index(name)])


def test_windows_cost_nothing_where_nobody_asks(encoder, film, book, monkeypatch):
    monkeypatch.setattr(module, "window_means", lambda _: pytest.fail("windows were computed"))
    SentenceMeasure(SEMANTIC[:3], encoder, film, book)
    rows = SimilarityRows(film, book, AlignConfig(weights={"semantic_z": 1.0}))
    assert rows.block(0, 2).measures == ("semantic_z",)


def test_training_has_the_same_windows(encoder, book):
    torch = pytest.importorskip("torch")
    from folioreel.train import paraphrase

    assert paraphrase.WINDOW == module.WINDOW == WINDOW
    vectors = encoder.encode([sentence.text for sentence in book.sentences])
    trained = paraphrase.window_means(torch.from_numpy(vectors), np.arange(len(vectors)))
    assert module.window_means(vectors) == pytest.approx(trained.numpy(), abs=1e-5)


def test_a_film_in_which_nobody_speaks(encoder, book):
    film = make_film(spoken=())
    measure = SentenceMeasure(("sentence",), encoder, film, book)
    assert not rows(measure, 0, len(film.moments), len(book.sentences)).any()
    assert not planes(encoder, film, book, SEMANTIC).any()


def test_a_second_run_reads_the_cache(encoder, film, book):
    seen = []
    first = SentenceMeasure(("sentence",), encoder, film, book, seen.append)
    assert seen
    told = len(seen)
    again = SentenceMeasure(("sentence",), encoder, film, book, seen.append)
    assert len(seen) == told
    shape = len(film.moments), len(book.sentences)
    assert np.array_equal(rows(first, 0, *shape), rows(again, 0, *shape))
