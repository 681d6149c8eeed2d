"""Languages: which one a text is in, and what they are called.

`py3langid` (BSD, 4.5 MB with its model) knows a hundred languages by their sequences of bytes. Of
450 passages of 60, 200 and 1,000 characters in ten languages it mistook 3, 1 and 0
(docs/explanation/warnings.md compares it with two others).
"""

from __future__ import annotations

import re
import tempfile
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from folioreel.errors import ConfigError, InputError
from folioreel.text import dominant_script

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
# What the languages call themselves; without accents, too.
_OWN_NAMES = """
    ar العربية; bg български; bn বাংলা; bs bosanski; ca català; ca valencià; cs čeština; cy Cymraeg;
    da dansk; de Deutsch; el ελληνικά; es español; es castellano; et eesti; eu euskara; fa فارسی;
    fi suomi; fr français; ga Gaeilge; gl galego; he עברית; hi हिन्दी; hr hrvatski; hu magyar; hy
    հայերեն; id bahasa Indonesia; is íslenska; it italiano; ja 日本語; ka ქართული; ko 한국어; la
    latina; lt lietuvių; lv latviešu; mk македонски; ms bahasa Melayu; nl Nederlands; no norsk; nb
    norsk bokmål; nn norsk nynorsk; pl polski; pt português; ro română; ru русский; sk slovenčina;
    sl slovenščina; sq shqip; sr српски; sr srpski; sv svenska; ta தமிழ்; te తెలుగు; th ไทย; th
    ภาษาไทย; tl Filipino; tr Türkçe; uk українська; ur اردو; vi tiếng Việt; yi ייִדיש; zh 中文; zh
    汉语; zh 漢語; zh Mandarin
"""
_ROWS = [row.split() for row in _TABLE.split(";")]
_NAMES = {row[0]: row[-1] for row in _ROWS}
_ANY_NAME = [(name, row[0]) for row in _ROWS for name in row] + [
    (" ".join(name), code) for code, *name in (row.split() for row in _OWN_NAMES.split(";"))
]


