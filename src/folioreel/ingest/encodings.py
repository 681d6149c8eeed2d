"""Bytes → text, in any encoding that people use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from string import ascii_letters

from charset_normalizer import from_bytes

from folioreel.errors import InputError
from folioreel.language import decide_language
from folioreel.reading import LARGEST_TEXT, megabytes

_HEAD_BYTES = 65536
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Encodings that are hardly in use any more, and that other ones are easily taken for.
_OF_OLD_MACS = "mac_cyrillic mac_greek mac_iceland mac_latin2 mac_roman mac_turkish".split()
# Encodings of Latin script, and the languages that are written in them rather than in Windows-1252.
_EASTERN = "bs cs hr hu pl ro sk sl sr"
_LATIN = {
    "cp1250": frozenset(_EASTERN.split()),
    "iso8859-2": frozenset(_EASTERN.split()),
    "cp1254": frozenset({"tr"}),
    "cp1257": frozenset({"lt", "lv"}),
    "cp1258": frozenset({"vi"}),
}
# A symbol or a control character inside or at an end of a word, as in text that is read in another
# encoding than it was written in: `by³a`, `kopi¹`.
_ODD = re.compile(r"[^\W\d_][¹³²¿¼½¾¢£ª¥¦¬±¶¤\x7f-\x9f]|[¹³²¿¼½¾¦¬¶¤\x7f-\x9f][^\W\d_]")

# Encodings of two bytes a character that are taken for one another, the one with the fewest usual
# characters first. Their tables have the usual characters before the rare ones, so that the first
# byte tells them: punctuation, kana, and Hangul or the first level of Chinese characters.
_DOUBLE = {
    "euc_jp": (b"\xa1\xa3\xa4\xa5", range(0xB0, 0xD0)),
    "cp932": (b"\x81\x82\x83", range(0x88, 0x98)),
    "cp949": (b"\xa1\xa2\xa3", range(0xB0, 0xC9)),
    "gb18030": (b"\xa1\xa2\xa3", range(0xB0, 0xD8)),
    "cp950": (b"\xa1\xa2\xa3", range(0xA4, 0xC7)),
}
_USUAL = 0.9  # of the characters of a text are usual ones, in its own encoding alone
_SAMPLE = 2000  # characters
# Apostrophes and quotation marks of Latin script, with the letter behind them, look like Chinese
# characters; but Japanese has kana, and of Chinese the second bytes are no letters as often.
_FEWEST_TELLING = 0.2
_ASCII_LETTERS = ascii_letters.encode()
_KANA = re.compile("[\u3041-\u30fa]")


def decode_text(data: bytes, path: Path) -> str:
    """Text in any encoding that people use, with plain newlines.

    UTF-8 is tried first, because other text is hardly ever valid UTF-8 by accident; after that,
    statistics decide.
    """
    if len(data) > LARGEST_TEXT:
        message = f"holds more than {megabytes(LARGEST_TEXT)} of text; is it the right file?"
        raise InputError(message, path)
    return _decode(data, path).replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes, path: Path) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace")
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8")
        if "\x00" not in text:
            return text
    if (wide := _wide_encoding(data)) is not None:
        return data.decode(wide, errors="replace")
    if _looks_binary(data):
        raise InputError("is not a text file (it holds binary data); give the text itself", path)
    if (double := _decode_double(data)) is not None:
        return double
    if _is_hebrew(data):
        return data.decode("cp1255", errors="replace")
    # Of the letters of Latin script few are outside ASCII; of Cyrillic or Greek most are, even with
    # English words such as `Dialogue: Default` around them.
    outside = _count(data, range(0x80, 0x100))
    if outside < 0.3 * (outside + _count(data, _ASCII_LETTERS)):
        return _decode_latin(data)
    best = from_bytes(data, cp_exclusion=_OF_OLD_MACS).best()
    return _decode_latin(data) if best is None else str(best)


def _count(data: bytes, wanted: Iterable[int]) -> int:
    """How many of the bytes are among the wanted ones; fast, as files may be large."""
    return len(data) - len(data.translate(None, bytes(wanted)))


def _decode_double(data: bytes) -> str | None:
    """Chinese, Japanese or Korean text; None if it is none."""
    for encoding, (marks, characters) in _DOUBLE.items():
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            wide = [c for c in text[: 20 * _SAMPLE] if not c.isascii()][:_SAMPLE]
            pairs = [character.encode(encoding) for character in wide]
            usual = sum(pair[0] in marks or pair[0] in characters for pair in pairs)
            if encoding in ("euc_jp", "cp932"):
                telling = sum(map(bool, map(_KANA.match, wide)))
            else:
                telling = sum(pair[-1] >= 0xA1 for pair in pairs)
            if usual > _USUAL * len(pairs) and telling > _FEWEST_TELLING * len(pairs):
                return text
    return None


def _is_hebrew(data: bytes) -> bool:
    """Whether all letters outside ASCII are those of Windows-1255, which no other language has."""
    # 22 letters and five final ones in one row. Cyrillic and Greek have letters behind it, and
    # capitals before it, where Hebrew has two quotation marks; Latin script has other letters.
    outside = _count(data, range(0x80, 0x100))
    hebrew = _count(data, range(0xE0, 0xFB))
    quotes = _count(data, b"\xd7\xd8")
    others = _count(data, (*range(0xC0, 0xE0), *range(0xFB, 0x100))) - quotes
    return hebrew > max(0.9 * outside, 200 * others, _count(data, _ASCII_LETTERS))


def _decode_latin(data: bytes) -> str:
    """Text in Latin script: Windows-1252, unless its language is written in another encoding.

    The detector of languages tells these apart better than one of encodings does, whose code pages
    differ in a few letters.
    """
    western = data.decode("cp1252", errors="replace")
    fitting: dict[str, int] = {}  # texts, and how many signs are odd in them
    for encoding, languages in _LATIN.items():
        text = data.decode(encoding, errors="replace")
        if (language := decide_language(text)) in languages:
            fitting[text] = _count_odd(text, language)
    if fitting:
        return min(fitting, key=fitting.__getitem__)
    # A few words do not show their language.
    return data.decode("cp1250", errors="replace") if _has_odd_letters(western) else western


def _count_odd(text: str, language: str | None) -> int:
    # The š of one Czech encoding is the Polish ą of the other.
    return len(_ODD.findall(text)) + (0 if language in ("pl", "lt") else text.count("ą"))


def _has_odd_letters(text: str) -> bool:
    """Whether symbols stand inside words, as in Polish read as Windows-1252 (`by³a`)."""
    # One or two may be powers or typing errors.
    return len(re.findall(r"[^\W\d_][¹³¿¼¾¢ª¥][^\W\d_]", text)) > 2


def _wide_encoding(data: bytes) -> str | None:
    """The encoding of UTF-16 without a byte-order mark, or None.

    Latin text in it has NUL as every other byte, and nowhere else.
    """
    head = data[:_HEAD_BYTES]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) <= 0.3 * len(head) / 2 or min(even, odd) >= 0.05 * len(head) / 2:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _looks_binary(data: bytes) -> bool:
    """Whether there are NUL bytes or many control characters."""
    head = data[:_HEAD_BYTES]
    control = sum(byte < 9 or 13 < byte < 27 for byte in head)
    return 0 in head or control > 0.02 * len(head)
