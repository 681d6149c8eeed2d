"""How a subtitle file is written: capitals, full stops, and speaker labels such as `JOHN:`.

The same mark means different things in different files. `John: Hello.` is a label where names stand
before colons again and again, and may be speech elsewhere; a capital begins a sentence only in
files that are not all in capitals. So the whole file is observed before any cue is taken apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from folioreel.ingest.subtitles.cues import Cue
from folioreel.ingest.subtitles.subtitle_words import SubtitleWords, subtitle_words
from folioreel.text import MARKS

BRACKETS = re.compile(r"\[[^\[\]]*\]|［[^［］]*］|【[^【】]*】")
PARENTHESES = re.compile(r"\(([^()]*)\)|（([^（）]*)）")
_WORD = rf"[^\W\d_][\w{MARKS}'’.&/-]*"
LABEL = re.compile(
    rf"^((?:{_WORD}|\#?\d+)(?:\s+(?:{_WORD}|\#?\d+|&)){{0,4}})"
    rf"\s*(?:\([^()]*\)\s*)?[:：](?![\d/\\])\s*"
)
"""Up to five words and a colon at the head of a line: perhaps the name of a speaker."""
_NAME = re.compile(rf"^[^\W\d_]['’.\w{MARKS}&/-]*(?:[ \t]+[\w{MARKS}'’.&#/-]+){{0,3}}$")
# A Greek question ends with what is a semicolon elsewhere.
_SENTENCE_END = re.compile(
    r"(?:[.?!…。！？؟।۔\u037e]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);)[\"”’')»«“」』）]*$"
)
_FULL_STOP = re.compile(r"[.…。।۔][\"”’')»«“」』）]*$")
_QUOTING = tuple("„“«»「『")  # what somebody reports, not what a speaker says
# Longer capitalised phrases before a colon are headlines, not names.
_MOST_NAME_WORDS = 4
_LONGEST_CASELESS = 6  # characters; before a colon without a space, a longer text is a clause


@dataclass(frozen=True, kw_only=True)
class FileStyle:
    """How a file is written, as far as it decides what the marks in a cue mean."""

    all_capitals: bool
    no_capitals: bool
    caseless: bool  # in a script that has no capitals
    unpunctuated: bool  # sentences do not end with a full stop
    capital_lines: bool  # lines begin with a capital even in the middle of a sentence, as in verse
    labels: frozenset[str]  # names that stand before a colon again and again
    labelled: bool  # names before a colon are common, so that a rare one is a name too
    words: SubtitleWords  # of its language

    @property
    def case_blind(self) -> bool:
        """Whether capitals tell nothing."""
        return self.all_capitals or self.no_capitals


def observe_style(cues: Iterable[Cue], language: str | None = None) -> FileStyle:
    """Learn how a file is written from all its cues (text without markup)."""
    words = subtitle_words(language)
    upper = lower = letters = ends = stops = asked = 0
    labels: Counter[str] = Counter()
    middles: Counter[bool] = Counter()  # do lines inside a sentence begin with a capital?
    closed = True
    for cue in cues:
        spoken = PARENTHESES.sub("", BRACKETS.sub("", cue.text)).strip()
        closed = closed or not spoken
        upper += sum(character.isupper() for character in spoken)
        lower += sum(character.islower() for character in spoken)
        letters += sum(character.isalpha() for character in spoken)
        for number, line in enumerate(filter(None, spoken.split("\n"))):
            label = label_of(line, words) if closed else None
            labels.update([label] if label else [])
            if number and not closed and (word := first_function_word(line, words)):
                middles[word[0].isupper()] += 1
            closed = is_closed(line)
        if spoken:
            ends += 1
            stops += _FULL_STOP.search(spoken) is not None
            asked += is_closed(spoken) and _FULL_STOP.search(spoken) is None
    cased = upper + lower
    caseless = cased < 0.2 * letters
    # Most cues of a punctuated file end with a full stop. Without capitals, where a sentence begins
    # cannot be seen either, so that a few full stops do not help: two in five cues must have them.
    enough = 0.4 * (ends - asked) if caseless else 0.1 * ends
    return FileStyle(
        # Labels and signs are in capitals in ordinary files too, but are a small part of them.
        # Ordinary English has two or three capitals in a hundred letters.
        all_capitals=cased > 20 and upper > 0.85 * cased,
        no_capitals=cased > 20 and upper < 0.005 * cased,
        caseless=caseless,
        unpunctuated=ends >= 6 and stops < enough,  # six, as fewer may all be questions
        # In prose, next to none; in verse, nearly all.
        capital_lines=middles[True] > 0.08 * middles.total(),
        labels=frozenset(label for label, count in labels.items() if count >= 3),
        labelled=labels.total() >= 0.1 * ends,
        words=words,
    )


def is_closed(text: str) -> bool:
    """Whether a sentence ends where the text does."""
    return _SENTENCE_END.search(text) is not None


def first_function_word(line: str, words: SubtitleWords) -> str | None:
    """The first word of a line, if it is one that has a capital only where a sentence begins."""
    match = re.match(r"[\"“‘'(]*([^\W\d_]+)", line)
    is_one = match is not None and match.group(1).lower() in words.function_words
    return match.group(1) if match is not None and is_one else None


def label_of(line: str, words: SubtitleWords) -> str | None:
    """What stands before a colon at the head of a line, case-folded, if it may be a name."""
    match = LABEL.match(re.sub(r"^[-–—―>\s]+", "", line))
    if match is None:
        return None
    label = match.group(1).casefold()
    has_letters = any(character.isalpha() for character in label)
    is_said = label.split()[0].strip(".'’") in words.said_before_colon
    return label if has_letters and not is_said else None


def find_label(line: str, style: FileStyle, may_open: bool) -> str | None:
    """The speaker label at the head of a line (without dash or arrows), with its colon, or None.

    `may_open` says whether the sentence before has come to its end.
    """
    match, folded = LABEL.match(line), label_of(line, style.words)
    if match is None or folded is None:
        return None
    name, label = match.group(1), match.group()
    in_capitals = not style.all_capitals and _is_capital_name(name)
    unspaced = label[-1] in ":：" and len(label) < len(line)
    if unspaced and not in_capitals and not _is_caseless_name(name):
        return None  # `Re:Zero`: only labels in capitals go without a space
    if in_capitals:
        return label
    if not may_open or not (style.all_capitals or _is_capitalised(name, style.words)):
        return None
    words = {word.strip(".'’") for word in folded.split()}
    has_title = folded.split()[0].strip(".") in style.words.titles
    if folded in style.labels or has_title or words & style.words.roles:
        return label
    speech = line[len(label) :]
    if speech[:1] in _QUOTING:
        return None  # `Powiedział: „Wrócę.”`
    speech = speech.lstrip("\"“‘'.…-–—([¿¡♪ ")
    begins_anew = not speech[:1].islower() and not style.all_capitals
    return label if style.labelled and begins_anew and speech else None


def is_name_like(text: str, words: SubtitleWords) -> bool:
    """Whether a note in brackets is a name: `[MAN]`, `[Mrs. Smith]`, but not `[door slams]`."""
    return _NAME.match(text) is not None and _is_capitalised(text, words)


def _is_capital_name(name: str) -> bool:
    """Whether a name is in capitals: `JOHN`, `MAN 2`, `DR. O'HARA`, and `McCOY` too."""
    letters = [character for character in name if character.isalpha()]
    if len(letters) < 2 or not _NAME.match(name):
        return False
    # Not all of them, for `McCOY` and `MacDONALD`.
    return sum(character.isupper() for character in letters) > 0.7 * len(letters)


def _is_caseless_name(name: str) -> bool:
    """Whether a name is of a length that names have in Chinese or Japanese: 安娜, 馬特維爺爺."""
    return len(name) <= _LONGEST_CASELESS and not any(c.isupper() or c.islower() for c in name)


def _is_capitalised(name: str, words: SubtitleWords) -> bool:
    """Whether each word may be part of a name: `Mrs. Smith`, `Man on TV`, `Lord of the Manor`."""
    parts = name.split()
    return len(parts) <= _MOST_NAME_WORDS and all(
        not part[0].islower() or (position > 0 and part in words.name_particles)
        for position, part in enumerate(parts)
    )
