"""Credits and adverts among the cues: who made the subtitles, and who made the film.

Some cues are credits by their own words, such as `Subtitles by …`. A cast list is mere names, which
people also say. It is recognised by its place: in the last quarter of the film, from a cue that is
certainly a credit on, as long as cue after cue holds nothing but names. Speech must never be lost;
a name that stays costs little.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from folioreel.ingest.subtitles.cues import Cue
from folioreel.ingest.subtitles.file_style import FileStyle
from folioreel.ingest.subtitles.subtitle_words import SubtitleWords
from folioreel.text import count_words

# "Directed by a man who loved …" may be speech; real credits are short.
_LONGEST_CREDIT_WORDS = 14
# Credits at the end take a tenth of a film, of a short one a quarter.
_CLOSING_SHARE = 0.75
# A row of a list: `Alastair Sim`, `MARLEY'S GHOST ..... Michael Hordern`.
_LONGEST_ROW_WORDS = 9
# So many rows of full names in successive cues are a list, even without a heading.
_FEWEST_ROWS = 4

_LEADERS = re.compile(r"(?<=\w)\s*(?:\.(?:\s?\.){2,}|…+)\s*(?=\w)")
_ROLE = re.compile(rf"{_LEADERS.pattern}|\s+as\s+")  # between somebody and whom they play
_IN_ROWS = frozenset({"as", "for", "by", "&"})  # between names, besides the particles of names
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+|(?:jr|sr|dr|mrs?|ms|st|ltd|inc|co)\.", re.IGNORECASE)


def is_credit(text: str, words: SubtitleWords) -> bool:
    """Whether a whole cue, on one line and without markup, is a credit or an advert."""
    is_short = count_words(text) <= _LONGEST_CREDIT_WORDS
    return bool(words.advert.search(text) or (is_short and words.credit.match(text)))


def drop_credits(cues: Sequence[Cue], style: FileStyle) -> list[Cue]:
    """The cues that are not credits; they have no markup and are in time order.

    `style` is that of the file: without full stops, a name that is called looks like one in a list.
    """
    last_s = max((cue.end_s for cue in cues), default=0.0)
    spoken: list[Cue] = []
    rolling = False  # whether the closing credits have begun, and no speech has come since
    for number, cue in enumerate(cues):
        if is_credit(cue.text.replace("\n", " "), style.words):
            rolling = cue.start_s >= _CLOSING_SHARE * last_s
            continue
        if cue.start_s >= _CLOSING_SHARE * last_s:
            rolling = rolling or _begins_credits(cues[number : number + 3], style)
            if rolling and _is_listed(cue, style):
                continue
        rolling = False
        spoken.append(cue)
    return spoken


def _begins_credits(cues: Sequence[Cue], style: FileStyle) -> bool:
    """Whether the first of some cues opens a list: a heading, or rows that nobody would say.

    A heading may be said (`The end`, `Camera…`), and so may the name that somebody calls next.
    """
    listed = takewhile(lambda cue: _is_listed(cue, style), cues)
    rows = [line for cue in listed for line in cue.text.split("\n")]
    if not rows:
        return False
    lines = cues[0].text.split("\n")
    words = style.words
    if _is_heading(" ".join(lines), words) or _is_heading(lines[0], words):
        names = [name for row in rows for name in _names(row, words)]
        return len(names) >= 2 and any(_is_full(name, words) for name in names)
    leaders = sum(_LEADERS.search(row) is not None for row in rows)
    full_names = sum(_is_full(row, words) for row in rows)
    return leaders >= 2 or (len(rows) >= _FEWEST_ROWS and full_names >= 3)


def _names(row: str, words: SubtitleWords) -> list[str]:
    """The names in a row of a list: what is left without the heading, apart from the role."""
    found = words.credit_heading.match(row)
    rest = row[found.end() :] if found else row
    return [name for part in _ROLE.split(rest) if (name := part.strip(" :.…"))]


def _is_full(name: str, words: SubtitleWords) -> bool:
    """Whether a name has a first and a last name, not merely a title."""
    return sum(word.strip(".").casefold() not in words.titles for word in name.split()) > 1


def _is_listed(cue: Cue, style: FileStyle) -> bool:
    """Whether a cue has nothing but rows of a list: names, headings, what somebody did."""
    if cue.speaker is not None:
        return False
    lines, words = cue.text.split("\n"), style.words
    if _is_heading(" ".join(lines), words):
        return True
    has_stops = not (style.unpunctuated or style.case_blind)
    return all(
        _is_heading(line, words)
        or is_credit(line, words)
        or (_is_row(line, words) and (has_stops or _LEADERS.search(line) is not None))
        for line in lines
    )


def _is_heading(line: str, words: SubtitleWords) -> bool:
    """Whether a line is a heading of the credits, with or without the name that belongs to it."""
    found = words.credit_heading.match(line)
    if found is None:
        return False
    rest = line[found.end() :].strip(" :.：")
    return not rest or _is_row(rest, words)


def _is_row(line: str, known: SubtitleWords) -> bool:
    """Whether a line may be a row of names: every word has a capital, and no sentence ends."""
    if any(map(str.isalpha, line)) and not any(c.isupper() or c.islower() for c in line):
        return False  # without capitals, a name looks like any other word
    words = _LEADERS.sub(" ", line).strip(" \"“”'’‘()").split()
    if not words or len(words) > _LONGEST_ROW_WORDS or line[:1] in "-–—♪#[>":
        return False
    particles = known.name_particles | _IN_ROWS
    for word in words:
        bare = word.strip("\"“”'’‘(),:;/")
        is_never_name = bare.casefold() in known.function_words - particles
        if is_never_name or bare[-1:] in ("?", "!", "…"):
            return False
        if bare.endswith(".") and not _INITIALS.fullmatch(bare):
            return False
        if bare[:1].islower() and bare not in particles:
            return False
    return True
