"""`illustrate` from the command line: files, corrections, and what goes wrong."""

import json
import zipfile

from command_line import assert_one_line, run, write_pair
from made_pages import open_session

from folioreel.ingest.book import load_book


def chapters_of(path):
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if "/chapter" in name]
        return "".join(archive.read(name).decode() for name in names)


def test_an_edition_of_a_film(result, tmp_path):
    found = run("illustrate", result)
    assert found.exit_code == 0, found.output
    path = result / "illustrated.epub"
    assert f"wrote {path}" in found.stdout
    text = chapters_of(path)
    assert text.count("<img") == int(found.stdout.split()[0]) > 0
    # It can be read as a book, by folioreel too.
    assert load_book(path).title == "novel"
    before = path.read_bytes()
    assert_one_line(run("illustrate", result), "already exists", "--force")
    assert path.read_bytes() == before
    assert run("illustrate", result, "--force").exit_code == 0
    out = tmp_path / "new" / "short.epub"
    short = run("illustrate", result, "--until", "0:01", "--out", out, "--json")
    assert json.loads(short.stdout)["file"] == str(out)
    assert chapters_of(out).count('class="time"') == json.loads(short.stdout)["times"] == 1


def test_corrections_count(result):
    session = open_session(result)
    session.judge(0, {"moment": 0, "verdict": "none", "sentence": None})
    session.judge(1, {"moment": 3, "verdict": "match", "sentence": 0})
    session.close()
    assert run("illustrate", result).exit_code == 0
    text = chapters_of(result / "illustrated.epub")
    assert "0:00:00" not in text
    assert '<p id="p0"><span class="time">0:00:03 </span>The ferry crossed' in text


def test_links_to_files_of_this_computer(result):
    page = result / "page.html"
    assert run("illustrate", result, "--link", page).exit_code == 2  # it is not there
    page.write_text("", encoding="utf-8")
    found = run("illustrate", result, "--link", page)
    assert "work on this computer only" in found.stderr
    assert f'<a href="{page.as_uri()}#t=0.2">' in chapters_of(result / "illustrated.epub")
    folder = run("illustrate", result, "--link", result.parent, "--force")
    assert folder.exit_code == 0
    film = result.parent / "film.mp4"
    assert f'<a href="{film.as_uri()}#t=0.2">' in chapters_of(result / "illustrated.epub")


def test_a_film_without_pictures(tmp_path):
    book, film = write_pair(tmp_path)
    assert run("align", book, film, "--out", tmp_path / "result").exit_code == 0
    found = run("illustrate", tmp_path / "result")
    assert found.exit_code == 0
    assert "the film has no pictures" in found.stderr
    text = chapters_of(tmp_path / "result" / "illustrated.epub")
    assert '<span class="said"' in text
    assert "<img" not in text


def test_what_cannot_be_done(result, tmp_path):
    assert "--part needs --until" in run("illustrate", result, "--part", "1").stderr
    assert run("illustrate", result, "--until", "noon").exit_code == 2
    assert_one_line(run("illustrate", result, "--until", "1", "--part", "7"), "there is no part 7")
    assert_one_line(run("illustrate", result, "--until", "0"), "nothing to show")
    (result.parent / "film.mp4").unlink()
    assert_one_line(run("illustrate", result), "film.mp4", "--film")
    assert not (result / "illustrated.epub").exists()
