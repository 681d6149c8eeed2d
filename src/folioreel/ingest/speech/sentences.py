"""Recognised words → spoken sentences, each with the times of its own words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from folioreel.ingest.speech.listen import Word
from folioreel.ingest.subtitles.cues import count_letters
from folioreel.ingest.subtitles.dialogue import LONGEST_SILENCE_S
from folioreel.sentences import split_sentences

_END_MARK = re.compile(r"[.?!…。！？।؟][\"”’»')\]]*$")
# Whisper sometimes forgets punctuation for minutes. Then a pause for breath ends a sentence that
# has this many words; most spoken sentences have fewer.
_BREATH_S = 0.5
_LONGEST_UNPUNCTUATED = 20
# Two lines of 42 characters for at most seven seconds, as most broadcasters ask for.
_CUE_CHARACTERS = 84
_CUE_S = 7.0


@dataclass(frozen=True)
class SpokenSentence:
    """A sentence as it was heard."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words as they are written."""
        return _join(self.words)

    @property
    def start_s(self) -> float:
        """When its first word begins."""
        return self.words[0].start_s

    @property
    def end_s(self) -> float:
        """When its last word ends."""
        return max(self.words[-1].end_s, self.start_s)

    def cues(self) -> Iterator[SpokenSentence]:
        """The sentence in parts that fit a screen."""
        part: list[Word] = []
        for word in self.words:
            if part and (
                word.end_s - part[0].start_s > _CUE_S or len(_join([*part, word])) > _CUE_CHARACTERS
            ):
                yield SpokenSentence(tuple(part))
                part = []
            part.append(word)
        yield SpokenSentence(tuple(part))


def split_words(words: Iterable[Word], language: str | None = None) -> tuple[SpokenSentence, ...]:
    """The sentences of the words of a film, in time order."""
    return tuple(
        sentence for passage in _passages(words) for sentence in _sentences(passage, language)
    )


def _passages(words: Iterable[Word]) -> Iterator[list[Word]]:
    """Words without a long silence between them; no sentence goes on after one."""
    passage: list[Word] = []
    run = 0  # words since the last full stop
    for word in words:
        pause_s = word.start_s - passage[-1].end_s if passage else 0.0
        if pause_s > LONGEST_SILENCE_S or (pause_s > _BREATH_S and run >= _LONGEST_UNPUNCTUATED):
            yield passage
            passage, run = [], 0
        passage.append(word)
        run = 0 if _END_MARK.search(word.text.rstrip()) else run + 1
    if passage:
        yield passage


def _sentences(passage: list[Word], language: str | None) -> Iterator[SpokenSentence]:
    begins = [0, *accumulate(len(word.text) for word in passage)][:-1]
    first = 0
    for _, end in split_sentences("".join(word.text for word in passage), language):
        last = bisect_right(begins, end - 1)  # the word after the one that holds the last letter
        words = tuple(passage[first:last])
        if words and count_letters(_join(words)):
            yield SpokenSentence(words)
        first = max(first, last)


def _join(words: Iterable[Word]) -> str:
    return "".join(word.text for word in words).strip()
