"""Any film → `Film`: a video with its subtitles, or a subtitle file alone (paper, section 3).

A film may be several such files, which are read one by one and joined (parts.py).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from folioreel.config import SpeechConfig
from folioreel.errors import InputError, UnknownFormatError
from folioreel.files import file_sha256
from folioreel.ingest.dialogue_source import check_times, find_dialogue, read_subtitle_file
from folioreel.ingest.encodings import decode_text
from folioreel.ingest.parts import (
    Wanted,
    join_features,
    join_parts,
    match_subtitles,
    name_stage,
    split_parts,
)
from folioreel.ingest.several import Given, check_distinct, check_order, list_files
from folioreel.ingest.source import (
    describe_bitmap_subtitles,
    describe_video,
    read_head,
)
from folioreel.ingest.subtitles.dialogue import Dialogue
from folioreel.ingest.subtitles.formats import SUBTITLE_SUFFIXES, guess_format
from folioreel.ingest.sync import Timing, describe_timing, find_timing, retime
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.shot_detectors import DetectorName
from folioreel.ingest.video.shots import VideoScan, recall_features, same_shots, scan_cached
from folioreel.ingest.video.voice import find_voice
from folioreel.ingest.video.watch import FrameEncoder
from folioreel.isolation import read_apart
from folioreel.language import Languages, parse_language
from folioreel.progress import ProgressCallback, name_progress
from folioreel.text import printable
from folioreel.types import Film

_log = logging.getLogger(__name__)
# Where the title ends in a file name: the year, the resolution, or the source of a release.
_RELEASE_WORDS = re.compile(
    r"[\s._(\[-]+(?:(?:19|20)\d\d\b|\d{3,4}[pi]\b|dvd|blu-?ray|brrip|web-?(?:dl|rip)|hdtv|x26[45]|xvid)"
    r".*$",
    re.IGNORECASE,
)

# Sources whose times are taken from the film itself.
_IN_THE_FILM = {"speech": "recognised speech", "burned": "burned-in subtitles"}

# Files of sound in the containers of videos.
_SOUND = frozenset(".m4a .m4b .mka .oga .ogg .opus .weba .wma".split())
# Releases often come with a minute of the film as a sample.
_SAMPLE = re.compile(r"(?<![a-z])sample(?![a-z])", re.IGNORECASE)


def load_film(
    path: Given,
    *,
    subtitles: Wanted | Sequence[Wanted] = None,
    language: str | None = None,
    book_language: str | None = None,
    speech: SpeechConfig | None = None,
    shots: bool = True,
    timing: Timing | None = None,
    detector: DetectorName = "adaptive",
    progress: ProgressCallback | None = None,
    encoder: FrameEncoder | None = None,
) -> Film:
    """Read a film. The video is opened once and hashed once, whatever is read from it.

    Args:
        path: A video, or a subtitle file alone. A film in several parts is a list of either, in
            order, or a folder of them, whose files are sorted by the numbers in their names.
        subtitles: Where the words come from: a subtitle file, the number of a track of the video, a
            language (`en`, `eng`, `English`), `burned` into the picture, `speech` to recognise what
            is said, or `none`. By default the best text track of the video, a subtitle file beside
            it, a track of pictures of text, which needs the extra `ocr`, or else its speech, if
            that extra is installed. For a film in several parts, one of these for all of them, or a
            list with one for each.
        language: The language of the words, by code or name (`fr`, `French`); by default that of
            the track, or else what the words look like. Of several subtitles, those in it are read.
        book_language: The language of the book, if it is known: of several subtitles, those in it
            are read, or else English ones.
        speech: The model and the language of the speech, if it is recognised.
        shots: Whether to find the shots, which means decoding the whole video.
        timing: How to shift and stretch the subtitles. By default those from a file are compared
            with the film's sound, and shifted or stretched where they are clearly off.
        detector: How to find them: `adaptive`, or `transnetv2` if that package is installed.
        progress: Called as each stage proceeds.
        encoder: Computes feature vectors of the shots (`Film.features`), for example
            `load_frame_features()`. They are cached; a film in the cache is not decoded again.

    Raises:
        InputError: A file is missing, broken or empty.
        UnreadableWordsError: The subtitles are pictures, and what reads them is not installed.
        UnknownFormatError: A file is neither a video nor a subtitle file.
        ConfigError: There is no such language.
    """
    languages = Languages(
        given=None if language is None else parse_language(language),
        book=None if book_language is None else parse_language(book_language),
    )
    files = list_parts(path)
    if warning := check_order(path, files):
        _log.warning(warning)
    films = [
        _load_file(
            file,
            subtitles=wanted,
            languages=languages,
            speech=speech,
            shots=shots,
            timing=timing or Timing(),
            detector=detector,
            progress=name_stage(progress, part, len(files)),
            encoder=encoder,
        )
        for part, (file, wanted) in enumerate(
            zip(files, match_subtitles(subtitles, files), strict=True)
        )
    ]
    return films[0] if len(films) == 1 else join_parts(films)


def list_parts(given: Given) -> list[Path]:
    """The files of a film in order; those of a folder in natural order.

    Raises:
        InputError: A file is missing, a folder holds no film, or videos and subtitle files are
            given together.
        UnknownFormatError: One of several files is neither a video nor a subtitle file.
    """
    files = list_files(given, "video or subtitle file", _choose_parts)
    if len(files) == 1:
        return files
    for path in files:  # all of them before the first is decoded, which may take minutes
        read_head(path)
        if not is_film(path):
            raise UnknownFormatError(
                "is neither a video nor a subtitle file; give the parts of the film, and further "
                "volumes of the book with --book",
                path,
            )
    kinds = {_is_subtitle_file(path): path for path in files}
    if len(kinds) == 2:
        raise InputError(
            f"is a subtitle file but {kinds[False].name} is not; give the subtitles of a video "
            f"with --subtitles {kinds[True].name}, or the parts of a film all as videos or all as "
            "subtitle files",
            kinds[True],
        )
    return files


def holds_film(folder: Path) -> bool:
    """Whether a folder has a video or subtitle file in it."""
    try:
        return any(is_film(path) for path in folder.iterdir())
    except OSError:
        return False  # reading it will say what is wrong


def _choose_parts(inside: list[Path]) -> list[Path]:
    """The parts of a film in a folder: its videos, or, if there are none, its subtitle files."""
    films = [path for path in inside if is_film(path)]
    videos = [path for path in films if not _is_subtitle_file(path)]
    whole = [path for path in videos if not _SAMPLE.search(path.stem)]
    return check_distinct(whole or videos or films, _name_without_language)


def _load_file(
    path: Path,
    *,
    subtitles: Wanted,
    languages: Languages,
    speech: SpeechConfig | None,
    shots: bool,
    timing: Timing,
    detector: DetectorName,
    progress: ProgressCallback | None,
    encoder: FrameEncoder | None,
) -> Film:
    """Read a film of one file."""
    progress = name_progress(progress, path.name)
    if _is_subtitle_file(path):
        film = _load_subtitles_alone(path, timing, languages, progress)
        if subtitles is not None:
            raise InputError("is itself a subtitle file; drop --subtitles or the other file", path)
        return film
    how = (subtitles, speech, languages, shots, timing, detector, encoder)
    return read_apart(_load_video, path, *how, progress=progress)


def _load_video(
    path: Path,
    subtitles: Wanted,
    speech: SpeechConfig | None,
    languages: Languages,
    shots: bool,
    timing: Timing,
    detector: DetectorName,
    encoder: FrameEncoder | None,
    progress: ProgressCallback,
) -> Film:
    with OpenVideo(path) as video:
        dialogue = find_dialogue(video, subtitles, progress, speech, languages)
        dialogue = _fit_times(video, dialogue, timing, progress)
        scan = VideoScan(shots=(), end_s=video.length_s)
        if shots:
            scan = scan_cached(video, video.sha256, detector, encoder, progress)
        return _build_film(video, scan, dialogue)


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
    if film.features is not None or not film.has_video or not film.shots:
        return film
    if film.parts:
        watched = [
            watch_film(
                part,
                encoder,
                detector=detector,
                progress=name_stage(progress, number, len(film.parts)),
            )
            for number, part in enumerate(split_parts(film))
        ]
        return replace(film, features=join_features([part.features for part in watched]))
    assert film.video is not None
    progress = name_progress(progress, film.video.name)
    scan = read_apart(_scan_video, film.video, detector, encoder, progress=progress)
    if not same_shots(scan.shots, film.shots):
        _log.warning(
            f"{film.video}: the {detector} detector finds other shots than the film has, so its "
            "pictures are not used; load the film again"
        )
        return film
    return replace(film, features=scan.features)


def _scan_video(
    path: Path, detector: DetectorName, encoder: FrameEncoder, progress: ProgressCallback
) -> VideoScan:
    with OpenVideo(path) as video:
        # Hashed anew: a film read from a result may know the hash of a file that was replaced.
        return scan_cached(video, video.sha256, detector, encoder, progress)


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
        if describe_video(read_head(path)) is not None and path.suffix.lower() not in _SOUND:
            return True  # without a process of its own, which takes half a second
        return read_apart(_is_video, path)
    except UnknownFormatError:
        return False
    except InputError as error:
        # A damaged video is still a video; reading it will say what is wrong with it.
        return "damaged" in error.message


def _is_video(path: Path, progress: ProgressCallback) -> bool:
    with OpenVideo(path):
        return True


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


def _fit_times(
    video: OpenVideo,
    dialogue: Dialogue,
    timing: Timing,
    progress: ProgressCallback | None,
) -> Dialogue:
    """The dialogue at the times that the user gives, or that the film's sound calls for."""
    if timing.is_given and dialogue.source in _IN_THE_FILM:
        what = _IN_THE_FILM[dialogue.source]
        note = f"the times of {what} are the film's own, so they are neither shifted nor stretched"
        return replace(dialogue, notes=(*dialogue.notes, note))
    if timing.is_given:
        return retime(dialogue, timing)
    # A file may have the times of another release. Tracks of the video are trusted.
    if not (timing.sync and dialogue.from_file and dialogue.subtitles):
        return dialogue
    voice = find_voice(video, video.sha256, progress)
    found = None if voice is None else find_timing(dialogue.subtitles, voice)
    if found is None:
        return dialogue
    note = describe_timing(found, dialogue.last_cue_s)
    return retime(replace(dialogue, notes=(*dialogue.notes, note)), found)


