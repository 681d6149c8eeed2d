"""Several files on the command line: align, inspect, describe and its contact sheet."""

import json

import pytest
from click.testing import CliRunner
from made_parts import write_parts

from folioreel.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "film")


@pytest.fixture(scope="module")
def result(files):
    folder = files[0].parent / "result"
    run("align", files[0], *files[1], "--out", folder)
    return folder


def run(*arguments, code=0):
    outcome = CliRunner().invoke(main, list(map(str, arguments)))
    assert outcome.exit_code == code, outcome.output
    return outcome


def test_files_in_order_and_a_folder_give_the_same(files, result, tmp_path):
    run("align", files[0], files[1][0].parent, "--out", tmp_path / "out")
    for name in ("alignment.json", "alignment.csv", "parts/2 CD2.srt"):
        assert (tmp_path / "out" / name).read_bytes() == (result / name).read_bytes()


def test_volumes_and_subtitles_are_repeated_options(files, tmp_path):
    book, parts, _ = files
    second = tmp_path / "second.txt"
    second.write_text("The inspector went home.", encoding="utf-8")
    subtitles = [f"--subtitles={part.with_suffix('.srt')}" for part in parts]
    output = run("align", book, *parts, "--book", second, "--no-shots", "--json", *subtitles)
    document = json.loads(output.stdout)
    assert [volume["title"] for volume in document["book"]["volumes"]] == ["book", "second"]
    assert document["model"]["options"]["subtitles"] == [
        str(part.with_suffix(".srt")) for part in parts
    ]
    failed = run("align", book, *parts, subtitles[0], code=1)
    assert "1 --subtitles for 2 film files; give one for each part" in failed.output


def test_subtitles_given_as_a_part_are_explained_in_one_line(files):
    book, _, whole = files
    failed = run("align", book, whole, whole.with_suffix(".srt"), code=1)
    assert "--subtitles whole.srt" in failed.output
    assert "Traceback" not in failed.output


def test_a_volume_among_the_parts_is_explained_before_anything_is_decoded(files):
    book, parts, _ = files
    failed = run("align", book, parts[0], book, code=1)
    assert "further volumes of the book with --book" in failed.output
    assert "no such file" in run("align", book, parts[0], "nowhere.mp4", code=1).output


def test_a_folder_is_inspected_as_one_film(files):
    found = run("inspect", files[1][0].parent, "--json")
    (row,) = json.loads(found.stdout)
    assert (row["kind"], row["title"], row["shots"]) == ("film", "Ferry", 6)
    assert "parts: parts: Ferry.CD1.mp4, Ferry.CD2.mp4" in found.stderr  # the folder's name first


def test_the_order_of_a_folder_is_told_and_doubted(files, tmp_path):
    book, (first, second), _ = files
    for name in ("Deuxième partie.srt", "Première partie.srt"):
        (tmp_path / name).write_bytes(first.with_suffix(".srt").read_bytes())
    told = run("align", book, tmp_path, "--preset", "fast")
    assert "parts: Première partie.srt, Deuxième partie.srt" in told.stderr
    assert "have no numbers" not in told.output
    (tmp_path / "Eine lange Fahrt.srt").write_bytes(second.with_suffix(".srt").read_bytes())
    told = run("align", book, tmp_path, "--preset", "fast")
    order = "parts: Deuxième partie.srt, Eine lange Fahrt.srt, Première partie.srt"
    assert order in told.stderr
    assert told.stderr.count("have no numbers that folioreel understands") == 1
    assert told.output.count("the names of the files in") == 1


def test_describe_by_the_time_in_a_part(result, tmp_path):
    told = run("describe", result, "--part", 2, "--at", "4", "--out", tmp_path / "frames").output
    assert told.startswith("CD2 0:00:03–0:00:04  Who opened the hoarding?")
    assert len(list((tmp_path / "frames").iterdir())) == 1
    (row,) = json.loads(run("describe", result, "--at", "11", "--json").stdout)
    assert (row["part"], row["part_title"], row["part_start_s"]) == (1, "CD2", pytest.approx(3.2))
    assert "--part is for" in run("describe", result, "--part", 2, "--shot", 1, code=2).output
    assert "1 to 2" in run("describe", result, "--part", 3, "--at", "4", code=1).output
    late = run("describe", result, "--part", 1, "--at", "0:00:08", code=1).output  # CD2 by then
    assert "00:00:08.000 is not in part 1 (CD1), which is 00:00:07.000 long" in late
    inside = json.loads(run("describe", result, "--part", 1, "--range", "0-60", "--json").stdout)
    assert {row["part_title"] for row in inside} == {"CD1"}
    run("describe", result, "--sheet", tmp_path / "sheet.html")
    sheet = (tmp_path / "sheet.html").read_text("utf-8")
    assert "CD1 0:00:00 · " in sheet
    assert "CD2 0:00:0" in sheet
    assert sheet.count("<img") >= 4


def test_moved_parts_are_given_in_order_or_by_their_folder(files, result, tmp_path):
    for part in files[1]:
        (tmp_path / part.name).write_bytes(part.read_bytes())
    one_by_one = [f"--film={tmp_path / part.name}" for part in files[1]]
    for given in (one_by_one, [f"--film={tmp_path}"]):
        assert "CD2" in run("describe", result, "--at", "11", *given).output
    wrong = run("describe", result, "--at", "11", one_by_one[0], code=1)
    assert "a film of 2 files, not 1" in wrong.output
