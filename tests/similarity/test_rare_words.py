"""What shared words are worth, against sums over sets that a reader can check."""

import math

import numpy as np
import pytest
from conftest import make_book, make_film
from hypothesis import given, settings
from hypothesis import strategies as st

from folioreel.similarity.base import number_tokens
from folioreel.similarity.rare_words import RareWordsMeasure
from folioreel.text import tokenize, word_stem

NAMES = RareWordsMeasure.names


def film_of(*texts):
    """A film of these lines; empty ones are silent shots."""
    spoken = tuple((k + 0.1, k + 0.9, text) for k, text in enumerate(texts))
    return make_film(spoken, shots=False)


def planes(film, book) -> dict[str, np.ndarray]:
    measure = RareWordsMeasure(number_tokens(film, book))
    out = np.empty((len(NAMES), len(film.moments), len(book.sentences)), dtype=np.float32)
    measure.rows(0, len(film.moments), out)
    return dict(zip(NAMES, out, strict=True))


def stems(text) -> list[str]:
    return [word_stem(word) for word in tokenize(text)]


def runs(words, length) -> set[tuple[str, ...]]:
    return {tuple(words[k : k + length]) for k in range(len(words) - length + 1)}


def by_brute_force(film, book) -> dict[str, np.ndarray]:
    """Cell by cell, with plain sets of words."""
    written = [stems(sentence.text) for sentence in book.sentences]
    spoken = [stems(moment.text) for moment in film.moments]

    def worth(word):
        frequency = sum(word in sentence for sentence in written)
        return max(0.0, math.log((len(written) + 1) / (frequency + 0.5)))

    def total(words):
        return sum(worth(word) for word in words)

    found = {name: np.zeros((len(spoken), len(written))) for name in NAMES}
    for i, line in enumerate(spoken):
        said = max(total(set(line)), 1e-3)
        for j, sentence in enumerate(written):
            shared = total(set(line) & set(sentence))
            around = {word for near in written[max(0, j - 1) : j + 2] for word in near}
            nearby = total(set(line) & around)
            pairs, triples = (
                sum(total(run) for run in runs(line, n) & runs(sentence, n)) for n in (2, 3)
            )
            found["rare"][i, j] = shared / 10
            found["covered"][i, j] = shared / said
            found["covers"][i, j] = shared / max(total(set(sentence)), 1e-3)
            found["phrase"][i, j] = pairs / 20
            found["phrase3"][i, j] = triples / 20
            found["nearby"][i, j] = nearby / 10
            found["nearby_covered"][i, j] = nearby / said
    return found


def assert_right(film, book):
    found, expected = planes(film, book), by_brute_force(film, book)
    for name in NAMES:
        assert found[name] == pytest.approx(expected[name], rel=1e-4, abs=1e-5), name
    return found


def test_by_hand():
    book = make_book(("The cat walks home.", "A dog barked.", "The dog walks.", "Rain again."))
    film = film_of("The cat walked.", "Zebras walk home with the dog.")
    once, twice = math.log(5 / 1.5), math.log(5 / 2.5)
    never = math.log(5 / 0.5)  # no sentence has zebras or with
    found = planes(film, book)
    # the (in 2 of 4 sentences), cat (1), walk (2)
    assert found["rare"][0] == pytest.approx(
        [(once + 2 * twice) / 10, 0, 2 * twice / 10, 0], abs=1e-6
    )
    assert found["covered"][0, 0] == pytest.approx(1)
    assert found["covered"][0, 2] == pytest.approx(2 * twice / (once + 2 * twice))
    said = 2 * never + 3 * twice + once  # zebra, with; walk, the, dog; home
    assert found["covered"][1, 2] == pytest.approx(3 * twice / said)
    assert found["covers"][1, 2] == pytest.approx(1)
    assert found["covers"][0, 0] == pytest.approx((once + 2 * twice) / (2 * once + 2 * twice))
    # the cat, cat walk | the cat walk
    assert found["phrase"][0] == pytest.approx([(2 * once + 2 * twice) / 20, 0, 0, 0], abs=1e-6)
    assert found["phrase3"][0] == pytest.approx([(once + 2 * twice) / 20, 0, 0, 0], abs=1e-6)
    # walk home | the dog
    assert found["phrase"][1] == pytest.approx(
        [(once + twice) / 20, 0, 2 * twice / 20, 0], abs=1e-6
    )
    # The sentence before and the one after lend their words: the, cat, walk all around.
    assert found["nearby"][0] == pytest.approx(
        np.array([once + 2 * twice, once + 2 * twice, 2 * twice, 2 * twice]) / 10
    )
    assert found["nearby_covered"][0] == pytest.approx(10 * found["nearby"][0] / (once + 2 * twice))


