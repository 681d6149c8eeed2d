"""Names, numbers and cognates, against sums over sets that a reader can check."""

import math

import numpy as np
import pytest
from conftest import make_book, make_film
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.similarity.cognates import CognatesMeasure, word_keys

NAMES = CognatesMeasure.names


def film_of(*texts):
    """A film of these lines; empty ones are silent shots."""
    spoken = tuple((k + 0.1, k + 0.9, text) for k, text in enumerate(texts))
    return make_film(spoken, shots=False)


def planes(film, book) -> dict[str, np.ndarray]:
    out = np.empty((len(NAMES), len(film.moments), len(book.sentences)), dtype=np.float32)
    CognatesMeasure(film, book).rows(0, len(film.moments), out)
    return dict(zip(NAMES, out, strict=True))


def by_brute_force(film, book) -> dict[str, np.ndarray]:
    """Cell by cell, with plain sets of keys."""
    written = [word_keys(sentence.text) for sentence in book.sentences]
    spoken = [word_keys(moment.text) for moment in film.moments]
    speaking = [k for k, moment in enumerate(film.moments) if moment.text]

    def worth(keys):
        counts = [sum(key in sentence for sentence in written) for key in keys]
        return sum(max(0.0, math.log((len(written) + 1) / (n + 0.5))) for n in counts)

    def union(texts, k, reach):
        return set().union(*texts[max(0, k - reach) : k + reach + 1])

    found = {name: np.zeros((len(spoken), len(written))) for name in NAMES}
    for i in speaking:
        window = union([spoken[k] for k in speaking], speaking.index(i), 2)
        for j, sentence in enumerate(written):
            found["cognates"][i, j] = worth(spoken[i] & sentence) / 10
            found["cognates_nearby"][i, j] = worth(spoken[i] & union(written, j, 1)) / 10
            found["cognates_window"][i, j] = worth(window & union(written, j, 2)) / 30
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("This is philosophy, sir.", "C'est de la philosophie, monsieur."),
        ("It was Michael Strogoff.", "Это был Михаил Строгов."),
        ("Where is Scrooge's nephew?", "Wo ist denn Scrooge?"),
        ("In 1876 he died.", "Er starb 1876."),
        ("Ask the Emir!", "Demandez à l'Émir !"),
        ("And Tim laughed.", "Und Tim lachte."),
    ],
)
def test_what_two_languages_share(one, other):
    assert word_keys(one) & word_keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("He was on a main road.", "On a la main."),  # short words that only look alike
        ("Tim laughed.", "tim lachte"),  # nobody knows that the first word is a name
        ("In 1876 he died.", "Er starb 1875."),
    ],
)
def test_what_they_do_not_share(one, other):
    assert not word_keys(one) & word_keys(other)


def test_by_hand():
    book = make_book(
        ("Le philosophe rit.", "Alors Scrooge entra.", "Il vit Scrooge et Tim.", "Rien.", "Non.")
    )
    film = film_of("Good day, Scrooge.", "You are a philosopher, Tim!")
    once, twice = math.log(6 / 1.5), math.log(6 / 2.5)
    found = planes(film, book)
    assert found["cognates"] == pytest.approx(
        np.array([[0, twice, twice, 0, 0], [once, 0, once, 0, 0]]) / 10
    )
    assert found["cognates_nearby"][0] == pytest.approx(np.array([1, 1, 1, 1, 0]) * twice / 10)
    everything = 2 * once + twice
    assert found["cognates_window"][:, 0] == pytest.approx(everything / 30)
    assert found["cognates_window"][0, 4] == pytest.approx((once + twice) / 30)


def test_windows_pass_over_silence():
    book = make_book(("Voici Scrooge.", "Rien."))
    film = make_film(((5.5, 6.0, "Here comes Scrooge!"), (15.0, 16.0, "Merry Christmas!")))
    silent = np.array([not moment.text for moment in film.moments])
    assert silent.any()
    found = planes(film, book)
    assert not any(plane[silent].any() for plane in found.values())
    assert (found["cognates_window"][~silent] > 0).all()
    for name, plane in by_brute_force(film, book).items():
        assert found[name] == pytest.approx(plane, abs=1e-6), name


words = st.sampled_from("Scrooge Tim l'Émir philosophie philosophy 1876 the le Marley".split())
texts = st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(spoken=texts, written=texts)
def test_any_pair(spoken, written):
    film, book = film_of(*spoken), make_book(tuple(written))
    if not film.moments:
        return
    found = planes(film, book)
    for name, plane in by_brute_force(film, book).items():
        assert found[name] == pytest.approx(plane, rel=1e-4, abs=1e-6), name
