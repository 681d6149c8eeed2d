"""Subtitles → dialogue: spoken sentences, each with its own time (paper, section 3).

    file or track → cues        formats.py
    cues → clean cues           cues.py        markup, impossible times
    clean cues → spoken cues    credits.py     credits and adverts
    cues → turns                turns.py       sound effects, songs, speaker names
    turns → sentences           this module

A sentence may run over several cues, and a cue may hold several sentences. What one person says
without a long silence is a passage. It is split into sentences, and the time of each sentence is
read off the cues that it stands in, in proportion to the letters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

from folioreel.errors import InputError
from folioreel.ingest.subtitles import file_style
from folioreel.ingest.subtitles.bilingual import choose_language
from folioreel.ingest.subtitles.credits import drop_credits
from folioreel.ingest.subtitles.cues import (
    ParsedCues,
    count_letters,
    repair_cues,
)
from folioreel.ingest.subtitles.file_style import FileStyle
from folioreel.ingest.subtitles.formats import name_language, read_cues
from folioreel.ingest.subtitles.turns import Turn, find_turns
from folioreel.language import PREFERRED, decide_language, language_code, language_name
from folioreel.sentences import split_sentences
from folioreel.text import count_words, joint
from folioreel.types import Subtitle

_DROPPED = ("duplicate", "outside the film", "credits or adverts", "notes or songs")
# No sentence goes on after a longer silence.
LONGEST_SILENCE_S = 3.0
# Cues that overlap by more are said by two people at once. Times are often a frame off.
_OVERLAP_S = 0.01
# In files without full stops: a longer pause ends a sentence, and so does this many words.
_BREATH_S = 0.5
_LONGEST_UNPUNCTUATED = 20
# Characters. For files in which nothing ever ends a passage: splitting one takes memory.
_LONGEST_PASSAGE = 20_000

_OPENERS = "\"“‘'«([¿¡ "
_CLOSERS = "\"”’»')]"
_CLOSED = re.compile(
    rf"(?:[.?!…。！？।؟\u037e]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);)[{re.escape(_CLOSERS)}]*$"
)
# Looked for where a run of blanks or marks begins: to try each of its places takes squared time.
_TRAILING_DOTS = re.compile(r"(?<!\s)\s*+(?:(?<!\.)\.{2,}+|…)\s*+$")
_LEADING_DOTS = re.compile(r"^(?:\.{2,}|…)\s*")
_LEADING_MARKS = re.compile(r"^(?:[-–—―,;:]+|\.{2,}|…)\s*")
_RUNS_ON = re.compile(r"[、，,;；،؛→⇒➡]$")  # at the end of a cue, in scripts without capitals
_TRAILING_ARROW = re.compile(r"(?<!\s)\s*+(?<![→⇒➡])[→⇒➡]++$")
_TRAILING_DASH = re.compile(r"(?<!\s)\s*+(?<![-–—―])[-–—―]++$")


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """What is said in a film, and how it was found."""

    subtitles: tuple[Subtitle, ...] = ()
    format: str = ""
    cue_count: int = 0
    first_cue_s: float = 0.0  # when the first cue begins and the last one ends, spoken or not
    last_cue_s: float = 0.0
    source: str = ""  # as in `Film`
    language: str | None = None  # two letters, if it is known
    from_file: bool = False  # of text or pictures, so that it may have another release's times
    notes: tuple[str, ...] = ()  # what was repaired or left out, in words for the user


def read_subtitles(
    path: Path | str,
    frame_rate: float | None = None,
    *,
    language: str | None = None,
    preferred: str = PREFERRED,
) -> Dialogue:
    """Read a subtitle file of any format in `formats.FORMATS`.

    Args:
        path: The file; its format is detected from the content, whatever it is called.
        frame_rate: The frame rate of the video, for files that count frames.
        language: Two letters, if the user gives it; by default what the text looks like, or, of a
            short one, what the file's name says (`film.fr.srt`).
        preferred: Which language to read in a file, or in cues, that have several.
    """
    parsed = read_cues(Path(path), frame_rate, preferred)
    if not any(cue.text.strip() for cue in parsed.cues):
        raise InputError("has no cues; was the file cut short?", path)
    dialogue = build_dialogue(parsed, language, preferred=preferred)
    named = dialogue.language or name_language(Path(path))
    return replace(dialogue, language=named, source="file", from_file=True)


def build_dialogue(
    parsed: ParsedCues,
    language: str | None = None,
    declared: str | None = None,
    *,
    preferred: str = PREFERRED,
) -> Dialogue:
    """Clean cues and join them into spoken sentences; languages as in `decide_language`.

    Of cues in two languages, the preferred one is read.
    """
    repaired, faults = repair_cues(parsed.cues)
    repaired, left_out = choose_language(repaired, language or language_code(declared) or preferred)
    text = "\n".join(cue.text for cue in repaired)
    language = decide_language(text, given=language, declared=declared)
    spoken = drop_credits(repaired, file_style.observe_style(repaired, language))
    faults["credits or adverts"] = len(repaired) - len(spoken)
    style = file_style.observe_style(spoken, language)
    turns: list[Turn] = []
    speaker, after_close = None, True
    for cue in spoken:
        found = find_turns(cue, style, after_close)
        after_close = not found or file_style.is_closed(found[-1].text)
        if found and cue.speaker != speaker:
            found[0] = replace(found[0], opens=True)
            speaker = cue.speaker
        faults["notes or songs"] += not found
        turns += found
    return Dialogue(
        subtitles=_join_turns(turns, style, language),
        format=parsed.format,
        cue_count=len(parsed.cues),
        first_cue_s=min((cue.start_s for cue in repaired), default=0.0),
        last_cue_s=max((cue.end_s for cue in repaired), default=0.0),
        language=language,
        notes=(*parsed.notes, *_describe(faults, style, left_out)),
    )


def _describe(faults: Counter[str], style: FileStyle, left_out: str | None) -> Iterator[str]:
    """What was left out and which cues were repaired."""
    if left_out is not None:
        name = language_name(left_out)
        yield f"the cues are in two languages: what is in {name} was left out (see --language)"
    dropped = [f"{faults[kind]} {kind}" for kind in _DROPPED if faults[kind]]
    kept = [f"{count} {kind}" for kind, count in faults.items() if count and kind not in _DROPPED]
    if dropped:
        yield "subtitle cues left out: " + ", ".join(dropped)
    if kept:
        yield "subtitle cues repaired: " + ", ".join(kept)
    if style.all_capitals:
        yield "the subtitles are all in capitals"


@dataclass
class _Passage:
    """What one person says without a long silence, and the turn that each part came from."""

    text: str = ""
    parts: list[tuple[int, int, float, float]] = field(default_factory=list)  # chars, seconds
    speaker: str | None = None

    def add(self, words: str, turn: Turn) -> None:
        self.text += joint(self.text, words) if self.text else ""
        begin = len(self.text)
        self.text += words
        self.parts.append((begin, len(self.text), turn.start_s, turn.end_s))

    def trim_end(self, pattern: re.Pattern[str]) -> None:
        begin, end, start_s, end_s = self.parts[-1]
        # From the blank before the last part: the whole passage may be long.
        if (found := pattern.search(self.text, max(0, begin - 1))) is not None:
            self.text = self.text[: found.start()]
        self.parts[-1] = (min(begin, len(self.text)), min(end, len(self.text)), start_s, end_s)


def _join_turns(
    turns: Iterable[Turn], style: FileStyle, language: str | None
) -> tuple[Subtitle, ...]:
    """The sentences that are spoken, in time order."""
    passages = _passages(turns, style)
    spoken = [
        (*sentence, passage.speaker)
        for passage in passages
        for sentence in _sentences(passage, language)
    ]
    spoken.sort(key=lambda sentence: sentence[0])
    return tuple(
        Subtitle(index=index, start_s=start_s, end_s=end_s, text=text, speaker=speaker)
        for index, (start_s, end_s, text, speaker) in enumerate(spoken)
    )


def _passages(turns: Iterable[Turn], style: FileStyle) -> Iterator[_Passage]:
    """Gather turns into passages."""
    passage, before = _Passage(), None
    for turn in turns:
        if before is not None and passage.text and _belongs(passage, before, turn, style):
            # Dots or dashes on both sides of a break only say that the sentence goes on.
            if _LEADING_DOTS.match(turn.text):
                passage.trim_end(_TRAILING_DOTS)
            if turn.continues:
                passage.trim_end(_TRAILING_DASH)
            passage.trim_end(_TRAILING_ARROW)
        else:
            if passage.text:
                yield passage
            passage = _Passage(speaker=turn.speaker)
        passage.add(_LEADING_DOTS.sub("", turn.text), turn)
        before = turn
    if passage.text:
        yield passage


def _belongs(passage: _Passage, before: Turn, turn: Turn, style: FileStyle) -> bool:
    """Whether a turn goes on with the passage: same speaker, no long pause, no new sentence."""
    pause_s = turn.start_s - before.end_s
    if turn.opens or not -_OVERLAP_S <= pause_s <= LONGEST_SILENCE_S:
        return False
    if len(passage.text) >= _LONGEST_PASSAGE:
        return False
    goes_on = turn.continues or _LEADING_DOTS.match(turn.text) is not None
    begins_small = turn.text.lstrip(_OPENERS)[:1].islower()
    if _TRAILING_DOTS.search(before.text):
        return goes_on or begins_small
    if _CLOSED.search(before.text):
        # The end of a cue is the end of a sentence, except after `Mr.`. Where the next cue begins
        # with a small letter or follows a quotation (`"Go!" / he said`), the splitter decides.
        undecided = (
            begins_small
            or before.text[-1] in _CLOSERS
            or style.words.abbreviation.search(before.text)
        )
        return bool(undecided) and not goes_on
    if goes_on:
        return True
    if style.unpunctuated:
        is_short = count_words(passage.text) < _LONGEST_UNPUNCTUATED
        runs_on = style.caseless and _RUNS_ON.search(before.text) is not None
        return (runs_on or (begins_small and pause_s <= _BREATH_S)) and is_short
    if _TRAILING_DASH.search(before.text):
        return begins_small or style.all_capitals
    # `I gave him the book / The end came soon`: in prose, `The` begins a sentence.
    is_prose = not (style.capital_lines or style.case_blind)
    word = file_style.first_function_word(turn.text, style.words)
    begins_anew = word is not None and word[0].isupper()
    return not (is_prose and before.text[-1].isalnum() and begins_anew)


def _sentences(passage: _Passage, language: str | None) -> Iterator[tuple[float, float, str]]:
    """Split a passage into (start_s, end_s, text)."""
    text = passage.text
    letters = [0, *accumulate(character.isalnum() for character in text)]
    begins = [part[0] for part in passage.parts]

    def time_at(position: int, part: tuple[int, int, float, float]) -> float:
        begin, end, start_s, end_s = part
        total = letters[end] - letters[begin]
        passed = letters[min(max(position, begin), end)] - letters[begin]
        return start_s + (end_s - start_s) * (passed / total if total else 0.0)

    for begin, end in split_sentences(text, language):
        words = _LEADING_MARKS.sub("", text[begin:end])
        if count_letters(words):
            first = passage.parts[bisect_right(begins, begin) - 1]
            last = passage.parts[bisect_right(begins, end - 1) - 1]
            yield time_at(begin, first), time_at(end, last), words
