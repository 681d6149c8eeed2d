"""Languages: which one a text is in, and what they are called.

`py3langid` (BSD, 4.5 MB with its model) knows a hundred languages by their sequences of bytes. Of
450 passages of 60, 200 and 1,000 characters in ten languages it mistook 3, 1 and 0
(docs/explanation/warnings.md compares it with two others).
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import Any

from folioreel.errors import InputError

# ISO 639-1, then the codes of ISO 639-2 (both where they differ), then the English name.
_TABLE = """
    af afr Afrikaans; ar ara Arabic; bg bul Bulgarian; bn ben Bengali; bs bos Bosnian; ca cat
    Catalan; cs cze ces Czech; cy wel cym Welsh; da dan Danish; de ger deu German; el gre ell
    Greek; en eng English; es spa Spanish; et est Estonian; eu baq eus Basque; fa per fas Persian;
    fi fin Finnish; fr fre fra French; ga gle Irish; gl glg Galician; he heb Hebrew; hi hin Hindi;
    hr hrv Croatian; hu hun Hungarian; hy arm hye Armenian; id ind Indonesian; is ice isl
    Icelandic; it ita Italian; ja jpn Japanese; ka geo kat Georgian; ko kor Korean; la lat Latin;
    lt lit Lithuanian; lv lav Latvian; mk mac mkd Macedonian; ms may msa Malay; nl dut nld Dutch;
    no nor Norwegian; nb nob Bokmål; nn nno Nynorsk; pl pol Polish; pt por Portuguese; ro rum ron
    Romanian; ru rus Russian; sk slo slk Slovak; sl slv Slovenian; sq alb sqi Albanian; sr srp
    Serbian; sv swe Swedish; ta tam Tamil; te tel Telugu; th tha Thai; tl tgl Tagalog; tr tur
    Turkish; uk ukr Ukrainian; ur urd Urdu; vi vie Vietnamese; yi yid Yiddish; zh chi zho Chinese
"""
_ROWS = [row.split() for row in _TABLE.split(";")]
_CODES = {name.casefold(): row[0] for row in _ROWS for name in row}
_NAMES = {row[0]: row[-1] for row in _ROWS}

_PIECES, _PIECE_LENGTH = 10, 400
"""How much of a long text is looked at, in characters. 1,000 are enough to be right; spread over
the text, a quotation or a preface in another language does not decide."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """The language that a text is most likely in."""

    code: str  # ISO 639-1: two letters
    confidence: float  # the probability that it is right, in 0…1


def detect_language(text: str) -> Language | None:
    """The language of a text, or None if it has no letters.

    A line or two is often enough; with fewer than some 50 letters the confidence is low. The first
    call loads the model, which takes most of a second; later ones take milliseconds, however long
    the text is.
    """
    sample = _sample(text)
    if not any(character.isalpha() for character in sample):
        return None
    code, confidence = _identifier().classify(sample)
    return Language(code=code, confidence=float(confidence))


def _sample(text: str) -> str:
    """Pieces from all over a text, or all of a short one, in one line."""
    if len(text) > _PIECES * _PIECE_LENGTH:
        step = len(text) // _PIECES
        text = " ".join(text[k * step : k * step + _PIECE_LENGTH] for k in range(_PIECES))
    return " ".join(text.split())


@cache
def _identifier() -> Any:
    from py3langid import langid  # here, as its model is slow to load

    try:
        identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    except OSError as error:  # it unpacks its model there
        place = tempfile.gettempdir()
        raise InputError(f"cannot be written ({error.strerror or error})", place) from error
    # Only what has a name here: it also knows dialects and ancient forms, which would only take
    # votes away from the languages of films.
    identifier.set_languages(_NAMES.keys() & set(identifier.labels))
    return identifier


def language_code(text: str | None) -> str | None:
    """The two-letter code of `en`, `eng`, `en-US` or `English`; None for `und` or unknown words."""
    return _CODES.get(re.split("[-_]", (text or "").strip().casefold())[0])


def language_name(code: str | None) -> str:
    """The English name of a two-letter code."""
    return _NAMES.get(code or "", "unknown language")


def three_letter_code(code: str) -> str:
    """The code of ISO 639-2 for a two-letter code: `fra` for `fr`."""
    return next((row[-2] for row in _ROWS if row[0] == code), code)
