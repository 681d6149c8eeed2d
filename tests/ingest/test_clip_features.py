"""What pictures and clips look like: in order, from the cache, and refused where broken."""

import numpy as np
import pytest
from drawn_films import draw_film, scene, shots_of
from made_flickr8k import write_flickr8k
from PIL import Image

from folioreel.errors import InputError
from folioreel.ingest import clip_features
from folioreel.ingest.clip_features import picture_features, video_features
from folioreel.ingest.descriptions import read_pictures


class MeanColour:
    """An encoder whose vectors can be told by hand."""

    name, size_px, fingerprint = "mean-colour", 16, "0" * 16

    def __init__(self):
        self.units = {"visual": 3, "scene": 1}
        self.shown = 0

    def encode(self, frames):
        self.shown += len(frames)
        means = frames.mean(axis=(1, 2)).astype(np.float32)
        return {"visual": means, "scene": means[:, :1]}


def test_features_in_the_order_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(clip_features, "_CHUNK", 5)
    names = write_flickr8k(tmp_path / "data")
    wanted = names[::-2]
    encoder, done = MeanColour(), []
    pictures = list(read_pictures(tmp_path / "data"))
    found = picture_features(pictures, wanted, encoder, progress=done.append)
    assert encoder.shown == len(wanted) == done[-1].done
    assert {kind: rows.shape[1] for kind, rows in found.items()} == encoder.units
    for name, row in zip(wanted, found["visual"], strict=True):
        with Image.open(tmp_path / "data" / "images" / f"{name}.png") as opened:
            by_hand = np.asarray(opened.resize((16, 16), Image.Resampling.BICUBIC)).mean((0, 1))
        assert row == pytest.approx(by_hand, rel=1e-3)
    again = picture_features(pictures, wanted[::-1], encoder)
    assert encoder.shown == len(wanted), "the rest came from the cache"
    assert np.array_equal(again["scene"], found["scene"][::-1])
    picture_features(pictures, wanted, encoder, "middle")
    assert encoder.shown == 2 * len(wanted), "another view is another thing"


def test_the_middle_is_the_square_there():
    pixels = np.zeros((4, 8, 3), dtype=np.uint8)
    pixels[:, 2:6] = 7
    assert (clip_features.middle(pixels) == 7).all()
    assert clip_features.middle(pixels).shape == (4, 4, 3)


def test_a_picture_that_is_missing_or_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    names = write_flickr8k(tmp_path)
    with pytest.raises(InputError, match=r"the picture gone is missing \(1 in all\)"):
        picture_features(read_pictures(tmp_path), [*names, "gone"], MeanColour())
    with pytest.raises(InputError, match="dev0: is not a readable picture"):
        picture_features([("dev0", b"nothing")], ["dev0"], MeanColour())


def test_a_clip_is_the_mean_of_its_shots(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    video = draw_film(tmp_path / "clip.mp4", shots_of([40, 40]))
    found = video_features([video], MeanColour())
    by_hand = np.mean([scene(seed).mean(axis=(0, 1)) for seed in (0, 1)], axis=0)
    assert found["visual"][0] == pytest.approx(by_hand, abs=6)
    with pytest.raises(InputError, match=r"none\.mp4: no such file"):
        video_features([tmp_path / "none.mp4"], MeanColour())
