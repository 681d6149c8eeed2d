"""Moments, the rows of every matrix, by hand; and an alignment as people hold it."""

import base64
import csv
import io
import re
from dataclasses import replace

import pytest
from conftest import make_film
from PIL import Image

import folioreel
from folioreel.errors import InputError
from folioreel.types import Alignment, Film, Link, Shot, Subtitle


def test_moments_join_subtitles_and_silent_shots(film):
    rows = [(m.kind, m.start_s, m.subtitle, m.shot) for m in film.moments]
    assert rows == [
        ("dialogue", 1.0, 0, 0),
        ("dialogue", 2.5, 1, 0),
        ("visual", 5.0, None, 1),
        ("dialogue", 9.0, 2, 2),
        ("dialogue", 15.0, 3, 3),
        ("dialogue", 18.0, 4, 3),
    ]
    assert [m.index for m in film.moments] == list(range(6))


def test_subtitles_alone_have_no_shot():
    assert [m.shot for m in make_film(shots=False).moments] == [None] * 5


def test_video_alone_has_only_silent_moments():
    moments = make_film(spoken=()).moments
    assert [m.kind for m in moments] == ["visual"] * 4


def test_a_line_over_a_cut_belongs_to_the_shot_that_holds_most_of_it():
    film = Film(
        title="",
        duration_s=10,
        shots=(Shot(index=0, start_s=0, end_s=4), Shot(index=1, start_s=4, end_s=10)),
        subtitles=(Subtitle(index=0, start_s=3, end_s=6, text="Over the cut."),),
    )
    # Both shots have speech in them, so neither is silent.
    assert [(m.subtitle, m.shot) for m in film.moments] == [(0, 1)]


def test_divisions_of_a_book(book):
    assert book.paragraph_of == (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    assert book.chapter_of == (0, 0, 0, 1, 1, 1)


def test_what_is_shown_is_short(book, film):
    assert repr(book) == "<Book 'Sixty-One': 12 sentences, 6 paragraphs, 2 chapters>"
    assert repr(film) == "<Film 'The Ferry': 6 moments, 5 spoken sentences, 4 shots>"
    words = ": 42 % (12–74 %) of 5 spoken lines are in the book>"
    assert repr(make_alignment(book, film)).endswith(words)
    assert len(repr(make_alignment(book, film))) < 300


def make_alignment(book, film):
    """The second and the fourth moment render sentence 4; the others nothing."""
    links = tuple(
        Link(moment=i, sentence=4, score=0.9 if i in (1, 3) else 0.1, in_book=i in (1, 3))
        for i in range(len(film.moments))
    )
    return Alignment(book=book, film=film, links=links)


def test_links_at_a_time(book, film):
    alignment = make_alignment(book, film)
    assert [link.moment for link in alignment.links_at(1.0)] == [0]
    assert alignment.links_at(2.0) == ()  # a moment ends before its last instant
    assert [link.moment for link in alignment.links_at(6.5)] == [2]


def test_moments_of_a_sentence(book, film):
    alignment = make_alignment(book, film)
    assert [moment.index for moment in alignment.moments_of(4)] == [1, 3]
    assert alignment.moments_of(book.sentences[4]) == alignment.moments_of(4)
    assert alignment.moments_of(5) == ()
    assert alignment.moments_of(range(3, 6)) == alignment.moments_of(4)
    for wrong in (-1, 12, range(10, 13)):
        with pytest.raises(IndexError, match="the book has no sentence"):
            alignment.moments_of(wrong)


def test_a_data_frame_has_the_columns_of_the_csv(book, film, tmp_path):
    alignment = make_alignment(book, film)
    frame = alignment.to_dataframe()
    alignment.save(tmp_path)
    with (tmp_path / "alignment.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [frame.index.name, *frame.columns] == list(rows[0])
    assert list(frame["passage"]) == [row["passage"] for row in rows]
    assert frame.loc[3, "score"] == 0.9


def test_a_notebook_shows_counts_and_the_picture(book, film):
    shown = make_alignment(book, replace(film, title="<b>Ferry</b>"))._repr_html_()
    assert "42 % (12–74 %) of 5 spoken lines are in the book" in shown
    assert "&lt;b&gt;Ferry" in shown
    png = base64.b64decode(re.search(r"base64,([^\"]+)", shown).group(1))
    assert Image.open(io.BytesIO(png)).size == (1040, 480)


def test_saved_results_are_not_overwritten_unasked(book, film, tmp_path):
    alignment = make_alignment(book, film)
    alignment.save(tmp_path)
    with pytest.raises(InputError, match="already"):
        alignment.save(tmp_path)
    alignment.save(tmp_path, overwrite=True)


def test_the_public_names_are_listed():
    assert dir(folioreel) == sorted(folioreel.__all__)
    for name in folioreel.__all__:
        assert getattr(folioreel, name) is not None
