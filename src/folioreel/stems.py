"""The words that two texts are compared by: terms and stems, by language.

English is the words of `tokenize`, and the rough stems of `word_stem`. Elsewhere elided words are
taken off (l'émir → émir) and Snowball finds the stems, by the accents, too. From the stems accents
are dropped where people leave them out (French capitals, Spanish chats), not where they make
another letter (Finnish ä, Polish ł).

Chinese, Japanese and Thai do not mark words, and Korean joins particles to them. There, terms are
pairs of neighbouring characters, as in Lucene's analyser for these languages. A dictionary would
find real words, but weighs tens of megabytes and does not know the names of novels; pairs find
them, and are rarer than single characters, which match everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from folioreel.language import words_of
from folioreel.text import cut_marks, find_words, tokenize, word_stem

_SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
# In these, an accent is a matter of spelling, and often left out.
_FOLDED = frozenset("ar ca el es fr gl he it la nl pt ro ru uk".split())
# A letter with the signs above and below it; in Thai, also the vowel before it.
_SYLLABLES = re.compile(
    "[เแโใไ]?[ก-ฮ][ะ-ฺ็-๎]*|[\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]"
)
_PAIRED = frozenset({"zh", "ja", "ko", "th"})
_PAIRED_RUN = re.compile(
    "[\u0e01-\u0e4e]+|[\u3041-\u3096\u30a1-\u30fa\u30fc\u3005\u3400-\u9fff\uf900-\ufaff]+|[\uac00-\ud7a3]+"
)
# Stresses and short vowels, which only books for learners and children have: за́мок, كَتَبَ, שָׁלוֹם.
_SIGNS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]+")
_TURKISH = str.maketrans({"I": "ı", "İ": "i"})


def find_terms(text: str, language: str | None = None) -> list[str]:
    """The words of a text by which it is compared with others in its language, in order."""
    if language in (None, "en"):
        return tokenize(text)
    if language in _PAIRED:
        return _pairs(unicodedata.normalize("NFKC", cut_marks(text)))
    if not text.isascii():
        text = _SIGNS.sub("", unicodedata.normalize("NFKC", cut_marks(text)))
    if language == "tr":
        text = text.translate(_TURKISH)
    elided = _elided(language or "")
    return [elided.sub("", word.lower()) for word in find_words(text)]


@lru_cache(maxsize=100_000)  # the words of a novel, and a little more
def stem_word(word: str, language: str | None = None) -> str:
    """What the forms of a word have in common; `word` is one of `find_terms`."""
    if language in (None, "en"):
        return word_stem(word)
    stemmer = _stemmer(language or "")
    return word if stemmer is None else _fold(stemmer.stemWord(word), language)


def common_language(one: str | None, other: str | None) -> str | None:
    """The language whose terms two texts are compared by; None if they are in different ones.

    Across languages only names and words that look alike are compared, and each language's own
    stemmer would cut the same name in another place.
    """
    return one if one == other or other is None else other if one is None else None


def _pairs(text: str) -> list[str]:
    terms: list[str] = []
    end = 0
    for run in _PAIRED_RUN.finditer(text):
        terms += tokenize(text[end : run.start()])  # Latin words and numbers in between
        end = run.end()
        units = _SYLLABLES.findall(run.group()) or [run.group()]
        terms += [a + b for a, b in pairwise(units)] or units
    return terms + tokenize(text[end:])


@cache
def _elided(language: str) -> re.Pattern[str]:
    words = words_of(language).get("text", {}).get("elisions", "").split()
    # Something must remain, so that `qu'` alone stays.
    return re.compile(rf"^(?:{'|'.join(words)})'(?=\w)" if words else "(?!)")


def _fold(word: str, language: str | None) -> str:
    return drop_accents(word) if language in _FOLDED else word


def drop_accents(word: str) -> str:
    """A word in the letters that remain without accents and other signs above or below them."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    bare = "".join(character for character in apart if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)


@cache
def _stemmer(language: str) -> Any:
    if language not in _SNOWBALL:
        return None
    import snowballstemmer  # here, as English needs none

    return snowballstemmer.stemmer(_SNOWBALL[language])
