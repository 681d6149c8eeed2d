"""tf-idf against scikit-learn, and bags of words against plain dictionaries."""

import math
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from folioreel.models.folders import builtin_folder
from folioreel.similarity.base import number_tokens
from folioreel.similarity.tfidf import TfidfMeasure, compare_bags, make_bag
from folioreel.text import find_words, tokenize

BOOKS = (
    "Petra weighed the van. The van was heavy, and Petra said so to Catchpole the baker.",
    "The lighthouse stood in the rain. Nobody weighed it, for who would weigh a lighthouse?",
    "The baker baked in the rain and the rain baked nothing at all.",
)
FILM = "Catchpole! The van is heavy, Petra. Did you weigh it in the rain?"


def by_scikit_learn(film, book):
    moments = [moment.text for moment in film.moments]
    sentences = [sentence.text for sentence in book.sentences]
    vocabulary = sorted({word for text in moments + sentences for word in tokenize(text)})
    vectorizer = TfidfVectorizer(tokenizer=tokenize, token_pattern=None, vocabulary=vocabulary)
    columns = vectorizer.fit_transform(sentences)
    return (vectorizer.transform(moments) @ columns.T).toarray()


def ours(film, book):
    measure = TfidfMeasure(number_tokens(film, book))
    out = np.empty((1, len(film.moments), len(book.sentences)), dtype=np.float32)
    measure.rows(0, len(film.moments), out)
    return out[0]


def test_small_pair(film, book):
    assert ours(film, book) == pytest.approx(by_scikit_learn(film, book), abs=1e-6)


def test_real_pair(shared):
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film

    pair = shared / "benchmark" / "one-day-more"
    film, book = load_film(pair / "film.srt"), load_book(pair / "book.txt")
    assert np.abs(ours(film, book) - by_scikit_learn(film, book)).max() < 1e-6


def usual_words():
    """In how many of twenty novels each word would stand, were words strewn at random."""
    lines = (builtin_folder("student") / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    counts = {word: int(count) for word, count in (line.split("\t") for line in lines if line)}
    novels = counts["<eos>"] / 5000
    return Counter({word: 20 * (1 - math.exp(-count / novels)) for word, count in counts.items()})


def cosines(film, books, words_of, usual):
    bags = [Counter(words_of(text)) for text in books]
    held = Counter(word for bag in bags for word in bag)

    def weigh(bag):
        worth = {w: math.log((len(books) + 21) / (held[w] + usual[w] + 0.5)) for w in bag}
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
    expected = cosines(FILM, BOOKS, tokenize, usual_words())
    expected += cosines(FILM, BOOKS, names_of, Counter())
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
    assert found[0] == pytest.approx(found[1], abs=0.1)
    assert found[2] < found[1] / 2


def test_common_words_tell_nothing_even_of_a_single_book():
    common = "And then he said that she had been there all the time, and that it was not so."
    rare = "The weighbridge at Coldhithe was sixty kilos out."
    film = make_bag("He said it was not so, and then she had been at the weighbridge all the time.")
    assert compare_bags(film, [make_bag(common)])[0] < 0.05
    assert compare_bags(film, [make_bag(rare)])[0] > 0.1


def test_a_film_without_words_is_like_no_book():
    assert compare_bags(make_bag("…"), [make_bag(text) for text in BOOKS]) == pytest.approx(0.0)
    assert compare_bags(make_bag(FILM), []).shape == (0,)
