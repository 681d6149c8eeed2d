"""Times as people and subtitle files write them."""

import pytest

from folioreel.times import format_clock, format_timestamp, parse_clock


@pytest.mark.parametrize(
    ("time_s", "text"), [(0, "0:00:00"), (59.99, "0:00:59"), (3723, "1:02:03"), (36000, "10:00:00")]
)
def test_clock(time_s, text):
    assert format_clock(time_s) == text
    assert parse_clock(text) == int(time_s)


def test_milliseconds_are_rounded_and_carried():
    assert format_timestamp(62.5, ",") == "00:01:02,500"
    assert format_timestamp(3599.9996) == "01:00:00.000"


@pytest.mark.parametrize(
    ("text", "time_s"), [("95", 95), (" 1:35.5 ", 95.5), ("0:01:35", 95), ("95,5", 95.5)]
)
def test_times_that_people_write(text, time_s):
    assert parse_clock(text) == time_s


@pytest.mark.parametrize("text", ["", "noon", "-5", "1:2:3:4", "1:"])
def test_what_is_not_a_time(text):
    with pytest.raises(ValueError, match="is not a time"):
        parse_clock(text)
