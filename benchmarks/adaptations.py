"""How far the figures of `folioreel report` can be trusted, on a dataset of judged pairs.

    python benchmarks/adaptations.py ../shared/benchmark

It compares the expected share of lines in the book with the share that judges found, and how lines
render the book (verbatim, paraphrase, reported) with what judges said.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

import folioreel
from folioreel.apps.adaptation import measure_adaptation
from folioreel.apps.rendering import HOWS, Reader
from folioreel.evaluate.dataset import Pair, load_pair
from folioreel.evaluate.metrics import judge_links, placed_links


def main(dataset: Path) -> None:
    """Align and compare every pair of a dataset."""
    rows, confusion, inside = [], np.zeros((3, 3), dtype=int), 0
    for folder in sorted(path.parent for path in dataset.glob("*/gold.tsv")):
        pair = load_pair(folder)
        alignment = folioreel.align(pair.book, folder / "film.srt")
        outcomes = judge_links(pair, placed_links(alignment))
        judged = float(np.mean(outcomes.verdicts == "match"))
        lines = measure_adaptation(alignment).lines
        share = lines.share()
        assert share is not None
        rows.append((share.value, judged, find_shift(lines.chances, judged)))
        inside += share.low <= judged <= share.high
        print(f"{folder.name:24} {share.value:.3f} ({share.low:.3f}–{share.high:.3f}) {judged:.3f}")
        confusion += count_hows(pair, alignment, outcomes.near)
    expected, shares, shifts = np.array(rows).T
    errors = expected - shares
    print(f"mean error {errors.mean():+.3f}, root mean square {np.sqrt((errors**2).mean()):.3f}")
    print(f"shift of the log odds: root mean square {np.sqrt((shifts**2).mean()):.2f}")
    print(f"{inside} of {len(rows)} judged shares are inside their interval")
    print(f"rows: what we say, columns: what judges say, {' '.join(HOWS)}")
    print(confusion)
    print(f"agreement {np.trace(confusion) / confusion.sum():.3f} of {confusion.sum()}")


def find_shift(chances: Sequence[float], share: float) -> float:
    """What must be added to the log odds of all lines for their mean to be a share."""
    safe = np.clip(chances, 0.01, 0.99)
    odds = np.log(safe / (1 - safe))
    return float(brentq(lambda shift: np.mean(1 / (1 + np.exp(-odds - shift))) - share, -8, 8))


def count_hows(
    pair: Pair, alignment: folioreel.Alignment, near: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """What we say against what judges say, of the matches that are linked near their passage."""
    reader, counts = Reader(alignment.book), np.zeros((3, 3), dtype=int)
    starts = np.array([moment.start_s for moment in alignment.film.moments])
    ends = np.array([moment.end_s for moment in alignment.film.moments])
    for judgement, is_near in zip(pair.judgements, near, strict=True):
        if judgement.verdict != "match" or judgement.how not in HOWS or not is_near:
            continue
        line = pair.spoken[judgement.line]
        shared = np.minimum(line.end_s, ends) - np.maximum(line.start_s, starts)
        link = alignment.links[int(shared.argmax())]
        said = reader.how(alignment.film.moments[link.moment].text, link.sentence)
        counts[HOWS.index(said), HOWS.index(judgement.how)] += 1
    return counts


if __name__ == "__main__":
    main(Path(sys.argv[1]))
