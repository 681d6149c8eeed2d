"""How true the scores of `alternatives` are (docs/explanation/results.md), as Markdown.

    python benchmarks/alternatives.py PAIRS [--like PRESET] [--folds N]

The pairs are dealt into folds, and each is aligned with a preset fitted to the others. A passage is
right if a judged passage is within three paragraphs of it. Lines judged `scene` are left out, as
for the calibration error of links.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from folioreel.evaluate.metrics import NEAR_PARAGRAPHS, PlacedLink, distance, own_links
from folioreel.train.positions import JudgedFilm, align_measured, fit_preset, read_judged
from folioreel.train.starts import STARTS
from folioreel.types import Alignment

_EDGES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)  # of the bins of scores


def judge_others(item: JudgedFilm, alignment: Alignment) -> Iterator[tuple[float, bool, bool]]:
    """The second and third passages of the judged lines.

    The score of each, whether it is right, and whether the line is in the book and its link wrong.
    """
    moments, sentences = alignment.film.moments, alignment.book.sentences

    def place(number: int, sentence: int) -> PlacedLink:
        moment, line = moments[number], sentences[sentence].line
        return PlacedLink(
            start_s=moment.start_s, end_s=moment.end_s, line=line, score=float(number)
        )

    links = [place(link.moment, link.sentence) for link in alignment.links]
    for judgement, own in own_links(item.pair, links):
        if own is None or judgement.verdict == "scene":
            continue
        number = int(own.score)
        missed = (
            judgement.verdict == "match" and distance(item.pair, judgement, own) > NEAR_PARAGRAPHS
        )
        for other in alignment.links[number].alternatives[1:]:
            away = distance(item.pair, judgement, place(number, other.sentence))
            yield other.score, away <= NEAR_PARAGRAPHS, missed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", type=Path, help="folder of judged pairs")
    parser.add_argument("--like", choices=STARTS, default="default", help="preset to fit")
    parser.add_argument("--folds", type=int, default=3)
    options = parser.parse_args()
    judged = read_judged(options.pairs, like=options.like)
    found: list[tuple[float, bool, bool]] = []
    for fold in range(options.folds):
        tested = judged[fold :: options.folds]
        preset = fit_preset([item for item in judged if item not in tested])
        for item in tested:
            found += judge_others(item, align_measured(item, preset))
    scores, right, missed = np.array(found).T
    bins = np.digitize(scores, _EDGES[1:-1])
    rows = {f"{low} to {high}": bins == k for k, (low, high) in enumerate(pairwise(_EDGES))}
    rows |= {"all": bins >= 0, "of lines in the book whose link is wrong": missed > 0}
    print("| score | passages | expected right | right |\n|---|---|---|---|")
    for name, chosen in rows.items():
        chances, hits = scores[chosen], int(right[chosen].sum())
        print(f"| {name} | {len(chances)} | {chances.sum():.1f} | {hits} |")


if __name__ == "__main__":
    main()
