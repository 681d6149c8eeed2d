"""`caption` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from corpus.made_stories import write_tales
from PIL import Image

from folioreel.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["caption", *map(str, arguments), "--workers", "1"])


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
    result = run(picture, tmp_path / "notes.jpg", "--books", folder, "--out", page, "--json")
    assert result.exit_code == 0
    (story,) = json.loads(result.stdout)
    assert story["picture"] == str(picture)
    assert set(story["passages"][0]) >= {"book", "path", "before", "sentence", "after"}
    assert "skipped 1 file:" in result.stderr
    assert "notes.jpg: is no picture" in result.stderr
    assert page.read_text(encoding="utf-8").count("<article>") == 1
    again = run(picture, "--books", folder, "--out", page)
    assert (again.exit_code, again.stdout) == (1, "")
    assert "already exists" in again.stderr


def test_a_caption_alone(folder):
    result = run("--caption", "A ghost walks at midnight.", "--books", folder, "--count", 2)
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
        (["gone.jpg"], 1, "gone.jpg: cannot be read"),
        (["--caption", "A dog.", "--count", "0"], 1, "count must be"),
        (["--caption", "A dog.", "--encoder", "none-such"], 1, "unknown sentence encoder"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, code, words):
    result = run(*arguments, "--books", folder)
    assert result.exit_code == code
    assert words in result.stderr
