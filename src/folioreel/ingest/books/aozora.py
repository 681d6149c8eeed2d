"""Aozora Bunko's marks in Japanese plain text: headings, readings and other notes in brackets.

Most free Japanese books come from there. `漢字《かんじ》` has the reading of what stands before it,
which ｜ may delimit; `［＃…］` is a note for the printer; the colophon follows the text.
https://www.aozora.gr.jp/annotation/ describes them.
"""

from __future__ import annotations

import re

_KANA = "ぁ-ゖァ-ヺー・ゝゞヽヾ"
_READING = re.compile(
    rf"｜([^｜《》\n]{{1,40}})《[^《》\n]{{1,40}}》|(?<=\w)()《[{_KANA}]{{1,40}}》"
)
_NOTE = re.compile(r"［＃[^［］\n]*］")
_RARE = re.compile(r"※［＃[^［］\n]*］")
_CODE = re.compile(r"U\+([0-9A-F]{4,5})|([12])-(\d{1,2})-(\d{1,2})")
_HEADING = re.compile(r"［＃(?![^［］\n]*(?:同行|窓))[^［］\n]*[大中小]見出し］")  # not beside text
_HEADING_BEGINS = re.compile(r"［＃ここから[^［］\n]*見出し］")
_HEADING_ENDS = re.compile(r"［＃ここで[^［］\n]*見出し終わり］")
_LEGEND = re.compile(
    r"^-{10,}\n(?:.*\n){0,2}【テキスト中に現れる記号について】\n(?:.*\n){0,60}?-{10,}$", re.M
)
_COLOPHON = re.compile(r"^底本：", re.M)
_UNKNOWN = "〓"  # what Japanese printers set for a character that they do not have


def is_aozora(text: str) -> bool:
    """Whether a text is one of Aozora Bunko's, in which each line is a paragraph."""
    return bool(_LEGEND.search(text[:4000]) or _COLOPHON.search(text, len(text) // 2))


def strip_aozora(text: str) -> str:
    """A text without Aozora Bunko's marks; it has as many lines, and `##` before headings."""
    text = _LEGEND.sub(lambda legend: "\n" * legend.group().count("\n"), text)
    ends = [match.start() for match in _COLOPHON.finditer(text, len(text) // 2)]
    if ends:
        text = text[: ends[-1]] + "\n" * text.count("\n", ends[-1])
    text = _RARE.sub(_rare_character, text)
    text = _NOTE.sub("", "\n".join(_mark_headings(text.split("\n"))))
    return _READING.sub(lambda reading: reading.group(1) or "", text)


def _mark_headings(lines: list[str]) -> list[str]:
    """The lines, those of headings marked as in Markdown."""
    marked, inside = [], False
    for line in lines:
        inside = inside or _HEADING_BEGINS.search(line) is not None
        has_words = bool(_NOTE.sub("", line).strip())
        is_heading = has_words and (inside or _HEADING.search(line) is not None)
        marked.append(f"## {_NOTE.sub('', line).strip()}" if is_heading else line)
        inside = inside and _HEADING_ENDS.search(line) is None
    return marked


def _rare_character(note: re.Match[str]) -> str:
    """The character that a note describes: by Unicode, or by its place in JIS X 0213."""
    found = _CODE.search(note.group())
    if found is None:
        return _UNKNOWN
    code, plane, row, cell = found.groups()
    try:
        if code:
            return chr(int(code, 16))
        place = bytes([0xA0 + int(row), 0xA0 + int(cell)])
        return (b"\x8f" * (plane == "2") + place).decode("euc_jis_2004")
    except (UnicodeDecodeError, ValueError):
        return _UNKNOWN
