"""Speakers' names before a colon: `JOHN:`, `Mrs. Smith:`, but not `Listen: he came` or `5:30`."""

from __future__ import annotations

import re

from folioreel.ingest.subtitles.habits import LABEL, Habits, label_of

_CAPITAL_NAME = re.compile(r"^[^\W\d_]['’.\w&/-]*(?:[ \t]+[\w'’.&#/-]+){0,3}$")
_TITLE_LIST = """
    admiral agent aunt baron brother capt captain col colonel commander corporal count countess
    dame detective doctor don donna dr duchess duke father gen general governor inspector judge
    king lady lieutenant lord lt madam madame major mayor miss monsieur mr mrs ms nurse officer
    president prince princess private prof professor queen rev reverend senator sergeant sgt sir
    sister uncle
"""
_TITLES = frozenset(_TITLE_LIST.split())
_ROLE_LIST = """
    all anchor announcer audience baby bartender both boy boys butler child children chorus clerk
    computer cop crowd dad dispatcher driver everyone father female girl girls grandma grandpa
    group guard guards host husband interviewer kid kids lawyer maid male man men mom mother mum
    narrator newscaster operator others policeman porter presenter priest radio reporter singer
    soldier soldiers speaker student students teacher together tv voice voices waiter waitress wife
    woman women
"""
_ROLES = frozenset(_ROLE_LIST.split())
_SMALL_WORD_LIST = """
    's and at de du from in la le of on over the van von
"""
_SMALL_WORDS = frozenset(_SMALL_WORD_LIST.split())
_MOST_NAMES = 4


def find_label(line: str, habits: Habits, may_open: bool) -> str | None:
    """The speaker's label at the head of a line, with its colon, or None.

    Args:
        line: A line without dash or arrows.
        habits: How its file is written.
        may_open: Whether the sentence before has come to its end.
    """
    match = LABEL.match(line)
    folded = label_of(line)
    if match is None or folded is None:
        return None
    name, label = match.group(1), match.group()
    in_capitals = not habits.all_capitals and is_capital_label(name)
    if label[-1] in ":：" and len(label) < len(line) and not in_capitals:
        return None  # `Re:Zero`: only capitals go without a space
    if in_capitals:
        return label
    if not may_open or not (habits.all_capitals or _is_capitalised(name)):
        return None
    words = {word.strip(".'’") for word in folded.split()}
    if folded in habits.labels or folded.split()[0].strip(".") in _TITLES or words & _ROLES:
        return label
    speech = line[len(label) :].lstrip("\"“‘'.…-–—([¿¡♪ ")
    begins_anew = not speech[:1].islower() and not habits.all_capitals
    return label if habits.labelled and begins_anew and speech else None


def is_capital_label(name: str) -> bool:
    """Whether a name stands in capitals: `JOHN`, `MAN 2`, `DR. O'HARA`, and `McCOY` too."""
    letters = [character for character in name if character.isalpha()]
    if len(letters) < 2 or not _CAPITAL_NAME.match(name):
        return False
    return sum(character.isupper() for character in letters) > 0.7 * len(letters)


def is_name_like(text: str) -> bool:
    """Whether a note in brackets is a name: `[MAN]`, `[Mrs. Smith]`, but not `[door slams]`."""
    return _CAPITAL_NAME.match(text) is not None and _is_capitalised(text)


def _is_capitalised(name: str) -> bool:
    """Whether each word is a name's: `Mrs. Smith`, `Man on TV`, `Lord of the Manor`."""
    words = name.split()
    return len(words) <= _MOST_NAMES and all(
        not word[0].islower() or (position > 0 and word in _SMALL_WORDS)
        for position, word in enumerate(words)
    )
