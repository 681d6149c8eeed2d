"""The best other passages of a moment, against a plain search."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import make_book, make_film
from scipy.special import expit, logit

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.alternatives import find_places, list_passages
from folioreel.alignment.positions import film_times, follow_book
from folioreel.config import AlignConfig, CalibrationConfig, StepsConfig
from folioreel.types import Alternative

WORDS = tuple(f"Sentence number {k}." for k in range(60))


@pytest.mark.parametrize("per_paragraph", [1, 2, 60])
def test_places_by_brute_force(per_paragraph, rng):
    book = make_book(WORDS, per_paragraph)
    rendered = rng.dirichlet(np.full(61, 0.1), 300)[:, :60].astype(np.float32)
    sentences = rng.integers(0, 60, 300)
    found = find_places(rendered, sentences, book)
    for i, row in enumerate(rendered):
        masses = {p.index: row[p.sentences.start : p.sentences.stop].sum() for p in book.paragraphs}
        expected, best = [int(sentences[i])], int(sentences[i]) // per_paragraph
        while len(expected) < 3:
            masses = {k: mass for k, mass in masses.items() if abs(k - best) > 3}
            if not masses or max(masses.values()) == 0:
                expected.append(int(sentences[i]))
                continue
            best = max(masses, key=lambda k: masses[k])
            expected.append(max(book.paragraphs[best].sentences, key=lambda j: row[j]))
        assert found[i].tolist() == expected


@pytest.fixture
def aligned(rng):
    """A film of 40 lines, each with two likely places; its scores, and the settings."""
    config = AlignConfig(
        weights={"rare": 1.0},
        steps=StepsConfig(elsewhere=0.01),
        calibration=CalibrationConfig(link=0.8, evidence=0.2, around=0.5, bias=-0.5),
    )
    film = make_film(tuple((2.0 * k, 2.0 * k + 1.5, f"Line {k}.") for k in range(40)))
    scores = rng.normal(-4, 1.5, (len(film.moments), 60)).astype(np.float32)
    for moment in range(len(film.moments)):
        scores[moment, [moment % 60, (moment + 31) % 60]] = 4.0
    return film, make_book(WORDS, 2), scores, config


def test_a_passage_is_as_sure_as_a_link_to_it_would_be(aligned):
    """Its score is the calibrated probability of what lies within three paragraphs of it."""
    film, book, scores, config = aligned
    links, _ = Aligner(config).link(film, book, scores)
    rendered = follow_book(scores, film_times(film), config.steps).rendered.astype(float)
    in_book = rendered.sum(axis=1)
    others = 0
    for i, link in enumerate(links):
        around = np.r_[in_book[max(0, i - 8) : i], in_book[i + 1 : i + 9]]
        about = logit((around.sum() + 0.5) / (len(around) + 1))
        for passage in link.alternatives:
            middle = passage.sentence // 2
            near = slice(2 * max(0, middle - 3), 2 * (middle + 4))
            posterior = logit(np.clip(rendered[i, near].sum(), 1e-6, 1 - 1e-6))
            chance = expit(0.8 * posterior + 0.2 * scores[i, near].max() + 0.5 * about - 0.5)
            assert passage.score == pytest.approx(min(chance, link.score), abs=1e-3)
            others += passage.sentence != link.sentence
    assert others > len(links)


def test_passages_come_by_their_scores_and_far_apart(aligned):
    film, book, scores, config = aligned
    for link in Aligner(config).link(film, book, scores)[0]:
        passages = link.alternatives
        assert passages[0] == Alternative(sentence=link.sentence, score=round(link.score, 3))
        found = [passage.score for passage in passages]
        assert found == sorted(found, reverse=True)
        assert all(score == round(score, 3) >= 0.005 for score in found[1:])
        places = sorted(passage.sentence // 2 for passage in passages)
        assert all(after - before > 3 for before, after in pairwise(places))


def test_passages_without_a_chance_are_left_out():
    found = list_passages(np.array([3, 9, 30]), np.array([0.99, 0.0044, 0.0061]))
    assert found == (
        Alternative(sentence=3, score=0.99),
        Alternative(sentence=30, score=0.006),
    )
    # Where there is no other place, the link's own sentence stands in for it.
    assert list_passages(np.array([3, 3, 3]), np.full(3, 0.9)) == (
        Alternative(sentence=3, score=0.9),
    )
