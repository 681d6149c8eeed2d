"""Times as people and subtitle files write them; everywhere else a time is seconds (`_s`)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LONGEST_FILM_S = 4e6  # 46 days; the longest film lasts 36
# A time of more is a slip or an attack; milliseconds of thirty years have as many.
_MOST_DIGITS = 12
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:[.,]\d*)?)")


def format_clock(time_s: float) -> str:
    """A time as h:mm:ss.

    >>> format_clock(3723.9)
    '1:02:03'
    """
    # Rounded down, as video players do: at 0:59.9 the player still shows 0:59.
    minutes, seconds = divmod(int(time_s), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def format_timestamp(time_s: float, point: str = ".") -> str:
    """A time to the millisecond, as in subtitle files.

    Args:
        time_s: Seconds.
        point: What separates the milliseconds: `.` in WebVTT, `,` in SubRip.

    >>> format_timestamp(62.5, ",")
    '00:01:02,500'
    """
    seconds, milliseconds = divmod(round(time_s * 1000), 1000)
    hours, seconds = divmod(seconds, 3600)
    return f"{hours:02}:{seconds // 60:02}:{seconds % 60:02}{point}{milliseconds:03}"


def is_clock(text: str) -> bool:
    """Whether `parse_clock` can read it."""
    return _CLOCK.fullmatch(text.strip()) is not None


def parse_clock(text: str) -> float:
    """Seconds of a time written as seconds, m:ss or h:mm:ss, with or without a fraction.

    The fraction may follow a comma, as in subtitle files and European spreadsheets.

    >>> parse_clock("1:02:03.5")
    3723.5

    Raises:
        ValueError: It is written in some other way.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a time; write 95, 1:35 or 0:01:35")
    hours, minutes, seconds = found.groups(default="0")
    whole, _, fraction = seconds.replace(",", ".").partition(".")
    passed = 3600 * parse_digits(hours) + 60 * parse_digits(minutes) + parse_digits(whole)
    return passed + float(f"0.{fraction or 0}")


def check_spans(spans: Iterable[tuple[float, float]]) -> None:
    """Raise `ValueError` unless each start and end are times of a film, in order."""
    for start_s, end_s in spans:
        if not 0 <= start_s <= end_s <= _LONGEST_FILM_S:  # not so of NaN
            raise ValueError(f"{start_s:g} s to {end_s:g} s is no time of a film")


def check_parts(parts: Iterable[tuple[float, float]]) -> None:
    """Raise `ValueError` unless these are the start and length of parts, one after the other."""
    end_s = 0.0
    for start_s, length_s in parts:
        check_spans([(end_s, start_s), (start_s, start_s + length_s)])
        end_s = start_s


def parse_digits(digits: str) -> int:
    """A whole number in digits; one that is far too long for a time becomes a trillion.

    Python refuses to convert more than 4,300 digits, and hundreds of them make an infinite time.

    >>> parse_digits("007"), parse_digits("9" * 5000)
    (7, 1000000000000)
    """
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS
