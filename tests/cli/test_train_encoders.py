"""`train vocabulary` and `train combine`: new encoders out of old ones."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import assert_one_line
from made_encoders import WORDS, made_model, made_vocabulary

from folioreel.cli import main
from folioreel.models.sentence_encoder import load_encoder
from folioreel.models.vocabulary import Vocabulary
from folioreel.models.word_encoder import WordEncoder

NEW = ("lantern", "harbour", "fiddler")


def run(*arguments):
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


def write_vectors(path, words, rng, units=4):
    """GloVe's form: a word and its numbers on each line."""
    rows = (f"{word} " + " ".join(f"{x:.5f}" for x in rng.normal(size=units)) for word in words)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def encoder(tmp_path):
    made_model().save(tmp_path / "made")
    return tmp_path / "made"


@pytest.fixture
def vectors(tmp_path, rng):
    shared = [word for word in WORDS if word.isalpha()]
    return write_vectors(tmp_path / "vectors.txt", [*shared, *NEW], rng)


def test_words_are_added(encoder, vectors, tmp_path):
    result = run("vocabulary", encoder, vectors, "--out", tmp_path / "new")
    assert result.exit_code == 0, result.output
    shared = sum(word.isalpha() for word in WORDS)
    figures = dict(re.findall(r"^(\S.*?)  +(\S+)$", result.stdout, re.MULTILINE))
    assert figures["words that both know"] == str(shared)
    assert figures["words added"] == "3"
    assert figures["words in all"] == str(len(made_vocabulary()) + 3)
    assert -1 <= float(figures["held-out cosine"]) <= 1
    assert result.stdout.endswith(f"\nwrote {tmp_path / 'new'}\n")
    old, new = load_encoder(str(encoder)), load_encoder(str(tmp_path / "new"))
    known, added = ["The ferry crossed the river."], ["Lantern.", "Fiddler."]
    assert np.array_equal(old.encode(known), new.encode(known))
    assert np.array_equal(*old.encode(added)), "both were unknown"
    assert not np.allclose(*new.encode(added), atol=1e-3)
    words = WordEncoder.load(tmp_path / "new").vocabulary.words
    assert words == (*made_vocabulary().words, *NEW)
    assert WordEncoder.load(encoder).vocabulary == made_vocabulary()


def test_limit_and_json(encoder, vectors, tmp_path):
    out = tmp_path / "new"
    result = run("vocabulary", encoder, vectors, "--out", out, "--limit", 2, "--json")
    figures = json.loads(result.stdout)
    model = WordEncoder.load(out)
    assert figures == {
        "encoder": str(out),
        "known": sum(word.isalpha() for word in WORDS),
        "added": 2,
        "words": len(made_vocabulary()) + 2,
        "held_out_cosine": model.training["expansion"]["held_out_cosine"],
    }
    assert model.vocabulary.words[-2:] == NEW[:2]
    assert "expanded by 2 words" in model.card
    assert run("vocabulary", encoder, vectors, "--out", out, "--limit", -1).exit_code == 2


