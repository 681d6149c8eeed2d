"""Which bytes of a file a request asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re

_SINGLE = re.compile(r"bytes=[ \t]*(\d*)-(\d*)[ \t]*", re.IGNORECASE)


class UnsatisfiableError(Exception):
    """The range begins beyond the file's end (status 416)."""


def parse_range(header: str | None, size: int) -> range | None:
    """The bytes that a Range header asks for; None where the whole file is due.

    A header that is malformed or names several ranges is passed over, as the RFC allows.

    Raises:
        UnsatisfiableError: No byte of the file lies in it.
    """
    found = _SINGLE.fullmatch(header.strip()) if header else None
    if found is None or found.group(1) == found.group(2) == "":
        return None
    first, last = found.groups()
    if not first:  # the last so many bytes
        count = min(int(last), size)
        if count == 0:
            raise UnsatisfiableError
        return range(size - count, size)
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise UnsatisfiableError
    return range(start, min(int(last), size - 1) + 1 if last else size)
