"""How a subtitle file is written, as far as it changes what its marks mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from folioreel.ingest.subtitles.cues import Cue

BRACKETS = re.compile(r"\[[^\[\]]*\]|［[^［］]*］|【[^【】]*】")
PARENTHESES = re.compile(r"\(([^()]*)\)|（([^（）]*)）")
_WORD = r"[^\W\d_][\w'’.&/-]*"
LABEL = re.compile(
    rf"^((?:{_WORD}|\#?\d+)(?:\s+(?:{_WORD}|\#?\d+|&)){{0,4}})"
    rf"\s*(?:\([^()]*\)\s*)?[:：](?![\d/\\])\s*"
)
"""A few words and a colon at the head of a line: perhaps the speaker's name."""
_SENTENCE_END = re.compile(r"[.?!…][\"”’')]*$")
_FULL_STOP = re.compile(r"[.…。।][\"”’')]*$")
# Words that people say before a colon.
_SAID_LIST = """
    a about act actually advice again also alternatively and another answer anyway as attention
    because besides bottom breaking but case caution chapter choice clue conclusion condition
    confession congratulations correction danger deal dear decision define definition diagnosis do
    episode exactly example exhibit fact figure final finally first folks following for four fourth
    gentlemen good guess guys headline here hey hint how however i idea if important in instead is
    issue it item joke just ladies last lastly lesson let life like line list listen look main
    maybe meaning meanwhile memo mind moral morning motto my name namely nb never new news next no
    note nothing notice now number objective observe oh ok okay once one only option or order
    orders otherwise our p.s part phase picture plan please plus point priority problem promise
    proof ps qed question quick quote rather reason recap remember repeat result riddle rule rules
    scene second secondly secret see seriously simple since so solution something sometimes sorry
    status step still stop story suggestion summary surprise suspect target task term test that the
    then theory there therefore they thing think third this three thus time tip title to today
    tomorrow tonight top translation true truth two unless until update verdict very victim wait
    warning we well what when where which who why word words yes yet you your
"""
_SAID = frozenset(_SAID_LIST.split())

_SMALL_WORD_LIST = """
    a about after all always am an and any are as ask at be because before being bring but by can
    come could did do does don don't else even ever every everybody everyone everything for from
    get give go had has have he her here him his how if in into is it its just keep leave let like
    look make may me might must my never no none not nothing now of off oh on once one only or our
    out over put see shall she should since so some somebody someone something take tell than that
    the their them then there these they this those though till to under until up upon us very wait
    was we well were what when where which while who whom whose why will with would yes yet you
    your
"""
_SMALL_WORDS = frozenset(_SMALL_WORD_LIST.split())


@dataclass(frozen=True, kw_only=True)
class Habits:
    """What the whole file tells about each of its cues."""

    all_capitals: bool
    no_capitals: bool
    unpunctuated: bool
    """Sentences do not end with a full stop."""
    capital_lines: bool
    """Lines begin with a capital in the middle of a sentence too, as verse does."""
    labels: frozenset[str]
    """Names that stand before a colon again and again."""
    labelled: bool
    """Whether names before a colon are common, so that a rare one is a name too."""

    @property
    def case_blind(self) -> bool:
        """Whether capitals tell nothing."""
        return self.all_capitals or self.no_capitals


def observe_habits(cues: Iterable[Cue]) -> Habits:
    """Learn the habits of a file from all its cues (text without markup)."""
    upper = lower = ends = stops = 0
    labels: Counter[str] = Counter()
    middles: Counter[bool] = Counter()  # do inner lines that go on begin with a capital?
    closed = True
    for cue in cues:
        spoken = PARENTHESES.sub("", BRACKETS.sub("", cue.text)).strip()
        closed = closed or not spoken
        upper += sum(character.isupper() for character in spoken)
        lower += sum(character.islower() for character in spoken)
        for number, line in enumerate(filter(None, spoken.split("\n"))):
            label = label_of(line) if closed else None
            labels.update([label] if label else [])
            if number and not closed and (word := first_small_word(line)):
                middles[word[0].isupper()] += 1
            closed = is_closed(line)
        if spoken:
            ends += 1
            stops += _FULL_STOP.search(spoken) is not None
    cased = upper + lower
    return Habits(
        all_capitals=cased > 20 and upper > 0.85 * cased,
        no_capitals=cased > 20 and upper < 0.005 * cased,
        unpunctuated=ends >= 6 and stops < 0.1 * ends,
        capital_lines=middles[True] > 0.08 * middles.total(),
        labels=frozenset(label for label, count in labels.items() if count >= 3),
        labelled=labels.total() >= 0.1 * ends,
    )


def is_closed(text: str) -> bool:
    """Whether a sentence ends where the text does."""
    return _SENTENCE_END.search(text) is not None


def first_small_word(line: str) -> str | None:
    """The first word of a line, if it is one that has a capital only where a sentence begins."""
    match = re.match(r"[\"“‘'(]*([^\W\d_]+)", line)
    return match.group(1) if match and match.group(1).lower() in _SMALL_WORDS else None


def label_of(line: str) -> str | None:
    """What stands before a colon at the head of a line, folded, if it may be a name."""
    match = LABEL.match(re.sub(r"^[-–—―>\s]+", "", line))
    if match is None:
        return None
    label = match.group(1).casefold()
    has_letters = any(character.isalpha() for character in label)
    return label if has_letters and label.split()[0].strip(".'’") not in _SAID else None
