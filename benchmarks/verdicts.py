"""How well scores tell a film's book from others (docs/explanation/warnings.md), as Markdown.

    python benchmarks/verdicts.py DATASET [DATASET …] [--preset NAME] [--wrong N] [--pairs N]

A dataset is a folder of pairs, each with `book.txt` and `film.srt`. Each film is aligned with its
own book and with some of the others.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.verdict import score_of
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.types import Book


@dataclass(frozen=True)
class Trial:
    """A film with its own book or another."""

    film: str
    book: str
    score: float

    @property
    def is_right(self) -> bool:
        """Whether the book is the film's own."""
        return self.film == self.book


def try_pairs(folders: list[Path], preset: str, wrong: int) -> list[Trial]:
    """Scores of right and wrong pairs."""
    aligner = Aligner.load(preset)
    read = cache(read_book)
    trials = []
    for k, folder in enumerate(folders):
        film = load_film(folder / "film.srt")
        # Neighbours in the list are of one kind, such as Greek plays, and hardest to tell apart.
        steps = [0, 1, 5, 13, 21][: wrong + 1]
        for other in dict.fromkeys(folders[(k + step) % len(folders)] for step in steps):
            score = score_of(aligner.align(film, read(other)))
            trials.append(Trial(folder.name, other.name, score))
            print(f"| {folder.name} | {other.name} | {score:.3f} |", flush=True)
    return trials


def read_book(folder: Path) -> Book:
    """The book of a pair."""
    return load_book(folder / "book.txt")


def middle(trials: list[Trial]) -> float:
    """The threshold between right and wrong pairs, on a logarithmic scale."""
    lowest = min(trial.score for trial in trials if trial.is_right)
    highest = max(trial.score for trial in trials if not trial.is_right)
    return float(np.sqrt(lowest * highest))


def cross_validate(trials: list[Trial]) -> list[Trial]:
    """The trials that are judged wrongly if their film and its book are left out."""
    errors = []
    for name in {trial.film for trial in trials}:
        threshold = middle([t for t in trials if name not in (t.film, t.book)])
        held_out = [trial for trial in trials if trial.film == name]
        errors += [trial for trial in held_out if (trial.score >= threshold) != trial.is_right]
    return errors


def main() -> None:
    """Print the scores and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--wrong", type=int, default=4, help="wrong books for each film, at most 4")
    parser.add_argument("--pairs", type=int, help="the shortest books of each dataset alone")
    options = parser.parse_args()
    folders: list[Path] = []
    for dataset in options.datasets:
        found = [path.parent for path in sorted(dataset.glob("*/film.srt"))]
        shortest = sorted(found, key=lambda pair: (pair / "book.txt").stat().st_size)
        folders += sorted(shortest[: options.pairs])
    print("| film | book | score |\n|---|---|---|")
    trials = try_pairs(folders, options.preset, options.wrong)
    right = [trial.score for trial in trials if trial.is_right]
    wrong = [trial.score for trial in trials if not trial.is_right]
    print(f"\n{len(right)} right: lowest {min(right):.3f}, median {np.median(right):.3f}")
    print(f"{len(wrong)} wrong: highest {max(wrong):.3f}, median {np.median(wrong):.3f}")
    errors = cross_validate(trials)
    print(f"wrongly judged, each film and book left out in turn: {len(errors)}")
    for trial in errors:
        print(f"- {trial.film} with {trial.book}: {trial.score:.3f}")


if __name__ == "__main__":
    main()
