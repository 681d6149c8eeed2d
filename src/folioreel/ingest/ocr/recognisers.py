"""Pictures of lines → text, with RapidOCR's network or the program Tesseract.

RapidOCR (the extra `ocr`) brings one network for languages in Latin letters, Chinese and Japanese.
Subtitles come as single lines without a background, so only its recogniser runs: finding text in a
picture, which it does first, would take most of the time. Other languages need Tesseract and its
data for the language, which the system's package manager has.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from folioreel.engines.batch import count_cores
from folioreel.errors import UnreadableWordsError
from folioreel.files import scratch_folder
from folioreel.ingest.ocr.bitmaps import Ink
from folioreel.language import language_name, three_letter_code

# What the network's own list of languages has and its alphabet covers: it lists Vietnamese too, but
# has only some of its letters.
_RAPIDOCR_LANGUAGES = frozenset(
    "af az bs ca cs cy da de en es et eu fi fr ga gl hr hu id is it la lt lv ms nb nl nn no pl pt "
    "ro sk sl sq sv sw tl tr zh ja".split()
)
INSTALL = 'pip install "folioreel[ocr]"'
# The height of the pictures that the network was trained on.
_NETWORK_HEIGHT = 48
# White around the letters, as a share of the line's height. Of 3,131 letters drawn in three ways,
# four at most were read wrong with any margin from 0 to a quarter; a wider one saves a little time.
_MARGIN = 0.15
# Lines that run together, as in RapidOCR. Each step of a line, 8 pixels wide, takes 75 kB.
_LINES_A_BATCH = 6
# Tesseract was trained on print of about this height.
_TESSERACT_HEIGHT = 64


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a picture of a line says."""

    text: str
    confidence: float  # from 0 to 1: the mean of the characters


class Recogniser(Protocol):
    """Reads pictures of lines."""

    name: str
    """With its version: results are cached under it."""

    def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
        """Read lines; `height` is the usual height of a line with tall letters and tails."""


def choose_recogniser(language: str | None) -> Recogniser:
    """The recogniser for a language, by its two-letter code; an unknown one is taken for Latin.

    Raises:
        UnreadableWordsError: What the language needs is not installed.
    """
    code = _tesseract_code(language)
    if _is_in_rapidocr(language) and has_rapidocr():
        return load_network()
    if code in _tesseract_languages():
        return Tesseract(code)
    if _is_in_rapidocr(language):
        raise UnreadableWordsError(f"to read them: {INSTALL}")
    raise UnreadableWordsError(
        f"reading {language_name(language)} needs Tesseract: install the system's packages "
        f"tesseract-ocr and tesseract-ocr-{code.replace('_', '-')}"
    )


def can_read(language: str | None) -> bool:
    """Whether what a language needs is installed; nothing is loaded."""
    if _is_in_rapidocr(language) and has_rapidocr():
        return True
    return _tesseract_code(language) in _tesseract_languages()


def _is_in_rapidocr(language: str | None) -> bool:
    return language is None or language in _RAPIDOCR_LANGUAGES


def _tesseract_code(language: str | None) -> str:
    code = three_letter_code(language or "en")
    return {"zho": "chi_sim", "nob": "nor", "nno": "nor"}.get(code, code)


def has_rapidocr() -> bool:
    """Whether RapidOCR is installed; importing it takes a second."""
    try:
        metadata.version("rapidocr")
    except metadata.PackageNotFoundError:
        return False
    return True


@cache
def load_network() -> RapidRecogniser:
    """The network, loaded once."""
    return RapidRecogniser()