def _plain(name: str) -> str:
    """A name in small letters, without accents, and with one space between words."""
    bare = (c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return " ".join("".join(bare).casefold().split())


_CODES = {_plain(name): code for name, code in _ANY_NAME}

_PIECES, _PIECE_LENGTH = 10, 400
"""How much of a long text is looked at, in characters. 1,000 are enough to be right; spread over
the text, a quotation or a preface in another language does not decide."""


_KIN = ({"no", "nb", "nn", "da"}, {"bs", "hr", "sr"}, {"id", "ms"}, {"gl", "pt"}, {"cs", "sk"})
"""Languages so close in writing that a detector may take one for the other."""
SURE = 0.9
"""The confidence from which a language counts as known."""
_FEWEST_LETTERS = 50
"""In fewer letters, names and outcries may look like any language. Of 987 passages of 50 letters of
English novels, of which the detector was sure, it mistook none."""
_CLEAR, _CLEAR_LETTERS = 0.99, 1000
"""From when on a text is believed rather than what its file says. Converters write `en` into every
file; ten lines of English in a French book must not outweigh `fr`."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """The language that a text is most likely in."""

    code: str  # ISO 639-1: two letters
    confidence: float  # the probability that it, or one so close in writing, is right, in 0…1


_LETTERS_IN = {"CJK": 3, "HANGUL": 2}
"""How many letters of an alphabet a character of these scripts stands for, about."""

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "yi")
"""Languages that are written from right to left."""

PREFERRED = "en"
"""Of several subtitles of a film, those in this language are read unless something else is known:
most films that have subtitles in many languages have them in English."""


@dataclass(frozen=True, kw_only=True)
class Languages:
    """What is known of the language of a film's words before they are read."""

    given: str | None = None  # what the user says that they are in
    book: str | None = None  # that of the book, whose words are easiest to compare

    @property
    def preferred(self) -> str:
        """The language to choose where there are several."""
        return self.given or self.book or PREFERRED


NOTHING_KNOWN = Languages()


def detect_language(text: str) -> Language | None:
    """The language of a text, or None if it has no letters.

    A line or two is often enough; with fewer than some 50 letters the confidence is low. The first
    call loads the model, which takes most of a second; later ones take milliseconds, however long
    the text is.
    """
    sample = _sample(text)
    if not any(character.isalpha() for character in sample):
        return None
    ranking = _identifier().rank(_one_script(sample))
    code = ranking[0][0]
    # Norwegian looks like Danish and Nynorsk as well, but clearly like no fourth language.
    confidence = sum(float(share) for other, share in ranking if are_kin(code, other))
    return Language(code=code, confidence=min(1.0, confidence))


def decide_language(
    text: str, *, given: str | None = None, declared: str | None = None
) -> str | None:
    """The two-letter code of a text's language, or None if nothing tells it.

    Args:
        text: The text.
        given: What the user says, by code or name: it is believed.
        declared: What the file says of itself: it is believed unless the text is clearly in
            another language.

    Raises:
        ConfigError: What the user says is no language.
    """
    if given is not None:
        return parse_language(given)
    found, named = detect_language(text), language_code(declared)
    if found is None:
        return named
    letters = sum(map(str.isalpha, _sample(text)))
    if named is not None:
        is_clear = found.confidence >= _CLEAR and letters >= _CLEAR_LETTERS
        return found.code if is_clear and not are_kin(found.code, named) else named
    return found.code if found.confidence >= SURE and letters >= _FEWEST_LETTERS else None


def are_kin(one: str, other: str) -> bool:
    """Whether two languages are the same, or hard to tell apart in writing."""
    return one == other or any({one, other} <= kin for kin in _KIN)


def join_languages(languages: Iterable[str | None]) -> str | None:
    """The language of several texts, if all that have one have the same."""
    known = {language for language in languages if language is not None}
    return known.pop() if len(known) == 1 else None


def _sample(text: str) -> str:
    """Pieces from all over a text, or all of a short one, in one line."""
    if len(text) > _PIECES * _PIECE_LENGTH:
        step = len(text) // _PIECES
        text = " ".join(text[k * step : k * step + _PIECE_LENGTH] for k in range(_PIECES))
    return " ".join(text.split())


def _one_script(text: str) -> str:
    """A text without the letters of all scripts but its main one.

    The detector goes by bytes: a paragraph in Russian would outweigh two in English.
    """
    letters = Counter(filter(str.isalpha, text))
    scripts = {letter: str(dominant_script(letter)) for letter in letters}
    shares: Counter[str] = Counter()
    for letter, count in letters.items():
        shares[scripts[letter]] += count * _LETTERS_IN.get(scripts[letter], 1)
    main = shares.most_common(1)[0][0]
    others = "".join(letter for letter in letters if scripts[letter] != main)
    return text.translate(dict.fromkeys(map(ord, others))) if others else text


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
    """The two-letter code of `fr`, `fra`, `fr-CA`, `French` or `français`; None for other words."""
    return _CODES.get(_plain(re.split("[-_]", text or "")[0]))


@cache
def words_of(language: str) -> dict[str, dict[str, Any]]:
    """What `languages/` says of a language, by section and key; empty for one it does not have."""
    path = resources.files("folioreel").joinpath(f"languages/{language}.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


@cache
def described_languages() -> tuple[str, ...]:
    """The languages that `languages/` has, English first."""
    names = (path.name for path in resources.files("folioreel").joinpath("languages").iterdir())
    codes = sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return ("en", *(code for code in codes if code != "en"))


def parse_language(text: str) -> str:
    """The two-letter code of a language that the user names.

    Raises:
        ConfigError: There is no such language.
    """
    code = language_code(text)
    if code is None:
        raise ConfigError(
            f"{text[:40]!r} is not a language; give the code or the name (fr, fra, French, "
            f"français) of one of these: {', '.join(sorted(_NAMES.values()))}"
        )
    return code


def check_names(*languages: str | None) -> None:
    """Refuse what the user gives and is no language, before any work is done."""
    for language in languages:
        if language is not None:
            parse_language(language)


def language_name(code: str | None) -> str:
    """The English name of a two-letter code."""
    return _NAMES.get(code or "", "unknown language")


def html_language(code: str | None) -> str:
    """The attributes of what is quoted in a language on an English page; none for English."""
    if code in (None, "en"):
        return ""
    return f' lang="{code}"' + (' dir="rtl"' if code in RIGHT_TO_LEFT else "")


def three_letter_code(code: str) -> str:
    """The code of ISO 639-2 for a two-letter code: `fra` for `fr`."""
    return next((row[-2] for row in _ROWS if row[0] == code), code)
