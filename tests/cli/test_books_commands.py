"""`retrieve`, `borrow` and `caption` from the command line."""

import json
import shutil

import numpy as np
import pytest
from command_line import run
from corpus.made_books import make_novel
from corpus.made_stories import write_tales
from drawn_films import draw_film, shots_of
from PIL import Image

from folioreel.apps import borrow
from folioreel.apps.demo import demo_folder
from folioreel.errors import AlignmentError

BOOK, FILM = demo_folder() / "book.txt", demo_folder() / "film.srt"


def caption(*arguments):
    return run("caption", *arguments, "--workers", 1)


def test_retrieve(tmp_path):
    shutil.copy(BOOK, tmp_path / "sixty-one.txt")
    (tmp_path / "other.txt").write_text(make_novel(1, author=1), encoding="utf-8")
    (tmp_path / "broken.epub").write_bytes(b"PK\x03\x04")
    options = ("--books", tmp_path, "--workers", 1)
    result = run("retrieve", FILM, *options)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[1].split()[:2] == ["sixty-one.txt", "100.0"]
    assert lines[2].split()[0] == "other.txt"
    assert lines[-1] == "made from sixty-one.txt (2 of 2 books were aligned)"
    assert "skipped 1 file:\n  broken.epub: " in result.stderr
    rows = json.loads(run("retrieve", FILM, *options, "--json").stdout)
    assert [row["book"] for row in rows] == ["sixty-one.txt", "other.txt"]
    assert rows[0]["score"] == 100
    # The paper's chain places every moment in any book: a share would say nothing.
    assert lines[0].split("  ")[-1] == "in book"
    papers = run("retrieve", FILM, *options, "--preset", "paper")
    assert papers.exit_code == 0
    assert "in book" not in papers.stdout
    (tmp_path / "sixty-one.txt").unlink()
    gone = run("retrieve", FILM, *options)
    assert gone.exit_code == 0
    assert "the film's book is probably not in the folder" in gone.stdout


def test_retrieve_from_nothing(tmp_path):
    result = run("retrieve", FILM, "--books", tmp_path)
    assert result.exit_code == 1
    assert "holds no book" in result.stderr


def test_borrow(tmp_path):
    for seed in range(2):
        novel = make_novel(seed, words=2000, author=seed)
        novel += f"\n\nThe {seed} baker had sold all his bread by noon, Mr. Catchpole said.\n"
        (tmp_path / f"novel-{seed}.txt").write_text(novel, encoding="utf-8")
    shutil.copy(BOOK, tmp_path / "own.txt")
    options = ("--books", tmp_path, "--without", "own.txt", "--workers", 1, "--count", 3)
    rows = json.loads(run("borrow", FILM, *options, "--json").stdout)
    assert len(rows) == 3
    assert all(row["book"].startswith("novel-") for row in rows)
    assert any("sold all his bread" in row["passage"]["text"] for row in rows)
    shown = run("borrow", FILM, *options).stdout
    assert all(f"  {row['book']}, " in shown for row in rows)
    wrong = run("borrow", FILM, "--books", tmp_path, "--without", "nothing.txt")
    assert wrong.exit_code == 1
    assert "no book nothing.txt to leave out" in wrong.stderr


@pytest.mark.parametrize(
    ("option", "shots", "watched"),
    [((), 2, True), (("--no-pictures",), 2, False), (("--no-shots",), 0, False)],
)
def test_borrow_reads_a_film_as_align_does(tmp_path, monkeypatch, option, shots, watched):
    films = []

    def stop(film, *arguments):
        films.append(film)
        raise AlignmentError("seen enough")

    monkeypatch.setattr(borrow, "borrow", stop)
    draw_film(tmp_path / "film.mp4", shots_of([50] * 2))
    result = run("borrow", tmp_path / "film.mp4", "--books", tmp_path, *option)
    assert "seen enough" in result.stderr
    assert (len(films[0].shots), films[0].features is not None) == (shots, watched)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tales(tmp_path_factory.mktemp("tales"))


@pytest.fixture
def picture(tmp_path):
    Image.fromarray(np.full((40, 60, 3), 120, dtype=np.uint8)).save(tmp_path / "grey.png")
    return tmp_path / "grey.png"


def test_pictures_go_on_without_one_that_is_none(folder, picture, tmp_path):
    (tmp_path / "notes.jpg").write_text("no picture", encoding="utf-8")
    page = tmp_path / "gallery.html"
    result = caption(picture, tmp_path / "notes.jpg", "--books", folder, "--out", page, "--json")
    assert result.exit_code == 0
    (story,) = json.loads(result.stdout)
    assert story["picture"] == str(picture)
    assert set(story["passages"][0]) >= {"book", "path", "before", "sentence", "after"}
    assert "skipped 1 file:" in result.stderr
    assert "notes.jpg: is not a readable picture" in result.stderr
    assert page.read_text(encoding="utf-8").count("<article>") == 1
    again = caption(picture, "--books", folder, "--out", page)
    assert (again.exit_code, again.stdout) == (1, "")
    assert "already exists" in again.stderr


def test_a_caption_alone(folder):
    result = caption("--caption", "A ghost walks at midnight.", "--books", folder, "--count", 2)
    assert result.exit_code == 0
    assert "> At midnight a ghost walked along the gallery.\n" in result.stdout
    assert "  Nobody had lived in the house for thirty years.\n" in result.stdout
    assert "(ghost.txt, CHAPTER 1; cosine 0." in result.stdout
    assert result.stdout.count("precision") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "give at least one image, or --caption"),
        (["a.jpg", "b.jpg", "--caption", "A dog."], 2, "describes one image"),
        (["gone.jpg"], 1, "gone.jpg: no such file; check the path"),
        (["--caption", "A dog.", "--count", "0"], 1, "count must be"),
        (["--caption", "A dog.", "--encoder", "none-such"], 1, "unknown sentence encoder"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, code, words):
    result = caption(*arguments, "--books", folder)
    assert result.exit_code == code
    assert words in result.stderr
