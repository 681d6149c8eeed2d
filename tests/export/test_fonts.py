"""Letters of any script in a picture: another font of the computer, or one line that says so."""

import logging
from dataclasses import replace

import pytest
from conftest import make_book, make_film
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font
from PIL import Image

from folioreel.export import fonts
from folioreel.export.fonts import families_for
from folioreel.export.picture import write_picture
from folioreel.types import Alignment, Link

ARABIC = "النهر والمدينة"  # DejaVu Serif has no Arabic, DejaVu Sans has


def test_the_usual_font_suffices_for_most_titles():
    for title in ("Sixty-One Kilos", "Straße – naïve Ωμέγα Война", ""):
        assert families_for(title, "serif") == ("serif",)


def test_another_font_has_what_the_usual_one_lacks():
    usual, other = families_for(ARABIC, "serif")
    letters = FT2Font(findfont(other)).get_charmap()
    assert usual == "serif"
    assert all(ord(letter) in letters for letter in ARABIC if letter != " ")


def test_letters_without_a_font_are_named_once(caplog):
    fonts._tell.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert families_for("The Ferry \U0001315a\U0001315b", "serif") == ("serif",)
        assert families_for("Another \U0001315a", "serif") == ("serif",)
    assert caplog.text.count("no font on this computer has some letters") == 1


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_pictures_of_any_script_are_drawn_without_warnings(tmp_path, name):
    film, book = make_film(), replace(make_book(), title=f"{ARABIC} 水 \U0001315a")
    chapters = tuple(replace(chapter, title=f"{ARABIC} 章") for chapter in book.chapters)
    links = tuple(Link(moment=i, sentence=i, score=0.9) for i in range(len(film.moments)))
    alignment = Alignment(book=replace(book, chapters=chapters), film=film, links=links)
    write_picture(alignment, tmp_path / name)  # warnings are errors in tests
    if name == "a.svg":
        assert ARABIC in (tmp_path / name).read_text("utf-8")
    elif name == "a.png":
        with Image.open(tmp_path / name) as picture:
            assert picture.size == (1950, 900)
