"""Runs of letters, against sums over sets that a reader can check."""

import numpy as np
import pytest
from conftest import make_book, make_film
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.similarity.base import number_tokens
from folioreel.similarity.letters import LettersMeasure, word_runs
from folioreel.text import tokenize

NAMES = LettersMeasure.names


def film_of(*texts):
    """A film of these lines; empty ones are silent shots."""
    spoken = tuple((k + 0.1, k + 0.9, text) for k, text in enumerate(texts))
    return make_film(spoken, shots=False)


def planes(film, book) -> dict[str, np.ndarray]:
    out = np.empty((len(NAMES), len(film.moments), len(book.sentences)), dtype=np.float32)
    LettersMeasure(number_tokens(film, book)).rows(0, len(film.moments), out)
    return dict(zip(NAMES, out, strict=True))


def unit(vector):
    length = np.sqrt(sum(value**2 for value in vector.values()))
    return {run: value / length for run, value in vector.items()} if length else {}


def by_brute_force(film, book) -> dict[str, np.ndarray]:
    """Cell by cell, with dictionaries of runs."""
    written = [set().union(*map(word_runs, tokenize(s.text))) for s in book.sentences]
    lines = [moment for moment in film.moments if tokenize(moment.text)]
    spoken = [set().union(*map(word_runs, tokenize(line.text))) for line in lines]

    def worth(run):
        count = sum(run in sentence for sentence in written)
        return max(0.0, np.log((len(written) + 1) / (count + 0.5)))

    sides = [
        [unit({run: worth(run) for run in text}) for text in side] for side in (spoken, written)
    ]

    def window(side, k):
        total = {}
        for vector in side[max(0, k - 2) : k + 3]:
            for run, value in vector.items():
                total[run] = total.get(run, 0) + value
        return unit(total)

    def cosines(one, other):
        return np.array([[sum(a[run] * b.get(run, 0) for run in a) for b in other] for a in one])

    windows = [[window(side, k) for k in range(len(side))] for side in sides]
    found = {name: np.zeros((len(film.moments), len(written))) for name in NAMES}
    for names, matrix in (
        (("letters", "letters_long", "letters_in_film"), cosines(*sides)),
        (("letters_window_in_film",), cosines(*windows)),
    ):
        for i, line in enumerate(lines):
            row = matrix[i]
            length = np.log1p(len(tokenize(line.text))) / 3
            rivals = np.log(np.exp(matrix / 0.08).mean(axis=0))
            forms = {
                "letters": row,
                "letters_long": length * (row - row.mean()) / (3 * max(row.std(), 1e-3)),
                "letters_in_film": (row / 0.08 - rivals) / 6,
                "letters_window_in_film": (row / 0.08 - rivals) / 6,
            }
            for name in names:
                found[name][line.index] = forms[name]
    return found


def test_the_runs_of_a_word():
    assert word_runs("kirkossa") == {"^kir", "kirk", "irko", "rkos", "koss", "ossa"}
    assert word_runs("émir") == {"^emi", "emir"}
    assert word_runs("dog") == set()


def test_forms_of_a_word_are_alike():
    book = make_book(("Kirkossa laulettiin.", "Koira haukkui.", "Satoi vettä.", "Tuuli kävi."))
    found = planes(film_of("Menkää kirkolle!", "Sataa."), book)
    assert found["letters"].argmax(axis=1).tolist() == [0, 2]
    assert found["letters"][0, 1:] == pytest.approx(0)


def test_a_small_pair_with_silence(film, book):
    found = planes(film, book)
    silent = np.array([moment.text == "" for moment in film.moments])
    assert silent.any()
    assert not any(plane[silent].any() for plane in found.values())
    for name, plane in by_brute_force(film, book).items():
        assert found[name] == pytest.approx(plane, rel=1e-3, abs=1e-4), name


def test_a_film_without_words(book):
    assert not any(plane.any() for plane in planes(make_film(()), book).values())


words = st.sampled_from("kirkko kirkossa kirkolle koira koiran on the walking walked".split())
texts = st.lists(st.lists(words, max_size=4).map(" ".join), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@given(spoken=texts, written=texts)
def test_any_pair(spoken, written):
    film, book = film_of(*spoken), make_book(tuple(written))
    if not film.moments:
        return
    found = planes(film, book)
    for name, plane in by_brute_force(film, book).items():
        assert found[name] == pytest.approx(plane, rel=1e-3, abs=1e-4), name
