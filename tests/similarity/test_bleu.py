"""BLEU against NLTK, sacrebleu and a hand count."""

import math

import numpy as np
import pytest
from conftest import make_book, make_film
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from sacrebleu.metrics.bleu import BLEU

from folioreel.similarity.base import number_tokens
from folioreel.similarity.bleu import BleuMeasure
from folioreel.text import tokenize


def bleu_of(moments, sentences):
    film = make_film(
        [(k + 0.0, k + 0.5, text) for k, text in enumerate(moments)],
        len(moments) + 1.0,
        shots=False,
    )
    book = make_book(sentences)
    measure = BleuMeasure(number_tokens(film, book))
    out = np.empty((5, len(moments), len(sentences)), dtype=np.float32)
    measure.rows(0, len(moments), out)
    return out


def nltk_bleu(moment, sentence, n):
    hypothesis, reference = tokenize(moment), tokenize(sentence)
    order = min(n, len(hypothesis))
    if not order or not set(hypothesis) & set(reference):
        return 0.0
    return sentence_bleu(
        [reference],
        hypothesis,
        weights=[1 / order] * order,
        smoothing_function=SmoothingFunction().method2,
    )


def sacre_bleu(moment, sentence, n):
    metric = BLEU(
        max_ngram_order=max(1, min(n, len(tokenize(moment)))),
        smooth_method="add-k",
        smooth_value=1,
        tokenize="none",
        force=True,
    )
    hypothesis, reference = " ".join(tokenize(moment)), " ".join(tokenize(sentence))
    return metric.sentence_score(hypothesis, [reference]).score / 100


def test_by_hand():
    # "a b c" against "a b d e": p1 = 2/3, p2 = (1+1)/(2+1), p3 = (0+1)/(1+1), penalty exp(1 - 4/3)
    found = bleu_of(["a b c"], ["a b d e"])[:, 0, 0]
    penalty = math.exp(1 - 4 / 3)
    assert found[0] == pytest.approx(penalty * 2 / 3, abs=1e-6)
    assert found[1] == pytest.approx(penalty * (2 / 3 * 2 / 3) ** (1 / 2), abs=1e-6)
    assert found[2] == pytest.approx(penalty * (2 / 3 * 2 / 3 * 1 / 2) ** (1 / 3), abs=1e-6)
    assert found[3] == found[2]
    assert found[4] == found[2]


def test_counts_are_clipped():
    # The classic: "the" seven times against a sentence with two of them.
    found = bleu_of(["the the the the the the the"], ["the cat is on the mat"])
    assert found[0, 0, 0] == pytest.approx(2 / 7, abs=1e-6)


def test_a_line_equals_itself():
    assert bleu_of(["Yes."], ["Yes!"])[:, 0, 0] == pytest.approx([1] * 5)


def test_silence_is_zero():
    assert not bleu_of(["", "…"], ["The ferry.", "A bell."]).any()


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), max_size=12).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=5), st.lists(WORDS, min_size=1, max_size=5))
def test_random_sentences_against_nltk(moments, sentences):
    found = bleu_of(moments, sentences)
    for n in range(1, 6):
        for i, moment in enumerate(moments):
            for j, sentence in enumerate(sentences):
                expected = nltk_bleu(moment, sentence, n)
                assert found[n - 1, i, j] == pytest.approx(expected, abs=1e-6)


def test_real_sentences_against_nltk_and_sacrebleu(shared, rng):
    from folioreel.ingest.book import load_book
    from folioreel.ingest.film import load_film

    pair = shared / "benchmark" / "old-scrooge"
    film, book = load_film(pair / "film.srt"), load_book(pair / "book.txt")
    measure = BleuMeasure(number_tokens(film, book))
    out = np.empty((5, len(film.moments), len(book.sentences)), dtype=np.float32)
    measure.rows(0, len(film.moments), out)
    # Half of the pairs at random, half where there is something to count.
    places = [tuple(rng.integers(out.shape[1:])) for _ in range(200)]
    places += [tuple(place) for place in rng.permutation(np.argwhere(out[1] > 0.1))[:200]]
    for i, j in places:
        moment, sentence = film.moments[i].text, book.sentences[j].text
        for n in range(1, 6):
            assert out[n - 1, i, j] == pytest.approx(nltk_bleu(moment, sentence, n), abs=1e-6)
            assert out[n - 1, i, j] == pytest.approx(sacre_bleu(moment, sentence, n), abs=1e-6)
