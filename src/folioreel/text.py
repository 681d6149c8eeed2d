"""Lines of text: their words, their script, how they are joined, cut and made safe to print.

sentences.py splits them into sentences; stems.py has the words by which texts are compared.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from typing import TypeVar

Cell = TypeVar("Cell")
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

SINGLE_QUOTES = "'‘’‚‛`"
_DOUBLE_QUOTES = '"“”„‟«»‹›「」『』《》〈〉״'
QUOTES = SINGLE_QUOTES + _DOUBLE_QUOTES
CAPITALS = "A-ZÀ-Þ" + "".join(chr(code) for code in range(0x100, 0x530) if chr(code).isupper())
"""Capital letters of Latin, Greek and Cyrillic script, for the inside of `[…]`."""
CASELESS = "\u05d0-\u08ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\ua4cf\uac00-\ud7a3"
"""Letters of scripts that have no capitals: Hebrew, Arabic, those of India, Thai, Chinese …"""
MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f"
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0b82-\u0bcd\u0c00-\u0c4d\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
"""Vowels and tones that stand above, below or beside a letter: parts of words, but no letters."""
# Scripts that are written without spaces between words: Chinese characters, kana, Thai, Lao, Khmer
# and Burmese, with the marks that go with them.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
# Where Chinese and Japanese may be broken: after each character, but not before a mark that may not
# begin a line, nor after one that may not end it.
_WIDE = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WIDE_PIECE = re.compile(
    "(?<= )|(?<=[\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60])(?<![「『《〈])"
    "(?<![（【])(?![、。，．！？：；）」』》〉】…ーぁぃぅぇぉっゃゅょァィゥェォッャュョ])"
)
# Chinese and Japanese set no spaces between sentences either; Thai and its neighbours do.
_UNSPACED_SENTENCES = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
# Characters of such a script that say as much as one word, on average.
_CHARACTERS_A_WORD = 2

_LETTERS = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(
    # One ideograph or kana is a word; elsewhere letters and digits with inner apostrophes are, with
    # the vowels that other scripts set around them.
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|"
    rf"{_LETTERS}++(?:[{MARKS}]++{_LETTERS}*+)*+(?:'[^\W_]++(?:[{MARKS}]++[^\W_]*+)*+)*"
)
_APOSTROPHES = str.maketrans({quote: "'" for quote in "‘’‚‛`´ʼ"})
_ENDINGS = ("ing", "edly", "ed", "ies", "es", "ly", "s")


def squeeze(text: str) -> str:
    """The text on one line with single spaces."""
    return " ".join(text.split())


def cut_text(text: str, most: int) -> str:
    """The text on one line, at most so many characters of it: cut between words, if it has any.

    >>> cut_text("The ferry crossed the river", 20)
    'The ferry crossed …'
    """
    text = squeeze(text)
    if len(text) <= most:
        return text
    kept = text[: max(0, most - 2)]
    head = kept.rpartition(" ")[0] if text[len(kept)] != " " else kept
    # Chinese and Japanese have no spaces between words.
    return (head if 2 * len(head) > len(kept) else kept).rstrip() + " …"


def wrap_lines(text: str, width: int) -> list[str]:
    """The text in lines of so many columns; Chinese and Japanese are broken between characters.

    >>> wrap_lines("雨が降っていた。「そう」", 16)
    ['雨が降っていた。', '「そう」']
    """
    if not re.search(_WIDE, text):
        return textwrap.wrap(text, width)
    lines, column = [""], 0
    for piece in _WIDE_PIECE.split(squeeze(text)):
        columns = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in piece)
        if column + columns > width and lines[-1]:
            lines, column = [*lines, ""], 0
        lines[-1], column = lines[-1] + piece, column + columns
    return [stripped for line in lines if (stripped := line.strip())]


def cut_label(text: str, most: int) -> str:
    """A label of at most so many characters, cut in mid-word, as every one of them counts.

    >>> cut_label("The ferry crossed the river", 14)
    'The ferry cro…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def list_some(names: Sequence[str], most: int = 20) -> str:
    """Names with commas between them; of many, the first ones and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable(text: str) -> str:
    """Text that can be shown and written anywhere: no controls, no halves of characters.

    The names of files may hold bytes that are no text, and books may hold anything.
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def guard_cell(value: Cell) -> Cell | str:
    """A cell of a CSV table that no spreadsheet takes for a formula; numbers stay as they are.

    An apostrophe before it makes it text. `unguard_cell` takes it away again.
    """
    is_formula = isinstance(value, str) and value.lstrip("'").startswith(_FORMULA_MARKS)
    return f"'{value}" if is_formula else value


