"""TTML (also called DFXP, EBU-TT, IMSC, SMPTE-TT) and SAMI → cues.

pysubs2 is not enough for either. Of TTML it does not read frames, ticks, `dur`, nested divisions,
timed spans or older namespaces. Of SAMI it guesses the end of a cue from its length, and mixes the
languages of a file; here the next `<SYNC>` ends a cue, and one language is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from lxml import etree

from folioreel.errors import InputError
from folioreel.ingest.books.trees import plain_references
from folioreel.ingest.subtitles.cues import Cue, ParsedCues, note_untimed, reading_time_s
from folioreel.language import PREFERRED, language_code
from folioreel.times import parse_digits

_CLOCK = re.compile(r"^(\d++):(\d{1,2}):(\d{1,2})(?:\.(\d++)|:(\d++)(?:\.\d++)?)?$")
_OFFSET = re.compile(r"^(\d++)(?:\.(\d++))?(h|ms|m|s|f|t)?$")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_TIMES = ("begin", "end", "dur")
_DEEPEST = 100  # levels of tags; real files have ten
_SILENT_ROLES = frozenset({"sound", "music", "lyrics", "x-sound", "x-music"})

# A tag ends before the next one begins, even if it is not closed: otherwise a file of open tags
# would take quadratic time.
_SYNC = re.compile(r"<sync\b([^<>]*+)>", re.IGNORECASE)
_START = re.compile(r"\bstart\s*+=\s*+[\"']?(-?)(\d++)", re.IGNORECASE)
_PARAGRAPH = re.compile(r"<p\b([^<>]*+)>", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
# `.FRCC { Name: French; lang: fr-FR; }`, in the style sheet at the head.
_STYLE = re.compile(r"\.(\w++)\s*+\{[^{}]*?\blang\s*+:\s*+([\w-]++)", re.IGNORECASE)
_COUNTRIES = {"KR": "ko", "JP": "ja", "CN": "zh", "TW": "zh", "BR": "pt"}  # in names of classes
_END = re.compile(r"</(?:body|sami)\b[^<>]*+>?", re.IGNORECASE)
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_BLANK = re.compile(r"(?:&nbsp;|\s)+", re.IGNORECASE)
# Subtitlers keep a cue for 7 seconds at most. After more, its end is missing from the file.
_NO_END_S = 8.0


_Units = dict[str | None, Fraction | float]  # seconds per unit of a document's times


def _seconds(value: str | None, units: _Units) -> float | None:
    """A clock time (`00:01:02.5`, `00:01:02:12`) or an offset (`3.2s`, `75f`, `900000t`)."""
    value = (value or "").strip()
    if clock := _CLOCK.match(value):
        hours, minutes, seconds, fraction, frames = clock.groups()
        total = parse_digits(hours) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction or 0}")
        return total + float(parse_digits(frames or "") * units["f"])
    if offset := _OFFSET.match(value):
        whole, fraction, unit = offset.groups()
        return (parse_digits(whole) + float(f"0.{fraction or 0}")) * float(units[unit])
    return None


def parse_ttml(text: str) -> list[Cue]:
    """The cues of a TTML document."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=True)
    text = plain_references(_DECLARATION.sub("", text))
    root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    body = None
    if root is not None:
        _refuse_depth(root)
        _drop_namespaces(root)
        body = root if root.tag == "body" else root.find(".//body")
    if body is None:
        raise InputError("is TTML without a body; was the file cut short?")
    cues = list(_walk(body, _read_units(root), 0.0, None))
    if not cues and ("backgroundImage" in text or "<image" in text):
        raise InputError(
            "holds pictures of text, not text; convert it with Subtitle Edit and give the .srt"
        )
    return cues


def _refuse_depth(root: etree._Element) -> None:
    """Refuse what would take the functions below, which call themselves, too deep."""
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            raise InputError(f"has tags inside tags, more than {_DEEPEST} deep; is it damaged?")


def _drop_namespaces(root: etree._Element) -> None:
    """Leave only local names: writers disagree about namespaces, or do not declare prefixes."""
    for element in root.iter(etree.Element):
        element.tag = re.split(r"[}:]", element.tag)[-1]
        for key, value in element.attrib.items():
            local = re.split(r"[}:]", key)[-1]
            if local not in element.attrib:
                element.set(local, value)


def _read_units(root: etree._Element) -> _Units:
    def number(name: str) -> int:
        match = re.match(r"\s*(\d{1,9})\b", root.get(name, ""))
        return int(match[1]) if match else 0

    multiplier = re.findall(r"\d{1,9}", root.get("frameRateMultiplier", ""))
    ratio = Fraction(int(multiplier[0]), int(multiplier[1]) or 1) if len(multiplier) == 2 else 1
    frame_rate = number("frameRate")
    frames = Fraction(frame_rate or 30) * (ratio or 1)  # 30 by the standard
    ticks = number("tickRate") or (frames * (number("subFrameRate") or 1) if frame_rate else 1)
    fixed = {"h": 3600.0, "m": 60.0, "s": 1.0, None: 1.0, "ms": 0.001}
    return {**fixed, "f": 1 / frames, "t": 1 / Fraction(ticks)}


