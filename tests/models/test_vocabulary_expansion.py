"""Vocabulary expansion against scikit-learn's regression."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from folioreel.errors import InputError
from folioreel.models import vocabulary_expansion
from folioreel.models.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.models.vocabulary_expansion import expand_vocabulary
from folioreel.models.word_encoder import EncoderPart, WordEncoder

KNOWN = tuple(f"known{k}" for k in range(200))


def as_bytes(values):
    scales = np.abs(values).max(axis=1) / 127
    return np.rint(values / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def rows_of(part):
    return part.words * part.scales[:, None].astype(np.float64)


def make_model(rng, units=(5, 3), words=KNOWN):
    size = len(SPECIAL_TOKENS) + len(words)
    parts = []
    for number, word_units in enumerate(units):
        table, scales = as_bytes(rng.normal(size=(size, word_units)))
        parts.append(EncoderPart(name=f"part{number}", graph=b"", words=table, scales=scales))
    return WordEncoder(
        name="made",
        vocabulary=Vocabulary(words=(*SPECIAL_TOKENS, *words), counts=(0, 1, 1, *[2] * len(words))),
        parts=tuple(parts),
        longest=40,
        normalize=True,
        training={"steps": 3},
        card="# Made\n",
    )


def vector_of(model, word, part=0):
    return rows_of(model.parts[part])[model.vocabulary.ids[word]]


def test_a_linear_map_is_recovered(rng):
    """The other space is the model's, mapped by a matrix and moved: the way back is linear."""
    model = make_model(rng, (6,))
    matrix, shift = rng.normal(size=(6, 6)), rng.normal(size=6)
    entries = [
        (word, (vector_of(model, word) @ matrix + shift).astype(np.float32)) for word in KNOWN
    ]
    hidden = rng.normal(size=(50, 6))
    entries += [
        (f"new{k}", (row @ matrix + shift).astype(np.float32)) for k, row in enumerate(hidden)
    ]
    found = expand_vocabulary(model, entries)
    assert (found.known, found.added) == (200, 50)
    assert found.cosine == pytest.approx(1, abs=1e-5)
    rows = rows_of(found.model.parts[0])[-50:]
    step = np.abs(hidden).max(axis=1, keepdims=True) / 127
    assert (np.abs(rows - hidden) <= 0.51 * step + 1e-4).all()


def test_as_scikit_learn_fits(rng, monkeypatch):
    monkeypatch.setattr(vocabulary_expansion, "_BLOCK", 7)
    model = make_model(rng)
    order = rng.permutation(len(KNOWN))[:150]
    shared = [KNOWN[k] for k in order]
    inputs = {word: rng.normal(size=4).astype(np.float32) for word in shared}
    inputs |= {f"new{k}": rng.normal(size=4).astype(np.float32) for k in range(40)}
    found = expand_vocabulary(model, list(inputs.items()))
    new = np.array([inputs[f"new{k}"] for k in range(40)])
    for number, part in enumerate(model.parts):
        truth = np.array([vector_of(model, word, number) for word in shared])
        reference = LinearRegression().fit([inputs[word] for word in shared], truth)
        wanted = reference.predict(new)
        got = rows_of(found.model.parts[number])
        step = np.abs(wanted).max(axis=1, keepdims=True) / 127
        assert (np.abs(got[-40:] - wanted) <= 0.51 * step + 1e-5).all()
        assert np.array_equal(got[:-40], rows_of(part))  # what it knew, it keeps
    # The figure is of words that the fit has not seen: every tenth, in the order of the file.
    out = np.arange(150) % 10 == 9
    truth = np.array([np.r_[vector_of(model, w, 0), vector_of(model, w, 1)] for w in shared])
    given = np.array([inputs[word] for word in shared])
    mapped = LinearRegression().fit(given[~out], truth[~out]).predict(given[out])
    cosines = [
        a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        for a, b in zip(mapped, truth[out], strict=True)
    ]
    assert found.cosine == pytest.approx(np.mean(cosines), abs=1e-5)


def test_the_new_words(rng):
    model = make_model(rng, (2,))
    shared = [(word, rng.normal(size=2)) for word in KNOWN]
    extra = [
        ("Paris", 1.0),  # its lower-case form comes later, and is taken
        ("Ferry", 2.0),  # has none
        ("New_York", 3.0),  # three tokens to us
        ("did n't", 4.0),
        ("<unk>", 5.0),
        ("paris", 6.0),
        ("FERRY", 7.0),
        ("wrought-iron", 8.0),
        ("paris", 9.0),
        ("KNOWN3", 10.0),
        ("mr.", 11.0),
    ]
    entries = [*shared[:90], *((word, np.full(2, value)) for word, value in extra), *shared[90:]]
    entries = [(word, vector.astype(np.float32)) for word, vector in entries]
    found = expand_vocabulary(model, entries)
    added = ("paris", "ferry", "wrought-iron", "mr.")
    vocabulary = found.model.vocabulary
    assert vocabulary.words == (*model.vocabulary.words, *added)
    assert vocabulary.counts == (*model.vocabulary.counts, 0, 0, 0, 0)
    assert (found.known, found.added) == (200, 4)
    assert UNKNOWN not in vocabulary.encode("Mr. Known3, the Paris Ferry")[:2]
    truth = np.array([vector_of(model, word) for word in KNOWN])
    reference = LinearRegression().fit([vector for _, vector in shared], truth)
    wanted = reference.predict(np.full((4, 2), [[6.0], [2.0], [8.0], [11.0]]))
    assert rows_of(found.model.parts[0])[-4:] == pytest.approx(wanted, abs=0.05)
    assert found.model.training["steps"] == 3
    assert found.model.training["expansion"]["added"] == 4
    assert "expanded by 4 words" in found.model.card
    fewer = expand_vocabulary(model, entries, limit=2).model
    assert fewer.vocabulary.words[-2:] == ("paris", "ferry")
    assert np.array_equal(rows_of(fewer.parts[0]), rows_of(found.model.parts[0])[:-2])


def test_nothing_new(rng):
    model = make_model(rng)
    entries = [(word, rng.normal(size=4).astype(np.float32)) for word in KNOWN]
    found = expand_vocabulary(model, entries)
    assert found.added == 0
    assert found.model.vocabulary == model.vocabulary
    assert len(found.model.parts[0].words) == len(model.vocabulary)


def test_a_file_is_as_good_as_a_list(rng, tmp_path):
    model = make_model(rng)
    entries = [(word, rng.normal(size=4).astype(np.float32)) for word in (*KNOWN, "ferry", "river")]
    path = tmp_path / "vectors.txt"
    lines = (f"{word} {' '.join(repr(float(v)) for v in vector)}\n" for word, vector in entries)
    path.write_text("".join(lines))
    told = []
    one = expand_vocabulary(model, entries)
    other = expand_vocabulary(model, path, progress=told.append)
    assert [(value.done, value.total) for value in told] == [(202, 202)] * 2
    assert one.cosine == other.cosine
    assert np.array_equal(one.model.parts[1].words, other.model.parts[1].words)
    with pytest.raises(ValueError, match="twice"):
        expand_vocabulary(model, iter(entries))


def test_too_few_words_in_common(rng, tmp_path):
    model = make_model(rng)
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"mot{k} {k} 1 2\n" for k in range(50)) + "known1 1 2 3\n")
    with pytest.raises(InputError, match="shares 1 words") as caught:
        expand_vocabulary(model, path)
    assert caught.value.path == path
    with pytest.raises(InputError, match="shares 0 words"):
        expand_vocabulary(model, [])
