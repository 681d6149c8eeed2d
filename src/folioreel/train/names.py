"""Names in descriptions → `someone` (paper, section 4.2: how the descriptions are prepared).

No list of names could hold those of every film and book. A name is told by how it is written: with
a capital inside a sentence, and nowhere in the same texts without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SOMEONE = "someone"

_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_START = re.compile(r"(?:^|[.!?:…]|--|—)[\s\"“”‘’'«»()\[\]-]*$")
_OWNER = re.compile(r"[’']s?$")
_TITLES = frozenset(
    "mr mrs ms miss dr sir lady lord captain colonel professor aunt uncle madame".split()
)
_AFTER_TITLE = re.compile(rf"\b(?:{'|'.join(sorted(_TITLES))})\.?\s+$", re.IGNORECASE)
# Words with a capital that name no one.
_NO_NAMES = frozenset(
    """
    i i'm i'd i'll i've monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december christmas easter halloween
    english french german italian spanish russian american british irish scottish african asian
    indian chinese japanese mexican european australian canadian christian jewish muslim catholic
    god tv cd dvd suv ok usa uk us atv bmx nike frisbee santa american-football caucasian hispanic
    labrador retriever shepherd terrier dalmatian rottweiler poodle collie husky chihuahua dachshund
    """.split()
)
_LONGEST_GAP = re.compile(r"[\s.]*")


def find_names(texts: Iterable[str]) -> frozenset[str]:
    """The words that are written as names in some texts, in lower case.

    A word counts that has a capital at a place where only a name has one, and that is never
    written without. Texts that are all in capitals, or have none, say nothing.
    """
    capital: set[str] = set()
    small: set[str] = set()
    for text in texts:
        if text == text.upper():
            continue
        for match in _WORD.finditer(text):
            word = _OWNER.sub("", match.group())
            if word[:1].islower():
                small.add(word.lower())
            elif word[1:].islower() and not _starts_sentence(text[: match.start()]):
                capital.add(word.lower())
    return frozenset(capital - small - _NO_NAMES - _TITLES)


def replace_names(text: str, names: frozenset[str]) -> str:
    """A text with `someone` in the place of each name, however many words it has.

    `Mr. Harry Potter's owl` becomes `someone's owl`.
    """
    found: list[str] = []
    at = 0
    inside = False  # whether the word before was part of a name
    for match in _WORD.finditer(text):
        word = match.group()
        owner = _OWNER.search(word)
        bare = word[: owner.start()] if owner else word
        gap = text[at : match.start()]
        name = word[:1].isupper() and (
            bare.lower() in names or _is_title_of_name(bare, text[match.end() :], names)
        )
        if name and inside and _LONGEST_GAP.fullmatch(gap):
            found[-1] = SOMEONE + (owner.group() if owner else "")
        else:
            found += [gap, SOMEONE + (owner.group() if owner else "") if name else word]
        inside = name and owner is None
        at = match.end()
    return "".join([*found, text[at:]])


def _starts_sentence(before: str) -> bool:
    """Whether a capital is due after some text, whatever the word."""
    return bool(_START.search(before)) and not _AFTER_TITLE.search(before)


def _is_title_of_name(word: str, rest: str, names: frozenset[str]) -> bool:
    """Whether a word is a title (`Mr`, `Aunt`) that a name follows."""
    following = _WORD.search(rest)
    return (
        word.lower() in _TITLES
        and following is not None
        and _LONGEST_GAP.fullmatch(rest[: following.start()]) is not None
        and _OWNER.sub("", following.group()).lower() in names
    )
