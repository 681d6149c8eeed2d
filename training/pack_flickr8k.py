"""Pack Flickr8k for training on a bare GPU machine: features as bytes, captions as JSON.

    PYTHONPATH=src python training/pack_flickr8k.py FLICKR8K OUT

Features are those of the whole picture, and of the square in its middle. The test split is left
out. They are stored as bytes on a scale of square roots from 0 to 6, the largest value of a ReLU6.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from folioreel.ingest.clip_features import View, picture_features
from folioreel.ingest.descriptions import SPLITS, read_flickr8k, read_pictures
from folioreel.models.frame_features import load_frame_features

VIEWS: tuple[View, ...] = ("whole", "middle")


def main() -> None:
    """Compute the features of each picture and write them; existing files are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--views", nargs="+", default=list(VIEWS), choices=VIEWS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    described = {
        split: read_flickr8k(arguments.flickr8k, split) for split in SPLITS if split != "test"
    }
    captions = {split: [d.texts for d in rows] for split, rows in described.items()}
    (arguments.out / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
    ids = [d.clip for rows in described.values() for d in rows]
    for view in arguments.views:
        path = arguments.out / f"{view}.npz"
        if not path.exists():
            np.savez_compressed(path, **see(arguments.flickr8k, ids, view))
            print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB", flush=True)


def see(folder: Path, ids: list[str], view: View) -> dict[str, np.ndarray]:
    """The features of some pictures by kind, as bytes: (N, units)."""
    seen = picture_features(read_pictures(folder), ids, load_frame_features(), view)
    return {
        kind: np.rint(255 * np.sqrt(values.astype(np.float32).clip(0, 6) / 6)).astype(np.uint8)
        for kind, values in seen.items()
    }


if __name__ == "__main__":
    main()
