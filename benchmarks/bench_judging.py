"""How long the page waits for a judgement, at the paper's largest film and book.

    python benchmarks/bench_judging.py

Scores are random, with half of the moments rendered at an even pace; twenty judgements, at random
places, are made and taken back. `solve` is the links solved again; `keep` is the journal, the
judged pair and the corrected alignment on disk.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from bench import SIZES, make_pair

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.revise import Reviser
from folioreel.export.alignment_json import write_alignment
from folioreel.types import Alignment
from folioreel.viewer.judgements import Judgement, Judgements

JUDGED = 20


def judge_all(reviser: Reviser, places: list[tuple[int, int]]) -> tuple[list[float], list[int]]:
    """The seconds of each judgement and undo, and how many moments were solved again."""
    times: list[float] = []
    solved: list[int] = []
    reviser.judge(0, 0)  # compiles and warms up
    for moment, sentence in places:
        for judged in (sentence, None):
            start = time.perf_counter()
            solved.append(len(reviser.judge(moment, judged)))
            times.append(time.perf_counter() - start)
    return times, solved


def keep_all(alignment: Alignment, places: list[tuple[int, int]]) -> list[float]:
    """The seconds until each judgement is on disk."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        kept = Judgements(alignment, Path(folder) / "judged")
        for moment, sentence in places:
            start = time.perf_counter()
            kept.add(Judgement(moment=moment, verdict="match", sentence=sentence))
            write_alignment(alignment, kept.folder / "alignment.json")
            times.append(time.perf_counter() - start)
    return times


def main() -> None:
    """Print a row for each preset, and one for the disk."""
    moments, sentences = SIZES[-1]
    film, book = make_pair(moments, sentences)
    rng = np.random.default_rng(3)
    scores = rng.normal(-8, 2, (moments, sentences)).astype(np.float32)
    for moment in np.flatnonzero(rng.random(moments) < 0.5):
        scores[moment, moment * sentences // moments] = 6.0
    places = [(int(rng.integers(moments)), int(rng.integers(sentences))) for _ in range(JUDGED)]
    print(f"{moments:,} moments × {sentences:,} sentences, {JUDGED} judgements and undos")
    for preset in ("default", "paper"):
        times, solved = judge_all(Reviser(Aligner.load(preset), film, book, scores), places)
        print(
            f"solve, {preset}: median {np.median(times):.2f} s, longest {max(times):.2f} s, "
            f"{np.median(solved):.0f} moments in the median"
        )
    aligner = Aligner.load()
    links, energy = aligner.link(film, book, scores)
    signature = aligner.signature(energy)
    times = keep_all(Alignment(book=book, film=film, links=links, signature=signature), places)
    print(f"keep: median {np.median(times):.2f} s, longest {max(times):.2f} s")


if __name__ == "__main__":
    main()
