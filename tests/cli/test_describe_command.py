"""`describe` from the command line, with the demo."""

import json
import shutil

import pytest
from command_line import run

from folioreel.apps.demo import demo_folder

BOOK, FILM = demo_folder() / "book.txt", demo_folder() / "film.srt"


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    out = tmp_path_factory.mktemp("aligned") / "result"
    assert run("align", BOOK, FILM, "--out", out).exit_code == 0
    return out


def test_describe_a_time(aligned):
    result = run("describe", aligned, "--at", "0:00:12.5")
    assert result.exit_code == 0
    assert "Mr. Catchpole, have you sold all your bread?" in result.stdout
    assert "> “Mr. Catchpole, did you sell your bread?”" in result.stdout
    assert "  “Every crumb,” said the baker." in result.stdout
    same = json.loads(run("describe", aligned / "alignment.json", "--at", 12.5, "--json").stdout)
    assert same[0]["passage"]["sentence"] == "“Mr. Catchpole, did you sell your bread?”"
    assert same[0]["in_book"] is True
    assert same[0]["frame"] is None


def test_describe_a_range_and_a_passage(aligned):
    rows = json.loads(run("describe", aligned, "--range", "0:10-1:00", "--json").stdout)
    assert all(row["start_s"] < 60 and row["end_s"] > 10 for row in rows)
    assert len(rows) > 5
    back = json.loads(run("describe", aligned, "--passage", "22", "--json").stdout)
    assert back[0]["said"] == "Mr. Catchpole, have you sold all your bread?"
    words = json.loads(run("describe", aligned, "--passage", "sell bread", "--json").stdout)
    assert words == back


def test_describe_without_pictures_is_text(aligned, tmp_path):
    result = run("describe", aligned, "--at", 12, "--out", tmp_path / "frames")
    assert result.exit_code == 0
    assert "no frame was written" in result.stderr
    assert not (tmp_path / "frames").exists()
    sheet = run("describe", aligned, "--sheet", tmp_path / "sheet")
    assert sheet.stdout.split() == [
        *("wrote", str(tmp_path / "sheet.html")),
        *("wrote", str(tmp_path / "sheet.pdf")),
    ]
    again = run("describe", aligned, "--sheet", tmp_path / "sheet")
    assert again.exit_code == 1
    assert "already exists" in again.stderr
    assert run("describe", aligned, "--sheet", tmp_path / "sheet", "--force").exit_code == 0
    assert "--pages needs --sheet" in run("describe", aligned, "--at", 5, "--pages", 2).stderr
    part = ("--sheet", tmp_path / "part.html", "--range", "5:00-6:00", "--pages", 9)
    assert run("describe", aligned, *part).exit_code == 0
    page = (tmp_path / "part.html").read_text("utf-8")
    assert 5 < page.count("<article>") < 30
    assert page.count("<article>") == page.count(">0:05:") + page.count(">0:04:5")


def test_describe_writes_frames(aligned, tmp_path):
    # The same film with its pictures: moments by the spoken lines alone.
    shutil.copytree(aligned, tmp_path / "result")
    path = tmp_path / "result" / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    video = demo_folder() / "film.mp4"
    document["film"] |= {"path": str(video), "is_video": True, "sha256": None}
    document["film"].pop("bytes", None)
    path.write_text(json.dumps(document), encoding="utf-8")
    out = tmp_path / "frames"
    (row,) = json.loads(run("describe", path, "--at", 12.5, "--out", out, "--json").stdout)
    (frame,) = out.iterdir()
    assert row["frame"] == str(frame)
    assert frame.read_bytes().startswith(b"\xff\xd8\xff")
    assert run("describe", path, "--at", 12.5, "--out", out).exit_code == 1
    assert run("describe", path, "--at", 12.5, "--out", out, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "choose exactly one of --at"),
        (["--at", "1:00", "--shot", "1"], 2, "choose exactly one of --at"),
        (["--at", "1:00", "--sheet", "a.pdf"], 2, "choose exactly one of --at"),
        (["--at", "noon"], 2, "is not a time"),
        (["--range", "1:00"], 2, "is not a range"),
        (["--at", "9:00:00"], 1, "09:00:00.000 is not in the film, which is 00:"),
        (["--shot", "1"], 1, "no shots"),
        (["--passage", "99999"], 1, "no sentence on line 99999"),
    ],
)
def test_describe_says_what_is_wrong(aligned, arguments, code, words):
    result = run("describe", aligned, *arguments)
    assert result.exit_code == code
    assert words in result.stderr


def test_describe_needs_an_alignment(tmp_path):
    result = run("describe", tmp_path, "--at", 1)
    assert result.exit_code == 1
    assert "no such file" in result.stderr
