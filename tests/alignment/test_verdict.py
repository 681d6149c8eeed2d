"""Films of other books, and subtitles in other languages, are named."""

import json
import logging
from dataclasses import replace

import numpy as np
import pytest
from command_line import run
from conftest import make_book, make_film
from drawn_films import DrawnTrack, draw_film, shots_of
from drawn_subtitles import add_bitmaps

from folioreel.alignment import verdict
from folioreel.alignment.align import align
from folioreel.alignment.verdict import check_languages, find_track
from folioreel.apps.demo import demo_folder
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.multilingual_encoder import LANGUAGES
from folioreel.types import Alignment

FRENCH = "Ferme la porte, s'il te plaît, et reviens t'asseoir près du feu avec ta mère."
ENGLISH = "Please shut the door and come back to sit by the fire with your mother."
ENGLISH_ONLY = frozenset({"en"})  # what the encoder of `default` knows
NOT_THE_FILM = "this does not look like the film of this book"


@pytest.fixture(scope="module")
def other_book(tmp_path_factory):
    """A book about other things and people than the demo's."""
    rng = np.random.default_rng(0)
    subjects = "Captain Ahmose,The queen's astronomer,Our grandfather,Sailor Bexley".split(",")
    verbs = "watched,measured,drew,forgot,described,sold".split(",")
    objects = "the comet,a brass sextant,seven whales,the northern ice,an old chart".split(",")
    ends = "before the war,in the observatory,on the third voyage,with great care".split(",")
    parts = (subjects, verbs, objects, ends)
    lines = [" ".join(rng.choice(part) for part in parts) + "." for _ in range(600)]
    path = tmp_path_factory.mktemp("other") / "voyage.txt"
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("preset", ["default", "fast"])
def test_the_right_book_gets_no_warning(preset):
    alignment = align(demo_folder() / "book.txt", demo_folder() / "film.srt", preset=preset)
    assert alignment.warnings == ()


@pytest.mark.parametrize("preset", ["default", "fast"])
def test_a_wrong_book_is_told(preset, other_book, caplog):
    with caplog.at_level(logging.WARNING, "folioreel"):
        alignment = align(other_book, demo_folder() / "film.srt", preset=preset)
    assert len(alignment.warnings) == 1
    assert alignment.warnings[0].startswith(NOT_THE_FILM)
    assert [record.getMessage() for record in caplog.records] == list(alignment.warnings)