def unguard_cell(cell: str) -> str:
    """What `guard_cell` made a cell from."""
    is_guarded = cell.startswith("'") and cell.lstrip("'").startswith(_FORMULA_MARKS)
    return cell[1:] if is_guarded else cell


def tokenize(text: str) -> list[str]:
    """The words of a text: lower case, accents kept, punctuation left out."""
    return _WORD.findall(_plain(text).lower())


def find_words(text: str) -> list[str]:
    """The words of a text as they are written, punctuation left out."""
    return _WORD.findall(_plain(text))


def cut_marks(text: str) -> str:
    """A text without letters that have more than 30 accents: to sort these takes squared time."""
    return text if text.isascii() else _many_marks().sub(r"\1", text)


@cache
def _many_marks() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
    return re.compile(f"([{marks}]{{30}})[{marks}]++")


def _plain(text: str) -> str:
    """Letters in their usual form, and one kind of apostrophe."""
    return unicodedata.normalize("NFKC", cut_marks(text)).translate(_APOSTROPHES)


def word_stem(word: str) -> str:
    """A word without common English endings, so that `walks` and `walked` are equal.

    Rough on purpose: it is for comparing words, never shown.
    """
    word = word.removesuffix("'s").replace("'", "")
    for ending in _ENDINGS:
        # Three letters must remain: "red" and "bring" have no ending.
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def joint(before: str, after: str) -> str:
    """What comes between two lines of one text: a space, or nothing in scripts without spaces."""
    unspaced = _UNSPACED.match(before[-1:]) and _UNSPACED.match(after[:1])
    return "" if unspaced else " "


def join_lines(lines: Iterable[str]) -> str:
    """Lines as one text."""
    return reduce(lambda text, line: text + joint(text, line) + line, lines)


def sentence_joint(before: str, after: str) -> str:
    """What comes between two sentences: a space, or nothing in Chinese and Japanese."""
    # Chinese has the quotation marks of other languages, too.
    ends = before.rstrip(QUOTES)[-1:], after.lstrip(QUOTES)[:1]
    return "" if all(map(_UNSPACED_SENTENCES.match, ends)) else " "


def place_sentences(sentences: Iterable[str]) -> tuple[str, tuple[int, ...]]:
    """Sentences or lines of verse as one text, and where each of them begins in it."""
    pieces: list[str] = []
    starts: list[int] = []
    length = 0
    for sentence in sentences:
        if pieces:
            pieces.append(sentence_joint(pieces[-1], sentence))
            length += len(pieces[-1])
        starts.append(length)
        pieces.append(sentence)
        length += len(sentence)
    return "".join(pieces), tuple(starts)


def join_sentences(sentences: Iterable[str]) -> str:
    """Sentences as one text."""
    return place_sentences(sentences)[0]


def count_words(text: str) -> int:
    """About how many words a text has; in scripts without spaces, by its characters."""
    return max(len(text.split()), len(_UNSPACED.findall(text)) // _CHARACTERS_A_WORD)


def dominant_script(text: str) -> str | None:
    """The Unicode script most letters are in (`LATIN`, `CYRILLIC`, `CJK` …), or None."""
    letters = (character for character in text if character.isalpha())
    names = (unicodedata.name(c, "UNKNOWN").split()[0].split("-")[0] for c in letters)
    # Japanese mixes three scripts in one sentence.
    scripts = Counter("CJK" if name in ("HIRAGANA", "KATAKANA") else name for name in names)
    return scripts.most_common(1)[0][0] if scripts else None
