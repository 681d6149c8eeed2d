"""Turns -> spoken sentences, each with its own time (paper, section 3: subtitles as sentences).

A sentence may run over several cues and a cue may hold several sentences. What one person says
without a long silence is one passage; the passage is split into sentences, and the time of each
sentence is read off the cues it stands in, in proportion to the letters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from folioreel.ingest.subtitles.cues import count_letters
from folioreel.ingest.subtitles.habits import Habits, first_small_word
from folioreel.ingest.subtitles.speech import Turn
from folioreel.text import split_sentences
from folioreel.types import Subtitle

LONGEST_SILENCE_S = 3.0
"""No sentence goes on after a longer silence."""
_OVERLAP_S = 0.01
"""Cues that overlap by more are said by two people at once."""
_BREATH_S = 0.5
_LONGEST_UNPUNCTUATED = 20
"""Words after which a file without full stops begins a new sentence."""
_LONGEST_PASSAGE = 20_000

_CLOSERS = "\"”’»')]"
_CLOSED = re.compile(rf"[.?!…。！？।؟][{re.escape(_CLOSERS)}]*$")
_TRAILING_DOTS = re.compile(r"\s*(?:\.{2,}|…)\s*$")
_LEADING_DOTS = re.compile(r"^(?:\.{2,}|…)\s*")
_LEADING_MARKS = re.compile(r"^(?:[-–—―,;:]+|\.{2,}|…)\s*")
_TRAILING_DASH = re.compile(r"\s*[-–—―]+$")
_TITLE = re.compile(
    r"(?:^|[\s\"“‘'(—–-])(?:Mrs?|Ms|Dr|St|Messrs|Mme|Mlle|Prof|Rev|Hon|Sr|Jr|Capt|Lt|Col|Gen|Maj|Sgt|Cpl|"
    r"Adm|Gov|Sen|Rep|Insp|Det|vs)\.$",
    re.IGNORECASE,
)
_OPENERS = "\"“‘'«([¿¡ "


@dataclass
class _Passage:
    """What one person says without a long silence: text, and the cue that each part came from."""

    text: str = ""
    parts: list[tuple[int, int, float, float]] = field(default_factory=list)  # chars, seconds

    def add(self, words: str, turn: Turn, glue: str = " ") -> None:
        self.text += glue if self.text else ""
        begin = len(self.text)
        self.text += words
        self.parts.append((begin, len(self.text), turn.start_s, turn.end_s))

    def trim_end(self, pattern: re.Pattern[str]) -> None:
        self.text = pattern.sub("", self.text)
        begin, end, start_s, end_s = self.parts[-1]
        self.parts[-1] = (min(begin, len(self.text)), min(end, len(self.text)), start_s, end_s)


def join_turns(turns: Iterable[Turn], habits: Habits) -> tuple[Subtitle, ...]:
    """The sentences that are spoken, in time order, each with its own start and end."""
    spoken: list[tuple[float, float, str]] = []
    for passage in _passages(turns, habits):
        spoken += _sentences(passage)
    spoken.sort(key=lambda sentence: sentence[0])
    return tuple(
        Subtitle(index=index, start_s=start_s, end_s=end_s, text=text)
        for index, (start_s, end_s, text) in enumerate(spoken)
    )


def _passages(turns: Iterable[Turn], habits: Habits) -> Iterator[_Passage]:
    """Gather turns into passages."""
    passage, before = _Passage(), None
    for turn in turns:
        words = _LEADING_DOTS.sub("", turn.text)
        if before is not None and passage.text and _belongs(passage, before, turn, habits):
            _trim_continuation(passage, turn)
            passage.add(words, turn)
        else:
            if passage.text:
                yield passage
            passage = _Passage()
            passage.add(words, turn)
        before = turn
    if passage.text:
        yield passage


def _belongs(passage: _Passage, before: Turn, turn: Turn, habits: Habits) -> bool:
    """Whether a turn goes on with the passage: the same speaker, after a short pause at most."""
    pause_s = turn.start_s - before.end_s
    if turn.opens or not -_OVERLAP_S <= pause_s <= LONGEST_SILENCE_S:
        return False
    goes_on = turn.continues or _LEADING_DOTS.match(turn.text) is not None
    begins_small = turn.text.lstrip(_OPENERS)[:1].islower()
    if _TRAILING_DOTS.search(before.text):
        return goes_on or begins_small
    if _CLOSED.search(before.text):
        # The splitter decides about tags (`"Go!" / he said`) and what goes on in small letters.
        # After a name's title it goes on; otherwise the end of a cue is the end of a sentence.
        undecided = begins_small or before.text[-1] in _CLOSERS or _TITLE.search(before.text)
        return bool(undecided) and not goes_on and len(passage.text) < _LONGEST_PASSAGE
    if goes_on:
        return True
    if habits.unpunctuated:
        is_short = len(passage.text.split()) < _LONGEST_UNPUNCTUATED
        return begins_small and is_short and pause_s <= _BREATH_S
    if _TRAILING_DASH.search(before.text):
        return begins_small or habits.all_capitals
    # `offer / The cat`: in prose, a small word with a capital begins a sentence.
    is_prose = not (habits.capital_lines or habits.case_blind)
    return not (
        is_prose and before.text[-1].isalnum() and _has_capital(first_small_word(turn.text))
    )


def _has_capital(word: str | None) -> bool:
    return word is not None and word[0].isupper()


def _trim_continuation(passage: _Passage, turn: Turn) -> None:
    """Take off the dots or dashes that only say `goes on below`."""
    if _LEADING_DOTS.match(turn.text):
        passage.trim_end(_TRAILING_DOTS)
    if turn.continues:
        passage.trim_end(_TRAILING_DASH)


def _sentences(passage: _Passage) -> Iterator[tuple[float, float, str]]:
    """Split a passage; read each sentence's time off the parts it covers."""
    text = passage.text
    letters = [0, *accumulate(character.isalnum() for character in text)]
    begins = [part[0] for part in passage.parts]

    def time_at(position: int, part: tuple[int, int, float, float]) -> float:
        begin, end, start_s, end_s = part
        total = letters[end] - letters[begin]
        passed = letters[min(max(position, begin), end)] - letters[begin]
        return start_s + (end_s - start_s) * (passed / total if total else 0.0)

    for begin, end in split_sentences(text):
        words = _LEADING_MARKS.sub("", text[begin:end])
        if count_letters(words):
            first = passage.parts[bisect_right(begins, begin) - 1]
            last = passage.parts[bisect_right(begins, end - 1) - 1]
            yield time_at(begin, first), time_at(end, last), words
