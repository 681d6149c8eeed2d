"""Moments: the rows of every matrix, by hand."""

from conftest import make_film

from folioreel.types import Film, Shot, Subtitle


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