def test_a_built_in_encoder_by_name(tmp_path, rng):
    common = load_encoder("student").vocabulary.words[100:160]
    vectors = write_vectors(tmp_path / "vectors.txt", [*common, "qwxzv"], rng)
    result = run("vocabulary", "student", vectors, "--out", tmp_path / "new", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["added"] == 1
    found = load_encoder(str(tmp_path / "new"))
    assert found.units == 384
    assert "qwxzv" in WordEncoder.load(tmp_path / "new").vocabulary.ids


def test_encoders_that_have_no_words(vectors, tmp_path):
    out = ("--out", tmp_path / "new")
    assert_one_line(run("vocabulary", "minilm", vectors, *out), "minilm", "no word vectors")
    export = tmp_path / "export"
    export.mkdir()
    (export / "tokenizer.json").write_text("{}")
    assert_one_line(run("vocabulary", export, vectors, *out), "no word vectors")
    assert_one_line(run("vocabulary", "magic", vectors, *out), "unknown", "choose from")
    assert_one_line(run("vocabulary", vectors, vectors, *out), "unknown", "give a folder")
    assert not (tmp_path / "new").exists()


def test_vectors_that_cannot_be_used(encoder, vectors, tmp_path, rng):
    out = ("--out", tmp_path / "new")
    missing, text, cut = (tmp_path / name for name in ("missing.txt", "text.txt", "cut.txt"))
    text.write_text("Dear diary,\n\ntoday it rained.\n", encoding="utf-8")
    cut.write_text("90 4\n" + vectors.read_text(encoding="utf-8"), encoding="utf-8")
    strangers = write_vectors(tmp_path / "strangers.txt", [f"xyz{k}" for k in range(50)], rng)
    assert_one_line(run("vocabulary", encoder, missing, *out), "missing.txt: ")
    assert_one_line(run("vocabulary", encoder, text, *out), "text.txt: holds no word vectors")
    assert_one_line(run("vocabulary", encoder, cut, *out), "cut.txt:33: ", "download it again")
    assert_one_line(run("vocabulary", encoder, strangers, *out), "shares 0 words")
    assert_one_line(run("vocabulary", encoder, tmp_path, *out))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("command", ["vocabulary", "combine"])
def test_a_name_that_is_taken(command, encoder, vectors, tmp_path):
    """Neither an encoder nor anything else is replaced, and no work is done for nothing."""
    arguments = ("minilm", vectors) if command == "vocabulary" else ("minilm", "minilm")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = {path: path.read_bytes() for path in encoder.iterdir()}
    for taken in (encoder, tmp_path / "file", tmp_path / "folder", tmp_path / "link"):
        assert_one_line(run(command, *arguments, "--out", taken), f"{taken}: already exists")
    assert {path: path.read_bytes() for path in encoder.iterdir()} == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.fixture
def halves(tmp_path):
    whole = made_model(normalize=True)
    for part in whole.parts:
        replace(whole, name=part.name, parts=(part,)).save(tmp_path / part.name)
    return tmp_path / "uni-skip", tmp_path / "bi-skip"


def test_two_become_one(halves, tmp_path):
    result = run("combine", *halves, "--out", tmp_path / "combined")
    assert result.exit_code == 0, result.output
    expected = ["part units", "uni-skip 24", "bi-skip 24", f"wrote {tmp_path / 'combined'}"]
    lines = [" ".join(line.split()) for line in result.stdout.splitlines() if line]
    assert lines == expected
    encoder = load_encoder(str(tmp_path / "combined"))
    assert encoder.name == "combined"
    text = ["The ferry crossed the river at dawn."]
    parts = [load_encoder(str(half)).encode(text) for half in halves]
    assert np.array_equal(encoder.encode(text), np.hstack(parts))


def test_built_in_ones_as_json(tmp_path):
    result = run("combine", "bi-skip", "uni-skip", "--out", tmp_path / "turned", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert list(found["parts"].items()) == [("bi-skip", 1024), ("uni-skip", 1024)]
    assert found["words"] == len(WordEncoder.load(tmp_path / "turned").vocabulary)


def test_encoders_that_cannot_be_combined(halves, tmp_path):
    out = ("--out", tmp_path / "combined")
    few = Vocabulary(words=made_vocabulary().words[:-1], counts=made_vocabulary().counts[:-1])
    part = made_model().parts[0]
    part = replace(part, words=part.words[:-1], scales=part.scales[:-1], name="other")
    made_model(vocabulary=few, parts=(part,), name="few").save(tmp_path / "few")
    result = run("combine", halves[0], tmp_path / "few", *out)
    assert_one_line(result, "uni-skip and few know different words")
    assert_one_line(run("combine", "uni-skip", "student", *out), "know different words")
    assert_one_line(run("combine", halves[0], halves[0], *out), "have a part uni-skip")
    assert_one_line(run("combine", halves[0], "minilm", *out), "no word vectors")
    assert run("combine", halves[0], *out).exit_code == 2
    assert not (tmp_path / "combined").exists()
