"""The models that come with the package: they load, they are small, and their cards say enough."""

import re

import numpy as np
import pytest

from folioreel.models.folders import CARD, builtin_folder
from folioreel.models.sentence_encoder import BUILT_IN, load_encoder
from folioreel.models.transformer_encoder import FORMAT as TRANSFORMER
from folioreel.models.word_encoder import FORMAT

UNITS = {"skip-thought": 2048, "uni-skip": 1024, "bi-skip": 1024, "student": 384, "paraphrase": 384}
TEXTS = (
    "The ferry crossed the river at dawn.",
    "",
    "“Who opened the hoarding?” he asked.",
    "Qwxzv!",
    "It was a bright cold day, and all the clocks were striking. " * 9,
)
PARAPHRASES = (
    ("He opened the door.", "The man unlocked the gate and went in."),
    ("I have no money left.", "I'm completely broke."),
    ("She was crying.", "Tears ran down her cheeks."),
    ("The dog ran away.", "The hound fled."),
    ("We must leave at once.", "There is no time, we have to go now!"),
    ("The old king died.", "The aged monarch is dead."),
    ("It is raining hard.", "A heavy storm poured down on the roof."),
    ("They got married in spring.", "Their wedding took place in April."),
)


@pytest.fixture(scope="module")
def encoders():
    return {name: load_encoder(name) for name in BUILT_IN}


def cosines(encoder, texts):
    vectors = encoder.encode(texts).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def test_every_name_is_one_that_we_know():
    assert set(BUILT_IN) == set(UNITS)
    assert {*FORMAT.shipped(), *TRANSFORMER.shipped()} == set(BUILT_IN.values())


@pytest.mark.parametrize("name", UNITS)
def test_vectors_of_the_right_size_and_always_the_same(encoders, name):
    encoder = encoders[name]
    assert (encoder.name, encoder.units) == (name, UNITS[name])
    found = encoder.encode(TEXTS)
    assert found.shape == (len(TEXTS), UNITS[name])
    assert np.isfinite(found).all()
    assert not found[1].any()
    assert (np.linalg.norm(np.delete(found, 1, axis=0), axis=1) > 0.5).all()
    assert np.array_equal(found, encoder.encode(TEXTS))
    again = load_encoder(name)
    assert again.fingerprint == encoder.fingerprint
    assert np.array_equal(found, again.encode(TEXTS))


def test_the_parts_are_halves_of_the_whole(encoders):
    whole, uni, bi = (
        encoders[name].encode(TEXTS) for name in ("skip-thought", "uni-skip", "bi-skip")
    )
    assert np.array_equal(whole, np.hstack([uni, bi]))
    assert len({encoder.fingerprint for encoder in encoders.values()}) == len(encoders)


@pytest.mark.parametrize("name", ["student", "paraphrase"])
def test_they_know_a_paraphrase(encoders, name):
    """Each sentence's own paraphrase is nearer than that of any other."""
    left, right = zip(*PARAPHRASES, strict=True)
    table = cosines(encoders[name], [*left, *right])[: len(left), len(left) :]
    own, others = np.diag(table), table[~np.eye(len(left), dtype=bool)]
    assert own.mean() > others.mean() + 0.3
    assert (table.argmax(axis=1) == np.arange(len(left))).all()
    assert (table.argmax(axis=0) == np.arange(len(left))).all()


@pytest.mark.parametrize("name", ["skip-thought", "uni-skip", "bi-skip"])
def test_skip_thoughts_know_one_sentence_said_twice(encoders, name):
    """They go by the build of a sentence as well, so the pairs are closer ones."""
    texts = (
        "He opened the door and went in.",
        "She opened the gate and walked in.",
        "Where have you been all this time?",
        "Where were you all these years?",
    )
    table = cosines(encoders[name], texts)
    assert min(table[0, 1], table[2, 3]) > max(table[0, 2], table[0, 3], table[1, 2], table[1, 3])


def test_they_fit_into_a_package():
    data = builtin_folder("student").parent
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) > len(FORMAT.shipped())
    assert sum(path.stat().st_size for path in files) < 80e6


@pytest.mark.parametrize("name", sorted(set(BUILT_IN.values())))
def test_the_card_says_what_one_asks(name):
    card = (builtin_folder(name) / CARD).read_text("utf-8")
    data = r"\d[\d,.]*(?: million)? (?:books|novels|sentences)|(?:books|sentences): *\d"
    assert re.search(data, card), "on what it was trained"
    assert re.search(r"`[^`\n]*(?:folioreel|python|make) [^`\n]*`|```", card), "by which command"
    assert re.search(r"\b20\d\d-\d\d-\d\d\b|\b\d{1,2} [A-Z][a-z]+ 20\d\d\b", card), "when"
    assert re.search(r"\b\d+\.\d{2,}\b", card), "how well it does"
