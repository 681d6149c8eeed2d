"""Films in several parts and books in several volumes: one of each, as if from a single file."""

import numpy as np
import pytest
from made_embedding import ColourEyes
from made_parts import CUES, SPLIT_S, SPLIT_SHOTS, split_cues, write_parts, write_srt

from folioreel import load_book, load_film
from folioreel.errors import InputError
from folioreel.ingest.film import watch_film
from folioreel.progress import Progress


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "film")


def test_the_parts_are_the_whole_film(files):
    _, parts, whole = files
    joined, single = load_film(parts), load_film(whole)
    assert [part.title for part in joined.parts] == ["CD1", "CD2"]
    assert [part.video for part in joined.parts] == parts
    assert (joined.title, joined.path, joined.video) == ("Ferry", None, None)
    assert joined.duration_s == pytest.approx(single.duration_s, abs=0.05)
    assert joined.parts[1].start_s == pytest.approx(SPLIT_S, abs=0.05)
    assert [s.text for s in joined.subtitles] == [text for *_, text in CUES]
    times = [(moment.start_s, moment.end_s) for moment in single.moments]
    assert np.allclose([(m.start_s, m.end_s) for m in joined.moments], times, atol=0.05)
    assert [m.shot for m in joined.moments] == [m.shot for m in single.moments]
    assert [shot.index for shot in joined.shots] == list(range(len(single.shots)))
    assert single.parts == ()
    assert load_film([whole]) == single


def test_a_folder_is_its_videos_in_order_without_samples_and_subtitles(files):
    _, parts, _ = files
    folder = parts[0].parent
    sample = folder / "Ferry-sample.mp4"
    sample.write_bytes(parts[0].read_bytes())
    try:
        assert load_film(folder, shots=False) == load_film(parts, shots=False)
    finally:
        sample.unlink()


def test_a_time_is_found_in_its_part(files):
    film = load_film(files[1], shots=False)
    start_s = film.parts[1].start_s
    assert film.locate(0) == (0, 0)
    assert film.locate(start_s) == (1, 0)
    assert film.locate(start_s + 2.5) == (1, 2.5)
    assert film.clock(start_s + 61) == "CD2 0:01:01"
    single = load_film(files[2], shots=False)
    assert single.locate(8.25) == (0, 8.25)
    assert single.clock(61) == "0:01:01"


def test_pictures_are_the_same_however_the_film_is_cut(files):
    _, parts, _ = files
    watched = load_film(parts, encoder=ColourEyes())
    unwatched = load_film(parts)
    again = watch_film(unwatched, ColourEyes())
    each = [load_film(part, encoder=ColourEyes()).features.vectors for part in parts]
    for kind, rows in watched.features.vectors.items():
        assert len(rows) == len(unwatched.shots)
        assert (rows == np.concatenate([vectors[kind] for vectors in each])).all()
        assert (again.features.vectors[kind] == rows).all()
        assert len(each[0][kind]) == SPLIT_SHOTS


def test_progress_says_which_part(files):
    seen: list[Progress] = []
    load_film(files[1], progress=seen.append)
    assert {"finding shots, part 1 of 2", "finding shots, part 2 of 2"} <= {p.stage for p in seen}


def test_subtitle_files_alone(tmp_path):
    folder = tmp_path / "srt"
    folder.mkdir()
    cues = split_cues(CUES, SPLIT_S)
    for k, part in enumerate(cues, 9):
        write_srt(folder / f"Ferry {k}.srt", part)
    film = load_film(folder)
    assert [part.title for part in film.parts] == ["9", "10"]
    assert not film.has_video
    # A part ends with its last line.
    last_s = cues[0][-1][1]
    assert film.parts[1].start_s == last_s
    assert film.subtitles[len(cues[0])].start_s == pytest.approx(last_s + cues[1][0][0])


def test_subtitles_for_each_part_and_for_all(files, tmp_path):
    _, parts, _ = files
    given = [write_srt(tmp_path / f"{k}.srt", [(0, 1, f"Part {k}.")]) for k in (1, 2)]
    film = load_film(parts, subtitles=given, shots=False)
    assert [said.text for said in film.subtitles] == ["Part 1.", "Part 2."]
    assert load_film(parts, subtitles="none", shots=False).subtitles == ()
    for wrong in (given[0], str(given[0]), given[:1], [*given, given[0]]):
        with pytest.raises(
            InputError, match="--subtitles for 2 film files; give one for each part"
        ):
            load_film(parts, subtitles=wrong, shots=False)


def test_lines_past_the_end_of_a_part_do_not_reach_into_the_next(files, tmp_path):
    _, parts, _ = files
    given = [
        write_srt(tmp_path / "1.srt", [(0, 1, "Here."), (6.5, 8, "On and on."), (9, 10, "Late.")]),
        write_srt(tmp_path / "2.srt", [(0, 1, "There.")]),
    ]
    film = load_film(parts, subtitles=given, shots=False)
    assert [said.text for said in film.subtitles] == ["Here.", "On and on.", "There."]
    assert film.subtitles[1].end_s == film.parts[1].start_s
    assert "CD1: skipped 1 spoken sentence after its end" in film.notes


def test_a_video_with_its_subtitles_as_a_part_is_refused_with_advice(files):
    _, _, whole = files
    with pytest.raises(InputError, match=r"whole\.srt: .*--subtitles whole\.srt"):
        load_film([whole, whole.with_suffix(".srt")])


def test_two_translations_in_a_folder_are_not_two_parts(tmp_path):
    for language in ("en", "fr"):
        write_srt(tmp_path / f"film.{language}.srt", CUES)
    with pytest.raises(InputError, match=r"holds both film\.en\.srt and film\.fr\.srt"):
        load_film(tmp_path)


def test_volumes_are_one_book(tmp_path):
    for number, word in ((1, "ferry"), (2, "bus")):
        text = f"CHAPTER I\n\nThe {word} came. It left again.\n\nCHAPTER II\n\nNobody spoke.\n"
        (tmp_path / f"Kilos Vol {number}.txt").write_text(text)
    (tmp_path / "cover.jpg").write_bytes(b"\xff\xd8\xff")
    book = load_book(tmp_path)
    singles = [load_book(tmp_path / f"Kilos Vol {number}.txt") for number in (1, 2)]
    assert [v.title for v in book.volumes] == ["Vol 1", "Vol 2"]
    assert [c.title for c in book.chapters] == [
        "Vol 1: CHAPTER I", "Vol 1: CHAPTER II", "Vol 2: CHAPTER I", "Vol 2: CHAPTER II",
    ]  # fmt: skip
    assert [s.text for s in book.sentences] == [s.text for one in singles for s in one.sentences]
    assert [s.line for s in book.sentences] == [s.line for one in singles for s in one.sentences]
    assert [s.index for s in book.sentences] == list(range(6))
    assert [book.volume_of(j) for j in range(6)] == [0, 0, 0, 1, 1, 1]
    assert [j for p in book.paragraphs for j in p.sentences] == list(range(6))
    assert book.chapter_of == (0, 1, 2, 3)
    assert singles[0].volumes == ()
    assert load_book([tmp_path / "Kilos Vol 1.txt"]) == singles[0]
    assert book.sha256 not in (None, singles[0].sha256, load_book(singles[1].path).sha256)
