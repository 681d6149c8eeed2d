"""Silent shots: found by their pictures where those count, and nowhere without."""

import numpy as np
import pytest
from conftest import SENTENCES, make_book
from drawn_films import draw_film
from made_embedding import ColourEyes, ColourWords

from folioreel.alignment.aligner import Aligner
from folioreel.config import AlignConfig, PicturesConfig, StepsConfig
from folioreel.errors import ConfigError
from folioreel.ingest.film import load_film
from folioreel.ingest.video.shots import recall_features
from folioreel.models.presets import load_preset, save_preset
from folioreel.similarity import tensor

PICTURES = PicturesConfig(visual=20.0, scene=20.0, bias=-34.0)
CONFIG = AlignConfig(weights={"rare": 9.0}, bias=-4.0, steps=StepsConfig(), pictures=PICTURES)
TOLD = {1: "A red barn.", 5: "The green grass grew.", 9: "The blue sea was still."}
SPOKEN = "1\n00:00:03,200 --> 00:00:03,800\nNobody spoke of it in the morning, nobody.\n"


@pytest.fixture
def book():
    """A colour stands out among many sentences; among twelve it hardly would."""
    told = [TOLD.get(k, text) for k, text in enumerate(SENTENCES)]
    return make_book([*told, *(f"Day {k} went by like the others." for k in range(36))], 2)


@pytest.fixture
def video(tmp_path, monkeypatch):
    """Red, green, a shot with dialogue, blue, grey: a second and a half each."""
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tensor.VisualSemantic, "load", ColourWords)
    (tmp_path / "said.srt").write_text(SPOKEN, encoding="utf-8")
    shades = ((220, 10, 10), (10, 200, 10), (120, 120, 120), (10, 10, 220), (70, 70, 70))
    pictures = [np.full((120, 160, 3), shade, np.uint8) for shade in shades for _ in range(37)]
    return draw_film(tmp_path / "film.mp4", pictures)


def watched(video):
    return load_film(video, subtitles=video.with_name("said.srt"), encoder=ColourEyes())


def test_silent_shots_are_found_by_their_pictures(video, book):
    film = watched(video)
    assert [moment.kind for moment in film.moments].count("visual") == 4
    links = Aligner(CONFIG).align(film, book).links
    assert [(link.sentence, link.in_book) for link in links[:2]] == [(1, True), (5, True)]
    assert (links[2].sentence, links[2].in_book) == (6, True)  # by what is said
    assert (links[3].sentence, links[3].in_book) == (9, True)
    assert links[4].sentence >= 9  # grey is like all colours: it stays where the film is


def test_books_in_other_languages_are_not_compared_with_pictures(video, monkeypatch):
    """The embeddings know English only."""
    film, aligner = watched(video), Aligner(CONFIG)
    monkeypatch.setattr(Aligner, "frame_features", lambda _: ColourEyes())
    for language, is_watched in (("fr", False), ("en", True), (None, True)):
        found = aligner.load_film(film, book_language=language)
        assert (found.features is not None) == is_watched
        assert found.shots == film.shots


def test_scores_are_the_weighted_sum(video, book):
    film = watched(video)
    scores = Aligner(CONFIG).compare(film, book)
    colour = film.features.vectors["visual"].astype(float)
    for moment, shot in ((0, 0), (1, 1), (3, 3)):
        for sentence, place in ((1, 0), (5, 1), (9, 2)):
            cosine = colour[shot, place] / np.linalg.norm(colour[shot])
            assert scores[moment, sentence] == pytest.approx(40 * cosine - 34, abs=0.05)
    assert scores[0, 2] == pytest.approx(-34)


def test_the_tensor_offers_what_the_pictures_say(video, book):
    """The one source of `visual` and `scene`, and only where they count."""
    film = watched(video)
    rows = tensor.SimilarityRows(film, book, CONFIG)
    assert rows.measures == ("rare", "visual", "scene")
    assert rows.silent.tolist() == [True, True, False, True, True]
    assert rows.seen.all()
    block = rows.block(0, rows.shape[0])
    expected = np.float32(-34) + np.float32(20) * block["visual"]
    expected += np.float32(20) * block["scene"]
    scores = Aligner(CONFIG).compare(film, book)
    np.testing.assert_array_equal(scores[rows.silent], expected[rows.silent])
    unseen = load_film(video, subtitles=video.with_name("said.srt"))
    chained = AlignConfig(weights={"rare": 9.0}, pictures=PICTURES)
    for which, config in ((unseen, CONFIG), (film, chained)):
        assert tensor.SimilarityRows(which, book, config).measures == ("rare",)


def test_without_pictures_nothing_changes(video, book):
    """To the last digit: for a film that was not watched, and for what is said in any."""
    film, unseen = watched(video), load_film(video, subtitles=video.with_name("said.srt"))
    plain = AlignConfig(weights={"rare": 9.0}, bias=-4.0, steps=StepsConfig())
    expected = Aligner(plain).score(film, book)
    np.testing.assert_array_equal(Aligner(CONFIG).score(unseen, book), expected)
    assert np.isneginf(expected).all(axis=1).tolist() == [True, True, False, True, True]
    np.testing.assert_array_equal(Aligner(CONFIG).score(film, book)[2], expected[2])
    links = Aligner(CONFIG).align(unseen, book).links
    assert links == Aligner(plain).align(film, book).links
    watching = [
        Aligner(CONFIG).align(which, book).signature["pictures"] for which in (film, unseen)
    ]
    assert watching == [True, False]
    assert [link.in_book for link in links] == [False, False, True, False, False]


def test_what_was_seen_is_recalled_from_the_cache(video, book):
    film, unseen = watched(video), load_film(video, subtitles=video.with_name("said.srt"))
    recalled = recall_features(unseen, ColourEyes())
    np.testing.assert_array_equal(
        recalled.features.vectors["scene"], film.features.vectors["scene"]
    )
    assert recall_features(unseen, None).features is None
    video.write_bytes(video.read_bytes() + b"\0")
    other = load_film(video, subtitles=video.with_name("said.srt"))
    assert recall_features(other, ColourEyes()).features is None


def test_who_must_look():
    assert Aligner(AlignConfig()).frame_features() is None
    assert Aligner(CONFIG).frame_features().name == "efficientnet-lite0"
    assert AlignConfig(weights={"scene": 1.0}).looks


def test_kept_in_a_preset(tmp_path):
    save_preset(CONFIG, tmp_path / "mine", "# card\n", {})
    assert load_preset(str(tmp_path / "mine")) == CONFIG


def test_weights_must_be_numbers():
    with pytest.raises(ConfigError, match="finite"):
        PicturesConfig(visual=float("nan"), scene=1.0, bias=0.0)
