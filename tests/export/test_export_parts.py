"""Every output of a film in several parts or a book in several volumes, and reading it back."""

import csv
import json
import re
from pathlib import Path

import jsonschema
import pytest
from made_parts import SPLIT_S, write_parts, write_srt

import folioreel
from folioreel.errors import InputError
from folioreel.export.alignment_json import load_schema, read_alignment
from folioreel.export.picture import draw_alignment
from folioreel.export.results import summarize
from folioreel.types import Alignment


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "film")


@pytest.fixture(scope="module")
def alignment(files) -> Alignment:
    book, parts, _ = files
    return folioreel.align(book, parts)


@pytest.fixture(scope="module")
def result(files, alignment) -> Path:
    folder = files[0].parent / "result"
    alignment.save(folder)
    return folder


def test_the_links_are_those_of_the_whole_film(files, alignment):
    """The same pictures and words, cut in two: times and links agree with the single file."""
    book, _, whole = files
    single = folioreel.align(book, whole)
    assert [link.sentence for link in alignment.links] == [link.sentence for link in single.links]
    assert [link.in_book for link in alignment.links] == [link.in_book for link in single.links]
    for one, other in zip(alignment.links, single.links, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.02)
    for one, other in zip(alignment.film.moments, single.film.moments, strict=True):
        assert one.start_s == pytest.approx(other.start_s, abs=0.05)


def test_the_document_has_parts_and_local_times(result):
    document = json.loads((result / "alignment.json").read_text("utf-8"))
    jsonschema.validate(document, load_schema())
    parts = document["film"]["parts"]
    assert [part["title"] for part in parts] == ["CD1", "CD2"]
    assert (document["film"]["path"], document["film"]["is_video"]) == (None, True)
    for link in document["links"]:
        assert link["part"] == (link["start_s"] >= parts[1]["start_s"])
        shift_s = parts[link["part"]]["start_s"]
        assert link["part_start_s"] == pytest.approx(link["start_s"] - shift_s, abs=0.0011)
        assert link["part_end_s"] == pytest.approx(link["end_s"] - shift_s, abs=0.0011)
    assert {link["part"] for link in document["links"]} == {0, 1}


def test_the_table_names_the_part(result):
    with (result / "alignment.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["part_title"] for row in rows} == {"CD1", "CD2"}
    spoken = next(row for row in rows if row["text"] == "Who opened the hoarding?")
    assert (spoken["part_title"], float(spoken["part_start_s"])) == ("CD2", pytest.approx(3.2))
    assert float(spoken["start_s"]) == pytest.approx(SPLIT_S + 3.2, abs=0.05)


def test_each_part_has_subtitles_with_its_own_times(result, alignment):
    names = ["1 CD1.srt", "1 CD1.vtt", "2 CD2.srt", "2 CD2.vtt"]
    assert sorted(path.name for path in (result / "parts").iterdir()) == names
    whole = (result / "book.srt").read_text("utf-8")
    first, second = ((result / "parts" / name).read_text("utf-8") for name in names[::2])
    assert whole.startswith(first.rstrip("\n"))
    hoarding = re.search(r"(\S+) --> \S+\n“Who opened the hoarding", second)
    assert hoarding.group(1) == "00:00:03,200"
    cues = re.findall(r"-->", (result / "parts" / names[3]).read_text("utf-8"))
    assert len(cues) == sum(alignment.film.locate(m.start_s)[0] for m in alignment.film.moments)


def test_subtitles_of_an_earlier_result_do_not_stay(alignment, tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "3 CD3.srt").write_text("")
    (tmp_path / "parts" / "my notes.txt").write_text("")
    alignment.save(tmp_path, overwrite=True)
    names = {path.name for path in (tmp_path / "parts").iterdir()}
    assert names == {"1 CD1.srt", "1 CD1.vtt", "2 CD2.srt", "2 CD2.vtt", "my notes.txt"}
    with pytest.raises(InputError, match="already holds"):
        alignment.save(tmp_path)


def test_the_picture_and_the_summary_name_the_parts(alignment):
    labels = [text.get_text() for text in draw_alignment(alignment).axes[0].texts]
    assert {"CD1", "CD2"} <= set(labels)
    text = summarize(alignment)
    assert "in 2 parts\n" in text
    assert re.search(r"CD2 0:00:05  Only trampled", text)


def test_it_is_read_back_and_found_again_where_the_parts_were_moved(
    files, alignment, result, tmp_path
):
    again = read_alignment(result)
    assert again.film.parts == alignment.film.parts
    assert again.film.moments == alignment.film.moments
    assert again.film.sha256 == alignment.film.sha256
    moved = [tmp_path / part.name for part in files[1]]
    for part, path in zip(files[1], moved, strict=True):
        path.write_bytes(part.read_bytes())
    for given in (moved, tmp_path):
        found = Alignment.load(result, film=given).film
        assert [part.video for part in found.parts] == moved
    for wrong, words in (
        (moved[:1], "a film of 2 files, not 1"),
        (moved[::-1], "is not the film of"),
        ([moved[0], tmp_path / "no.mp4"], "no such file"),
    ):
        with pytest.raises(InputError, match=words):
            read_alignment(result, film=wrong)


def test_volumes(tmp_path, files):
    text = files[0].read_text("utf-8").split("\n\n")
    volumes = [tmp_path / "Kilos Vol 1.txt", tmp_path / "Kilos Vol 2.txt"]
    volumes[0].write_text("\n\n".join(text[:5]), encoding="utf-8")
    volumes[1].write_text("\n\n".join(text[5:]), encoding="utf-8")
    film = write_srt(tmp_path / "film.srt", [(3, 5, "Who opened the hoarding?")])
    alignment = folioreel.align(volumes, film)
    alignment.save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "alignment.json").read_text("utf-8"))
    jsonschema.validate(document, load_schema())
    book, link = document["book"], document["links"][0]
    assert [volume["path"] for volume in book["volumes"]] == [str(path) for path in volumes]
    counts = [(volume["first_sentence"], volume["sentences"]) for volume in book["volumes"]]
    assert sum(count for _, count in counts) == book["sentences"]
    assert counts[1][0] == counts[0][1]
    assert "parts" not in document["film"]
    assert "part" not in link
    # The line is counted in the volume's own file.
    lines = volumes[link["volume"]].read_text("utf-8").split("\n")
    assert link["volume"] == 1
    assert "hoarding" in lines[link["line"] - 1]
    assert read_alignment(tmp_path / "out").book == alignment.book
    with (tmp_path / "out" / "alignment.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["volume_title"] == "Vol 2"
    assert not (tmp_path / "out" / "parts").exists()
