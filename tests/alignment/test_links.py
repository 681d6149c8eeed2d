"""From posteriors to links: the best paragraph, the chance around it, calibrated."""

import numpy as np
import pytest
from conftest import make_book

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.links import (
    AROUND,
    calibrate,
    choose_sentences,
    link_evidence,
    logit,
    look_around,
    passage_probability,
)
from folioreel.alignment.positions import Positions
from folioreel.config import AlignConfig, CalibrationConfig, StepsConfig

WORDS = tuple(f"Sentence number {k}." for k in range(23))


def positions_of(rendered, position=None) -> Positions:
    rendered = np.array(rendered, dtype=np.float32)
    place = rendered if position is None else np.array(position, dtype=np.float32)
    return Positions(
        position=place,
        rendered=rendered,
        log_partition=0.0,
        steps=np.zeros(8),
        passages=np.zeros((2, 2)),
        rendered_freely=0.0,
        quoted=np.zeros(len(rendered), dtype=np.float32),
    )


def choose(positions, book):
    """The links' sentences, and P(the truth lies within three paragraphs)."""
    sentences = choose_sentences(positions, book)
    return sentences, passage_probability(positions.rendered, sentences, book, reach=3)


@pytest.mark.parametrize("per_paragraph", [1, 2, 5, 23])
@pytest.mark.parametrize("reach", [0, 1, 3])
def test_the_chance_around_a_link(per_paragraph, reach, rng):
    book = make_book(WORDS, per_paragraph)
    chances = rng.dirichlet(np.ones(24), 8)[:, :23].astype(np.float32)
    sentences = np.array([0, 22, 5, 11, 1, 21, 9, 16])
    found = passage_probability(chances, sentences, book, reach)
    for i, sentence in enumerate(sentences):
        here = sentence // per_paragraph
        near = [j for j in range(23) if abs(j // per_paragraph - here) <= reach]
        assert found[i] == pytest.approx(chances[i, near].sum(), abs=1e-6)


def test_the_best_sentence_of_the_best_paragraph():
    """Paragraph 1 as a whole is likelier than sentence 5, the likeliest of all."""
    book = make_book(WORDS[:6], 2)
    sentences, chances = choose(positions_of([[0.1, 0.1, 0.25, 0.2, 0.0, 0.3]]), book)
    assert sentences.tolist() == [2]
    assert chances == pytest.approx([0.95])


@pytest.mark.parametrize("per_paragraph", [1, 2, 3, 23])
def test_links_by_brute_force(per_paragraph, rng):
    """Once its own mass, and half of all that lies within three paragraphs."""
    book = make_book(WORDS, per_paragraph)
    position = rng.dirichlet(np.full(23, 0.2), 40)
    rendered = position * rng.random((40, 23))
    sentences, chances = choose(positions_of(rendered, position), book)
    weights = rendered + 1e-3 * position
    alone = 0
    for i in range(40):
        masses = [sum(weights[i, j] for j in one.sentences) for one in book.paragraphs]
        near = [sum(masses[max(0, k - 3) : k + 4]) for k in range(len(masses))]
        best = max(range(len(masses)), key=lambda k, m=masses, n=near: m[k] + n[k] / 2)
        alone += best != int(np.argmax(masses))
        inside = book.paragraphs[best].sentences
        assert sentences[i] == max(inside, key=lambda j, row=weights[i]: row[j])
        around = [j for j in range(23) if abs(j // per_paragraph - best) <= 3]
        assert chances[i] == pytest.approx(rendered[i, around].sum(), abs=1e-5)
    if per_paragraph == 1:
        assert alone, "some links are not in the paragraph with the largest mass of its own"


@pytest.mark.parametrize(
    ("neighbour", "linked", "chance"), [(11, 9, 0.41), (12, 9, 0.41), (13, 1, 0.30), (6, 9, 0.41)]
)
def test_a_paragraph_among_likely_neighbours(neighbour, linked, chance):
    """Paragraph 1, alone with 0.30, counts 0.45.

    Paragraph 9 counts 0.39 with its 0.26, and 0.465 if the neighbour with 0.15 is within three.
    """
    rendered = np.zeros((1, 20))
    rendered[0, [1, 9, neighbour]] = 0.30, 0.26, 0.15
    book = make_book(WORDS[:20], 1)
    sentences, chances = choose(positions_of(rendered), book)
    assert sentences.tolist() == [linked]
    assert chances == pytest.approx([chance])


def test_where_nothing_is_rendered_the_place_is_the_guess():
    book = make_book(WORDS[:6], 2)
    sentences, chances = choose(positions_of([[0.0] * 6], [[0, 0, 0, 0.9, 0.1, 0]]), book)
    assert (sentences.tolist(), chances.tolist()) == ([3], [0.0])


def evidence_of(chances):
    return np.column_stack([logit(np.array(chances)), np.zeros((len(chances), 2))])


def spoken(count):
    return np.zeros(count, dtype=bool)


def test_calibration():
    chances = np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 1.0])
    same = calibrate(evidence_of(chances), spoken(6), CalibrationConfig())
    assert same == pytest.approx(np.clip(chances, 1e-6, 1 - 1e-6))
    # Odds of 1 to 9, squared and twice as good: 2 to 81.
    twice = CalibrationConfig(link=2.0, bias=float(np.log(2)))
    assert calibrate(evidence_of([0.1]), spoken(1), twice)[0] == pytest.approx(2 / 83)
    lower = CalibrationConfig(link=0.3, bias=-4.0)
    assert (np.diff(calibrate(evidence_of(chances), spoken(6), lower)) >= 0).all()
    assert np.isfinite(logit(chances)).all()
    assert logit(np.array([0.5, 0.9])) == pytest.approx([0.0, np.log(9)])


def test_silent_moments_keep_their_posterior():
    config = CalibrationConfig(link=2.0, evidence=1.0, around=1.0, bias=3.0)
    scores = calibrate(evidence_of([0.2, 0.2]), np.array([True, False]), config)
    assert scores[0] == pytest.approx(0.2)
    assert scores[1] > 0.2


def test_what_is_known_of_a_link():
    """By hand: six paragraphs of one sentence, so that the link's passage is 0 … 3."""
    book = make_book(WORDS[:6], 1)
    positions = positions_of([[0.5, 0.0, 0.0, 0.1, 0.2, 0.1]])
    scores = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], dtype=np.float32)
    found = link_evidence(positions, scores, np.array([0]), book)
    assert found[0] == pytest.approx([np.log(0.6 / 0.4), 4.0, 0.9], rel=1e-5)


