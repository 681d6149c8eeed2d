"""Recognisers: which one reads a language, and what to install if there is none."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from drawn_subtitles import Lettering, draw_text

from folioreel.errors import UnreadableWordsError
from folioreel.ingest.ocr import recognisers
from folioreel.ingest.ocr.recognisers import RapidRecogniser, Tesseract, choose_recogniser

LINES = [
    "I'll ask Will and Ivy.",
    "- No! Never: it's (not) his.",
    "Où est l'élève? Grüße!",
    "so, on we go",
]


def drawn(text: str) -> np.ndarray:
    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    numbers, palette = draw_text(text, Lettering(outline=0, size=40, font=str(font)))
    return np.array([colour[3] for colour in palette], np.uint8)[numbers][4:-4, 6:-6]


def install(monkeypatch: pytest.MonkeyPatch, rapidocr: bool, *languages: str) -> None:
    monkeypatch.setattr(recognisers, "has_rapidocr", lambda: rapidocr)
    monkeypatch.setattr(recognisers, "_tesseract_languages", lambda: frozenset(languages))
    monkeypatch.setattr(recognisers, "_tesseract_version", lambda: "tesseract 5")
    monkeypatch.setattr(recognisers, "load_network", lambda: "network")


@pytest.mark.parametrize("language", ["en", "fr", "pl", "ja", None])
def test_rapidocr_reads_its_languages(
    monkeypatch: pytest.MonkeyPatch, language: str | None
) -> None:
    install(monkeypatch, True, "eng", "fra", "pol", "jpn")
    assert choose_recogniser(language) == "network"


@pytest.mark.parametrize(
    ("language", "name"),
    [("ru", "rus"), ("el", "ell"), ("vi", "vie"), ("ko", "kor"), ("fr", "fra"), ("zh", "chi_sim")],
)
def test_tesseract_reads_others_and_all_without_rapidocr(
    monkeypatch: pytest.MonkeyPatch, language: str, name: str
) -> None:
    install(monkeypatch, language in ("ru", "el", "vi", "ko"), name)
    chosen = choose_recogniser(language)
    assert isinstance(chosen, Tesseract)
    assert chosen.name == f"tesseract 5 {name}"


def test_messages_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, False, "deu")
    with pytest.raises(UnreadableWordsError, match=r'pip install "folioreel\[ocr\]"'):
        choose_recogniser("en")
    install(monkeypatch, True)
    with pytest.raises(UnreadableWordsError, match=r"Russian.*tesseract-ocr-rus"):
        choose_recogniser("ru")


def test_rapidocr_reads_lines_exactly() -> None:
    pytest.importorskip("rapidocr", reason="needs RapidOCR: pip install 'folioreel[ocr]'")
    readings = RapidRecogniser().read([drawn(line) for line in LINES], 44)
    assert [reading.text for reading in readings] == LINES
    assert min(reading.confidence for reading in readings) > 0.9


def test_tesseract_reads_lines() -> None:
    if "eng" not in recognisers._tesseract_languages():
        pytest.skip("needs the program tesseract with its English data")
    lines = ["Mr. Catchpole has sold", "all of his bread."]
    readings = Tesseract("eng").read([drawn(line) for line in lines], 44)
    assert [reading.text for reading in readings] == lines
    assert min(reading.confidence for reading in readings) > 0.7


def test_full_width_signs_become_narrow_outside_chinese() -> None:
    assert recognisers._narrow("No！（really）") == "No!(really)"
    assert recognisers._narrow("不！") == "不！"