def test_a_wrong_book_is_told_everywhere(other_book, tmp_path):
    film = demo_folder() / "film.srt"
    result = run("align", other_book, film, "--preset", "fast", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert f"folioreel: {NOT_THE_FILM}" in result.stderr
    assert result.output.count(NOT_THE_FILM) == 1  # not in the summary again
    document = json.loads((tmp_path / "out" / "alignment.json").read_text("utf-8"))
    assert document["warnings"][0].startswith(NOT_THE_FILM)
    assert NOT_THE_FILM in (tmp_path / "out" / "page.html").read_text("utf-8")
    assert Alignment.load(tmp_path / "out").warnings == tuple(document["warnings"])


def test_a_few_lines_are_no_proof(other_book, tmp_path):
    clip = tmp_path / "clip.srt"
    text = (demo_folder() / "film.srt").read_text("utf-8")
    clip.write_text("\n\n".join(text.split("\n\n")[:40]), encoding="utf-8")
    (doubt,) = align(other_book, clip, preset="fast").warnings
    assert "too little is said to tell" in doubt
    assert NOT_THE_FILM not in doubt
    assert align(demo_folder() / "book.txt", clip, preset="fast").warnings == ()
    assert align(other_book, clip, preset="paper").warnings == ()


@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_film_in_which_hardly_anybody_speaks(preset, tmp_path):
    """However alike film and book are: two lines may be alike by chance."""
    book, clip = tmp_path / "book.txt", tmp_path / "clip.srt"
    book.write_text("\n\n".join([ENGLISH] * 20), encoding="utf-8")
    clip.write_text(f"1\n00:00:01,000 --> 00:00:04,000\n{ENGLISH}\n", encoding="utf-8")
    (doubt,) = align(book, clip, preset=preset).warnings
    assert doubt.startswith("only one sentence is said in the film, too little to tell")
    silent = draw_film(tmp_path / "silent.mkv", shots_of([30, 30]))
    (doubt,) = align(book, silent, preset=preset, pictures=False).warnings
    assert doubt.startswith("nothing is said in the film, too little to tell")


def test_another_language_is_told_with_the_tracks_that_fit(tmp_path):
    book = tmp_path / "roman.txt"
    book.write_text("\n\n".join([FRENCH] * 5), encoding="utf-8")
    cues = {"eng": ENGLISH, "fre": FRENCH}
    tracks = [DrawnTrack(cues=[(500, 3000, cues[code])], language=code) for code in cues]
    film = load_film(draw_film(tmp_path / "film.mkv", shots_of([100]), tracks=tracks))
    better = "the film has French ones: use --subtitles 2 for track 2 (French, SubRip)"
    assert check_languages(film, load_book(book), ENGLISH_ONLY) == (
        "the subtitles are in English and the book is in French; the sentence encoder was not "
        f"trained on French, so few lines can be found; {better}"
    )
    # The multilingual encoder knows both, but the other track does better.
    assert check_languages(film, load_book(book), LANGUAGES) is None
    assert check_languages(film, load_book(book), None) is None
    assert find_track(film, load_book(book)) == better
    french = load_film(film.video, subtitles="fr")
    assert check_languages(french, load_book(book), ENGLISH_ONLY) is None
    assert find_track(french, load_book(book)) is None


def test_languages_that_no_measure_can_bridge():
    film, book = replace(make_film(), language="en"), replace(make_book(), language="fi")
    assert check_languages(film, book, LANGUAGES) == (
        "the subtitles are in English and the book is in Finnish; the sentence encoder was not "
        "trained on Finnish, so few lines can be found; give Finnish subtitles, or the book in "
        "English"
    )
    film = replace(make_film(), language="fi")
    assert check_languages(film, book, frozenset()) is None


def test_scripts_tell_where_languages_are_unknown():
    film, book = make_film(((1.0, 2.0, "Кто открыл ворота?"),)), make_book()
    assert check_languages(film, book, LANGUAGES) == (
        "the subtitles are in Cyrillic script and the book is in Latin script; give both in one "
        "language"
    )
    assert check_languages(make_film(), book, LANGUAGES) is None
    assert check_languages(make_film(()), book, LANGUAGES) is None


FINNISH = "Sulje ovi, ole hyvä, ja tule takaisin istumaan tulen ääreen äitisi kanssa."


def test_only_tracks_that_help_are_recommended(tmp_path, monkeypatch):
    book = tmp_path / "romaani.txt"
    book.write_text("\n\n".join([FINNISH] * 5), encoding="utf-8")
    novel = load_book(book)
    english = DrawnTrack(cues=[(500, 3000, ENGLISH)], language="eng")
    cues = [(500, 3000, FINNISH)]
    comments = DrawnTrack(cues=cues, language="fin", title="Commentary")
    plain = draw_film(tmp_path / "plain.mkv", shots_of([50]), tracks=[english, comments])

    def advice(film):
        return check_languages(load_film(film, shots=False), novel, LANGUAGES)

    assert "give Finnish subtitles (--subtitles FILE)" in advice(plain)
    spoken = draw_film(tmp_path / "spoken.mkv", shots_of([50]), tracks=[english])
    pictures = add_bitmaps(tmp_path / "pictures.mkv", spoken, cues, language="fin")
    for readable, words in [(True, "--subtitles 2 for track 2 (Finnish, PGS"), (False, "give Fi")]:
        monkeypatch.setattr(verdict, "can_read", lambda _, readable=readable: readable)
        assert words in advice(pictures)

    text = DrawnTrack(cues=cues, language="fin")
    parts = [
        draw_film(tmp_path / f"Part {k}.mkv", shots_of([100]), tracks=[english, text])
        for k in (1, 2)
    ]
    assert advice(parts).endswith("Finnish ones: use --subtitles fi")
    assert "give Finnish subtitles (--subtitles FILE)" in advice([parts[0], plain])


def test_tracks_without_a_language_are_told_by_their_words(tmp_path):
    book = tmp_path / "roman.txt"
    book.write_text("\n\n".join([FRENCH] * 5), encoding="utf-8")
    roman = load_book(book)
    english = DrawnTrack(cues=[(500, 3000, ENGLISH)], language="eng")
    french = DrawnTrack(cues=[(500, 3000, f"<i>{FRENCH}</i>")], language="und")
    late = DrawnTrack(cues=[(700_000, 703_000, FRENCH)], language="und")  # after the first minutes
    styled = DrawnTrack(cues=[(500, 3000, FRENCH)], language="und", codec="ass")
    film = draw_film(tmp_path / "1.mkv", shots_of([100]), tracks=[english, french, late, styled])
    assert find_track(load_film(film, shots=False), roman).endswith(
        "use --subtitles 2 for track 2 (French, SubRip) or --subtitles 4 for track 4 (French, ASS)"
    )
    other = draw_film(tmp_path / "2.mkv", shots_of([100]), tracks=[late, english, french])
    parts = load_film([film, other], shots=False, subtitles="en")
    assert find_track(parts, roman).endswith("use --subtitles 2 --subtitles 3")
    chosen = load_film([film, other], shots=False, subtitles=["2", "3"])
    assert find_track(chosen, roman) is None


def test_another_language_without_such_a_track(tmp_path):
    book, film = tmp_path / "roman.txt", tmp_path / "film.srt"
    book.write_text("\n\n".join([FRENCH] * 5), encoding="utf-8")
    film.write_text(f"1\n00:00:01,000 --> 00:00:04,000\n{ENGLISH}\n", encoding="utf-8")
    result = run("align", book, film, "--preset", "fast")
    assert "in English and the book is in French; the sentence encoder was not" in result.stderr
    assert "use the preset across" in result.stderr
    assert NOT_THE_FILM not in result.stderr


def test_a_given_language_is_believed_and_doubted(caplog):
    book, film = (demo_folder() / name for name in ("book.txt", "film.srt"))
    with caplog.at_level(logging.WARNING, "folioreel"):
        alignment = align(book, film, preset="fast", language="français", book_language="ru")
    assert (alignment.film.language, alignment.book.language) == ("fr", "ru")
    doubts = [
        "the subtitles look like English but are read as French, as --language says",
        "the book looks like English but is read as Russian, as --book-language says",
    ]
    assert list(alignment.warnings[:2]) == doubts
    told = [record.getMessage() for record in caplog.records]
    assert [message for message in told if "like English" in message] == doubts
    right = align(book, film, preset="fast", language="English", book_language="eng")
    assert right.warnings == ()
