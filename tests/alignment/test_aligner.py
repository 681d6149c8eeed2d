"""The aligner as a whole, on a pair that a reader can check."""

from dataclasses import replace

import pytest
from conftest import SENTENCES, make_book, make_film

from folioreel import Aligner, align
from folioreel.config import AlignConfig
from folioreel.errors import AlignmentError, ConfigError


def test_the_spoken_lines_find_their_sentences(film, book):
    links = Aligner.load().align(film, book).links
    spoken = [link.sentence for link, m in zip(links, film.moments, strict=True) if m.text]
    # Kilos, (damp, said next to it), band, hoarding, grass.
    assert spoken[0] == 2
    assert spoken[2:] == [4, 8, 9]
    assert all(0 <= link.score <= 1 for link in links)


def test_scores_tell_a_quotation_from_an_invention(book):
    film = make_film(
        ((1.0, 2.0, SENTENCES[2]), (15.0, 16.0, "Zebras juggle quietly.")), shots=False
    )
    sure, unsure = Aligner.load().align(film, book).links
    assert sure.score > 0.9
    assert sure.in_book
    assert unsure.score < sure.score


def test_the_signature_says_how(film, book):
    signature = Aligner.load("paper").align(film, book).signature
    assert signature["preset"] == "paper"
    assert "tfidf" in signature["measures"]
    assert signature["config"]["chain"]["sigma"] > 0


def test_one_moment_and_one_sentence():
    film = make_film(((1.0, 2.0, "Hello."),), shots=False)
    links = Aligner.load().align(film, make_book(("Hello there.",))).links
    assert [link.sentence for link in links] == [0]


def test_two_scripts_are_no_obstacle():
    """A Russian film of an English book: the encoder knows both languages."""
    said = ("Кто открыл ворота?", "Паром утонул ночью.", "Дай мне лошадь.")
    film = make_film(tuple((k + 0.1, k + 0.9, text) for k, text in enumerate(said)), shots=False)
    written = ("Rain fell.", "Who opened the gate?", "The ferry sank in the night.", "A horse!")
    film = replace(film, language="ru")
    book = replace(make_book((*written, "Give me a horse.", "The end.")), language="en")
    alignment = align(book, film)
    assert alignment.signature["preset"] == "across"
    assert [link.sentence for link in alignment.links] == [1, 2, 4]


def test_nothing_to_align(book):
    with pytest.raises(AlignmentError, match="neither dialogue nor shots"):
        Aligner.load().align(make_film((), shots=False), book)


def test_a_silent_film_gets_links_too(book):
    links = Aligner.load().align(make_film(()), book).links
    assert [link.sentence for link in links] == sorted(link.sentence for link in links)


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="paper"):
        Aligner.load("nonsense")
    with pytest.raises(ConfigError, match="tfdf"):
        AlignConfig(weights={"tfdf": 1.0})
