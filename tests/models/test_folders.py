"""Model folders, by the example of an encoder: what is written comes back, damage is noticed."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_encoders import made_model

from folioreel.errors import ModelFolderError
from folioreel.models import folders
from folioreel.models.folders import builtin_folder
from folioreel.models.word_encoder import FORMAT, EncoderPart, WordEncoder

FILES = ("README.md", "bi-skip.onnx", "uni-skip.onnx", "vocabulary.txt", "words.safetensors")


@pytest.fixture(scope="module")
def model():
    return made_model()


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "encoder")
    return tmp_path / "encoder"


def edit_config(folder, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config | changes), encoding="utf-8")


def test_what_is_written_comes_back(model, folder):
    found = WordEncoder.load(folder)
    for name in ("name", "vocabulary", "longest", "normalize", "training", "card"):
        assert getattr(found, name) == getattr(model, name)
    for part, expected in zip(found.parts, model.parts, strict=True):
        assert (part.name, part.graph) == (expected.name, expected.graph)
        assert np.array_equal(part.words, expected.words)
        assert np.array_equal(part.scales, expected.scales)
    assert sorted(path.name for path in folder.iterdir()) == sorted((*FILES, "config.json"))
    assert [path.name for path in folder.parent.iterdir()] == ["encoder"]


def test_the_config(folder):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["format"] == "folioreel-sentence-encoder"
    assert config["parts"] == [
        {"name": "uni-skip", "units": 24, "word_units": 16},
        {"name": "bi-skip", "units": 24, "word_units": 16},
    ]
    assert sorted(config["sha256"]) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_damage(folder, name):
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelFolderError, match=f"{name} is damaged; copy the folder again"):
        WordEncoder.load(folder)


@pytest.mark.parametrize("name", [*FILES, "config.json"])
def test_missing_files(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelFolderError, match=f"{name} is missing; copy the folder again"):
        WordEncoder.load(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "pip install --upgrade folioreel"),
        ({"format": "folioreel-alignment"}, "is not a sentence encoder"),
        ({"parts": []}, "config.json is damaged"),
        ({"parts": [{"name": "../uni-skip"}]}, "config.json is damaged"),
        ({"parts": 3}, "config.json is damaged"),
        ({"sha256": {}}, "config.json is damaged"),
        ({"longest": "many"}, "config.json is damaged"),
    ],
)
def test_configs_that_are_refused(folder, changes, message):
    edit_config(folder, **changes)
    with pytest.raises(ModelFolderError, match=message) as caught:
        WordEncoder.load(folder)
    assert "\n" not in str(caught.value)


def test_a_config_cut_short(folder):
    path = folder / "config.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ModelFolderError, match=r"config.json is damaged"):
        WordEncoder.load(folder)


def test_an_encoder_is_replaced_only_when_asked(model, folder):
    changed = replace(model, longest=3)
    with pytest.raises(ModelFolderError, match="already holds a sentence encoder"):
        changed.save(folder)
    assert WordEncoder.load(folder).longest == 12
    changed.save(folder, replace=True)
    assert WordEncoder.load(folder).longest == 3
    assert [path.name for path in folder.parent.iterdir()] == ["encoder"]


@pytest.mark.parametrize("config", [None, "{}", "not json"])
def test_other_folders_are_never_replaced(model, tmp_path, config):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "diary.txt").write_text("dear diary")
    if config is not None:
        (theirs / "config.json").write_text(config)
    with pytest.raises(ModelFolderError, match="choose another name"):
        model.save(theirs, replace=True)
    assert (theirs / "diary.txt").read_text() == "dear diary"


def test_a_run_that_is_stopped_leaves_the_old_encoder(model, folder, monkeypatch):
    write = Path.write_bytes

    def stop(path, data):
        if path.name == "uni-skip.onnx":  # there are others before it
            raise KeyboardInterrupt
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", stop)
    for target in (folder, folder.with_name("new")):
        with pytest.raises(KeyboardInterrupt):
            replace(model, longest=3).save(target, replace=True)
    assert WordEncoder.load(folder).longest == 12
    assert [path.name for path in folder.parent.iterdir()] == ["encoder"]


def test_a_rename_that_fails_leaves_the_old_encoder(model, folder, monkeypatch):
    rename = Path.rename

    def fail(path, target):
        if path.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ModelFolderError, match="No space left"):
        replace(model, longest=3).save(folder, replace=True)
    assert WordEncoder.load(folder).longest == 12
    assert [path.name for path in folder.parent.iterdir()] == ["encoder"]


def test_what_a_killed_run_left_is_written_over(model, tmp_path):
    left = tmp_path / ".encoder.part"
    left.mkdir()
    (left / "stray.onnx").write_bytes(b"half")
    model.save(tmp_path / "encoder")
    assert not left.exists()
    assert not (tmp_path / "encoder" / "stray.onnx").exists()


def test_a_folder_that_cannot_be_written(model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFolderError, match="cannot be written"):
        model.save(tmp_path / "file" / "encoder")


def test_parts_that_do_not_fit(model):
    part = model.parts[0]
    with pytest.raises(ValueError, match="table of bytes"):
        EncoderPart(name="a", graph=b"", words=part.words.astype(np.float32), scales=part.scales)
    with pytest.raises(ValueError, match="one float32 scale"):
        EncoderPart(name="a", graph=b"", words=part.words, scales=part.scales[:-1])
    with pytest.raises(ValueError, match="lower-case"):
        EncoderPart(name="../a", graph=b"", words=part.words, scales=part.scales)
    short = EncoderPart(name="a", graph=part.graph, words=part.words[:-1], scales=part.scales[:-1])
    with pytest.raises(ValueError, match="vocabulary"):
        replace(model, parts=(short,))


def test_built_in_models(model, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "DATA", tmp_path)
    assert FORMAT.shipped() == ()
    model.save(builtin_folder("skip-thought"))
    model.save(builtin_folder("student"))
    assert FORMAT.shipped() == ("skip-thought", "student")
    (builtin_folder("student") / "vocabulary.txt").unlink()
    with pytest.raises(ModelFolderError, match="pip install --force-reinstall folioreel"):
        WordEncoder.load("student")


def test_a_pipe_in_place_of_a_file(folder):
    """Opening it would wait for ever."""
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    with pytest.raises(ModelFolderError, match="is not a file"):
        WordEncoder.load(folder)