def _walk(
    element: etree._Element, units: _Units, parent_s: float, parent_end_s: float | None
) -> Iterator[Cue]:
    """The cues under an element whose parent's time runs from `parent_s` to `parent_end_s`."""
    begin_s, end_s = _interval(element, units, parent_s, parent_end_s)
    if element.get("role") in _SILENT_ROLES:
        return
    # Words outside the timed spans of a paragraph can only be shown with all of it.
    is_whole = element.tag == "p" and (
        not any(map(_is_timed, element.iter("span"))) or _has_untimed_words(element)
    )
    if is_whole or (element.tag == "span" and _is_timed(element)):
        text = _text_of(element).strip()
        if text:
            end_s = begin_s + reading_time_s(text) if end_s is None else end_s
            yield Cue(start_s=begin_s, end_s=end_s, text=text, speaker=element.get("agent"))
        return
    in_turn = element.get("timeContainer") == "seq"
    for child in element.iterchildren(etree.Element):
        yield from _walk(child, units, begin_s, end_s)
        if in_turn:  # the next child begins where this one ends
            begin_s = _interval(child, units, begin_s, end_s)[1] or begin_s


def _interval(
    element: etree._Element, units: _Units, parent_s: float, parent_end_s: float | None
) -> tuple[float, float | None]:
    """When an element is shown; its times count from the beginning of its parent."""
    own_begin, own_end, length = (_seconds(element.get(name), units) for name in _TIMES)
    own_begin = own_begin or 0.0
    # Some writers give absolute times inside a timed parent; then the sum lies after its end.
    if parent_end_s is not None and parent_s + own_begin >= parent_end_s > own_begin >= parent_s:
        parent_s = 0.0
    begin_s = parent_s + own_begin
    ends = [] if parent_end_s is None else [parent_end_s]
    ends += [] if own_end is None else [parent_s + own_end]
    ends += [] if length is None else [begin_s + length]
    return begin_s, min(ends, default=None)


def _text_of(element: etree._Element) -> str:
    """The text under an element: white space collapsed, `<br/>` as a line feed."""
    if element.tag == "metadata" or element.get("role") in _SILENT_ROLES:
        return ""
    text = re.sub(r"\s+", " ", element.text or "")
    for child in element:
        if isinstance(child.tag, str):  # not a comment
            text += "\n" if child.tag == "br" else _text_of(child)
        text += re.sub(r"\s+", " ", child.tail or "")
    return text


def _has_untimed_words(element: etree._Element) -> bool:
    """Whether there are words outside the timed spans in an element."""
    if (element.text or "").strip():
        return True
    return any(
        (child.tail or "").strip()
        or (isinstance(child.tag, str) and not _is_timed(child) and _has_untimed_words(child))
        for child in element
    )


def _is_timed(element: etree._Element) -> bool:
    return any(map(element.get, _TIMES))


def parse_sami(text: str, preferred: str = PREFERRED) -> ParsedCues:
    """The cues of one language of a SAMI file: if there is a choice, the preferred, or English."""
    parts = _SYNC.split(_END.sub("", _COMMENT.sub("", text)))
    shown: list[tuple[float, str, str]] = []  # (start_s, class, text)
    untimed = 0
    for tag, content in zip(parts[1::2], parts[2::2], strict=True):
        start = _START.search(tag)
        if start is None:
            untimed += 1
            continue
        start_s = (-1 if start[1] else 1) * parse_digits(start[2]) / 1000
        pieces = _PARAGRAPH.split(content)
        paragraphs = list(zip(pieces[1::2], pieces[2::2], strict=True)) or [("", content)]
        for attributes, paragraph in paragraphs:
            name = _CLASS.search(attributes)
            label = name.group(1).upper() if name else ""
            shown.append((start_s, label, " ".join(paragraph.split())))
    # The class of the preferred language, or the English one, or the one with the most text.
    sizes = Counter(label for _, label, words in shown if _BLANK.sub("", words))
    head = _SYNC.split(text, maxsplit=1)[0]  # with its comments, in which style sheets stand
    declared = {name.upper(): code for name, code in _STYLE.findall(head)}
    by_language = {
        language: [label for label in sizes if _class_language(label, declared) == language]
        for language in (preferred, PREFERRED)
    }
    fitting = by_language[preferred] or by_language[PREFERRED] or sizes or [""]
    chosen = max(fitting, key=lambda label: sizes[label])
    cues = _sami_cues([(s, words) for s, label, words in shown if label in ("", chosen)])
    others = ", ".join(label for label in sizes if label not in ("", chosen))
    notes = (f"read {chosen or 'what has no class'}, left out {others}",) if others else ()
    return ParsedCues(cues=tuple(cues), notes=notes + note_untimed(untimed))


def _class_language(label: str, declared: dict[str, str]) -> str | None:
    """The language of a class, by its style or by its name: `FRFRCC`, `ENGLISHSC`, `KRCC`."""
    if label.startswith("EN") or "ENG" in label:
        return "en"
    named = language_code(declared.get(label)) or language_code(label[:3]) or language_code(label)
    return named or _COUNTRIES.get(label[:2]) or language_code(label[:2])


def _sami_cues(shown: list[tuple[float, str]]) -> Iterator[Cue]:
    """The next `<SYNC>`, mostly a blank one, ends a cue."""
    for (start_s, words), following in zip(shown, [*shown[1:], None], strict=False):
        end_s = following[0] if following else start_s + reading_time_s(words)
        if end_s - start_s > _NO_END_S:  # nothing took it off the screen
            end_s = start_s + max(reading_time_s(words), 2.0)
        if _BLANK.sub("", words):
            yield Cue(start_s=start_s, end_s=end_s, text=words)
