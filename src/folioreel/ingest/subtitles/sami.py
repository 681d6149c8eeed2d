"""SAMI -> cues: each `<SYNC>` shows its paragraphs until the next one.

pysubs2 guesses the end of a cue from its length and mixes the languages of one file; here the next
`<SYNC>` ends a cue, and one language is read.
"""

from __future__ import annotations

import re
from collections import Counter

from folioreel.ingest.subtitles.cues import Cue, reading_time_s

_SYNC = re.compile(r"<sync\b[^>]*?\bstart\s*=\s*[\"']?(-?\d+)[^>]*>", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p\b([^>]*)>", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_END = re.compile(r"</body\b.*", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BLANK = re.compile(r"(?:&nbsp;|\s)+", re.IGNORECASE)
_NO_END_S = 8.0


def parse_sami(text: str) -> list[Cue]:
    """The cues of one language of a SAMI file: English where there is a choice."""
    body = _END.sub("", _COMMENT.sub("", text))
    parts = _SYNC.split(body)
    shown: list[tuple[float, str, str]] = []  # (start_s, class, text)
    for start_ms, content in zip(parts[1::2], parts[2::2], strict=True):
        pieces = _PARAGRAPH.split(content)
        paragraphs = list(zip(pieces[1::2], pieces[2::2], strict=True)) or [("", content)]
        for attributes, paragraph in paragraphs:
            name = _CLASS.search(attributes)
            label = name.group(1).upper() if name else ""
            shown.append((int(start_ms) / 1000, label, " ".join(paragraph.split())))
    chosen = _choose_class(shown)
    return _to_cues([(start_s, words) for start_s, label, words in shown if label in ("", chosen)])


def _choose_class(shown: list[tuple[float, str, str]]) -> str:
    """The English class, or the one that says most."""
    sizes = Counter(label for _, label, words in shown if _BLANK.sub("", words))
    english = [label for label in sizes if label.startswith("EN") or "ENG" in label]
    return max(english or sizes or [""], key=lambda label: sizes[label])


def _to_cues(shown: list[tuple[float, str]]) -> list[Cue]:
    cues = []
    for number, (start_s, words) in enumerate(shown):
        next_s = shown[number + 1][0] if number + 1 < len(shown) else None
        if not _BLANK.sub("", words):
            continue
        end_s = start_s + reading_time_s(words) if next_s is None else next_s
        if end_s - start_s > _NO_END_S:  # nothing took it off the screen
            end_s = start_s + max(reading_time_s(words), 2.0)
        cues.append(Cue(start_s=start_s, end_s=end_s, text=words))
    return cues
