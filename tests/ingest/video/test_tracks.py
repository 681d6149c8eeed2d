"""Subtitle tracks inside videos: listing, choosing, and what each codec decodes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from av.stream import Disposition
from drawn_films import DrawnTrack, draw_film, shots_of

from folioreel.errors import InputError
from folioreel.ingest.subtitles.dialogue import Dialogue
from folioreel.ingest.video import tracks as tracks_module
from folioreel.ingest.video.container import OpenVideo
from folioreel.ingest.video.tracks import Track, choose_track
from folioreel.progress import Progress, ProgressCallback

CUES = [(500, 1500, "Hello <i>there</i>."), (2000, 3000, "Good\nbye.")]
ASS_CUES = [(500, 1500, "Hello {\\i1}there{\\i0}."), (2000, 3000, "Good\\Nbye.")]
SPOKEN = [(0.5, 1.5, "Hello there."), (2.0, 3.0, "Good bye.")]
VIDEO = Path("film.mkv")


def list_tracks(path: Path) -> tuple[Track, ...]:
    with OpenVideo(path) as video:
        return tracks_module.list_tracks(video)


def read_track(path: Path, track: Track, progress: ProgressCallback | None = None) -> Dialogue:
    with OpenVideo(path) as video:
        return tracks_module.read_track(video, track, progress)


def rows(video: Path, track: Track) -> list[tuple[float, float, str]]:
    subtitles = read_track(video, track).subtitles
    return [(round(s.start_s, 2), round(s.end_s, 2), s.text) for s in subtitles]


@pytest.mark.parametrize(
    ("name", "codec", "cues"),
    [
        ("film.mkv", "subrip", CUES),
        ("film.mkv", "ass", ASS_CUES),
        ("film.mkv", "webvtt", CUES),
        ("film.mp4", "mov_text", ASS_CUES),
        ("film.mov", "mov_text", ASS_CUES),
    ],
)
def test_each_codec_decodes(
    tmp_path: Path, name: str, codec: str, cues: list[tuple[int, int, str]]
) -> None:
    tracks = [
        DrawnTrack(codec=codec, cues=cues, language="fra"),
        DrawnTrack(codec=codec, cues=cues[:1]),
    ]
    video = draw_film(tmp_path / name, shots_of([100]), tracks=tracks)
    found = list_tracks(video)
    assert [(track.index, track.language, track.is_text) for track in found] == [
        (1, "fr", True),
        (2, "en", True),
    ]
    assert rows(video, found[0]) == SPOKEN
    assert rows(video, found[1]) == SPOKEN[:1]


def test_flags_and_titles_are_read(tmp_path: Path) -> None:
    marks = Disposition
    tracks = [
        DrawnTrack(cues=CUES, title="Forced"),
        DrawnTrack(cues=CUES, disposition=marks.forced),
        DrawnTrack(cues=CUES, disposition=marks.hearing_impaired),
        DrawnTrack(cues=CUES, title="English (SDH)"),
        DrawnTrack(cues=CUES, title="Director's commentary", disposition=marks.default),
        DrawnTrack(cues=CUES, title="Signs & Songs"),
        DrawnTrack(cues=CUES, language="und", title="German"),
    ]
    found = list_tracks(draw_film(tmp_path / "film.mkv", shots_of([100]), tracks=tracks))
    assert [track.forced for track in found] == [True, True, False, False, False, True, False]
    assert [track.hearing_impaired for track in found][2:4] == [True, True]
    assert [track.commentary for track in found] == [False] * 4 + [True, False, False]
    assert found[4].default
    assert found[6].language == "de"


def test_voices_of_webvtt_part_the_speakers(tmp_path: Path) -> None:
    cues = [(0, 2000, "<v Mary>Where are <v John>Here.")]
    video = draw_film(
        tmp_path / "film.mkv", shots_of([100]), tracks=[DrawnTrack(codec="webvtt", cues=cues)]
    )
    assert [row[2] for row in rows(video, list_tracks(video)[0])] == ["Where are", "Here."]


def test_signs_of_ass_are_left_out(tmp_path: Path) -> None:
    cues = [(500, 1500, "Default|Hello there."), (600, 900, "Sign|BANK")]
    video = draw_film(
        tmp_path / "film.mkv", shots_of([100]), tracks=[DrawnTrack(codec="ass", cues=cues)]
    )
    assert rows(video, list_tracks(video)[0]) == [(0.5, 1.5, "Hello there.")]


def track(index: int, language: str | None = "en", **fields: bool | str) -> Track:
    return Track(index=index, codec="srt", language=language, **({"is_text": True} | fields))  # type: ignore[arg-type]


CHOICES = [
    ("whole before forced", [track(1, forced=True, default=True), track(2)], None, 2),
    ("text before pictures", [track(1, is_text=False), track(2, "fr")], None, 2),
    ("plain before SDH", [track(1, hearing_impaired=True), track(2)], None, 2),
    ("English first", [track(1, "fr"), track(2)], None, 2),
    ("SDH before a foreign language", [track(1, "fr"), track(2, hearing_impaired=True)], None, 2),
    ("no commentary", [track(1, commentary=True), track(2, hearing_impaired=True)], None, 2),
    ("default among equals", [track(1), track(2, default=True)], None, 2),
    ("the first among equals", [track(1), track(2)], None, 1),
    ("the default without English", [track(1, "fr"), track(2, "de", default=True)], None, 2),
    ("forced if there is nothing else", [track(1, forced=True)], None, 1),
    ("by number", [track(1), track(2, "fr")], 2, 2),
    ("by number in words", [track(1), track(2, "fr")], "2", 2),
    ("by two letters", [track(1), track(2, "fr")], "fr", 2),
    ("by three letters", [track(1), track(2, "fr")], "fre", 2),
    ("by name", [track(1), track(2, "fr")], "French", 2),
    ("by region", [track(1), track(2, "pt")], "pt-BR", 2),
    ("by language, plain first", [track(1, "fr", forced=True), track(2, "fr")], "fra", 2),
    ("by title", [track(1), track(2, title="Extended cut")], "extended", 2),
]


@pytest.mark.parametrize(
    ("tracks", "wanted", "index"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_choice(tracks: list[Track], wanted: int | str | None, index: int) -> None:
    chosen, note = choose_track(tracks, VIDEO, wanted)
    assert chosen.index == index
    assert note.startswith(f"subtitles: track {index} (")
    for other in tracks:
        assert str(other) in note


@pytest.mark.parametrize("wanted", [7, "7", "sv", "Klingon", ""])
def test_no_such_track_lists_those_there_are(wanted: int | str) -> None:
    with pytest.raises(InputError, match=r"has no subtitle track .*track 1 \(English, SubRip\)"):
        choose_track([track(1)], VIDEO, wanted)


def test_pictures_come_after_text_and_before_forced_text() -> None:
    pictures = Track(index=3, codec="pgssub", is_text=False, language="en")
    forced = Track(index=5, codec="subrip", is_text=True, language="en", forced=True)
    assert choose_track([pictures, track(4, "fr")], VIDEO)[0].index == 4
    assert choose_track([forced, pictures], VIDEO)[0] == pictures
    assert choose_track([pictures, track(4, "fr")], VIDEO, "en")[0] == pictures


@pytest.mark.parametrize(("name", "kind"), [("pgs", "PGS"), ("vobsub", "VobSub")])
def test_real_pictures(shared: Path, name: str, kind: str) -> None:
    video = shared / "video" / f"popeye-{name}.mkv"
    tracks = list_tracks(video)
    assert [(t.index, t.language, t.is_text) for t in tracks] == [(1, "en", False)]
    assert f"{kind} pictures" in choose_track(tracks, video)[1]


def test_an_empty_track_is_named(tmp_path: Path) -> None:
    blank = DrawnTrack(cues=[(0, 1000, " ")])
    video = draw_film(tmp_path / "film.mkv", shots_of([50]), tracks=[blank])
    with pytest.raises(InputError, match=r"track 1 .* has no cues"):
        read_track(video, list_tracks(video)[0])


def test_a_track_of_a_film_cut_short(tmp_path: Path) -> None:
    cues = [(n * 1000, n * 1000 + 800, f"This is sentence {n}.") for n in range(20)]
    video = draw_film(tmp_path / "film.mkv", shots_of([500]), tracks=[DrawnTrack(cues=cues)])
    data = video.read_bytes()
    video.write_bytes(data[: len(data) // 2])
    assert 3 <= len(read_track(video, list_tracks(video)[0]).subtitles) < 20


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    video = draw_film(tmp_path / "film.mkv", shots_of([100]), tracks=[DrawnTrack(cues=CUES)])
    seen: list[Progress] = []
    read_track(video, list_tracks(video)[0], seen.append)
    assert seen[-1].done == seen[-1].total > 0
