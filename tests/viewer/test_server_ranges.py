"""Range headers by the RFC, and against all ranges of a small file."""

import pytest

from folioreel.viewer.server import UnsatisfiableError, parse_range


@pytest.mark.parametrize(
    ("header", "size", "expected"),
    [
        # RFC 9110, section 14.1.2, on a representation of 10,000 bytes.
        ("bytes=0-499", 10000, range(500)),
        ("bytes=500-999", 10000, range(500, 1000)),
        ("bytes=-500", 10000, range(9500, 10000)),
        ("bytes=9500-", 10000, range(9500, 10000)),
        ("bytes=0-", 10000, range(10000)),
        ("bytes=9999-20000", 10000, range(9999, 10000)),
        ("bytes=-20000", 10000, range(10000)),
        ("Bytes= 5-6 ", 10000, range(5, 7)),
        # Passed over: several, other units, malformed, backwards.
        ("bytes=0-0,-1", 10000, None),
        ("seconds=1-2", 10000, None),
        ("bytes=-", 10000, None),
        ("bytes=a-b", 10000, None),
        ("bytes=7-3", 10000, None),
        ("bytes 0-5", 10000, None),
        ("", 10000, None),
        (None, 10000, None),
    ],
)
def test_ranges(header, size, expected):
    assert parse_range(header, size) == expected


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0)])
def test_beyond_the_end(header, size):
    with pytest.raises(UnsatisfiableError):
        parse_range(header, size)


def test_every_range_of_a_small_file():
    data = bytes(range(7))
    for first in range(7):
        for last in range(first, 9):
            part = parse_range(f"bytes={first}-{last}", 7)
            assert data[part.start : part.stop] == data[first : last + 1]
        part = parse_range(f"bytes=-{first + 1}", 7)
        assert data[part.start : part.stop] == data[-(first + 1) :]
