"""Encoders over word vectors: joined ones give the vectors of both side by side."""

from dataclasses import replace

import numpy as np
import pytest
from made_encoders import made_model, made_vocabulary

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models.sentence_encoder import load_encoder, open_word_encoder
from folioreel.models.word_encoder import WordEncoder, combine_encoders

TEXTS = ("The ferry crossed the river at dawn.", "", "Petra read the dial.", "Zyx. " * 20)


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
