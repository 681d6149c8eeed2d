"""Words that a vocabulary does not have, by a known word that is nearly the same.

`ill-lit` is read as `ill lit`, `colour` as `color`, `carving` as `carve`. Only words that would be
read as unknown are touched, and only a form that is known takes their place.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from folioreel.models.vocabulary import Vocabulary

_SHORTEST_STEM = 3
_VOWEL = re.compile(r"[aeiouy]")
# One vowel and one consonant at the end: such a stem has lost an e, or would have doubled.
_SHORT_END = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")
_LOST_E = re.compile(r"[^cvszu][cvszu]$")  # danc(e), mov(e), rais(e), argu(e), but not pass
_DOUBLED = re.compile(r"([bdfgklmnprtvz])\1$")

# British and American spelling, tried in both directions.
_SPELLINGS = tuple(
    (re.compile(pattern), other)
    for pattern, other in (
        (r"(?<=\w\w)our(?=(?:s|ed|ing|er|ers|ful|less|able|ably|ite|y)?$)", "or"),
        (r"(?<=\w\w)or(?=(?:s|ed|ing|er|ers|ful|less|able|ably|ite|y)?$)", "our"),
        (r"(?<=\w\w)is(?=(?:e|es|ed|ing|er|ers|ation|ations)$)", "iz"),
        (r"(?<=\w\w)iz(?=(?:e|es|ed|ing|er|ers|ation|ations)$)", "is"),
        (r"(?<=\w\w)ys(?=(?:e|es|ed|ing)$)", "yz"),
        (r"(?<=\w\w)yz(?=(?:e|es|ed|ing)$)", "ys"),
        (r"(?<=\w\w[bt])re(?=s?$)", "er"),
        (r"(?<=\w\w[bt])er(?=s?$)", "re"),
        (r"(?<=\w\w)ence(?=s?$)", "ense"),
        (r"(?<=\w\w)ense(?=s?$)", "ence"),
        (r"(?<=\w\w[aeiou])ll(?=(?:ed|ing|er|ers)$)", "l"),
        (r"(?<=\w\w[aeiou])l(?=(?:ed|ing|er|ers)$)", "ll"),
        (r"grey", "gray"),
        (r"gray", "grey"),
    )
)


def known_tokens(tokens: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """The tokens, with a known word in place of an unknown one where there is one.

    A hyphenated word becomes those of its parts that are known. A word of which no form is known
    stays as it is.
    """
    known = vocabulary.ids
    found: list[str] = []
    for token in tokens:
        if token in known:
            found.append(token)
        else:
            found += _known_forms(token, known) or [token]
    return found


def _known_forms(token: str, known: Container[str]) -> list[str]:
    pieces = token.split("-") if "-" in token else [token]
    forms = (known_form(piece, known) for piece in pieces)
    return [form for form in forms if form is not None]


def known_form(word: str, known: Container[str]) -> str | None:
    """The word itself, another spelling, or the form that it is inflected from: the first known."""
    if word in known:
        return word
    if not (word.isascii() and word.isalpha()):
        return None
    bases = list(base_forms(word))
    for form in (*spellings(word), *bases):
        if form in known:
            return form
    return next((form for base in bases for form in spellings(base) if form in known), None)


def spellings(word: str) -> Iterator[str]:
    """The word as it is spelt on the other side of the Atlantic."""
    for pattern, other in _SPELLINGS:
        respelt = pattern.sub(other, word)
        if respelt != word:
            yield respelt


def base_forms(word: str) -> Iterator[str]:
    """The forms that a word may be inflected from, the likeliest first."""
    if word.endswith("s"):
        forms = _singulars(word)
    elif word.endswith("ly"):
        forms = _without_ly(word)
    else:
        forms = _without_ending(word)
    for form in forms:
        if len(form) >= _SHORTEST_STEM and _VOWEL.search(form):
            yield form


def _singulars(word: str) -> Iterator[str]:
    if word.endswith(("ss", "us", "is")):
        return
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("ves"):
        yield from (word[:-3] + "f", word[:-3] + "fe")
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield word[:-2]
    yield word[:-1]


def _without_ly(word: str) -> Iterator[str]:
    if word.endswith("ily"):
        yield word[:-3] + "y"
    if word.endswith("bly"):
        yield word[:-1] + "e"
    if word.endswith("ically"):
        yield word[:-4]
    yield word[:-2]


def _without_ending(word: str) -> Iterator[str]:
    """Without -ed, -er, -est or -ing: the silent e put back, the doubled consonant undone."""
    for ending in ("ed", "er", "est", "ing"):
        if not word.endswith(ending):
            continue
        stem = word.removesuffix(ending)
        if len(stem) < _SHORTEST_STEM - 1 or not _VOWEL.search(stem):
            return
        if stem.endswith("i") and ending != "ing":
            yield stem[:-1] + "y"
        elif _SHORT_END.search(stem) or _LOST_E.search(stem):
            yield from (stem + "e", stem)  # hoping is from hope, where hopping is from hop
        else:
            yield from (stem, stem + "e")
        if _DOUBLED.search(stem):
            yield stem[:-1]
        return
