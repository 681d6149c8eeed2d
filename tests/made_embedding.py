"""An embedding that anyone can follow: clips by their colour, sentences by the colours in them."""

from __future__ import annotations

import numpy as np

from folioreel.models.onnx_graphs import unit_rows
from folioreel.text import tokenize

COLOURS = ("red", "green", "blue")


class ColourEyes:
    """Frame features: the mean colour of a picture, as both kinds."""

    name, size_px, fingerprint = "colour-eyes", 16, "cd" * 32
    units = {"visual": 3, "scene": 3}  # noqa: RUF012

    def encode(self, frames):
        means = frames.mean((1, 2), dtype=np.float32)
        return {"visual": means, "scene": means}


class ColourWords:
    """An embedding over `ColourEyes`."""

    feature_units = units = 3

    def __init__(self, kind: str) -> None:
        self.name, self.features = f"colours of {kind}", kind
        self.fingerprint = "ef" * 32

    def embed_clips(self, features):
        return unit_rows(np.asarray(features, dtype=np.float32))

    def embed_sentences(self, texts, progress=None):
        counts = [[tokenize(text).count(colour) for colour in COLOURS] for text in texts]
        return unit_rows(np.array(counts, dtype=np.float32).reshape(-1, 3))
