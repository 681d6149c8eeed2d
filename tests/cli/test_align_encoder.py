"""`align --encoder`: which encoder gives the measure `semantic`, and what is refused."""

import json

import pytest
from command_line import assert_one_line, run, write_pair
from made_encoders import made_model

from folioreel.config import AlignConfig
from folioreel.models.presets import load_preset, save_preset


@pytest.fixture
def pair(tmp_path):
    return write_pair(tmp_path)


@pytest.fixture(autouse=True)
def _presets(tmp_path, monkeypatch):
    """One preset that asks for the meaning of sentences and one that does not."""
    monkeypatch.chdir(tmp_path)
    for name, measure in (("meaning", "semantic"), ("words", "tfidf")):
        save_preset(AlignConfig(weights={measure: 1.0}), tmp_path / name, "", {})


def align(pair, *options):
    return run("align", *pair, *options)


def test_the_signature_keeps_the_preset_and_names_the_encoder(pair, tmp_path):
    made_model().save(tmp_path / "made")
    energies = set()
    for encoder in (None, "student", str(tmp_path / "made")):
        more = () if encoder is None else ("--encoder", encoder)
        result = align(pair, "--preset", "meaning", "--json", *more)
        assert result.exit_code == 0, result.output
        model = json.loads(result.stdout)["model"]
        assert model["preset"] == "meaning"
        assert model["measures"] == ["semantic"]
        assert model["config"]["semantic_encoder"] == (encoder or "student")
        energies.add(model["energy"])
    # Without the option it is the student; the other one gives other scores.
    assert len(energies) == 2
    assert load_preset("meaning").semantic_encoder == "student", "the preset itself is untouched"


def test_a_folder_beside_oneself(pair, tmp_path, monkeypatch):
    made_model().save(tmp_path / "made")
    monkeypatch.chdir(tmp_path)
    result = align(pair, "--preset", "meaning", "--encoder", "made", "--json")
    assert result.exit_code == 0, result.output


def test_an_export_of_a_transformer(pair, tmp_path):
    from models.test_transformer_encoder import made_export

    folder = made_export(tmp_path / "export")
    result = align(pair, "--preset", "meaning", "--encoder", folder, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"]["config"]["semantic_encoder"] == str(folder)


def test_encoders_that_are_refused(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "folioreel.ingest.film.load_film", lambda *a, **k: pytest.fail("work was begun")
    )
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    meaning = ("--preset", "meaning", "--out", tmp_path / "out", "--encoder")
    assert_one_line(align(pair, *meaning, "magic"), "'magic'", "choose from skip-thought")
    assert_one_line(align(pair, *meaning, tmp_path / "nothing"), "no such folder")
    (tmp_path / "empty").mkdir()
    assert_one_line(align(pair, *meaning, tmp_path / "empty"), "holds no sentence encoder")
    made_model().save(tmp_path / "made")
    (tmp_path / "made" / "words.safetensors").write_bytes(b"")
    assert_one_line(align(pair, *meaning, tmp_path / "made"), "words.safetensors is damaged")
    assert not (tmp_path / "out").exists()


def test_a_preset_that_has_no_use_for_it(pair):
    result = align(pair, "--preset", "words", "--encoder", "student")
    assert_one_line(result, "words compares no sentence vectors", "choose another preset")


def test_the_papers_preset_takes_another_encoder_too(pair, tmp_path):
    made_model().save(tmp_path / "made")
    save_preset(AlignConfig(weights={"sentence": 1.0}), tmp_path / "papers", "", {})
    result = align(pair, "--preset", "papers", "--encoder", "made", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"]["config"]["sentence_encoder"] == "made"
    assert "was not trained with the encoder made" in result.stderr
