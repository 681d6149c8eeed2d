"""tf-idf against scikit-learn."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from folioreel.similarity.tfidf import TfidfMeasure
from folioreel.similarity.tokens import number_tokens
from folioreel.text import tokenize


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
