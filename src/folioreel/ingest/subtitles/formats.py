"""Subtitle files of any format → cues; the format is detected from the content.

To add a format, write a parser beside those of its family (`subrip.py`: lines under a line of
times; `ttml_sami.py`: tags; `pysubs2_formats.py`: what pysubs2 reads, and JSON) and add it to
`FORMATS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest import source
from folioreel.ingest.encodings import decode_text
from folioreel.ingest.subtitles import pysubs2_formats as events
from folioreel.ingest.subtitles import subrip
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.ttml_sami import parse_sami, parse_ttml
from folioreel.language import PREFERRED, language_code

# What subtitle files are called, including those of pictures, which the folder `ocr` reads.
SUBTITLE_SUFFIXES = frozenset(
    ".ass .dfxp .idx .lrc .mpl .mpl2 .sami .sbv .smi .srt .ssa .sub .sup .tmp .ttml .vtt .webvtt "
    ".xml".split()
)
MARKS = {"sdh": "sdh", "cc": "sdh", "hi": "sdh", "forced": "forced", "foreign": "forced"}
"""Words in the names of subtitle files, beside the language: what kind of subtitles they are."""
# A third of the lines of a subtitle file are times, of long-winded ones a tenth. A book may hold
# such a line too, but not three in a hundred.
_FEWEST_TIMES = 0.03


# What Unicode, old printers and old mainframes have for a new line. JSON may hold it inside words.
_NEW_LINES = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_JSON = frozenset({"whisper", "json3", "json"})

# Text, the frame rate of the video if known, and the language to choose where there are several
# → cues. Raises `InputError` without a path.
Parser = Callable[[str, float | None, str], ParsedCues]


@dataclass(frozen=True, kw_only=True)
class SubtitleFormat:
    """How a format is recognised and read."""

    parse: Parser
    matches: Callable[[str], bool] | None = None  # for formats that have a header
    line: re.Pattern[str] | None = None  # how a line with times looks, if only the lines tell


def _plain(parse: Callable[[str], list[Cue]]) -> Parser:
    return lambda text, frame_rate, language: ParsedCues(cues=tuple(parse(text)))


def _whole(parse: Callable[[str], ParsedCues]) -> Parser:
    return lambda text, frame_rate, language: parse(text)


def _timed(parse: Callable[[str, float | None], ParsedCues]) -> Parser:
    return lambda text, frame_rate, language: parse(text, frame_rate)


def _sami(text: str, frame_rate: float | None, language: str) -> ParsedCues:
    return parse_sami(text, language)


def _search(pattern: str, flags: int = 0, size: int | None = 4096) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.search(text[:size]) is not None


# In old web pages, `<tt>` is a tag for the letters of typewriters.
_TTML_ROOT = r"\A\s*+(?:<(?:!--(?s:.)*?--|[?!][^<>]*+)>\s*+)*+<(?:\w+:)?tt[\s>]"

FORMATS: dict[str, SubtitleFormat] = {
    "vtt": SubtitleFormat(parse=_whole(subrip.parse_webvtt), matches=_search(r"\AWEBVTT(?!\S)")),
    "ass": SubtitleFormat(
        parse=_timed(events.parse_substation),
        matches=_search(r"^\[Script Info\]|^\[V4\+? Styles\]", re.MULTILINE | re.IGNORECASE, None),
        line=events.DIALOGUE_LINE,
    ),
    "ttml": SubtitleFormat(parse=_plain(parse_ttml), matches=_search(_TTML_ROOT)),
    "sami": SubtitleFormat(parse=_sami, matches=_search(r"(?i)<sami\b|<sync\b")),
    "whisper": SubtitleFormat(parse=_whole(events.parse_whisper)),  # JSON: see `json_kind`
    "json3": SubtitleFormat(parse=_whole(events.parse_json3)),
    "json": SubtitleFormat(parse=_plain(events.parse_saved)),
    "srt": SubtitleFormat(parse=_whole(subrip.parse_subrip), line=subrip.TIMING),
    "microdvd": SubtitleFormat(parse=_timed(events.parse_microdvd), line=events.MICRODVD_LINE),
    "mpl2": SubtitleFormat(parse=_plain(events.parse_mpl2), line=events.MPL2_LINE),
    "tmp": SubtitleFormat(parse=_plain(events.parse_tmp), line=events.TMP_LINE),
    "lrc": SubtitleFormat(parse=_plain(events.parse_lrc), line=events.LRC_LINE),
}
"""Formats by name. Headers are tried in this order; then the lines vote."""


def name_language(path: Path) -> str | None:
    """The language in the name of a subtitle file: `film.fr.srt`, `film.french.sdh.srt`."""
    words = path.stem.casefold().split(".")[1:]
    while words and words[-1] in MARKS:
        words.pop()
    return language_code(words[-1]) if words else None


def read_cues(
    path: Path, frame_rate: float | None = None, preferred: str = PREFERRED
) -> ParsedCues:
    """Read the cues of a subtitle file; see `dialogue.read_subtitles`."""
    data = source.open_source(path, _refuse_video).data
    if (kind := source.describe_bitmap_subtitles(data)) is not None:
        raise InputError(
            f"is {kind}: pictures of text, not text; give it as a film or with --subtitles, where "
            "pictures are read",
            path,
        )
    try:
        text = _decode(data, path)
    except InputError:
        raise _not_subtitles(data, path) from None
    name = guess_format(text)
    if name is None:
        raise _not_subtitles(text[:4096].encode(), path)
    if name not in _JSON:
        text = text.translate(_NEW_LINES)
    try:
        parsed = FORMATS[name].parse(text, frame_rate, preferred)
    except InputError as error:
        raise InputError(error.message, path) from error
    except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:
        # Parsers, above all those of pysubs2, take it that numbers are numbers and of sane length.
        raise InputError(f"is not as {name} files should be ({error}); convert it", path) from error
    return replace(parsed, format=parsed.format or name)


def guess_format(text: str) -> str | None:
    """The name of the format of a text, or None if it does not look like subtitles."""
    text = text.lstrip("\ufeff \n\t")
    if (kind := events.json_kind(text)) is not None:
        return kind
    text = text.translate(_NEW_LINES)
    for name, known in FORMATS.items():
        if known.matches is not None and known.matches(text):
            return name
    votes: Counter[str] = Counter()
    lines = [line for line in text[:200_000].split("\n") if line.strip()]
    patterns = [(name, known.line) for name, known in FORMATS.items() if known.line is not None]
    for line in lines:
        votes.update([name for name, pattern in patterns if pattern.match(line)][:1])
    best, count = max(votes.items(), key=lambda vote: vote[1], default=("", 0))
    return best if count > _FEWEST_TIMES * len(lines) else None


def _refuse_video(head: bytes, path: Path) -> None:
    """Do not read gigabytes of video as text."""
    if (video := source.describe_video(head)) is not None and not source.describe_bitmap_subtitles(
        head
    ):
        raise UnknownFormatError(f"is {video}, not a subtitle file; give .srt, .vtt …", path)


def _not_subtitles(data: bytes, path: Path) -> UnknownFormatError:
    return UnknownFormatError(
        f"is not a subtitle file but seems to be {source.describe_file(data)}; "
        "give a video or subtitles (.srt, .vtt, .ass, .ttml …)",
        path,
    )


def _decode(data: bytes, path: Path) -> str:
    """Text in any encoding, guessed from the lines that are not plain ASCII.

    Half of a subtitle file is numbers and times, which drown the statistics of its language.
    """
    if b"\x00" not in data:  # not UTF-16
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = data.split(b"\n")
    telling = [number for number, line in enumerate(lines) if not line.isascii()]
    if telling and b"\x00" not in data and not data.startswith(b"\xef\xbb\xbf"):
        decoded = decode_text(b"\n".join(lines[k] for k in telling), path).split("\n")
        if len(decoded) == len(telling):
            texts = [line.decode("ascii", errors="replace") for line in lines]
            for number, text in zip(telling, decoded, strict=True):
                texts[number] = text
            return "\n".join(texts)
    return decode_text(data, path)
