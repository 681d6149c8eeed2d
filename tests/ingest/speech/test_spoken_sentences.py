"""Words → sentences: where they end, when they are said, and how they fit a screen."""

import pytest

from folioreel.ingest.speech.listen import Word
from folioreel.ingest.speech.sentences import split_words


def say(text: str, start_s: float = 0.0, word_s: float = 0.4) -> list[Word]:
    """Each word of a text, one after the other."""
    return [
        Word(start_s + k * word_s, start_s + (k + 1) * word_s, f" {word}")
        for k, word in enumerate(text.split())
    ]


def test_sentences_have_the_times_of_their_words():
    words = say("Did you hear it, Mr. Hale? No. I slept", 10.0)
    found = [(s.text, s.start_s, s.end_s) for s in split_words(words, "en")]
    assert found == [
        ("Did you hear it, Mr. Hale?", 10.0, pytest.approx(12.4)),
        ("No.", pytest.approx(12.4), pytest.approx(12.8)),
        ("I slept", pytest.approx(12.8), pytest.approx(13.6)),
    ]


def test_a_long_silence_ends_a_sentence():
    words = [*say("and then he"), *say("came home.", 9.0)]
    assert [s.text for s in split_words(words, "en")] == ["and then he", "came home."]


def test_a_short_silence_does_not():
    words = [*say("and then he"), *say("came home.", 2.5)]
    assert [s.text for s in split_words(words, "en")] == ["and then he came home."]


def test_without_punctuation_a_breath_ends_a_long_sentence():
    words = [*say("so " * 25), *say("we " * 5, 10.8)]
    assert [len(s.words) for s in split_words(words, "en")] == [25, 5]
    short = [*say("so " * 10), *say("we " * 5, 4.8)]
    assert [len(s.words) for s in split_words(short, "en")] == [15]


def test_languages_without_spaces():
    words = [Word(0.0, 0.5, "你好"), Word(0.5, 0.6, "。"), Word(1.0, 2.0, "再见。")]
    assert [s.text for s in split_words(words, "zh")] == ["你好。", "再见。"]


def test_punctuation_alone_is_no_sentence():
    assert split_words([Word(0.0, 0.5, " ..."), Word(0.5, 1.0, " -")], "en") == ()
    assert split_words([], None) == ()


def test_cues_fit_a_screen_and_lose_nothing():
    (sentence,) = split_words(say("extraordinary " * 30 + "end."), "en")
    cues = list(sentence.cues())
    assert all(len(cue.text) <= 84 and cue.end_s - cue.start_s <= 7.0 for cue in cues)
    assert tuple(word for cue in cues for word in cue.words) == sentence.words


def test_a_word_that_is_wider_than_a_screen_is_a_cue():
    long = "ha" * 50
    (sentence,) = split_words([Word(0.0, 2.0, f" {long}"), Word(2.0, 2.5, " no.")], "en")
    assert [cue.text for cue in sentence.cues()] == [long, "no."]


def test_a_word_that_lasts_too_long_is_a_cue():
    (sentence,) = split_words([Word(0.0, 9.0, " Ooooh"), Word(9.0, 9.5, " no.")], "en")
    assert [cue.text for cue in sentence.cues()] == ["Ooooh", "no."]