@pytest.mark.parametrize("moments", [1, 5, 3 * AROUND])
def test_what_is_around_by_brute_force(moments, rng):
    evidence = rng.random((moments, 3))
    silent = rng.random(moments) < 0.3
    found = look_around(evidence, silent)
    assert (found[:, :2] == evidence[:, :2]).all()
    for i in range(moments):
        near = [
            evidence[k, 2] for k in range(moments) if 0 < abs(k - i) <= AROUND and not silent[k]
        ]
        mean = (sum(near) + 0.5) / (len(near) + 1)
        assert found[i, 2] == pytest.approx(np.log(mean / (1 - mean)))


def test_links_from_scores(film, book):
    """Moments 0, 3 and 5 are rendered; the silent one, 2, has no score, and is not."""
    config = AlignConfig(weights={"rare": 1.0}, steps=StepsConfig(), in_book_from=0.6)
    scores = np.full((len(film.moments), len(book.sentences)), -8.0, dtype=np.float32)
    for moment, sentence in ((0, 2), (3, 4), (5, 9)):
        scores[moment, sentence] = 8.0
    scores[2] = -np.inf
    links, energy = Aligner(config).link(film, book, scores)
    assert [link.moment for link in links] == list(range(6))
    assert [links[i].sentence for i in (0, 3, 5)] == [2, 4, 9]
    assert [link.in_book for link in links] == [True, False, False, True, False, True]
    assert all(link.in_book == (link.score >= 0.6) for link in links)
    assert 2 <= links[1].sentence <= 4
    assert np.isfinite(energy)
