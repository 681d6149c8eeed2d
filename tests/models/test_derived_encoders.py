"""Derived encoders: expansion against scikit-learn's regression; joined vectors side by side."""

from dataclasses import replace

import numpy as np
import pytest
from made_encoders import made_model, made_vocabulary
from sklearn.linear_model import LinearRegression

from folioreel.errors import ConfigError, InputError, ModelFolderError
from folioreel.models import derived_encoders
from folioreel.models.derived_encoders import combine_encoders, expand_vocabulary
from folioreel.models.sentence_encoder import load_encoder, open_word_encoder
from folioreel.models.vocabulary import SPECIAL_TOKENS, UNKNOWN, Vocabulary
from folioreel.models.word_encoder import EncoderPart, WordEncoder

TEXTS = ("The ferry crossed the river at dawn.", "", "Petra read the dial.", "Zyx. " * 20)
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
    monkeypatch.setattr(derived_encoders, "_BLOCK", 7)
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


@pytest.fixture(scope="module")
def halves():
    whole = made_model(normalize=True)
    return [
        replace(whole, name=part.name, parts=(part,), card=f"# {part.name}\n", training={"k": k})
        for k, part in enumerate(whole.parts)
    ]


def test_the_vectors_are_joined(halves, tmp_path):
    joined = combine_encoders(halves, "combined")
    joined.save(tmp_path / "combined")
    encoder = load_encoder(str(tmp_path / "combined"))
    assert (encoder.name, encoder.units) == ("combined", 48)
    expected = np.hstack([model.encode(TEXTS) for model in halves])
    assert np.array_equal(encoder.encode(TEXTS), expected)
    turned = combine_encoders(halves[::-1], "turned").encode(TEXTS)
    assert np.array_equal(turned, np.hstack([expected[:, 24:], expected[:, :24]]))


def test_what_is_told_of_its_origin(halves, tmp_path):
    combine_encoders(halves, "combined").save(tmp_path / "combined")
    found = WordEncoder.load(tmp_path / "combined")
    assert found.training == {
        "combined": [
            {"name": "uni-skip", "training": {"k": 0}},
            {"name": "bi-skip", "training": {"k": 1}},
        ]
    }
    assert found.card.startswith("# combined\n\nThe vectors of uni-skip and bi-skip, joined.\n")
    assert "# uni-skip" in found.card
    assert "# bi-skip" in found.card


def test_equal_words_are_enough(halves):
    """Counts may differ, as they do where an encoder learned from fewer books."""
    vocabulary = made_vocabulary()
    other = replace(vocabulary, counts=(1,) * len(vocabulary))
    joined = combine_encoders([halves[0], replace(halves[1], vocabulary=other)], "combined")
    assert len(joined.parts) == 2


def swapped(vocabulary):
    words = list(vocabulary.words)
    words[-1], words[-2] = words[-2], words[-1]
    return replace(vocabulary, words=tuple(words))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"vocabulary": swapped(made_vocabulary())}, "know different words"),
        ({"longest": 13}, r"differ in longest \(12 and 13\)"),
        ({"normalize": False}, "differ in normalize"),
        ({"back_off": True}, "differ in back_off"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit(halves, changes, says):
    with pytest.raises(ConfigError, match=says) as caught:
        combine_encoders([halves[0], replace(halves[1], **changes)], "combined")
    assert "\n" not in str(caught.value)


def test_one_encoder_twice_or_alone(halves):
    with pytest.raises(ConfigError, match="have a part uni-skip"):
        combine_encoders([halves[0], halves[0]], "combined")
    with pytest.raises(ValueError, match="two encoders or more"):
        combine_encoders(halves[:1], "combined")


def test_encoders_by_name_and_by_folder(halves, tmp_path, monkeypatch):
    halves[0].save(tmp_path / "mine")
    assert open_word_encoder(str(tmp_path / "mine")).name == "uni-skip"
    monkeypatch.chdir(tmp_path)
    assert open_word_encoder("mine").name == "uni-skip"
    bi = open_word_encoder("bi-skip")
    assert (bi.name, [part.name for part in bi.parts]) == ("bi-skip", ["bi-skip"])
    whole = open_word_encoder("skip-thought")
    assert [part.name for part in whole.parts] == ["uni-skip", "bi-skip"]


def test_the_built_in_halves_make_the_built_in_whole():
    halves = [open_word_encoder(name) for name in ("uni-skip", "bi-skip")]
    joined = combine_encoders(halves, "combined")
    assert np.array_equal(joined.encode(TEXTS), load_encoder("skip-thought").encode(TEXTS))


def test_what_has_no_word_vectors(tmp_path):
    export = tmp_path / "export"
    export.mkdir()
    (export / "config.json").write_text('{"hidden_size": 8}')
    (export / "tokenizer.json").write_text("{}")
    for name in ("minilm", str(export)):
        with pytest.raises(ConfigError, match=r"no word vectors; give one of skip-thought"):
            open_word_encoder(name)
    with pytest.raises(ConfigError, match="unknown sentence encoder 'nothing'"):
        open_word_encoder("nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFolderError, match=r"config.json is missing"):
        open_word_encoder(str(tmp_path / "empty"))
