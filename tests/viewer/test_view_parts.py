"""A film in several parts in the viewer: each part's bytes and pictures, and judgements."""

import io

import numpy as np
import pytest
from drawn_films import scene
from made_pages import open_session, serving
from made_parts import SHOT_FRAMES, write_parts
from PIL import Image

import folioreel
from folioreel.alignment.aligner import Aligner
from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.evaluate.report import align_pair


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_parts(tmp_path_factory.mktemp("parts") / "film")


@pytest.fixture(scope="module")
def result(files):
    folder = files[0].parent / "result"
    folioreel.align(files[0], files[1]).save(folder)
    return folder


def test_each_part_is_served_by_its_number(files, result):
    with serving(result) as browser:
        payload = browser.payload()
        titles = [(part["title"], part["file_name"]) for part in payload["film"]["parts"]]
        assert titles == [("CD1", "Ferry.CD1.mp4"), ("CD2", "Ferry.CD2.mp4")]
        for k, path in enumerate(files[1]):
            response = browser.ask("GET", f"video/{k}")
            assert (response.status, response.data) == (200, path.read_bytes())
        assert browser.ask("GET", "video/2").status == 404
        assert browser.ask("GET", "video/-1").status == 404


def test_pictures_come_from_the_right_part(result):
    """A scene moves sideways, so that the mean of each row of its pixels stays."""
    scenes = [scene(seed).astype(float).mean(axis=1) for seed in range(len(SHOT_FRAMES))]
    with serving(result) as browser:
        for shot in range(len(SHOT_FRAMES)):
            jpeg = browser.ask("GET", f"thumbnails/{shot}.jpg").data
            rows = np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB")).mean(axis=1)
            assert np.argmin([np.abs(rows - other).mean() for other in scenes]) == shot


def test_judgements_are_kept_revise_and_make_a_judged_pair(result):
    session = open_session(result)
    revised = session.judge(0, {"moment": 0, "verdict": "match", "sentence": 2})
    assert revised["links"][0][1]["score"] == 1
    session.close()
    again = open_session(result)
    assert again.judgements.current[0].sentence == 2
    again.close()
    pair = load_pair(result / "judged")
    film = load_pair_film(pair, encoder=Aligner.load().frame_features())
    assert film.parts[1].title == "CD2"
    assert film.features is not None  # by the cache, part for part
    assert len(align_pair(pair).links) == len(again.alignment.links)
