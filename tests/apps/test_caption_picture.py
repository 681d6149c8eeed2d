"""A sentence for a picture file, by the captioner of the package."""

import numpy as np
import pytest
from PIL import Image

from folioreel.apps.caption_picture import caption_pictures
from folioreel.errors import InputError


def test_sentences_for_files(tmp_path):
    rng = np.random.default_rng(1)
    files = []
    for name in ("a.jpg", "b.png"):
        files.append(tmp_path / name)
        Image.fromarray(rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)).save(files[-1])
    found = caption_pictures(files, count=3)
    assert [len(captions) for captions in found] == [3, 3]
    for captions in found:
        scores = [caption.score for caption in captions]
        assert scores == sorted(scores, reverse=True)
        assert len({caption.text for caption in captions}) == 3
        assert all(caption.text.endswith(".") for caption in captions)
    assert caption_pictures(files)[1] == found[1][:1]
    assert caption_pictures([]) == []


def test_no_picture_is_told_as_such(tmp_path):
    (tmp_path / "notes.txt").write_text("no picture", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt: is not a readable picture"):
        caption_pictures([tmp_path / "notes.txt"])
