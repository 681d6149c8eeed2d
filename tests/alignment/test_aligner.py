"""The aligner as a whole, on a pair that a reader can check."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from conftest import SENTENCES, make_book, make_film

from folioreel import Aligner, align
from folioreel.config import AlignConfig
from folioreel.errors import AlignmentError, ConfigError


@pytest.fixture
def made_encoder():
    """An encoder that counts letters."""

    class Letters:
        name = "letters"

        def encode(self, texts):
            return np.array(
                [[text.count(letter) for letter in "aeiounst"] for text in texts], float
            )

    return Letters()


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


def test_english_has_the_preset_default(film, book, caplog):
    english = replace(film, language="en"), replace(book, language="en")
    with caplog.at_level(logging.INFO, "folioreel"):
        found = align(english[1], english[0])
    chosen = align(english[1], english[0], preset="default")
    assert found.links == chosen.links
    assert found.signature["preset"] == chosen.signature["preset"] == "default"
    options = [alignment.signature["options"].pop("preset") for alignment in (found, chosen)]
    assert options == ["auto", "default"]
    assert found.signature == chosen.signature
    assert not [record for record in caplog.records if "preset" in record.getMessage()]


@pytest.mark.parametrize(
    ("spoken", "written", "says"),
    [
        ("fr", "fr", "preset multilingual: the film is in French, the book in French"),
        ("fi", "fi", "preset words: the film is in Finnish, the book in Finnish"),
        ("en", "de", "preset across: the film is in English, the book in German"),
    ],
)
def test_another_language_has_another_preset(spoken, written, says, film, book, caplog):
    film, book = replace(film, language=spoken), replace(book, language=written)
    with caplog.at_level(logging.INFO, "folioreel"):
        found = align(book, film, shots=False)
    assert found.signature["preset"] == says.split()[1].rstrip(":")
    assert found.signature["options"]["preset"] == "auto"
    assert caplog.records[0].getMessage() == says
    assert found.links == align(book, film, preset=found.signature["preset"], shots=False).links


def test_an_encoder_for_languages_of_ones_own(film, book, made_encoder):
    film, book = replace(film, language="fi"), replace(book, language="fi")
    found = align(book, film, encoder=made_encoder, shots=False)
    assert found.signature["preset"] == "multilingual"
    assert found.signature["options"]["encoder"] == "letters (an object)"
    with pytest.raises(ConfigError, match="unknown sentence encoder"):
        align("no book", "no film", encoder="nonsense")


def test_two_scripts_are_no_obstacle():
    """A Russian film of an English book: the encoder knows both languages."""
    said = ("Кто открыл ворота?", "Паром утонул ночью.", "Дай мне лошадь.")
    film = make_film(tuple((k + 0.1, k + 0.9, text) for k, text in enumerate(said)), shots=False)
    written = ("Rain fell.", "Who opened the gate?", "The ferry sank in the night.", "It snowed.")
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
