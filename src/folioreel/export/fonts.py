"""Fonts for letters that the usual one lacks: titles may be in any script."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unicodedata import category
from unicodedata import name as name_of

from matplotlib.font_manager import FontProperties, findfont, fontManager
from matplotlib.ft2font import FT2Font

_log = logging.getLogger(__name__)
_FIRST = "DejaVu Sans"  # comes with matplotlib, and has most alphabets


@cache
def families_for(text: str, usual: str) -> tuple[str, ...]:
    """The usual family, and others of this computer for the letters that it lacks."""
    found = [usual]
    lacking = {ord(letter) for letter in text if category(letter)[0] not in "CZ"}
    lacking -= _letters(_file_of(usual))
    while lacking:
        name, path = max(_others(), key=lambda font: len(lacking & _letters(font[1])))
        if not lacking & _letters(path):
            break
        found.append(name)
        lacking -= _letters(path)
    for letter in sorted(lacking):
        _tell(name_of(chr(letter), "UNKNOWN").split()[0])
    return tuple(found)


@cache
def _tell(script: str) -> None:
    """Say once that letters of a script cannot be drawn."""
    _log.warning(
        "no font on this computer has some letters of the titles (%s), so the picture has boxes "
        "for them; install one, such as Noto",
        script,
    )


@contextmanager
def missing_letters() -> Iterator[None]:
    """Within this, boxes are drawn for letters that no font has, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        yield


def _others() -> Iterator[tuple[str, str]]:
    """Families and their files, upright and of usual weight; of equals, the first is taken."""
    yield _FIRST, _file_of(_FIRST)
    for entry in sorted(fontManager.ttflist, key=lambda entry: entry.name):
        if entry.name.startswith("Last Resort"):
            continue  # which draws boxes
        if entry.style == "normal" and entry.weight in (400, "normal", "regular"):
            yield entry.name, entry.fname


def _file_of(family: str) -> str:
    return str(findfont(FontProperties(family=[family])))


@cache
def _letters(path: str) -> frozenset[int]:
    """The code points that a font file has."""
    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()  # a font that cannot be read has none
