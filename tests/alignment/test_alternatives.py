"""The best other passages of a moment, against a plain search."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import make_book

from folioreel.alignment.alternatives import all_passages, find_others
from folioreel.types import Alternative, Link

WORDS = tuple(f"Sentence number {k}." for k in range(60))


@pytest.mark.parametrize("per_paragraph", [1, 2, 60])
def test_others_by_brute_force(per_paragraph, rng):
    book = make_book(WORDS, per_paragraph)
    rendered = rng.dirichlet(np.full(61, 0.1), 300)[:, :60].astype(np.float32)
    sentences = rng.integers(0, 60, 300)
    found = find_others(rendered, sentences, book)
    for i, row in enumerate(rendered.astype(float)):
        masses = {p.index: sum(row[j] for j in p.sentences) for p in book.paragraphs}
        taken = []

        def take(place, masses=masses, taken=taken):
            near = [k for k in masses if abs(k - place) <= 3]
            taken.append(sum(masses.pop(k) for k in near))

        take(sentences[i] // per_paragraph)
        expected = []
        while masses and len(expected) < 2:
            best = max(masses, key=lambda k: masses[k])
            inside = list(book.paragraphs[best].sentences)
            take(best)
            chance = taken[-1] / (1 - taken[0])
            if chance > 0:
                expected.append((max(inside, key=lambda j: row[j]), chance))
        assert [other.sentence for other in found[i]] == [j for j, _ in expected]
        assert [other.score for other in found[i]] == pytest.approx(
            [chance for _, chance in expected], abs=1e-5
        )


def test_the_probabilities_add_up_to_at_most_one_and_have_three_digits(rng):
    book = make_book(WORDS, 2)
    rendered = rng.dirichlet(np.full(60, 0.05), 200).astype(np.float32)
    sentences = rendered.argmax(axis=1)
    for i, others in enumerate(find_others(rendered, sentences, book)):
        link = Link(moment=i, sentence=int(sentences[i]), score=float(rng.random()))
        passages = all_passages(link, others)
        assert passages[0] == Alternative(sentence=link.sentence, score=round(link.score, 3))
        scores = [passage.score for passage in passages]
        assert sum(scores) <= 1.002
        assert all(score == round(score, 3) >= 0.005 for score in scores[1:])
        places = sorted(passage.sentence // 2 for passage in passages)
        assert all(after - before > 3 for before, after in pairwise(places))


def test_passages_without_a_chance_are_left_out():
    link = Link(moment=0, sentence=3, score=0.99)
    others = (Alternative(sentence=9, score=0.7), Alternative(sentence=30, score=0.2))
    assert all_passages(link, others) == (
        Alternative(sentence=3, score=0.99),
        Alternative(sentence=9, score=0.007),
    )
