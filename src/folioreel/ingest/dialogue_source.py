"""Where a film's words come from: a track, a subtitle file, its pictures, its sound, or nowhere.

Unless the user asks for something else, `find_dialogue` takes the first of these that has cues:

1. the best text track of the video, unless all of them are forced or commentaries
2. a subtitle file beside the video (`film.srt`, `film.en.srt`, `film.en.sdh.srt`)
3. the best track of pictures of text, unless all of them are forced or commentaries
4. a file of pictures of text beside the video (`film.idx` with `film.sub`, `film.sup`)
5. the film's speech, if the extra `speech` is installed
6. any other track that has cues

`check_times` then compares the times of the cues with the length of the video.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from folioreel.config import SpeechConfig
from folioreel.errors import InputError, UnreadableWordsError
from folioreel.ingest.ocr.burned import read_burned
from folioreel.ingest.ocr.reading import read_bitmap_file, read_bitmap_track
from folioreel.ingest.source import describe_bitmap_subtitles, read_head
from folioreel.ingest.speech.model_files import INSTALL
from folioreel.ingest.speech.transcribe import can_listen, transcribe
from folioreel.ingest.subtitles.dialogue import Dialogue, read_subtitles
from folioreel.ingest.subtitles.formats import MARKS, SUBTITLE_SUFFIXES
from folioreel.ingest.video.audio import choose_audio
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.tracks import Track, choose_track, list_tracks, read_track
from folioreel.language import NOTHING_KNOWN, PREFERRED, Languages, language_code
from folioreel.progress import ProgressCallback
from folioreel.reading import is_file
from folioreel.times import format_clock as clock
from folioreel.types import Subtitle

# Formats that subtitle files beside a video come in, the most reliable first.
_SIDECAR_SUFFIXES = (
    ".srt", ".vtt", ".ass", ".ssa", ".ttml", ".dfxp", ".smi", ".sami", ".sub", ".sbv", ".lrc",
    ".idx", ".sup",
)  # fmt: skip

# Frame rates that subtitles were made for, and the faster ones that a film may run at. The time
# of the last cue cannot tell 23.976 from 24.
_SLOWER_RATES = (
    (24000 / 1001, "23.976 or 24", 25.0),
    (24000 / 1001, "23.976", 24.0),
    (30000 / 1001, "29.97", 30.0),
    (25.0, "25", 30000 / 1001),
)
_GIVE_SUBTITLES = "give its subtitles with --subtitles FILE"
_RETIME = "re-time them with --offset or --fps"
# In a clip below five minutes people may speak anywhere, so gaps before and after say nothing.
_CLIP_S = 300.0
# A film with no word in its first quarter of an hour is rare enough to mention.
_LATE_START_S = 900.0


def find_dialogue(
    video: OpenVideo,
    wanted: Path | int | str | None,
    progress: ProgressCallback | None,
    speech: SpeechConfig | None = None,
    languages: Languages = NOTHING_KNOWN,
) -> Dialogue:
    """The dialogue of a film; its first note tells the user where it comes from.

    What is wanted is a subtitle file, the number of a track, a language, `burned`, `speech` or
    `none`, as `load_film` explains.
    """
    speech = speech or SpeechConfig()
    given = languages.given
    if speech.language is None:
        speech = replace(speech, language=given)
    if isinstance(wanted, str) and wanted.strip().casefold() == "none":
        return Dialogue(notes=("no subtitles, as requested: the film has only silent moments",))
    if isinstance(wanted, Path) or (isinstance(wanted, str) and is_file_name(wanted)):
        dialogue = read_subtitle_file(Path(wanted), languages, video.frame_rate, progress)
        return _noted(f"subtitles: {wanted}", dialogue)
    if isinstance(wanted, str) and wanted.strip().casefold() == "burned":
        return _noted("subtitles: burned into the picture", read_burned(video, progress, given))
    if isinstance(wanted, str) and wanted.strip().casefold() == "speech":
        return _listen(video, speech, progress)
    tracks = list_tracks(video)
    if wanted is not None:
        track, note = choose_track(tracks, video.path, wanted, languages.preferred)
        return _noted(note, _read_any_track(video, track, given, progress))
    unread: list[InputError] = []
    for read in _attempts(video, tracks, speech, languages, progress):
        try:
            dialogue = read()
        except InputError as error:  # no cues, or nothing is installed that reads pictures
            unread.append(error)
        else:
            reasons = (_explain(error, video.path) for error in unread)
            return replace(dialogue, notes=(*dialogue.notes, *reasons))
    if unread:  # rather one that the user can do something about
        raise min(unread, key=lambda error: not isinstance(error, UnreadableWordsError))
    return Dialogue(notes=(_advise(video),))


def _attempts(
    video: OpenVideo,
    tracks: Sequence[Track],
    speech: SpeechConfig,
    languages: Languages,
    progress: ProgressCallback | None,
) -> Iterator[Callable[[], Dialogue]]:
    """Where the words may come from, in the order above; each raises `InputError` if it fails."""
    full = [track for track in tracks if not track.forced and not track.commentary]
    for pictures in (False, True):
        chosen = [track for track in full if track.is_text is not pictures]
        if chosen:
            yield partial(_first_with_cues, video, chosen, full, languages, progress)
        sidecar = find_sidecar(video.path, languages.preferred, pictures=pictures)
        if sidecar is not None:
            yield partial(_read_sidecar, video, sidecar, bool(tracks), languages, progress)
    if speech.unasked and can_listen(video, speech):
        yield partial(_listen, video, speech, progress)
    if others := [track for track in tracks if track not in full]:
        yield partial(_first_with_cues, video, others, others, languages, progress)


def _read_sidecar(
    video: OpenVideo,
    sidecar: Path,
    has_tracks: bool,
    languages: Languages,
    progress: ProgressCallback | None,
) -> Dialogue:
    reason = "no track of the video has the full dialogue" if has_tracks else "the video has none"
    note = f"subtitles: {sidecar.name}, found beside the video ({reason})"
    return _noted(note, read_subtitle_file(sidecar, languages, video.frame_rate, progress))


def _explain(error: InputError, video: Path) -> str:
    """Why something was not used; the file is named if it is not the video."""
    if error.path is None or error.path == video:
        return error.message
    return f"{error.path.name}: {error.message}"


def _listen(video: OpenVideo, speech: SpeechConfig, progress: ProgressCallback | None) -> Dialogue:
    """What is heard in the film. It has no cues, whose times might not fit the film."""
    heard = transcribe(video, speech, progress)
    subtitles = tuple(
        Subtitle(index=k, start_s=said.start_s, end_s=said.end_s, text=said.text)
        for k, said in enumerate(heard.sentences)
    )
    silent = f"{heard.model} hears nobody speak in the film; {_GIVE_SUBTITLES}"
    note = f"subtitles: {heard}" if subtitles else silent
    return Dialogue(
        subtitles=subtitles,
        format="speech",
        source="speech",
        language=language_code(heard.language),
        notes=(note,),
    )


def _advise(video: OpenVideo) -> str:
    """What to do about a film without any words."""
    what = "no subtitles in the video or beside it"
    if choose_audio(video) is None:
        return f"{what}, and no sound: the film has only silent moments; {_GIVE_SUBTITLES}"
    return (
        f"{what}: the film has only silent moments, and little will be found; {_GIVE_SUBTITLES}, "
        f"or let folioreel listen to the film: {INSTALL}"
    )


def _first_with_cues(
    video: OpenVideo,
    tracks: Sequence[Track],
    listed: Sequence[Track],
    languages: Languages,
    progress: ProgressCallback | None,
) -> Dialogue:
    """The best track that has any cues; its note also lists the others of a larger choice."""
    track, _ = choose_track(tracks, video.path, None, languages.preferred)
    _, note = choose_track(listed, video.path, track.index)
    others = [other for other in tracks if other is not track]
    try:
        return _noted(note, _read_any_track(video, track, languages.given, progress))
    except InputError as error:
        if isinstance(error, UnreadableWordsError):  # so are the other pictures
            others = [other for other in others if other.is_text]
        if not others:
            raise
        reason = error.message
    dialogue = _first_with_cues(video, others, listed, languages, progress)
    return replace(dialogue, notes=(*dialogue.notes, reason))


def _read_any_track(
    video: OpenVideo, track: Track, language: str | None, progress: ProgressCallback | None
) -> Dialogue:
    read = read_track if track.is_text else read_bitmap_track
    return read(video, track, progress, language)


def read_subtitle_file(
    path: Path,
    languages: Languages = NOTHING_KNOWN,
    frame_rate: float | None = None,
    progress: ProgressCallback | None = None,
) -> Dialogue:
    """Read a subtitle file, text or pictures; the frame rate is for files that count frames."""
    if describe_bitmap_subtitles(read_head(path)) is not None:
        return read_bitmap_file(path, progress, languages.given, languages.preferred)
    return read_subtitles(path, frame_rate, language=languages.given, preferred=languages.preferred)


def _noted(note: str, dialogue: Dialogue) -> Dialogue:
    silent = () if dialogue.subtitles else ("the subtitles contain no speech",)
    return replace(dialogue, notes=(note, *silent, *dialogue.notes))


def is_file_name(text: str, folder: Path = Path()) -> bool:
    """Whether what the user asked for is a path, in a folder, not a language or a number."""
    path = folder / text
    return path.suffix.lower() in SUBTITLE_SUFFIXES or is_file(path) or "/" in text


def find_sidecar(video: Path, preferred: str = PREFERRED, *, pictures: bool = False) -> Path | None:
    """The best subtitle file in the video's folder that has the video's name, or None.

    It holds text or, if asked for, pictures of text.

    The full dialogue comes before forced subtitles, the preferred language or none before other
    languages, then English, and no SDH if there is a choice.
    """
    try:
        beside = list(video.parent.iterdir())
    except OSError:
        return None  # a folder that may be entered but not listed
    ranked = [(rank, path) for path in beside if (rank := _rank_sidecar(path, video, preferred))]
    fitting = (pair for pair in ranked if is_file(pair[1]) and _holds_pictures(pair[1]) is pictures)
    return min(fitting, default=(None, None))[1]


def _rank_sidecar(
    path: Path, video: Path, preferred: str
) -> tuple[bool, bool, bool, bool, int] | None:
    """Smaller is better; None for a file that does not belong to the video."""
    suffix = path.suffix.lower()
    if suffix not in _SIDECAR_SUFFIXES or not path.name.startswith(video.stem):
        return None
    between = path.name[len(video.stem) : -len(suffix)]
    if between and between[0] not in "._- ":
        return None
    words = [word for word in re.split(r"[._\s-]+", between.casefold()) if word]
    marks = [MARKS[word] for word in words if word in MARKS]
    languages = {code for word in words if word not in MARKS and (code := language_code(word))}
    # One unknown word may be a release name. With more, it is another film's file.
    if len(words) > len(languages) + len(marks) + 1:
        return None
    is_other = bool(languages) and preferred not in languages
    is_foreign = bool(languages) and PREFERRED not in languages
    kind = _SIDECAR_SUFFIXES.index(suffix)
    return "forced" in marks, is_other, is_other and is_foreign, "sdh" in marks, kind


def _holds_pictures(path: Path) -> bool | None:
    """Whether a file holds pictures of text; None if it may not be read."""
    try:
        with path.open("rb") as file:
            return describe_bitmap_subtitles(file.read(64)) is not None
    except OSError:
        return None


def check_times(
    first_s: float, last_s: float, duration_s: float, frame_rate: float | None
) -> Iterator[str]:
    """Notes on subtitles that do not fit the video, by when they begin and end.

    A length of 0 and a frame rate of None are unknown.
    """
    if duration_s <= 0:
        return
    begin, end, whole = clock(first_s), clock(last_s), clock(duration_s)
    # Last cues often stay up a little too long; a wrong frame rate shows by minutes, or, for 24
    # against 23.976, by a thousandth of the film: twice this.
    tolerance_s = max(2.0, 0.0005 * duration_s)
    # Broadcasters start the clock of a programme at a full hour, mostly 10:00:00.
    hours, rest_s = divmod(first_s, 3600.0)
    if first_s >= duration_s:
        if hours and rest_s < _LATE_START_S and last_s - first_s + rest_s <= duration_s + 2.0:
            yield (
                f"the subtitles begin at {begin}, on a broadcast clock; subtract {hours:.0f} h "
                f"from their times with --offset -{3600 * hours:.0f}"
            )
        else:
            yield (
                f"the subtitles begin at {begin}, after the film's end at {whole}; "
                "they belong to another film or another part of it"
            )
    elif last_s > duration_s + tolerance_s:
        over = f"the subtitles run until {end}, past the film's end at {whole}"
        yield f"{over}; {_explain_long(last_s, duration_s, frame_rate)}"
    elif duration_s >= _CLIP_S:
        # Credits and a silent ending take less than a quarter of a film.
        if last_s < 0.75 * duration_s:
            yield (
                f"the subtitles end at {end} of {whole}; they are probably for one part of the "
                f"film or a shorter cut: find the full ones, or {_RETIME}"
            )
        if first_s > max(_LATE_START_S, 0.15 * duration_s):
            late = f"if somebody speaks before it, they are late: {_RETIME}"
            yield f"the first subtitle comes at {begin}; {late}"


def _explain_long(last_s: float, duration_s: float, frame_rate: float | None) -> str:
    for slower, words, runs_at in _SLOWER_RATES:
        is_rate = frame_rate is None or abs(runs_at - frame_rate) < 0.01
        # At the right rate, the last word is spoken in the last fifth of the film.
        if is_rate and 0.8 * duration_s <= last_s * slower / runs_at <= duration_s:
            return (
                f"they were probably timed for {words} frames per second while the film runs at "
                f"{runs_at:.5g}, or they begin late: {_RETIME}"
            )
    return f"they are probably for another cut, or begin late: {_RETIME}, or find others"
