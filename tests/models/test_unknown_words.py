"""Unknown words: the form that a reader of English would look up."""

import pytest

from folioreel.models.vocabulary import SPECIAL_TOKENS, Vocabulary, known_form, known_tokens


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        # plurals
        ("ferries", "ferry", "ferry"),
        ("ropes", "rope", "rope"),
        ("boxes", "box boxe", "box"),
        ("wolves", "wolf", "wolf"),
        ("knives", "knife", "knife"),
        ("glass", "glas gla", None),
        ("walrus", "walru", None),
        # -ed, -ing: the silent e and the doubled consonant
        ("hoping", "hop hope", "hope"),
        ("hopping", "hop hope", "hop"),
        ("hopped", "hop hope", "hop"),
        ("caring", "car care", "care"),
        ("dancing", "dance", "dance"),
        ("pleasing", "pleas please", "please"),
        ("passing", "pass passe", "pass"),
        ("singing", "sing singe", "sing"),
        ("visited", "visit", "visit"),
        ("carried", "carry", "carry"),
        ("carrying", "carry", "carry"),
        ("bring", "br bre", None),
        ("bed", "b be", None),
        # -er, -est, -ly
        ("happier", "happy", "happy"),
        ("bigger", "big", "big"),
        ("nicest", "nice", "nice"),
        ("quickly", "quick", "quick"),
        ("happily", "happy", "happy"),
        ("comfortably", "comfortable", "comfortable"),
        ("tragically", "tragic", "tragic"),
        # both sides of the Atlantic, also under an ending
        ("colour", "color", "color"),
        ("color", "colour", "colour"),
        ("neighbours", "neighbors", "neighbors"),
        ("neighbours", "neighbor", "neighbor"),
        ("realise", "realize", "realize"),
        ("organizations", "organisations", "organisations"),
        ("theatre", "theater", "theater"),
        ("travelled", "traveled", "traveled"),
        ("traveler", "traveller", "traveller"),
        ("travelling", "travel", "travel"),
        ("defense", "defence", "defence"),
        ("gray", "grey", "grey"),
        ("sour", "sor", None),
        # what is known stays, what is not is left alone
        ("dawn", "dawn daw", "dawn"),
        ("zyx", "zy", None),
        ("1,000s", "1,000", None),
    ],
)
def test_one_word(word, known, expected):
    assert known_form(word, set(known.split())) == expected


def test_a_sentence():
    words = (*SPECIAL_TOKENS, "the", "ill", "lit", "ferry", "well-known", "well", "mother", "law")
    vocabulary = Vocabulary(words=words, counts=(1,) * len(words))
    tokens = ["the", "ill-lit", "ferries", "well-known", "mother-in-laws", "zyx", "zyx-qua", "--"]
    assert known_tokens(tokens, vocabulary) == [
        "the",
        "ill",
        "lit",
        "ferry",
        "well-known",
        "mother",
        "law",
        "zyx",
        "zyx-qua",
        "--",
    ]
    assert known_tokens([], vocabulary) == []
