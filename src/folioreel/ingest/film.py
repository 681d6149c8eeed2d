"""Any film → `Film`: a video with its subtitles, or a subtitle file alone (paper, section 3)."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

from folioreel.errors import InputError, UnknownFormatError
from folioreel.files import file_sha256
from folioreel.ingest.dialogue_source import check_times, find_dialogue
from folioreel.ingest.source import decode_text, describe_bitmap_subtitles, read_head
from folioreel.ingest.subtitles.dialogue import Dialogue, read_subtitles
from folioreel.ingest.subtitles.formats import SUBTITLE_SUFFIXES, guess_format
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.ingest.video.shots import VideoScan, recall_features, scan_cached
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.progress import ProgressCallback
from folioreel.text import printable
from folioreel.types import Film

# Where the title ends in a file name: the year, the resolution, or the source of a release.
_log = logging.getLogger(__name__)
_RELEASE_WORDS = re.compile(
    r"[\s._(\[-]+(?:(?:19|20)\d\d\b|\d{3,4}[pi]\b|dvd|blu-?ray|brrip|web-?(?:dl|rip)|hdtv|x26[45]|xvid)"
    r".*$",
    re.IGNORECASE,
)


def load_film(
    path: Path | str,
    *,
    subtitles: Path | int | str | None = None,
    shots: bool = True,
    detector: DetectorName = "adaptive",
    progress: ProgressCallback | None = None,
    encoder: FrameEncoder | None = None,
) -> Film:
    """Read a film. The video is opened once and hashed once, whatever is read from it.

    Args:
        path: A video, or a subtitle file alone.
        subtitles: Where the words come from: a subtitle file, the number of a track of the video, a
            language (`en`, `eng`, `English`), or `none`. By default the best text track of the
            video, or a subtitle file beside it.
        shots: Whether to find the shots, which means decoding the whole video.
        detector: How to find them: `adaptive`, or `transnetv2` if that package is installed.
        progress: Called as each stage proceeds.
        encoder: Computes feature vectors of the shots (`Film.features`), for example
            `load_frame_features()`. They are cached; a film in the cache is not decoded again.

    Raises:
        InputError: A file is missing, broken or empty, or the subtitles are pictures of text.
        UnknownFormatError: A file is neither a video nor a subtitle file.
    """
    path = Path(path)
    if _is_subtitle_file(path):
        if subtitles is not None:
            raise InputError("is itself a subtitle file; drop --subtitles", path)
        return _load_subtitles_alone(path)
    with OpenVideo(path) as video:
        dialogue = find_dialogue(video, subtitles, progress)
        sha256 = file_sha256(path)
        scan = VideoScan(shots=(), end_s=video.length_s)
        if shots:
            scan = scan_cached(video, sha256, detector, encoder, progress)
        return _build_film(video, sha256, scan, dialogue)


def watch_film(
    film: Film,
    encoder: FrameEncoder,
    *,
    detector: DetectorName = "adaptive",
    progress: ProgressCallback | None = None,
) -> Film:
    """The film with feature vectors of its shots: the same as `load_film` with an encoder gives.

    A film that has features, no video or no shots is returned as it is. The detector must be the
    one that found the shots: it has to find them again for the same frames to be chosen. If the
    features are in the cache, nothing is decoded.
    If it finds others, the film stays unwatched, with a warning.
    """
    film = recall_features(film, encoder)
    if film.features is not None or film.video is None or not film.shots:
        return film
    with OpenVideo(film.video) as video:
        # Hashed anew: a film read from a result may know the hash of a file that was replaced.
        scan = scan_cached(video, file_sha256(video.path), detector, encoder, progress)
    if scan.shots != film.shots:
        _log.warning(
            f"{film.video}: the {detector} detector finds other shots than the film has, so its "
            "pictures are not used; load the film again"
        )
        return film
    return replace(film, features=scan.features)


def is_film(path: Path | str) -> bool:
    """Whether a file is a video or a subtitle file, by its content; books are neither."""
    path = Path(path)
    if not path.is_file():
        return False
    try:
        if _is_subtitle_file(path):
            head = read_head(path)
            is_bitmap = describe_bitmap_subtitles(head) is not None
            return is_bitmap or guess_format(decode_text(head, path)) is not None
        with OpenVideo(path):
            return True
    except UnknownFormatError:
        return False
    except InputError as error:
        # A damaged video is still a video; reading it will say what is wrong with it.
        return "damaged" in error.message


def _is_subtitle_file(path: Path) -> bool:
    """Whether a file is text, or bitmap subtitles; reading it will say what is wrong with it."""
    has_suffix = path.suffix.lower() in SUBTITLE_SUFFIXES
    try:
        head = read_head(path)
    except InputError:
        return has_suffix
    try:
        decode_text(head, path)
    except InputError:
        return has_suffix and describe_bitmap_subtitles(head) is not None
    return True


def _build_film(video: OpenVideo, sha256: str, scan: VideoScan, dialogue: Dialogue) -> Film:
    notes = [*dialogue.notes, *scan.notes]
    # The frames that were decoded know better than the header how long the film is; a cue may stay
    # on screen after the last of them.
    whole_s = max(video.length_s, scan.end_s)
    if dialogue.cue_count:
        first_s, last_s = dialogue.first_cue_s, dialogue.last_cue_s
        notes += check_times(first_s, last_s, whole_s, video.frame_rate)
    ends = (subtitle.end_s for subtitle in dialogue.subtitles if subtitle.end_s <= whole_s)
    return Film(
        title=_title_from_name(video.path) if _is_junk(video.title) else printable(video.title),
        duration_s=max([scan.end_s, *ends]),
        shots=scan.shots,
        subtitles=dialogue.subtitles,
        video=video.path,
        path=video.path,
        sha256=sha256,
        notes=tuple(notes),
        features=scan.features,
    )


def _load_subtitles_alone(path: Path) -> Film:
    dialogue = read_subtitles(path)
    if not dialogue.subtitles:
        raise InputError(
            f"has {dialogue.cue_count} cues but no speech ({'; '.join(dialogue.notes)}); "
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


def _is_junk(title: str) -> bool:
    """Whether the title in a video's header is useless: empty, an advert, or a release name."""
    is_release = " " not in title and _RELEASE_WORDS.search(title) is not None
    return not title or "www." in title.lower() or "://" in title or is_release


def _title_from_name(path: Path) -> str:
    """A title from a file name: `The.Film.1999.1080p.mkv` and `The Film.en.srt` are The Film."""
    name = path.stem
    if path.suffix.lower() in SUBTITLE_SUFFIXES:
        name = re.sub(r"\.(?:[a-z]{2,3}(?:-[A-Za-z]{2,4})?|english|sdh|cc|forced)$", "", name)
    if " " not in name:
        name = re.sub(r"[._]+", " ", name)
    return printable(_RELEASE_WORDS.sub("", name).strip(" -_.") or path.stem)
