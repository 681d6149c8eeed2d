"""The words and patterns that tell speech from names, credits and adverts, by language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from folioreel.language import words_of

_FLAGS = re.IGNORECASE | re.VERBOSE


@dataclass(frozen=True, kw_only=True)
class SubtitleWords:
    """What is asked about the words of a subtitle file; `languages/` says what each is for."""

    said_before_colon: frozenset[str]
    function_words: frozenset[str]
    titles: frozenset[str]
    roles: frozenset[str]
    name_particles: frozenset[str]
    abbreviation: re.Pattern[str]  # at the end of a text
    advert: re.Pattern[str]
    credit: re.Pattern[str]
    credit_heading: re.Pattern[str]
    spaced_marks: bool  # a space belongs before `!`, `?`, `:` and `;`


@cache
def subtitle_words(language: str | None = None) -> SubtitleWords:
    """The words of a language, with English ones where a file in any language may have them.

    If the language is not known, the English words alone.
    """
    english, other = words_of("en")["subtitles"], {}
    if language not in (None, "en"):
        other = words_of(language or "").get("subtitles", {})

    def both(key: str) -> frozenset[str]:
        return frozenset(english.get(key, "").split()) | frozenset(other.get(key, "").split())

    def own(key: str) -> frozenset[str]:
        # English words may be names elsewhere, or other words: `die`, `me`, `an`.
        return frozenset((other or english).get(key, "").split())

    text = words_of(language or "en").get("text", {})
    written = text.get("abbreviations", "").split() if other else ()
    short = "|".join([*english["abbreviations"].split(), *map(re.escape, written)])
    work, maker = f"(?:{english['subtitling_work']})", f"(?:{english['film_making']})"
    return SubtitleWords(
        said_before_colon=own("said_before_colon"),
        function_words=own("function_words"),
        titles=both("titles"),
        roles=both("roles"),
        name_particles=both("name_particles"),
        abbreviation=re.compile(rf"(?:^|[\s\"“‘'(—–-])(?:{short})\.$", re.IGNORECASE),
        advert=re.compile(english["adverts"], _FLAGS),
        credit=re.compile(f"{english['credits'].replace('WORK', work)}{_credits(other)}", _FLAGS),
        spaced_marks=text.get("spaced_marks", False),
        credit_heading=re.compile(
            f"{english['credit_headings'].replace('MAKER', maker)}{_headings(other)}", _FLAGS
        ),
    )


def _credits(words: dict[str, str]) -> str:
    """`Sous-titres : …`, `Traduction et synchro par …`, `Un film de …`; after the English ones."""
    if not words:
        return ""
    work = f"(?:{words.get('subtitling_work', '(?!)')})"
    several = rf"{work}(?:\s*(?:,|&|/|\+|\w{{1,3}})\s*{work})*"
    # Scripts without spaces have no boundary between two words.
    bounds = r"(?:\b|(?<=[\u0e00-\ud7a3]))", r"(?![a-zß-ɏ])"
    by = rf"(?:{bounds[0]}(?:{words.get('work_by', ':')}){bounds[1]}|[:：])"
    film = rf"(?:{words.get('film_credits', '(?!)')})\s*\S"
    return rf" | ^\W*(?:{several}\s*{by} | {film})"


def _headings(words: dict[str, str]) -> str:
    headings = words.get("film_credit_headings")
    return rf" | ^\W*(?:{headings})(?=\W*$|\s*[:：.…]|\s+[^\W\d_])" if headings else ""
