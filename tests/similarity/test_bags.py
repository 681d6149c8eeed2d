"""Bags of words against plain dictionaries."""

import math
from collections import Counter

import numpy as np
import pytest

from folioreel.similarity.bags import compare_bags, make_bag
from folioreel.text import find_words, tokenize

BOOKS = (
    "Petra weighed the van. The van was heavy, and Petra said so to Catchpole the baker.",
    "The lighthouse stood in the rain. Nobody weighed it, for who would weigh a lighthouse?",
    "The baker baked in the rain and the rain baked nothing at all.",
)
FILM = "Catchpole! The van is heavy, Petra. Did you weigh it in the rain?"


def cosines(film, books, words_of):
    bags = [Counter(words_of(text)) for text in books]
    held = Counter(word for bag in bags for word in bag)

    def weigh(bag):
        worth = {word: math.log((len(books) + 1) / (held[word] + 0.5)) for word in bag}
        return {word: (1 + math.log(count)) * worth[word] for word, count in bag.items()}

    def length(vector):
        return math.sqrt(sum(value * value for value in vector.values())) or 1.0

    query = weigh(Counter(words_of(film)))
    found = []
    for vector in map(weigh, bags):
        dot = sum(query[word] * value for word, value in vector.items() if word in query)
        found.append(dot / length(query) / length(vector))
    return np.array(found)


def names_of(text):
    written = find_words(text)
    low = {word for word in written if word == word.lower()}
    return [
        word.lower()
        for word in written
        if word[0].isupper() and not word.isupper() and len(word) > 2 and word.lower() not in low
    ]


def test_against_dictionaries():
    expected = cosines(FILM, BOOKS, tokenize) + cosines(FILM, BOOKS, names_of)
    found = compare_bags(make_bag(FILM), [make_bag(text) for text in BOOKS])
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.argmax() == 0


def test_names_are_words_that_are_never_written_small():
    bag = make_bag("The PETRA sank. Petra the ferry sank, and The Rose with it; a rose. Ed sank.")
    names = [word for word in ("petra", "the", "rose", "sank", "ed", "ferry") if is_name(bag, word)]
    assert names == ["petra"]
    assert bag["count"][bag["word"] == make_bag("petra")["word"][0]] == [2]


def is_name(bag, word):
    return bool(bag["is_name"][bag["word"] == make_bag(word)["word"][0]].all())


def test_length_alone_gains_nothing():
    once = make_bag(BOOKS[0])
    often = make_bag(" ".join(BOOKS[:1] * 50))
    other = make_bag(BOOKS[2])
    found = compare_bags(make_bag(FILM), [once, often, other])
    assert found[0] == pytest.approx(found[1], abs=0.05)
    assert found[2] < found[1] / 2


def test_a_film_without_words_is_like_no_book():
    assert compare_bags(make_bag("…"), [make_bag(text) for text in BOOKS]) == pytest.approx(0.0)
    assert compare_bags(make_bag(FILM), []).shape == (0,)
