"""Subtitle tracks inside a video: which there are, which one to read, and what it says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import av
from av.stream import Disposition

from folioreel.errors import InputError
from folioreel.ingest.subtitles.cues import Cue, ParsedCues
from folioreel.ingest.subtitles.dialogue import Dialogue, build_dialogue
from folioreel.ingest.subtitles.formats import guess_format
from folioreel.ingest.subtitles.pysubs2_formats import parse_substation
from folioreel.ingest.subtitles.subrip import split_voices
from folioreel.ingest.subtitles.ttml_sami import parse_ttml
from folioreel.ingest.video.container import OpenVideo
from folioreel.language import PREFERRED, language_code, language_name
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.times import format_timestamp

_CODEC_NAMES = {
    "srt": "SubRip", "subrip": "SubRip", "ass": "ASS", "ssa": "ASS", "webvtt": "WebVTT",
    "mov_text": "MP4 text", "pgssub": "PGS pictures", "dvdsub": "VobSub pictures",
    "dvbsub": "DVB pictures", "xsub": "XSUB pictures", "text": "text", "unknown": "TTML or unknown",
}  # fmt: skip
_FORCED_TITLE = re.compile(r"\b(?:forced|signs?|songs?|foreign parts?)\b", re.IGNORECASE)
_SDH_TITLE = re.compile(r"\b(?:sdh|cc|hoh|hi|hearing|closed captions?)\b", re.IGNORECASE)
_COMMENTARY_TITLE = re.compile(r"\b(?:commentary|comments?|lyrics|karaoke)\b", re.IGNORECASE)
_STAGE = "reading the subtitle track"


@dataclass(frozen=True, kw_only=True)
class Track:
    """A subtitle track of a video."""

    index: int  # the number of the stream in the file, by which a user names it
    codec: str
    is_text: bool
    language: str | None = None  # two letters, or None where the file does not say
    title: str = ""
    forced: bool = False  # only foreign speech, or what is written in the picture
    hearing_impaired: bool = False
    default: bool = False
    commentary: bool = False

    def __str__(self) -> str:
        """For messages: `track 3 (English, SDH, SubRip)`."""
        marks = {"forced": self.forced, "SDH": self.hearing_impaired, "commentary": self.commentary}
        words = [language_name(self.language), *(mark for mark, is_set in marks.items() if is_set)]
        title = [f"“{self.title}”"] if self.title else []
        codec = _CODEC_NAMES.get(self.codec, self.codec)
        return f"track {self.index} ({', '.join([*words, *title, codec])})"


class TrackSource(Protocol):
    """An open file with subtitle tracks: a video, or bitmap subtitles in a file of their own."""

    path: Path
    container: Any

    @property
    def origin_s(self) -> float:
        """The timestamp that is time zero of the film."""

    @property
    def file_length_s(self) -> float:
        """How long the file lasts; 0 if it does not say."""

    def packets(self, index: int) -> Iterator[Any]:
        """The packets of one stream from its beginning."""


def list_tracks(video: TrackSource) -> tuple[Track, ...]:
    """The subtitle tracks of a video, in the order of the file."""
    return tuple(map(_describe, video.container.streams.subtitles))


def choose_track(
    tracks: Sequence[Track],
    video: Path,
    wanted: int | str | None = None,
    preferred: str = PREFERRED,
) -> tuple[Track, str]:
    """Choose a track by number, by language or title, or, if none is asked for, the best one.

    The best: the whole dialogue before forced tracks and commentaries, text before pictures of
    text, the preferred language before English and English before others, no SDH if there is a
    choice, then the track marked as default. The mark comes last because many programs simply
    set it on the first track.

    Returns:
        The track, and a note for the user that says what was chosen.
    """
    found = _matching(tracks, wanted)
    if not found:
        listed = "; ".join(map(str, tracks)) or "none"
        raise InputError(f"has no subtitle track {wanted!r}; it has: {listed}", video)
    best = min(found, key=lambda track: _rank(track, preferred))
    others = [track for track in tracks if track is not best]
    note = f"subtitles: {best}"
    return best, f"{note}; also available: {'; '.join(map(str, others))}" if others else note


def read_track(
    video: OpenVideo,
    track: Track,
    progress: ProgressCallback | None = None,
    language: str | None = None,
    *,
    until_s: float = math.inf,
) -> Dialogue:
    """Read a text track, or its beginning, into spoken sentences.

    `language` is what the user says that it is in.
    """
    cues: list[Cue] = []
    dialogue_lines: list[str] = []
    notes: list[str] = []
    for packet, start_s in track_packets(video, track.index, progress or ignore_progress, notes):
        if start_s > until_s:
            break
        end_s = start_s + float((packet.duration or 0) * packet.time_base)
        if track.codec in ("ass", "ssa"):
            dialogue_lines.append(_dialogue_line(bytes(packet), start_s, end_s))
        elif track.codec == "unknown":
            cues += _parse_unknown(bytes(packet), track, video.path)
        else:
            text = _packet_text(packet, track.codec)
            cues += split_voices(Cue(start_s=start_s, end_s=end_s, text=text))
    if dialogue_lines:
        parsed = parse_substation("\n".join(dialogue_lines))
        cues, notes = [*parsed.cues], [*notes, *parsed.notes]
    if not any(cue.text.strip() for cue in cues):
        raise InputError(f"{track} has no cues; choose another one", video.path)
    parsed = ParsedCues(format=track.codec, cues=tuple(cues), notes=tuple(notes))
    return replace(build_dialogue(parsed, language, track.language), source="track")


def _describe(stream: Any) -> Track:
    title = str(stream.metadata.get("title") or stream.metadata.get("name") or "").strip()
    flags, context = stream.disposition, stream.codec_context
    sdh = Disposition.hearing_impaired | Disposition.captions
    return Track(
        index=stream.index,
        codec=context.name if context is not None else "unknown",
        is_text=context is None or not context.codec.bitmap_sub,
        language=language_code(stream.metadata.get("language")) or language_code(title),
        title=title,
        forced=bool(flags & Disposition.forced or _FORCED_TITLE.search(title)),
        hearing_impaired=bool(flags & sdh or _SDH_TITLE.search(title)),
        default=bool(flags & Disposition.default),
        commentary=bool(flags & Disposition.comment or _COMMENTARY_TITLE.search(title)),
    )


def _matching(tracks: Sequence[Track], wanted: int | str | None) -> list[Track]:
    """The tracks that `wanted` may mean: a number, a language, or part of a title."""
    if wanted is None:
        return list(tracks)
    if isinstance(wanted, int) or wanted.strip().isdigit():
        return [track for track in tracks if track.index == int(wanted)]
    code, word = language_code(wanted), wanted.strip().casefold()
    by_language = [track for track in tracks if code is not None and track.language == code]
    return by_language or [track for track in tracks if word and word in track.title.casefold()]


def _rank(track: Track, preferred: str) -> tuple[bool, ...]:
    """Smaller is better, and of equals the first; see `choose_track`."""
    no_dialogue = (track.forced, track.commentary)
    return (
        *no_dialogue,
        not track.is_text,
        track.language != preferred,
        track.language != PREFERRED,
        track.hearing_impaired,
        not track.default,
    )


def track_packets(
    video: TrackSource, index: int, progress: ProgressCallback, notes: list[str]
) -> Iterator[tuple[Any, float]]:
    """The packets of one stream with their times; if the file breaks off, a note says so."""
    total_s = video.file_length_s
    try:
        for packet in video.packets(index):
            if packet.pts is None or not packet.size:
                continue
            start_s = float(packet.pts * packet.time_base) - video.origin_s
            progress(Progress(stage=_STAGE, done=min(start_s, total_s), total=total_s))
            yield packet, start_s
    except av.FFmpegError:
        notes.append("the file breaks off inside the subtitle track; what comes before was read")
    progress(Progress(stage=_STAGE, done=total_s, total=total_s))


def _parse_unknown(data: bytes, track: Track, video: Path) -> list[Cue]:
    """A packet that FFmpeg cannot decode; TTML in MP4 is one, and each packet a whole document."""
    text = data.decode("utf-8", errors="replace")
    if guess_format(text) != "ttml":
        message = f"{track} cannot be decoded; give a subtitle file with --subtitles"
        raise InputError(message, video)
    try:
        return parse_ttml(text)
    except InputError as error:
        raise InputError(f"{track} {error.message}", video) from error


def _dialogue_line(data: bytes, start_s: float, end_s: float) -> str:
    """A line of an ASS file from a packet: `order, layer, style, …, text`, without times."""
    fields = data.decode("utf-8", errors="replace").replace("\n", "\\N").split(",", 2)
    layer, rest = (fields[1], fields[2]) if len(fields) == 3 else ("0", ",,0,0,0,,")
    start, end = format_timestamp(max(start_s, 0)), format_timestamp(max(end_s, 0))
    return f"Dialogue: {layer},{start},{end},{rest}"


def _packet_text(packet: Any, codec: str) -> str:
    """The text of one packet, with its markup."""
    data = bytes(packet)
    if codec == "webvtt":
        # FFmpeg's decoder would drop the speakers. The packet is the cue's text; in MP4, in boxes.
        is_boxed = data[4:8] in (b"vttc", b"vtte", b"vttx")
        return (_payload(data) if is_boxed else data).decode("utf-8", errors="replace")
    if codec in ("srt", "subrip", "text"):
        return data.decode("utf-8", errors="replace")
    try:
        rects = packet.stream.decode(packet)
    except av.FFmpegError:
        return ""
    # `order, layer, style, name, left, right, vertical, effect, text`
    lines = [rect.ass.decode("utf-8", errors="replace").split(",", 8) for rect in rects if rect.ass]
    return "\n".join(fields[8] for fields in lines if len(fields) == 9)


def _payload(data: bytes) -> bytes:
    """The `payl` boxes of the `vttc` boxes of an MP4 sample."""
    texts, position = [], 0
    while position + 8 <= len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        kind, content = data[position + 4 : position + 8], data[position + 8 : position + size]
        if kind == b"vttc":
            texts.append(_payload(content))
        elif kind == b"payl":
            texts.append(content)
        position += max(size, 8)
    return b"\n".join(texts)