def test_a_small_pair(film, book):
    """With silent moments, which share nothing."""
    found = assert_right(film, book)
    silent = [moment.text == "" for moment in film.moments]
    assert any(silent)
    assert not any(plane[silent].any() for plane in found.values())


def test_words_that_are_said_twice_count_once():
    film, book = (
        film_of("Dog, dog, dog!", "The dog the dog."),
        make_book(("The dog.", "A dog dog.")),
    )
    found = assert_right(film, book)
    assert found["covered"].max() <= 1 + 1e-6
    assert found["covers"].max() <= 1 + 1e-6


def test_a_word_of_every_sentence_is_worth_little():
    book = make_book(tuple(f"The {word}." for word in ("cat", "dog", "cow", "rat", "bat")))
    found = assert_right(film_of("The zebra.", "Cat."), book)
    assert 0 < found["rare"][0].max() < found["rare"][1, 0] / 5


def test_neighbours_end_with_the_book():
    book = make_book(("One cat.", "Two dogs.", "Three cows."))
    found = assert_right(film_of("Cat, dog, cow."), book)
    assert found["nearby_covered"][0] == pytest.approx([2 / 3, 1, 2 / 3])


@pytest.mark.parametrize(
    "sentences", [("Hello there.",), ("…", "—"), ("!", "A word.", "?"), ("Hello", "hello")]
)
@pytest.mark.parametrize("lines", [("Hello.",), ("—", "Hello there.", "!"), ("",)])
def test_texts_with_few_words_or_none(sentences, lines):
    found = assert_right(film_of(*lines), make_book(sentences))
    assert all(np.isfinite(plane).all() for plane in found.values())


def test_a_film_without_words(book):
    found = assert_right(make_film(()), book)
    assert not any(plane.any() for plane in found.values())


_texts = st.lists(
    st.lists(st.sampled_from("the cat cats dog walk walked home it".split()), max_size=6).map(
        " ".join
    ),
    min_size=1,
    max_size=5,
)


@given(_texts, _texts)
@settings(max_examples=60, deadline=None)
def test_any_texts(lines, sentences):
    assert_right(film_of(*lines), make_book(tuple(sentences)))


def test_blocks_are_the_whole(film, book):
    whole = planes(film, book)
    measure = RareWordsMeasure(number_tokens(film, book))
    moments = len(film.moments)
    for first, last in ((0, 1), (1, 4), (moments - 2, moments), (2, 2)):
        out = np.empty((len(NAMES), last - first, len(book.sentences)), dtype=np.float32)
        measure.rows(first, last, out)
        for name, plane in zip(NAMES, out, strict=True):
            assert np.array_equal(plane, whole[name][first:last])


@pytest.mark.parametrize(
    ("forms", "stem"),
    [
        ("walk walks walked walking", "walk"),
        ("ferryman ferryman's", "ferryman"),
        ("marked markedly", "mark"),
        ("quick quickly", "quick"),
        ("wish wishes", "wish"),
        ("don't dont", "dont"),
        ("bed", "bed"),  # too little would be left
        ("his", "his"),
        ("sing", "sing"),
        ("é", "é"),
    ],
)
def test_forms_of_a_word_meet(forms, stem):
    assert {word_stem(word) for word in forms.split()} == {stem}


def test_a_real_pair_stays_in_bounds(shared):
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film

    pair = shared / "benchmark" / "one-day-more"
    found = planes(load_film(pair / "film.srt"), load_book(pair / "book.txt"))
    for name in ("covered", "covers", "nearby_covered"):
        assert found[name].min() >= 0
        assert found[name].max() <= 1 + 1e-5
    assert (found["nearby"] >= found["rare"] - 1e-5).all()
    assert (found["phrase"] >= 0).all()
