"""Fit the weights of pictures for silent shots: three numbers of a preset.

    python training/pictures.py FLICKR8K PROSE… [--out PRESET]

A film and its book are built from Flickr8k's dev pictures, which the embeddings were not trained on
(benchmarks/built_film.py). A logistic regression on the measures `visual` and `scene` separates the
cells of shots and their captions from random cells, with equal weight for both. Its logits assume
that a sentence describes the shot in half of the cases. In real films that is rarer: BEFORE, which
is a guess. It matters only where sentences of several books are compared (`borrow`); in an
alignment, these odds are learned from the film (alignment/pictures.py).
"""

import argparse
import json
import math
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from built_film import SHOT_S, BuiltPair, build_pair
from visual_film import true_paragraphs

from folioreel.config import AlignConfig, PicturesConfig
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.frame_features import load_frame_features
from folioreel.models.presets import load_preset
from folioreel.similarity.tensor import SimilarityRows
from folioreel.types import Book, Film

BEFORE = 1 / 10
"""The prior odds that a silent shot renders the sentence that the film is at."""
RANDOM = 50
KINDS = ("visual", "scene")


def cells(film: Film, book: Book, config: AlignConfig) -> np.ndarray:
    """Both measures of every shot and sentence: (I, J, 2)."""
    rows = SimilarityRows(film, book, replace(config, weights=dict.fromkeys(KINDS, 1.0)))
    return rows.block(0, rows.shape[0]).values


def true_cells(pair: BuiltPair, film: Film, book: Book) -> list[tuple[int, int]]:
    """Each moment with the sentence that is its caption."""
    truth = true_paragraphs(pair, book)
    found = []
    for moment in film.moments:
        shot = min(int((moment.start_s + moment.end_s) / 2 / SHOT_S), len(truth) - 1)
        inside = book.paragraphs[truth[shot]].sentences
        told = [j for j in inside if book.sentences[j].text == pair.captions[shot]]
        found += [(moment.index, told[0])] if told else []
    return found


def fit(values: np.ndarray, true: list[tuple[int, int]]) -> PicturesConfig:
    """The weights, and the bias for the prior odds."""
    rng = np.random.default_rng(0)
    rows, columns = np.array(true).T
    others = rng.integers(0, values.shape[1], (len(rows), RANDOM))
    right = values[rows, columns]
    wrong = values[rows[:, None], others].reshape(-1, len(KINDS))
    labels = np.repeat([1, 0], [len(right), len(wrong)])
    weights = np.where(labels == 1, 1.0, len(right) / len(wrong))
    model = LogisticRegression(C=1e3, max_iter=1000)
    model.fit(np.concatenate([right, wrong]), labels, sample_weight=weights)
    visual, scene = (float(weight) for weight in model.coef_[0])
    bias = float(model.intercept_[0]) + math.log(BEFORE)
    return PicturesConfig(visual=round(visual, 3), scene=round(scene, 3), bias=round(bias, 3))


def main() -> None:
    """Build, watch, fit, print; write the numbers into a preset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("prose", type=Path, nargs="+", help="novels in plain text")
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="a preset's folder, in which to replace them")
    arguments = parser.parse_args()
    config = load_preset("default")
    with tempfile.TemporaryDirectory() as folder:
        pair = build_pair(
            arguments.flickr8k, "dev", arguments.prose, Path(folder), pictures=arguments.pictures
        )
        encoder = load_frame_features(config.frame_features)
        film = load_film(pair.film, subtitles="none", encoder=encoder)
        book = load_book(pair.book)
        fitted = fit(cells(film, book, config), true_cells(pair, film, book))
    print(fitted)
    if arguments.out is not None:
        path = arguments.out / "config.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        found["config"]["pictures"] = asdict(fitted)
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
