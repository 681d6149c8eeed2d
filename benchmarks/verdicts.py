"""How well scores tell a film's book from others (docs/explanation/warnings.md), as Markdown.

    python benchmarks/verdicts.py DATASET [DATASET …] [--preset NAME] [--wrong N] [--pairs N]
        [--pieces N [N …]]

A dataset is a folder of pairs, each with `book.txt` and `film.srt`. Each film is aligned with its
own book and with some of the others. With --pieces, two pieces of so many sentences are cut out of
each film instead, and it is counted how many are warned of.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.verdict import check_fit, score_of
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.models.presets import AUTO
from folioreel.types import Book, Film


@dataclass(frozen=True)
class Trial:
    """A film with its own book or another."""

    film: str
    book: str
    score: float
    sentences: int  # that are spoken
    is_warned: bool

    @property
    def is_right(self) -> bool:
        """Whether the book is the film's own."""
        return self.film == self.book


def try_pairs(
    folders: list[Path], preset: str, wrong: int, sizes: list[int] | None = None
) -> list[Trial]:
    """Scores of right and wrong pairs, or of pieces of their films."""
    given = None if preset == AUTO else Aligner.load(preset)
    read = cache(read_book)
    trials = []
    for k, folder in enumerate(folders):
        film = load_film(folder / "film.srt")
        # Neighbours in the list are of one kind, such as Greek plays, and hardest to tell apart.
        steps = [0, 1, 5, 13, 21][: wrong + 1]
        for other in dict.fromkeys(folders[(k + step) % len(folders)] for step in steps):
            if other != folder and read(other).sha256 == read(folder).sha256:
                continue  # two films of one book
            for piece in cut(film, sizes):
                aligner = given or Aligner.choose(piece, read(other))
                alignment = aligner.align(piece, read(other))
                score, is_warned = score_of(alignment), check_fit(alignment) is not None
                said = len(piece.subtitles)
                trials.append(Trial(folder.name, other.name, score, said, is_warned))
                print(f"| {folder.name} | {other.name} | {said} | {score:.3f} |", flush=True)
    return trials


def cut(film: Film, sizes: list[int] | None) -> Iterator[Film]:
    """Two pieces of each size, from the first and the last half; or else the whole film."""
    if sizes is None:
        yield film
    for size in sizes or ():
        room = len(film.subtitles) - size
        for first in (room // 4, 3 * room // 4) if room >= 0 else ():
            said = film.subtitles[first : first + size]
            yield replace(film, subtitles=tuple(replace(s, index=k) for k, s in enumerate(said)))


def count_warnings(trials: list[Trial]) -> None:
    """Print how many pieces of each size are warned of."""
    print("\n| spoken sentences | right pairs: warned | wrong pairs: warned |\n|---|---|---|")
    for size in sorted({trial.sentences for trial in trials}):
        cells = [str(size)]
        for is_right in (True, False):
            chosen = [t for t in trials if t.sentences == size and t.is_right is is_right]
            cells.append(f"{sum(trial.is_warned for trial in chosen)} of {len(chosen)}")
        print(f"| {' | '.join(cells)} |")


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
    parser.add_argument("--pieces", type=int, nargs="+", help="spoken sentences of pieces")
    options = parser.parse_args()
    folders: list[Path] = []
    for dataset in options.datasets:
        found = [path.parent for path in sorted(dataset.glob("*/film.srt"))]
        shortest = sorted(found, key=lambda pair: (pair / "book.txt").stat().st_size)
        folders += sorted(shortest[: options.pairs])
    print("| film | book | spoken sentences | score |\n|---|---|---|---|")
    trials = try_pairs(folders, options.preset, options.wrong, options.pieces)
    if options.pieces:
        count_warnings(trials)
        return
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