def _build_film(video: OpenVideo, scan: VideoScan, dialogue: Dialogue) -> Film:
    notes = [*dialogue.notes, *scan.notes]
    # The frames that were decoded know better than the header how long the film is; a cue may stay
    # on screen after the last of them.
    whole_s = max(video.length_s, scan.end_s)
    if dialogue.cue_count:
        first_s, last_s = dialogue.first_cue_s, dialogue.last_cue_s
        said = dialogue.subtitles
        if not dialogue.from_file and said and said[-1].start_s < whole_s:
            last_s = min(last_s, whole_s)  # a track was cut with its video, its last cue was not
        notes += check_times(first_s, last_s, whole_s, video.frame_rate)
    ends = (subtitle.end_s for subtitle in dialogue.subtitles if subtitle.end_s <= whole_s)
    return Film(
        title=_title_from_name(video.path) if _is_junk(video.title) else printable(video.title),
        duration_s=max([scan.end_s, *ends]),
        shots=scan.shots,
        subtitles=dialogue.subtitles,
        video=video.path,
        path=video.path,
        sha256=video.sha256,
        notes=tuple(notes),
        source=dialogue.source,
        language=dialogue.language,
        features=scan.features,
    )


def _load_subtitles_alone(
    path: Path, timing: Timing, languages: Languages, progress: ProgressCallback | None
) -> Film:
    dialogue = retime(read_subtitle_file(path, languages, progress=progress), timing)
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
        source=dialogue.source,
        language=dialogue.language,
    )


def _is_junk(title: str) -> bool:
    """Whether the title in a video's header is useless: empty, an advert, or a release name."""
    is_release = " " not in title and _RELEASE_WORDS.search(title) is not None
    return not title or "www." in title.lower() or "://" in title or is_release


def _title_from_name(path: Path) -> str:
    """A title from a file name: `The.Film.1999.1080p.mkv` and `The Film.en.srt` are The Film."""
    name = _name_without_language(path)
    if " " not in name:
        name = re.sub(r"[._]+", " ", name)
    return printable(_RELEASE_WORDS.sub("", name).strip(" -_.") or path.stem)


def _name_without_language(path: Path) -> str:
    """A file name without its ending and, if it is of subtitles, without their language."""
    if path.suffix.lower() not in SUBTITLE_SUFFIXES:
        return path.stem
    return re.sub(r"\.(?:[a-z]{2,3}(?:-[A-Za-z]{2,4})?|english|sdh|cc|forced)$", "", path.stem)
