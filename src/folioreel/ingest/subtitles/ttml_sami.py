"""TTML (also called DFXP, EBU-TT, IMSC, SMPTE-TT) and SAMI → cues.

pysubs2 is not enough for either. Of TTML it does not read frames, ticks, `dur`, nested divisions,
timed spans or older namespaces. Of SAMI it guesses the end of a cue from its length, and mixes the
languages of a file; here the next `<SYNC>` ends a cue, and one language is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lxml import etree

from folioreel.errors import InputError
from folioreel.ingest.subtitles.cues import Cue, reading_time_s

_CLOCK = re.compile(r"^(\d+):(\d{1,2}):(\d{1,2})(?:\.(\d+)|:(\d+)(?:\.\d+)?)?$")
_OFFSET = re.compile(r"^(\d+(?:\.\d+)?)(h|ms|m|s|f|t)?$")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_SILENT_ROLES = frozenset({"sound", "music", "lyrics", "x-sound", "x-music"})

_SYNC = re.compile(r"<sync\b[^>]*?\bstart\s*=\s*[\"']?(-?\d+)[^>]*>", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p\b([^>]*)>", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_END = re.compile(r"</body\b.*", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BLANK = re.compile(r"(?:&nbsp;|\s)+", re.IGNORECASE)
# Subtitlers keep a cue for 7 seconds at most. After more, its end is missing from the file.
_NO_END_S = 8.0


@dataclass(frozen=True, kw_only=True)
class _Clock:
    """The units that a document counts its times in."""

    frames_per_s: Fraction
    ticks_per_s: Fraction

    def seconds(self, value: str) -> float | None:
        """A clock time (`00:01:02.5`, `00:01:02:12`) or an offset (`3.2s`, `75f`, `900000t`)."""
        value = value.strip()
        if clock := _CLOCK.match(value):
            hours, minutes, seconds, fraction, frames = clock.groups()
            total = int(hours) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction or 0}")
            return total + float(int(frames or 0) / self.frames_per_s)
        if offset := _OFFSET.match(value):
            count, unit = float(offset.group(1)), offset.group(2)
            scale = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, None: 1.0}
            scale |= {"f": float(1 / self.frames_per_s), "t": float(1 / self.ticks_per_s)}
            return count * scale[unit]
        return None


def parse_ttml(text: str) -> list[Cue]:
    """The cues of a TTML document.

    Raises:
        InputError: The document is broken, or shows pictures of text instead of text.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=True)
    root = etree.fromstring(_DECLARATION.sub("", text).encode("utf-8"), parser)
    body = None
    if root is not None:
        _drop_namespaces(root)
        body = root if root.tag == "body" else root.find(".//body")
    if body is None:
        raise InputError("is TTML without a body; was the file cut short?")
    cues = list(_walk(body, _read_clock(root), 0.0, None))
    if not cues and ("backgroundImage" in text or "<image" in text):
        raise InputError(
            "holds pictures of text, not text; convert it with Subtitle Edit and give the .srt"
        )
    return cues


def _drop_namespaces(root: etree._Element) -> None:
    """Leave only local names: writers disagree about namespaces, or do not declare prefixes."""
    for element in root.iter(etree.Element):
        element.tag = re.split(r"[}:]", element.tag)[-1]
        for key, value in element.attrib.items():
            local = re.split(r"[}:]", key)[-1]
            if local not in element.attrib:
                element.set(local, value)


def _read_clock(root: etree._Element) -> _Clock:
    def number(name: str) -> int | None:
        match = re.match(r"\s*(\d+)", root.get(name, ""))
        return int(match.group(1)) or None if match else None

    multiplier = re.findall(r"\d+", root.get("frameRateMultiplier", ""))
    ratio = Fraction(int(multiplier[0]), int(multiplier[1]) or 1) if len(multiplier) == 2 else 1
    frame_rate = number("frameRate")
    frames = Fraction(frame_rate or 30) * (ratio or 1)  # 30 by the standard
    ticks = number("tickRate") or (frames * (number("subFrameRate") or 1) if frame_rate else 1)
    return _Clock(frames_per_s=frames, ticks_per_s=Fraction(ticks))


def _walk(
    element: etree._Element, clock: _Clock, parent_s: float, parent_end_s: float | None
) -> Iterator[Cue]:
    """The cues under an element whose parent's time runs from `parent_s` to `parent_end_s`."""
    begin_s, end_s = _interval(element, clock, parent_s, parent_end_s)
    if element.get("role") in _SILENT_ROLES:
        return
    is_paragraph = element.tag == "p" and not any(map(_is_timed, element.iter("span")))
    if is_paragraph or (element.tag == "span" and _is_timed(element)):
        text = _text_of(element).strip()
        if text and (is_paragraph or end_s is not None):
            end_s = begin_s + reading_time_s(text) if end_s is None else end_s
            yield Cue(start_s=begin_s, end_s=end_s, text=text, speaker=element.get("agent"))
        return
    in_turn = element.get("timeContainer") == "seq"
    cursor_s = begin_s
    for child in element.iterchildren(etree.Element):
        yield from _walk(child, clock, cursor_s if in_turn else begin_s, end_s)
        if in_turn:
            cursor_s = _interval(child, clock, cursor_s, end_s)[1] or cursor_s


def _interval(
    element: etree._Element, clock: _Clock, parent_s: float, parent_end_s: float | None
) -> tuple[float, float | None]:
    """When an element is shown; its times count from the beginning of its parent."""
    own_begin = clock.seconds(element.get("begin", "")) or 0.0
    own_end = clock.seconds(element.get("end", ""))
    length = clock.seconds(element.get("dur", ""))
    # Some writers give absolute times inside a timed parent; then the sum lies after its end.
    if parent_end_s is not None and parent_s + own_begin >= parent_end_s > own_begin >= parent_s:
        parent_s = 0.0
    begin_s = parent_s + own_begin
    ends = [parent_end_s]
    if own_end is not None:
        ends.append(parent_s + own_end)
    if length is not None:
        ends.append(begin_s + length)
    return begin_s, min((end for end in ends if end is not None), default=None)


def _text_of(element: etree._Element) -> str:
    """The text under an element: white space collapsed, `<br/>` as a line feed."""
    if element.tag == "metadata" or element.get("role") in _SILENT_ROLES:
        return ""
    parts = [_collapse(element.text)]
    for child in element:
        if isinstance(child.tag, str):  # not a comment
            parts.append("\n" if child.tag == "br" else _text_of(child))
        parts.append(_collapse(child.tail))
    return "".join(parts)


def _collapse(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _is_timed(element: etree._Element) -> bool:
    return any(element.get(name) for name in ("begin", "end", "dur"))


def parse_sami(text: str) -> list[Cue]:
    """The cues of one language of a SAMI file: English if there is a choice."""
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
    return _sami_cues(
        [(start_s, words) for start_s, label, words in shown if label in ("", chosen)]
    )


def _choose_class(shown: list[tuple[float, str, str]]) -> str:
    """The English class, or else the one with the most text."""
    sizes = Counter(label for _, label, words in shown if _BLANK.sub("", words))
    english = [label for label in sizes if label.startswith("EN") or "ENG" in label]
    return max(english or sizes or [""], key=lambda label: sizes[label])


def _sami_cues(shown: list[tuple[float, str]]) -> list[Cue]:
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
