"""Whole films: where the speech comes from, and what is noticed about it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from drawn_films import DrawnTrack, Picture, draw_film, draw_sound, scene, shots_of
from made_embedding import ColourEyes

from folioreel.errors import InputError, UnknownFormatError
from folioreel.ingest.film import is_film, load_film, watch_film
from folioreel.ingest.subtitles.dialogue import read_subtitles
from folioreel.ingest.video import container
from folioreel.progress import Progress
from folioreel.types import Film

CUES = [(500, 1500, "Hello there."), (2000, 3000, "Goodbye.")]
FRENCH = [(500, 1500, "Bonjour."), (2000, 3000, "Au revoir.")]
SRT = "1\n00:00:00,500 --> 00:00:01,500\nFrom the file.\n"


@pytest.fixture
def pictures() -> list[Picture]:
    return list(shots_of([50, 50]))


def write(path: Path, text: str = SRT) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_video_with_a_track(tmp_path: Path, pictures: list[Picture]) -> None:
    video = draw_film(
        tmp_path / "The.Ferry.1999.1080p.mkv", pictures, tracks=[DrawnTrack(cues=CUES)]
    )
    film = load_film(video)
    assert film.title == "The Ferry"
    assert film.duration_s == pytest.approx(4, abs=0.05)
    assert [shot.start_s for shot in film.shots] == pytest.approx([0, 2], abs=0.01)
    assert [subtitle.text for subtitle in film.subtitles] == ["Hello there.", "Goodbye."]
    assert [moment.shot for moment in film.moments] == [0, 1]
    assert (film.video, film.path) == (video, video)
    assert len(film.sha256 or "") == 64
    assert film.notes == ("subtitles: track 1 (English, SubRip)",)


def test_the_title_in_the_header_wins(tmp_path: Path, pictures: list[Picture]) -> None:
    video = draw_film(tmp_path / "a.mkv", pictures, metadata={"title": "The Ferry"})
    assert load_film(video, shots=False).title == "The Ferry"
    advert = draw_film(tmp_path / "b.mkv", pictures, metadata={"title": "www.example.org"})
    assert load_film(advert, shots=False).title == "b"


def test_without_shots_no_picture_is_decoded(tmp_path: Path, pictures: list[Picture]) -> None:
    film = load_film(draw_film(tmp_path / "film.mp4", pictures), shots=False)
    assert film.shots == ()
    assert film.duration_s == pytest.approx(4, abs=0.05)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [(None, "Hello there."), (2, "Bonjour."), ("2", "Bonjour."), ("French", "Bonjour.")],
)
def test_choice_of_track(
    tmp_path: Path, pictures: list[Picture], wanted: int | str | None, text: str
) -> None:
    tracks = [DrawnTrack(cues=CUES), DrawnTrack(cues=FRENCH, language="fre")]
    video = draw_film(tmp_path / "film.mkv", pictures, tracks=tracks)
    write(tmp_path / "film.srt")
    film = load_film(video, subtitles=wanted, shots=False)
    assert film.subtitles[0].text == text
    assert film.notes[0].startswith("subtitles: track")


def test_a_file_that_is_named(tmp_path: Path, pictures: list[Picture]) -> None:
    video = draw_film(tmp_path / "film.mkv", pictures, tracks=[DrawnTrack(cues=CUES)])
    other = write(tmp_path / "other.srt")
    for wanted in (other, str(other)):
        assert load_film(video, subtitles=wanted, shots=False).subtitles[0].text == "From the file."
    assert load_film(video, subtitles="none", shots=False).subtitles == ()
    with pytest.raises(InputError, match="no such file"):
        load_film(video, subtitles="missing.srt", shots=False)


@pytest.mark.parametrize(
    ("files", "best"),
    [
        (["film.srt", "film.fr.srt"], "film.srt"),
        (["film.en.srt", "film.fr.srt"], "film.en.srt"),
        (["film.en.sdh.srt", "film.eng.vtt"], "film.eng.vtt"),
        (["film.en.forced.srt", "film.en.sdh.srt"], "film.en.sdh.srt"),
        (["film.fr.srt"], "film.fr.srt"),
        (["filmography.srt", "film.English.srt"], "film.English.srt"),
    ],
)
def test_files_beside_the_video(
    tmp_path: Path, pictures: list[Picture], files: list[str], best: str
) -> None:
    video = draw_film(tmp_path / "film.mp4", pictures)
    for name in files:
        write(tmp_path / name)
    film = load_film(video, shots=False)
    assert film.notes[0] == f"subtitles: {best}, found beside the video (the video has none)"


def test_a_file_beside_the_video_before_a_forced_track(
    tmp_path: Path, pictures: list[Picture]
) -> None:
    track = DrawnTrack(cues=CUES, title="Forced")
    video = draw_film(tmp_path / "film.mkv", pictures, tracks=[track])
    assert load_film(video, shots=False).subtitles[0].text == "Hello there."
    write(tmp_path / "film.srt")
    assert load_film(video, shots=False).subtitles[0].text == "From the file."


def test_no_subtitles_at_all(tmp_path: Path, pictures: list[Picture]) -> None:
    film = load_film(draw_film(tmp_path / "film.mp4", pictures))
    assert [moment.kind for moment in film.moments] == ["visual", "visual"]
    assert "only silent moments" in film.notes[0]


def test_an_empty_track_gives_way(tmp_path: Path, pictures: list[Picture]) -> None:
    tracks = [DrawnTrack(cues=[(0, 900, " ")]), DrawnTrack(cues=FRENCH, language="fre")]
    film = load_film(draw_film(tmp_path / "film.mkv", pictures, tracks=tracks), shots=False)
    assert film.subtitles[0].text == "Bonjour."
    assert any("has no cues" in note for note in film.notes)


def test_microdvd_beside_a_video_takes_its_frame_rate(
    tmp_path: Path, pictures: list[Picture]
) -> None:
    video = draw_film(tmp_path / "film.mp4", pictures)
    write(tmp_path / "film.sub", "{25}{50}Hello there.\n")
    film = load_film(video, shots=False)
    assert (film.subtitles[0].start_s, film.subtitles[0].end_s) == (1.0, 2.0)


def test_subtitles_alone(tmp_path: Path) -> None:
    film = load_film(write(tmp_path / "The Ferry.en.srt"))
    assert (film.title, film.video, film.shots) == ("The Ferry", None, ())
    assert film.duration_s == 1.5
    assert [moment.text for moment in film.moments] == ["From the file."]
    assert film.notes == ()


def test_a_subtitle_file_without_speech(tmp_path: Path, pictures: list[Picture]) -> None:
    song = write(tmp_path / "song.srt", SRT.replace("From the file.", "♪ la la ♪"))
    with pytest.raises(InputError, match="1 cues but no speech"):
        load_film(song)
    film = load_film(draw_film(tmp_path / "film.mp4", pictures), subtitles=song, shots=False)
    assert "the subtitles contain no speech" in film.notes


BAD_FILES = {
    "JPEG": (b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(500), UnknownFormatError, "a JPEG picture"),
    "ZIP": (b"PK\x03\x04" + bytes(500), UnknownFormatError, "ZIP archive"),
    "text": (b"Once upon a time.\n" * 50, UnknownFormatError, "plain text without times"),
    "empty": (b"", InputError, "empty"),
    "broken MP4": (b"\x00\x00\x00\x18ftypisom" + bytes(500), InputError, "damaged or cut short"),
    "noise": (bytes(range(256)) * 20, UnknownFormatError, "binary file of unknown kind"),
    "no cue": (b"WEBVTT\n\n", InputError, "has no cues"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
@pytest.mark.parametrize("name", ["film.mkv", "film.srt", "film"])
def test_wrong_files_in_one_clear_line(tmp_path: Path, kind: str, name: str) -> None:
    data, error, words = BAD_FILES[kind]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(error, match=words) as caught:
        load_film(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_films_are_told_from_books(tmp_path: Path, pictures: list[Picture]) -> None:
    assert is_film(draw_film(tmp_path / "film.mp4", pictures))
    assert is_film(write(tmp_path / "film.txt"))
    book = "Dialogue: the first.\n[1][2] See below.\n" + "It was a dark and stormy night.\n" * 90
    assert not is_film(write(tmp_path / "book.txt", book))
    assert not is_film(draw_sound(tmp_path / "talk.wav", "pcm_s16le"))
    assert not is_film(tmp_path / "missing.srt")
    for kind, expected in (("JPEG", False), ("ZIP", False), ("broken MP4", True), ("empty", False)):
        (tmp_path / "file").write_bytes(BAD_FILES[kind][0])
        assert is_film(tmp_path / "file") == expected


def test_sound_folder_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sound but no pictures"):
        load_film(draw_sound(tmp_path / "talk.wav", "pcm_s16le"))
    with pytest.raises(InputError, match="cover picture"):
        load_film(draw_sound(tmp_path / "song.mp3", "mp3", cover=scene(1)))
    with pytest.raises(InputError, match="is a folder"):
        load_film(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        load_film(tmp_path / "film.mkv")


def test_bitmap_tracks(shared: Path, tmp_path: Path) -> None:
    video = shared / "video" / "popeye-pgs.mkv"
    film = load_film(video, subtitles=shared / "video" / "popeye-3.srt", shots=False)
    assert len(film.subtitles) == 18
    beside = Path(shutil.copy(video, tmp_path / "popeye.mkv"))
    shutil.copy(shared / "video" / "popeye-3.srt", tmp_path / "popeye.srt")
    assert len(load_film(beside, shots=False).subtitles) == 18


def test_progress_names_its_stages(tmp_path: Path, pictures: list[Picture]) -> None:
    video = draw_film(tmp_path / "film.mkv", pictures, tracks=[DrawnTrack(cues=CUES)])
    seen: list[Progress] = []
    load_film(video, progress=seen.append)
    assert {progress.stage for progress in seen} == {"reading the subtitle track", "finding shots"}


def test_subtitles_past_the_end_are_noticed(tmp_path: Path, pictures: list[Picture]) -> None:
    video = draw_film(tmp_path / "film.mp4", pictures)
    late = write(tmp_path / "film.srt", SRT + "\n2\n00:00:58,000 --> 00:01:00,000\nLate.\n")
    film = load_film(video, shots=False)
    assert any("past the film's end at 0:00:04" in note for note in film.notes)
    assert film.subtitles[-1].end_s == 60
    assert film.duration_s == pytest.approx(4, abs=0.05)
    assert late.is_file()


def test_real_dramas_come_out_as_their_sentences(shared: Path) -> None:
    equal = total = 0
    for folder in sorted((shared / "benchmark").glob("*/")):
        if not (folder / "film_sentences.tsv").is_file():
            continue
        rows = (folder / "film_sentences.tsv").read_text(encoding="utf-8").splitlines()[1:]
        wanted = [row.split("\t")[-1] for row in rows]
        found = {subtitle.text for subtitle in read_subtitles(folder / "film.srt").subtitles}
        total += len(wanted)
        equal += sum(text in found for text in wanted)
    assert equal > 0.95 * total


@pytest.mark.parametrize(
    ("name", "count"),
    [("TOS-en.srt", 82), ("elephantsdream_captions.en.vtt", 93), ("popeye-3.srt", 18)],
)
def test_real_subtitle_files(shared: Path, name: str, count: int) -> None:
    subtitles = read_subtitles(shared / "video" / name).subtitles
    assert len(subtitles) == pytest.approx(count, abs=3)


def load_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[Film, list[str]]:
    """A film, and what was done to its file: `open` for each `av.open`, `hash` for each SHA-256."""
    done: list[str] = []
    with monkeypatch.context() as patch:
        real_open, real_hash = container.av.open, container.file_sha256

        def open_(*args: Any, **kwargs: Any) -> Any:
            done.append("open")
            return real_open(*args, **kwargs)

        def hash_(path: Path) -> str:
            done.append("hash")
            return real_hash(path)

        patch.setattr(container.av, "open", open_)
        patch.setattr(container, "file_sha256", hash_)
        return load_film(path, **options), done


@pytest.mark.parametrize("name", ["film.mkv", "film.mp4"])
def test_a_video_is_opened_and_hashed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: list[Picture], name: str
) -> None:
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    codec = "subrip" if name.endswith("mkv") else "mov_text"
    # The first track is empty, so that a second one has to be read: three passes in all.
    blank = DrawnTrack(cues=[(0, 900, " ")], codec=codec)
    tracks = [blank, DrawnTrack(cues=CUES, codec=codec, language="fre")]
    video = draw_film(tmp_path / name, pictures, tracks=tracks)
    film, done = load_counted(video, monkeypatch, encoder=ColourEyes())
    assert done == ["open", "hash"]
    assert [subtitle.text for subtitle in film.subtitles] == ["Hello there.", "Goodbye."]
    assert len(film.shots) == 2
    assert film.features is not None
    # With shots and features in the cache, the header and the track are still read.
    again, done = load_counted(video, monkeypatch, encoder=ColourEyes())
    assert done == ["open", "hash"]
    assert again == film


@pytest.mark.parametrize("name", ["film.mkv", "film.mp4"])
def test_reading_a_track_first_does_not_change_the_shots(tmp_path: Path, name: str) -> None:
    codec = "subrip" if name.endswith("mkv") else "mov_text"
    video = draw_film(
        tmp_path / name, shots_of([30, 12, 50, 25]), tracks=[DrawnTrack(cues=CUES, codec=codec)]
    )
    film = load_film(video)
    assert len(film.subtitles) == 2
    assert film.shots == load_film(video, subtitles="none").shots


def test_a_file_that_cannot_be_rewound_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pictures: list[Picture]
) -> None:
    video = draw_film(tmp_path / "film.mkv", pictures, tracks=[DrawnTrack(cues=CUES)])
    expected = load_film(video)

    class Streamed:
        """A container without a way back."""

        def __init__(self, opened: Any) -> None:
            self._opened = opened

        def __getattr__(self, name: str) -> Any:
            return getattr(self._opened, name)

        def seek(self, *_: Any, **__: Any) -> None:
            raise av.FFmpegError(1, "cannot seek")

    real_open = av.open
    monkeypatch.setattr(container.av, "open", lambda *a, **k: Streamed(real_open(*a, **k)))
    assert load_film(video) == expected


def test_a_film_can_be_watched_after_it_was_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "one"))
    video = draw_film(
        tmp_path / "film.mkv", shots_of([30, 12, 50, 25, 40]), tracks=[DrawnTrack(cues=CUES)]
    )
    expected = load_film(video, encoder=ColourEyes())
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "two"))
    loaded = load_film(video)
    seen: list[Progress] = []
    watched = watch_film(loaded, ColourEyes(), progress=seen.append)
    assert loaded.features is None
    assert watched == expected
    assert {progress.stage for progress in seen} == {"finding shots"}
    # From the cache, where `load_film` finds them too.
    seen.clear()
    for film in (
        watch_film(loaded, ColourEyes(), progress=seen.append),
        load_film(video, encoder=ColourEyes()),
        watched,
    ):
        assert film.features is not None
        assert expected.features is not None
        assert film.features.network == expected.features.network
        assert film.features.vectors.keys() == expected.features.vectors.keys()
        for kind, rows in expected.features.vectors.items():
            np.testing.assert_array_equal(film.features.vectors[kind], rows)
    assert seen == []


def test_what_cannot_be_watched(
    tmp_path: Path, pictures: list[Picture], caplog: pytest.LogCaptureFixture
) -> None:
    video = draw_film(tmp_path / "film.mp4", pictures)
    for film in (load_film(write(tmp_path / "other.srt")), load_film(video, shots=False)):
        assert watch_film(film, ColourEyes()) is film
    loaded = load_film(video)
    changed = replace(loaded, shots=loaded.shots[:1])
    assert watch_film(changed, ColourEyes()) is changed
    assert "other shots than the film has" in caplog.text
    video.unlink()
    with pytest.raises(InputError, match="no such file"):
        watch_film(replace(loaded, sha256="0" * 64), ColourEyes())
