"""Opening the user's files: what every reader checks before it looks inside."""

from __future__ import annotations

import re
from pathlib import Path

from charset_normalizer import from_bytes

from folioreel.errors import InputError

_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_NOT_WESTERN = frozenset(
    "Polish Czech Slovak Hungarian Romanian Croatian Slovene Turkish Lithuanian Latvian "
    "Estonian Vietnamese".split()
)


def read_bytes(path: Path) -> bytes:
    """The whole file, or an error that says why there is none."""
    return read_head(path, -1)


def read_head(path: Path, size: int = 65536) -> bytes:
    """The first bytes of a file, enough to tell what it is; errors as `read_bytes` has them."""
    if path.is_dir():
        raise InputError("is a folder; give one file", path)
    try:
        with path.open("rb") as file:
            head = file.read(size)
    except FileNotFoundError:
        raise InputError("no such file; check the path", path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path) from error
    if not head:
        raise InputError("the file is empty; was its download or copy cut short?", path)
    return head


def decode_text(data: bytes, path: Path) -> str:
    """Text in any encoding that people have, with plain newlines.

    UTF-8 is tried first, as it hardly ever fits by accident; then the statistics decide.
    """
    text = _decode(data, path)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes, path: Path) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        if "\x00" not in text:
            return text
    if _looks_binary(data):
        raise InputError("is not a text file (it holds binary data); give the text itself", path)
    best = from_bytes(data).best()
    western = data.decode("cp1252", errors="replace")
    if best is None:
        return western
    # A Latin-script file in an old encoding is Windows-1252 unless its language says otherwise;
    # the detector knows languages better than neighbouring code pages, if there is enough text.
    mostly_ascii = sum(byte >= 0x80 for byte in data) < 0.3 * len(data)
    if mostly_ascii and _has_odd_letters(western):
        return data.decode("cp1250", errors="replace")
    eastern = best.language in _NOT_WESTERN and len(data) > 4000
    return western if mostly_ascii and not eastern else str(best)


def _has_odd_letters(text: str) -> bool:
    """Whether symbols stand inside words, as Polish read as Windows-1252 has them (`by³a`)."""
    return len(re.findall(r"[^\W\d_][¹³¿¼¾¢ª¥][^\W\d_]", text)) > 2


def _looks_binary(data: bytes) -> bool:
    """NUL bytes outside the even pattern of UTF-16, or many control characters."""
    head = data[:65536]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.3 * len(head) / 2 and min(even, odd) < 0.05 * len(head) / 2:
        return False  # UTF-16 without a mark: the detector knows it
    control = sum(byte < 9 or 13 < byte < 27 for byte in head)
    return 0 in head or control > 0.02 * len(head)
