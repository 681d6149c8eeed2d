"""Subtitle tracks inside a video: which there are, which one to read, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
from av.stream import Discard, Disposition

from folioreel.errors import InputError
from folioreel.ingest.subtitles.cues import Cue
from folioreel.ingest.subtitles.dialogue import Dialogue, build_dialogue
from folioreel.ingest.subtitles.formats import ParsedCues, parse_substation
from folioreel.ingest.subtitles.subrip import split_voices
from folioreel.ingest.subtitles.ttml import parse_ttml
from folioreel.ingest.video.container import open_container, origin_s
from folioreel.ingest.video.languages import language_code, language_name
from folioreel.progress import Progress, ProgressCallback, ignore_progress

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

    index: int
    """The number of the stream in the file, by which a user names it."""
    codec: str
    is_text: bool
    language: str | None = None
    """Two letters, or None where the file does not say."""
    title: str = ""
    forced: bool = False
    """Only what is foreign in the film, or written in it."""
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


def list_tracks(video: Path) -> tuple[Track, ...]:
    """All subtitle tracks of a video, text and pictures alike."""
    with open_container(video) as container:
        return tuple(_describe(stream) for stream in container.streams if stream.type == "subtitle")


def choose_track(
    tracks: Sequence[Track], video: Path, wanted: int | str | None = None
) -> tuple[Track, str]:
    """Choose a track by number, by language or title, or sensibly.

    Without a wish: text before pictures, the whole dialogue before forced tracks and commentaries,
    English before other languages, no SDH where there is a choice, then the track that is marked as
    default. The mark comes last because many programs set it on the first track by habit.

    Returns:
        The track, and a note for the user that says what was chosen.

    Raises:
        InputError: There is no such track, or it holds pictures of text.
    """
    found = _matching(tracks, wanted)
    if not found:
        listed = "; ".join(map(str, tracks)) or "none"
        raise InputError(f"has no subtitle track {wanted!r}; it has: {listed}", video)
    best = min(found, key=_rank)
    if not best.is_text:
        raise InputError(
            f"its subtitles are pictures of text: {'; '.join(map(str, found))}; recognise them "
            "with Subtitle Edit (or pgsrip for PGS) or give a subtitle file with --subtitles",
            video,
        )
    others = [track for track in tracks if track is not best]
    note = f"subtitles: {best}"
    return best, f"{note}; also there: {'; '.join(map(str, others))}" if others else note


def read_track(video: Path, track: Track, progress: ProgressCallback | None = None) -> Dialogue:
    """Read a text track into spoken sentences.

    Raises:
        InputError: The track holds no cue.
    """
    parsed = _read_cues(video, track, progress or ignore_progress)
    if not any(cue.text.strip() for cue in parsed.cues):
        raise InputError(f"{track} holds no cue; choose another one", video)
    return build_dialogue(parsed.cues, parsed.format, parsed.notes)


def _describe(stream: Any) -> Track:
    title = str(stream.metadata.get("title") or stream.metadata.get("name") or "").strip()
    disposition = stream.disposition
    context = stream.codec_context
    codec = context.name if context is not None else "unknown"
    return Track(
        index=stream.index,
        codec=codec,
        is_text=context is None or not context.codec.bitmap_sub,
        language=language_code(stream.metadata.get("language")) or language_code(title),
        title=title,
        forced=bool(disposition & Disposition.forced or _FORCED_TITLE.search(title)),
        hearing_impaired=bool(
            disposition & (Disposition.hearing_impaired | Disposition.captions)
            or _SDH_TITLE.search(title)
        ),
        default=bool(disposition & Disposition.default),
        commentary=bool(disposition & Disposition.comment or _COMMENTARY_TITLE.search(title)),
    )


def _matching(tracks: Sequence[Track], wanted: int | str | None) -> list[Track]:
    """The tracks that a wish may mean."""
    if wanted is None:
        return list(tracks)
    if isinstance(wanted, int) or wanted.strip().isdigit():
        return [track for track in tracks if track.index == int(wanted)]
    code, word = language_code(wanted), wanted.strip().casefold()
    by_language = [track for track in tracks if code is not None and track.language == code]
    return by_language or [track for track in tracks if word and word in track.title.casefold()]


def _rank(track: Track) -> tuple[bool, bool, bool, bool, bool, bool, int]:
    """What to prefer, the most telling first."""
    return (
        not track.is_text,
        track.forced,
        track.commentary,
        track.language != "en",
        track.hearing_impaired,
        not track.default,
        track.index,
    )


def _read_cues(video: Path, track: Track, progress: ProgressCallback) -> ParsedCues:
    """The cues of a track in the order of the file."""
    cues: list[Cue] = []
    dialogue_lines: list[str] = []
    notes: list[str] = []
    with open_container(video) as container:
        for packet in _packets(container, track.index, progress, notes):
            start_s = float(packet.pts * packet.time_base) - origin_s(container)
            end_s = start_s + float((packet.duration or 0) * packet.time_base)
            if track.codec in ("ass", "ssa"):
                dialogue_lines.append(_dialogue_line(bytes(packet), start_s, end_s))
            elif track.codec == "unknown":
                cues += _parse_unknown(bytes(packet), track, video)
            else:
                text = _packet_text(packet, track.codec)
                cues += split_voices(Cue(start_s=start_s, end_s=end_s, text=text))
    if dialogue_lines:
        parsed = parse_substation("\n".join(dialogue_lines))
        return ParsedCues(format=track.codec, cues=parsed.cues, notes=(*notes, *parsed.notes))
    return ParsedCues(format=track.codec, cues=tuple(cues), notes=tuple(notes))


def _packets(
    container: Any, index: int, progress: ProgressCallback, notes: list[str]
) -> Iterator[Any]:
    """The packets of one stream; where the file breaks off, a note says so."""
    stream = container.streams[index]
    for other in container.streams:
        if other.index != index:
            other.discard = Discard.all
    total_s = float(container.duration or 0) / av.time_base
    try:
        for packet in container.demux(stream):
            if packet.pts is None or not packet.size:
                continue
            done_s = float(packet.pts * packet.time_base) - origin_s(container)
            progress(Progress(stage=_STAGE, done=min(done_s, total_s), total=total_s))
            yield packet
    except av.FFmpegError:
        notes.append("the file breaks off inside the subtitle track; what comes before was read")
    progress(Progress(stage=_STAGE, done=total_s, total=total_s))


def _parse_unknown(data: bytes, track: Track, video: Path) -> list[Cue]:
    """A packet that FFmpeg has no decoder for: TTML inside MP4 is a document of its own."""
    text = data.decode("utf-8", errors="replace")
    if not re.search(r"<(?:\w+:)?tt[\s>]", text[:4096]):
        raise InputError(
            f"{track} is of a kind that cannot be decoded; give a subtitle file with --subtitles",
            video,
        )
    return parse_ttml(text, video)


def _dialogue_line(data: bytes, start_s: float, end_s: float) -> str:
    """A line of an ASS file from a packet: `order, layer, style, name, …, text` without times."""
    fields = data.decode("utf-8", errors="replace").replace("\n", "\\N").split(",", 2)
    layer, rest = (fields[1], fields[2]) if len(fields) == 3 else ("0", ",,0,0,0,,")
    return f"Dialogue: {layer},{_ass_time(start_s)},{_ass_time(end_s)},{rest}"


def _ass_time(time_s: float) -> str:
    hundredths = round(abs(time_s) * 100)
    sign = "-" if time_s < 0 else ""
    minutes, rest = divmod(hundredths, 6000)
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{rest // 100:02}.{rest % 100:02}"


def _packet_text(packet: Any, codec: str) -> str:
    """The text of one packet, with its markup."""
    data = bytes(packet)
    if codec == "webvtt":
        # FFmpeg's decoder drops the voices; the packet is the cue's text, in boxes inside MP4.
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
