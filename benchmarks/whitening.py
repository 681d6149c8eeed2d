"""What whitening brings (docs/how-to/languages.md), as Markdown.

    python benchmarks/whitening.py PAIR [PAIR …]

For each judged pair, the mean reciprocal rank of the right sentence among all of the book, by the
cosines of the encoder `use-multilingual` for a line and for its window, summed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.ingest.book import load_book
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import MULTILINGUAL, encode_cached, load_encoder
from folioreel.similarity.sentence import window_means
from folioreel.similarity.whitening import whiten
from folioreel.train.judged import judged_moments


def rank_pair(folder: Path) -> tuple[int, float, float]:
    """The number of judged matches, and the figure before and after whitening."""
    pair = load_pair(folder)
    film, book = load_pair_film(pair, shots=False), load_book(pair.book)
    encoder = load_encoder(MULTILINGUAL)
    sides = [
        unit_rows(encode_cached(encoder, [part.text for part in parts]))
        for parts in (film.moments, book.sentences)
    ]
    matches = [one for one in judged_moments(pair, film, book) if one.verdict == "match"]
    figures = []
    for moments, sentences in (sides, whiten(*sides)):
        windows = window_means(moments) @ window_means(sentences).T
        cosines = moments @ sentences.T + windows  # (I, J)
        ranks = [rank(cosines[one.moment], one.sentences) for one in matches]
        figures.append(float(np.mean([1 / place for place in ranks])))
    return len(matches), figures[0], figures[1]


def rank(values: NDArray[np.float32], right: tuple[int, ...]) -> int:
    """The place of the best of the right ones, from 1."""
    return 1 + int((values > values[list(right)].max()).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", type=Path, nargs="+", help="folders of judged pairs")
    print("| pair | lines | as published | whitened |\n|---|---|---|---|")
    for folder in parser.parse_args().pairs:
        lines, before, after = rank_pair(folder)
        print(f"| {folder.name} | {lines} | {before:.3f} | {after:.3f} |", flush=True)


if __name__ == "__main__":
    main()
