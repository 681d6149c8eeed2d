"""Any film -> `Film`: a video with its subtitles, or a subtitle file alone (paper, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from folioreel.errors import InputError, UnknownFormatError
from folioreel.files import file_sha256
from folioreel.ingest.source import decode_text, describe_bitmap_subtitles, read_head
from folioreel.ingest.subtitles.dialogue import SUBTITLE_SUFFIXES, Dialogue, read_subtitles
from folioreel.ingest.subtitles.formats import guess_format
from folioreel.ingest.video.container import find_video_stream, length_s, open_container
from folioreel.ingest.video.scan_cache import recall_features, scan_cached
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.ingest.video.shots import VideoScan, scan_video
from folioreel.ingest.video.sidecar import find_sidecar
from folioreel.ingest.video.sync import check_times
from folioreel.ingest.video.tracks import Track, choose_track, list_tracks, read_track
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import ProgressCallback
from folioreel.types import Film

_RELEASE_WORDS = re.compile(
    r"[\s._(\[-]+(?:(?:19|20)\d\d\b|\d{3,4}[pi]\b|dvd|blu-?ray|brrip|web-?(?:dl|rip)|hdtv|x26[45]|xvid)"
    r".*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class _VideoFacts:
    """What a video's header tells."""

    title: str
    duration_s: float
    frame_rate: float | None


def load_film(
    path: Path | str,
    subtitles: Path | int | str | None = None,
    shots: bool = True,
    detector: DetectorName = "adaptive",
    progress: ProgressCallback | None = None,
    *,
    encoder: FrameEncoder | None = None,
) -> Film:
    """Read a film.

    Args:
        path: A video, or a subtitle file alone.
        subtitles: Where the speech comes from: a subtitle file, the number of a track of the
            video, a language (`en`, `eng`, `English`), or `none`. By default the video's best
            text track, else a subtitle file beside it.
        shots: Whether to find the video's shots, which takes a pass over all its pictures.
        detector: What finds them: `adaptive`, or `transnetv2` where that package is installed.
        progress: Told how far each stage has come.
        encoder: What looks at the shots, such as `load_frame_features()`; its vectors become
            `Film.features`, and are kept in the cache.

    Raises:
        InputError: A file is missing, broken or empty, or the subtitles are pictures of text.
        UnknownFormatError: A file is neither video nor subtitles.
    """
    path = Path(path)
    if _is_subtitle_file(path):
        if subtitles is not None:
            raise InputError("is a subtitle file itself; leave --subtitles away", path)
        return _load_subtitles_alone(path)
    facts = _read_facts(path)
    dialogue, notes = _find_dialogue(path, subtitles, facts, progress)
    sha256 = file_sha256(path)
    scan = None
    if shots and encoder is not None:
        scan = scan_cached(path, sha256, detector, encoder, progress)
    elif shots:
        scan = scan_video(path, progress, detector)
    return _build_film(path, sha256, facts, scan, dialogue, notes)


def is_film(path: Path | str) -> bool:
    """Whether a file is a video or a subtitle file, by its content; books are neither."""
    path = Path(path)
    if not path.is_file():
        return False
    if _is_subtitle_file(path):
        with path.open("rb") as file:
            head = file.read(65536)
        is_pictures = describe_bitmap_subtitles(head) is not None
        return is_pictures or guess_format(decode_text(head or b" ", path)) is not None
    try:
        with open_container(path) as container:
            find_video_stream(container, path)
    except InputError as error:
        # A damaged video is one all the same, and its reader says what is wrong with it.
        return not isinstance(error, UnknownFormatError) and "damaged" in error.message
    return True


def _is_subtitle_file(path: Path) -> bool:
    """Whether a file is text, or pictures of text; what is wrong with it its reader says."""
    is_called_so = path.suffix.lower() in SUBTITLE_SUFFIXES
    if not path.is_file():
        return is_called_so
    try:
        head = read_head(path)
    except InputError:
        return is_called_so  # the reader of subtitles, or of videos, says what is wrong
    try:
        decode_text(head, path)
    except InputError:
        return is_called_so and describe_bitmap_subtitles(head) is not None
    return True


def _build_film(
    path: Path,
    sha256: str,
    facts: _VideoFacts,
    scan: VideoScan | None,
    dialogue: Dialogue | None,
    notes: list[str],
) -> Film:
    duration_s = facts.duration_s
    if scan is not None:
        duration_s = scan.end_s
        notes += scan.notes
    if dialogue is not None:
        whole_s = max(facts.duration_s, duration_s)
        times = (dialogue.first_cue_s, dialogue.last_cue_s)
        notes += check_times(*times, whole_s, facts.frame_rate)
        duration_s = max([duration_s, *(s.end_s for s in dialogue.subtitles if s.end_s <= whole_s)])
    return Film(
        title=facts.title,
        duration_s=duration_s,
        shots=scan.shots if scan is not None else (),
        subtitles=dialogue.subtitles if dialogue is not None else (),
        video=path,
        path=path,
        sha256=sha256,
        notes=tuple(notes),
        features=scan.features if scan is not None else None,
    )


