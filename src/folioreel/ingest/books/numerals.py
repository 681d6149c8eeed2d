"""Numbers of chapters: digits of any script, Roman numerals, Chinese characters."""

from __future__ import annotations

import re
from collections.abc import Iterable

# At least one letter: before `LETTER IN A BOTTLE`, nothing at all would be a numeral, too.
ROMAN = r"(?=[IVXLC])(?:XC|XL|L?X{0,3}|C{1,3}(?:XC|XL|L?X{0,3}))(?:IX|IV|V?I{0,3})(?<=[IVXLCivxlc])"
HAN = "[〇零一二三四五六七八九十百]{1,5}"
NUMBER_LINE = re.compile(rf"^[\[(（【]?(\d{{1,3}}|[IVXLC]{{1,8}}|{HAN})[\])）】]?\.?$")

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_HAN_VALUES = {character: value for value, character in enumerate("〇一二三四五六七八九")} | {
    "零": 0
}
_HAN_UNITS = {"十": 10, "百": 100}
_RESTARTED = 3  # so many numbers in a row are the beginning of a second part


def numeral_value(numeral: str) -> int:
    """The number written in digits, Roman numerals or Chinese characters."""
    if numeral.isdigit():
        return int(numeral)
    if numeral[0].lower() not in _ROMAN_VALUES:
        return _han_value(numeral)
    values = [_ROMAN_VALUES[letter] for letter in numeral.lower()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def _han_value(numeral: str) -> int:
    """The value of 三, 十二, 二十一, 一百零五; and of 二一, written like digits."""
    total = last = 0
    for character in numeral:
        if character in _HAN_UNITS:
            total += (last or 1) * _HAN_UNITS[character]
            last = 0
        else:
            last = 10 * last + _HAN_VALUES[character]
    return total + last


def count_upwards(numbers: Iterable[tuple[int, int]], *, restarts: bool = False) -> list[int]:
    """The places of numbers that count upwards, one after another: (place, number) → places.

    With `restarts`, a second part may count from the beginning again.
    """
    found: list[int] = []
    again: list[int] = []  # what may be the beginning of another part
    last = last_again = 0
    for place, number in numbers:
        # They may begin at II: the first chapter is sometimes headed by the book's title alone.
        if number == last + 1 or (number == 2 and not found):
            found.append(place)
            last, again = number, []
        elif number == 1 and last == 1:
            found[0] = place  # what came before was the pronoun "I"
        elif restarts and again and number == last_again + 1:
            again.append(place)
            last_again = number
            if len(again) >= _RESTARTED:
                found, last, again = found + again, number, []
        elif restarts and number in (1, 2):
            again, last_again = [place], number
    return found
