"""Subtitle markup -> plain lines: tags, override codes, entities and invisible characters go."""

from __future__ import annotations

import html
import re

_LINE_BREAK = re.compile(r"\\N|\\n|<\s*br\s*/?\s*>|\[br\]", re.IGNORECASE)
_RUBY_READING = re.compile(r"<rt\b[^<>]*>.*?</rt\s*>", re.IGNORECASE | re.DOTALL)
# A tag begins with a letter or a time (`<00:01.500>`), so `a < b` and `<3` are left alone.
_TAG = re.compile(r"<\s*/?\s*(?:[A-Za-z]|\d+:\d)[^<>]*>")
_OPEN_TAG_AT_END = re.compile(r"<\s*/?\s*(?:font|i|b|u|s|c|v)\b[^<>]*$", re.IGNORECASE)
_BRACES = re.compile(r"\{[^{}]*\}")
_OPEN_OVERRIDE_AT_END = re.compile(r"\{\\[^{}]*$")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
# Direction marks, byte-order marks, soft hyphens, and controls other than the line feed. The
# joiners U+200C and U+200D stay: Persian and the Indic scripts spell with them.
_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\ufffd\x00-\x09\x0b-\x1f\x7f-\x9f]"
)
_MANGLED_NOTE = re.compile("â™[ª«¬]|âª|\u00b6")
# Optical recognition reads the capital I as a small l; these words exist in no language.
_SMALL_L_FOR_I = re.compile(r"(?<![\w'’.&-])l(?=['’](?:m|ll|ve|d)\b|(?![\w'’.&-]))")


def plain_lines(text: str) -> list[str]:
    """The visible lines of a cue, without markup, trimmed; empty lines are left out."""
    text = _LINE_BREAK.sub("\n", text.replace("\\h", " "))
    text = _strip_tags(text)
    if "&" in text:
        # Twice, for `&amp;quot;`; then once more the tags, for `&lt;i&gt;`.
        text = _strip_tags(_unescape(_unescape(text)))
    text = _MANGLED_NOTE.sub("♪", text.replace("\t", " "))
    text = _INVISIBLE.sub("", text)
    text = _SMALL_L_FOR_I.sub("I", text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return [line for line in lines if line]


def _strip_tags(text: str) -> str:
    """Take out tags and override codes, closed or broken off at the end of the cue."""
    if "<" in text:
        text = _LINE_BREAK.sub("\n", _RUBY_READING.sub("", text))
        text = _OPEN_TAG_AT_END.sub("", _TAG.sub("", text))
    if "{" in text:
        text = _OPEN_OVERRIDE_AT_END.sub("", _BRACES.sub("", text))
    return text


def _unescape(text: str) -> str:
    """Entities that end with a semicolon; `AT&T` and `R&B` are no entities."""
    return _ENTITY.sub(lambda match: html.unescape(match.group()), text)
