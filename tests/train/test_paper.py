"""Judgements as cells of the matrix, and both models of the preset `paper` learned from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_context import MadeRows

from folioreel.alignment.score import context_scores
from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.judged_tables import Judgement, SpokenLine
from folioreel.models.chain import make_chain, time_steps
from folioreel.train.chain import clamp_chain, log_likelihood
from folioreel.train.context_cnn import ContextConfig
from folioreel.train.judged import JudgedMoment, TrainingPair, judged_moments
from folioreel.train.paper import fit_context_model, fit_paper_chain
from folioreel.types import Film, ShotFeatures, Subtitle


def judgement(line, verdict, *passages) -> Judgement:
    return Judgement(line=line, verdict=verdict, how="-", passages=passages)


@pytest.fixture
def made_judged(book, film):
    """Judges the small pair of the other tests; sentence k of its book is on line 2 k + 1."""
    film = replace(film, shots=())  # so that the moments are the spoken lines
    spoken = tuple(
        SpokenLine(index=k, start_s=s.start_s, end_s=s.end_s, text=s.text)
        for k, s in enumerate(film.subtitles)
    )

    def judge(*judgements):
        pair = Pair(
            name="made",
            folder=Path("made"),
            spoken=spoken,
            judgements=judgements,
            paragraph_lines=(1,),
        )
        return judged_moments(pair, film, book)

    return judge


def test_a_passage_is_the_sentences_on_its_lines(made_judged):
    found = made_judged(judgement(3, "match", (4, 7), (17, 17)), judgement(0, "none"))
    assert found == (
        JudgedMoment(moment=0, verdict="none", sentences=()),
        JudgedMoment(moment=3, verdict="match", sentences=(2, 3, 8)),
    )


def test_a_match_goes_before_other_judgements_of_its_moment(made_judged):
    found = made_judged(judgement(1, "none"), judgement(1, "match", (1, 1)))
    assert found == (JudgedMoment(moment=1, verdict="match", sentences=(0,)),)
    found = made_judged(judgement(1, "match", (1, 1)), judgement(1, "match", (5, 5)))
    assert found[0].sentences == (0, 2)


def test_a_passage_without_a_sentence_is_left_out(made_judged):
    assert made_judged(judgement(1, "match", (2, 2))) == ()


def make_pair(rng) -> TrainingPair:
    """A film that follows its book, each second moment judged."""
    moments, sentences = 60, 80
    planes = (rng.random((1, moments, sentences)) * 0.5).astype(np.float32)
    truth = np.arange(moments) + 10
    planes[0, np.arange(moments), truth] += 0.4
    film = Film(
        title="made",
        duration_s=float(moments),
        subtitles=tuple(
            Subtitle(index=k, start_s=k, end_s=k + 0.9, text="words") for k in range(moments)
        ),
    )
    judged = tuple(
        JudgedMoment(moment=i, verdict="match", sentences=(int(truth[i]),))
        for i in range(0, moments, 2)
    )
    return TrainingPair(film=film, rows=MadeRows(planes, ("tfidf",)), judged=judged)


def with_pictures(pair, *, watched) -> TrainingPair:
    """The same with a measure of pictures, which is 0 unless the film was watched.

    If it was, the pictures tell the truth, and the words tell the opposite.
    """
    words, pictures = pair.rows.planes[0], np.zeros_like(pair.rows.planes[0])
    film = pair.film
    if watched:
        words, pictures = 0.9 - words, words
        film = replace(film, features=ShotFeatures(network="eyes", fingerprint="", vectors={}))
    rows = MadeRows(np.stack([words, pictures]), ("tfidf", "visual"))
    return replace(pair, film=film, rows=rows)


@pytest.fixture
def pair(rng) -> TrainingPair:
    return make_pair(rng)


CONFIG = ContextConfig(measures=("tfidf",), layers=1, window=3, dropout=0.0, epochs=10)


def test_the_model_knows_how_it_was_made(pair):
    model = fit_context_model(CONFIG, [pair], "made")
    assert (model.name, model.measures, model.halo) == ("made", ("tfidf",), (1, 1))
    assert model.training["epochs"] == 10
    truth = np.arange(60) + 10
    found = context_scores(pair.rows, model).argmax(axis=1)
    assert (found == truth).mean() > 0.8


@pytest.mark.parametrize("count", [1, 2])
def test_the_chain_learns_that_the_film_follows_the_book(pair, count):
    learned = fit_paper_chain(CONFIG, [pair] * count, evaluations=15)
    assert learned.log_likelihood > learned.start_log_likelihood
    # A film that never leaps is told so by dear leaps; one that leaps at random is not.
    assert learned.config.pace + learned.config.stay > 4


def test_the_only_watched_film_does_not_teach_the_chain_to_ignore_the_network(rng):
    pairs = [with_pictures(make_pair(rng), watched=k == 0) for k in range(3)]
    config = replace(CONFIG, measures=("tfidf", "visual"), epochs=30)
    learned = fit_paper_chain(config, pairs, evaluations=15)
    # A network of the two others would trust the words of the watched film, and so be wrong.
    assert learned.config.unary > 1


def test_the_chain_does_not_see_what_the_network_learned_by_heart(pair, rng):
    # Measures of noise: a network can but learn its examples by heart, and the chain must know.
    noise = MadeRows(rng.random((1, 60, 80)).astype(np.float32), ("tfidf",))
    blind = TrainingPair(film=pair.film, rows=noise, judged=pair.judged)
    config = ContextConfig(measures=("tfidf",), layers=1, window=5, dropout=0.0, epochs=40)
    learned = fit_paper_chain(config, [blind], evaluations=15)
    own = context_scores(noise, fit_context_model(config, [blind]))
    chain = make_chain(own, time_steps(blind.film), learned.config)
    fooled, slope = log_likelihood([clamp_chain(chain, blind.judged)], learned.config)
    assert slope[0] > 0  # on its own examples the network would be trusted more
    assert fooled > learned.log_likelihood