def _load_subtitles_alone(path: Path) -> Film:
    dialogue = read_subtitles(path)
    if not dialogue.subtitles:
        raise InputError(
            f"holds {dialogue.cue_count} cues and no speech ({'; '.join(dialogue.notes)}); "
            "give other subtitles",
            path,
        )
    return Film(
        title=_title_from_name(path),
        duration_s=max(subtitle.end_s for subtitle in dialogue.subtitles),
        subtitles=dialogue.subtitles,
        path=path,
        sha256=file_sha256(path),
        notes=dialogue.notes,
    )


def _read_facts(path: Path) -> _VideoFacts:
    """Title, length and frame rate from the header; also checks that there are moving pictures."""
    with open_container(path) as container:
        stream = find_video_stream(container, path)
        title = str(
            container.metadata.get("title") or container.metadata.get("TITLE") or ""
        ).strip()
        rate = stream.average_rate
        return _VideoFacts(
            title=_title_from_name(path) if _is_junk(title) else title,
            duration_s=length_s(container, stream),
            frame_rate=float(rate) if rate else None,
        )


def _is_junk(title: str) -> bool:
    """Whether the title in a video's header is none: empty, an advert, or a release's name."""
    return not title or "www." in title.lower() or "://" in title or _is_release(title)


def _is_release(name: str) -> bool:
    return " " not in name and _RELEASE_WORDS.search(name) is not None


def _title_from_name(path: Path) -> str:
    """A title from a file's name: `The.Film.1999.1080p.mkv` and `The Film.en.srt` are The Film."""
    name = path.stem
    if path.suffix.lower() in SUBTITLE_SUFFIXES:
        name = re.sub(r"\.(?:[a-z]{2,3}(?:-[A-Za-z]{2,4})?|english|sdh|cc|forced)$", "", name)
    if " " not in name:
        name = re.sub(r"[._]+", " ", name)
    return _RELEASE_WORDS.sub("", name).strip(" -_.") or path.stem


def _find_dialogue(
    video: Path,
    wanted: Path | int | str | None,
    facts: _VideoFacts,
    progress: ProgressCallback | None,
) -> tuple[Dialogue | None, list[str]]:
    """The film's speech, and what to say about where it comes from."""
    if isinstance(wanted, str) and wanted.strip().casefold() == "none":
        return None, ["without subtitles, as asked: the film has silent moments alone"]
    if isinstance(wanted, Path) or (isinstance(wanted, str) and _names_file(wanted)):
        return _with_notes(read_subtitles(Path(wanted), facts.frame_rate), f"subtitles: {wanted}")
    tracks = list_tracks(video)
    if wanted is not None:
        track, note = choose_track(tracks, video, wanted)
        return _with_notes(read_track(video, track, progress), note)
    sidecar = find_sidecar(video)
    whole = [
        track for track in tracks if track.is_text and not track.forced and not track.commentary
    ]
    if not whole and sidecar is not None:
        reason = "the video has no text track" if not tracks else "the video's tracks will not do"
        note = f"subtitles: {sidecar.name}, found beside the video ({reason})"
        return _with_notes(read_subtitles(sidecar, facts.frame_rate), note)
    if not tracks:
        return None, ["no subtitles in the video or beside it: the film has silent moments alone"]
    return _first_readable(video, tracks, progress)


def _first_readable(
    video: Path, tracks: Sequence[Track], progress: ProgressCallback | None
) -> tuple[Dialogue | None, list[str]]:
    """The best track that holds any cue."""
    track, note = choose_track(tracks, video)
    others = [other for other in tracks if other is not track and other.is_text]
    try:
        return _with_notes(read_track(video, track, progress), note)
    except InputError:
        if not others:
            raise
    dialogue, notes = _first_readable(video, others, progress)
    return dialogue, [*notes, f"{track} holds no cue"]


def _with_notes(dialogue: Dialogue, note: str) -> tuple[Dialogue, list[str]]:
    silent = [] if dialogue.subtitles else ["the subtitles hold no speech"]
    return dialogue, [note, *silent, *dialogue.notes]


def _names_file(text: str) -> bool:
    """Whether a wish is a path rather than a language or a number."""
    path = Path(text)
    return path.suffix.lower() in SUBTITLE_SUFFIXES or path.is_file() or "/" in text


def watch_film(
    film: Film, encoder: FrameEncoder, *, progress: ProgressCallback | None = None
) -> Film:
    """A loaded film with the features of its shots; as it is if it has no video or no shots."""
    film = recall_features(film, encoder)
    if film.features is not None or film.video is None or film.sha256 is None or not film.shots:
        return film
    for detector in get_args(DetectorName):
        scan = scan_cached(film.video, film.sha256, detector, encoder, progress)
        if scan.shots == film.shots:
            return replace(film, features=scan.features)
    return film
