"""Baselines against brute force."""

from dataclasses import replace
from itertools import combinations_with_replacement
from math import log

import numpy as np
import pytest
from conftest import SENTENCES, make_book, make_film

from folioreel.evaluate.baselines import (
    BASELINES,
    BM25_B,
    BM25_K1,
    _best_path,
    baseline_links,
    bm25_similarity,
    encoder_similarity,
    uniform_sentences,
)
from folioreel.evaluate.metrics import placed_links
from folioreel.text import tokenize
from folioreel.types import Alignment


class LetterEncoder:
    """Counts letters: a vector that has a length, and some likeness."""

    def encode(self, texts):
        assert all(texts), "silent moments are not encoded"
        letters = [[text.lower().count(c) - 0.4 for c in "abcdefghij"] for text in texts]
        return np.array(letters, dtype=np.float32)


def test_every_baseline_links_every_moment(film, book):
    for name in BASELINES:
        links = baseline_links(name, film, book, LetterEncoder())
        assert [link.moment for link in links] == list(range(len(film.moments))), name
        assert all(0 <= link.sentence < len(book.sentences) for link in links), name
        assert all(0.0 <= link.score <= 1.0 for link in links), name
        if name != "uniform":
            silent = [link for link in links if not film.moments[link.moment].text]
            assert silent
            assert all(link.score == 0 and not link.in_book for link in silent), name
        if name.endswith("-monotone") or name == "uniform":
            chosen = [link.sentence for link in links]
            assert chosen == sorted(chosen), name


def test_lines_find_their_sentences(film, book):
    spoken = {"Sixty-one kilos.": 2, "Who opened the hoarding?": 8}
    for name in ("tfidf", "bm25", "tfidf-monotone", "bm25-monotone"):
        found = {film.moments[k.moment].text: k.sentence for k in baseline_links(name, film, book)}
        assert spoken.items() <= found.items(), name


def test_the_uniform_timeline_counts_lines():
    film = make_film(((0, 2, "A."), (9, 11, "B."), (18, 20, "C.")), 20.0, shots=False)
    book = make_book(["Sentence."] * 4)
    # Sentences on lines 1, 2, 3 and 100 of 100; the moments lie at 5, 50 and 95 percent.
    lines = (1, 2, 3, 100)
    book = replace(
        book,
        sentences=tuple(
            replace(s, line=n, line_end=n) for s, n in zip(book.sentences, lines, strict=True)
        ),
    )
    assert uniform_sentences(film, book).tolist() == [2, 2, 2]
    without = replace(book, sentences=tuple(replace(s, line=None) for s in book.sentences))
    assert uniform_sentences(film, without).tolist() == [0, 2, 3]
    assert {link.score for link in baseline_links("uniform", film, book)} == {1.0}


def bm25_by_loops(query, document, documents):
    mean = sum(map(len, documents)) / len(documents)
    total = 0.0
    for word in query:
        having = sum(word in other for other in documents)
        idf = log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        count = document.count(word)
        damping = BM25_K1 * (1 - BM25_B + BM25_B * len(document) / mean)
        total += idf * count * (BM25_K1 + 1) / (count + damping)
    return total


def test_bm25_against_loops():
    spoken = (*SENTENCES[3:5], "The the the band, the band!", "Nothing known here", "Ferry dial")
    film = make_film([(k, k + 0.5, text) for k, text in enumerate(spoken)], shots=False)
    book = make_book((*SENTENCES, "The band, the band."))
    documents = [tokenize(sentence.text) for sentence in book.sentences]
    found = bm25_similarity(film, book)
    assert (found.shape, found.dtype) == ((len(spoken), len(documents)), np.float32)
    for i, text in enumerate(spoken):
        query = tokenize(text)
        highest = bm25_by_loops(query, query, documents)
        for j, document in enumerate(documents):
            truth = bm25_by_loops(query, document, documents) / highest
            assert found[i, j] == pytest.approx(truth, abs=1e-6)
    assert found[0, 3] == pytest.approx(1.0)  # the line itself


def test_the_encoders_cosine(film, book):
    found = encoder_similarity(film, book, LetterEncoder())
    sentences = LetterEncoder().encode([sentence.text for sentence in book.sentences])
    for moment in film.moments:
        for j, b in enumerate(sentences):
            truth = 0.0
            if moment.text:
                a = LetterEncoder().encode([moment.text])[0]
                truth = a @ b / np.sqrt((a @ a) * (b @ b))
            assert found[moment.index, j] == pytest.approx(truth, abs=1e-5)


def test_the_monotone_path_against_all_paths(rng):
    for _ in range(30):
        moments, sentences = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        table = rng.integers(0, 5, (moments, sentences)).astype(np.float32) / 4
        chosen = _best_path(table)
        similarity = table[np.arange(moments), chosen]
        assert (np.diff(chosen) >= 0).all()
        highest = max(
            sum(table[i, j] for i, j in enumerate(path))
            for path in combinations_with_replacement(range(sentences), moments)
        )
        assert similarity.sum() == pytest.approx(highest)


def test_the_monotone_path_of_a_long_film(rng):
    """300 moments that walk through the book once, in noise."""
    walk = np.sort(rng.integers(0, 50, 300))
    table = rng.random((300, 50)).astype(np.float32) * 0.3
    table[np.arange(300), walk] = 1.0
    assert np.array_equal(_best_path(table), walk)


def test_a_baseline_is_judged_as_an_alignment(film, book):
    alignment = Alignment(book=book, film=film, links=baseline_links("tfidf", film, book))
    assert len(placed_links(alignment)) == len(film.moments)


def test_what_is_no_baseline(film, book):
    with pytest.raises(ValueError, match="there are uniform, tfidf"):
        baseline_links("oracle", film, book)
    with pytest.raises(ValueError, match="needs an encoder"):
        baseline_links("encoder-monotone", film, book)


def test_words_beat_the_timeline_on_a_real_pair(shared):
    from folioreel.evaluate.dataset import load_pair
    from folioreel.evaluate.metrics import score_links
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film

    pair = load_pair(shared / "benchmark" / "old-scrooge")
    film, book = load_film(pair.film), load_book(pair.book)
    near = {}
    for name in ("uniform", "tfidf", "bm25"):
        alignment = Alignment(book=book, film=film, links=baseline_links(name, film, book))
        near[name] = score_links(pair, placed_links(alignment)).near
    assert near["uniform"] < 30 < 60 < min(near["tfidf"], near["bm25"])
