"""Numbers of chapters in three ways of writing them, and runs of numbers that count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from folioreel.ingest.books.numerals import NUMBER_LINE, count_upwards, numeral_value

DIGITS = "〇一二三四五六七八九"


def han(number: int) -> str:
    """A number below 200 as Chinese writes it."""
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    text = "一百" if hundreds else ""
    if hundreds and not tens and ones:
        text += "零"
    if tens:
        text += ("" if tens == 1 and not hundreds else DIGITS[tens]) + "十"
    return text + (DIGITS[ones] if ones else "")


@given(st.integers(1, 199))
def test_chinese_numbers(number):
    assert numeral_value(han(number)) == number
    assert NUMBER_LINE.match(han(number))


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("XIV", 14), ("xlii", 42), ("12", 12), ("١٢", 12), ("१२", 12), ("１２", 12), ("二一", 21)],
)
def test_other_numbers(numeral, value):
    assert numeral_value(numeral) == value


def test_numbers_that_count():
    numbers = [1, 1, 2, 7, 3, 1, 4]
    assert count_upwards(enumerate(numbers)) == [1, 2, 4, 6]


def test_a_second_part_counts_from_the_beginning():
    # `Chapter the First` is written in words, so that each part begins at II.
    numbers = [2, 3, 4, 5, 9, 2, 3, 4, 5, 6]
    assert count_upwards(enumerate(numbers)) == [0, 1, 2, 3, 9]
    assert count_upwards(enumerate(numbers), restarts=True) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_a_pronoun_does_not_begin_a_second_part():
    numbers = [1, 2, 3, 4, 1, 5, 1, 6]
    assert count_upwards(enumerate(numbers), restarts=True) == [0, 1, 2, 3, 5, 7]
