"""A folder like Flickr8k's, with drawn pictures: red ones and blue ones, told as such."""

from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"red": (200, 30, 30), "blue": (30, 30, 200)}
TOLD = {
    "red": ("A red wall.", "The wall is red.", "There is a red wall in the sun."),
    "blue": ("A blue lake.", "The lake is blue.", "There is a blue lake in the rain."),
}


def write_flickr8k(folder: Path, train: int = 8, dev: int = 4, test: int = 6) -> list[str]:
    """Write pictures, captions and the three parts; the ids of all pictures."""
    rng = np.random.default_rng(0)
    (folder / "images").mkdir(parents=True)
    captions, names = [], []
    for split, count in (("train", train), ("dev", dev), ("test", test)):
        ids = [f"{split}{number}" for number in range(count)]
        (folder / f"{split}.txt").write_text("\n".join(ids) + "\n", encoding="utf-8")
        for number, name in enumerate(ids):
            colour = ("red", "blue")[number % 2]
            noise = rng.integers(-30, 31, (24, 36, 3))
            pixels = np.clip(np.array(COLOURS[colour]) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / "images" / f"{name}.png")
            captions += [f"{name}\t{text}\n" for text in TOLD[colour]]
        names += ids
    (folder / "captions.tsv").write_text("".join(captions), encoding="utf-8")
    return names