class RapidRecogniser:
    """The recogniser of RapidOCR, without its search for text and its upright check."""

    def __init__(self) -> None:
        import onnxruntime

        folder = resources.files("rapidocr") / "models"
        path = next(item for item in folder.iterdir() if "_rec_" in item.name)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = count_cores()
        self._session: Any = onnxruntime.InferenceSession(
            str(path), settings, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name
        listed = self._session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._alphabet = ["", *listed, " "]  # the first stands for "no new character"
        self.name = f"rapidocr {metadata.version('rapidocr')} {path.name}"

    def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
        """Read lines of letters alone."""
        return self.read_pictures([draw_line(line, height) for line in lines])

    def read_pictures(self, lines: Sequence[NDArray[np.uint8]]) -> list[Reading]:
        """Read grey pictures of lines as they are, with what is behind the letters."""
        pictures = [_scale(line, _NETWORK_HEIGHT) for line in lines]
        order = sorted(range(len(lines)), key=lambda number: pictures[number].shape[1])
        readings: dict[int, Reading] = {}
        for first in range(0, len(order), _LINES_A_BATCH):
            chosen = order[first : first + _LINES_A_BATCH]
            width = max(pictures[number].shape[1] for number in chosen)
            batch = np.zeros((len(chosen), 3, _NETWORK_HEIGHT, width), np.float32)
            for row, number in enumerate(chosen):
                picture = pictures[number].astype(np.float32) / 127.5 - 1
                batch[row, :, :, : picture.shape[1]] = picture
            steps = self._session.run(None, {self._input: batch})[0]  # (lines, T, alphabet)
            for number, line in zip(chosen, steps, strict=True):
                readings[number] = self._decode(line)
        return [readings[number] for number in range(len(lines))]

    def _decode(self, steps: NDArray[np.float32]) -> Reading:
        """The most probable character of each step, without repetitions (CTC)."""
        best = steps.argmax(axis=1)
        is_new = np.concatenate([[True], best[1:] != best[:-1]]) & (best != 0)
        text = "".join(self._alphabet[number] for number in best[is_new])
        sure = steps.max(axis=1)[is_new]
        return Reading(text=_narrow(text), confidence=float(sure.mean()) if len(sure) else 0.0)


def _narrow(text: str) -> str:
    """Full-width punctuation, which belongs to Chinese and Japanese, as ASCII in other texts."""
    if any("\u3040" <= character <= "\u9fff" for character in text):
        return text
    return "".join(
        unicodedata.normalize("NFKC", character) if "\uff01" <= character <= "\uff5e" else character
        for character in text
    )


class Tesseract:
    """The program `tesseract`, which runs once for many lines."""

    def __init__(self, language: str) -> None:
        self._language = language
        self.name = f"{_tesseract_version()} {language}"

    def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
        """Read lines from pictures in a temporary folder."""
        with scratch_folder() as folder:
            paths = [folder / f"{number}.png" for number in range(len(lines))]
            for path, line in zip(paths, lines, strict=True):
                Image.fromarray(_scale(draw_line(line, height), _TESSERACT_HEIGHT)).save(path)
            listed = folder / "lines.txt"
            listed.write_text("\n".join(map(str, paths)), encoding="utf-8")
            # 7: each picture is a single line. The table has a row for each word.
            command = ["tesseract", str(listed), "stdout", "-l", self._language, "--psm", "7"]
            done = subprocess.run([*command, "tsv"], capture_output=True, check=False)
        if done.returncode != 0:
            reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise UnreadableWordsError(f"Tesseract failed ({''.join(reason)}); is it intact?")
        words: list[list[tuple[str, float]]] = [[] for _ in lines]
        for row in done.stdout.decode("utf-8", errors="replace").splitlines()[1:]:
            cells = row.split("\t")
            if cells[0] == "5" and cells[-1].strip():  # level 5 is words, 1 is pages
                words[int(cells[1]) - 1].append((cells[-1], float(cells[-2]) / 100))
        return [
            Reading(
                text=" ".join(word for word, _ in found),
                confidence=float(np.mean([sure for _, sure in found])) if found else 0.0,
            )
            for found in words
        ]


@cache
def _tesseract_languages() -> frozenset[str]:
    """What the installed Tesseract can read; nothing where it is not installed."""
    if shutil.which("tesseract") is None:
        return frozenset()
    done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, check=False)
    return frozenset(re.findall(r"^\w+$", done.stdout.decode(errors="replace"), re.MULTILINE))


@cache
def _tesseract_version() -> str:
    done = subprocess.run(["tesseract", "--version"], capture_output=True, check=False)
    return (done.stdout or done.stderr).decode(errors="replace").partition("\n")[0].strip()


def draw_line(ink: Ink, height: int) -> NDArray[np.uint8]:
    """Dark letters on white with a margin.

    A line without tall letters gets more of it: at the height of one with them, `o` would be `O`.
    """
    rows = max(height, ink.shape[0])
    margin = max(1, round(_MARGIN * rows))
    top = margin + (rows - ink.shape[0]) // 2
    page = np.full((rows + 2 * margin, ink.shape[1] + 2 * margin), 255, np.uint8)
    page[top : top + ink.shape[0], margin : margin + ink.shape[1]] = 255 - ink
    return page


def _scale(picture: NDArray[np.uint8], height: int) -> NDArray[np.uint8]:
    width = max(8, round(picture.shape[1] * height / picture.shape[0]))
    scaled = Image.fromarray(picture).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(scaled, dtype=np.uint8)
