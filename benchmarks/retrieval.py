"""Finding each film's book among all others and a corpus (paper, table 5), as Markdown on stdout.

    python benchmarks/retrieval.py DATASET [DATASET …] --corpus DIR --work FOLDER [--shortlist N]

A dataset is a folder of pairs, each with `book.txt` and `film.srt`. The films of the first are held
against each of its books: the matrix. Every film is looked for among all books and the corpus, and
again with its own book taken away. What was aligned is cached: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from folioreel.apps.library import Library, open_library
from folioreel.apps.retrieve import Retrieval, RetrieveConfig, retrieve
from folioreel.files import file_sha256
from folioreel.ingest.film import load_film


@dataclass(frozen=True, kw_only=True)
class Case:
    """A film, and the content of its book."""

    name: str
    film: Path
    sha256: str


def find_cases(dataset: Path) -> list[Case]:
    """The pairs of a folder."""
    return [
        Case(name=film.parent.name, film=film, sha256=file_sha256(film.with_name("book.txt")))
        for film in sorted(dataset.glob("*/film.srt"))
    ]


def gather(datasets: list[Path], corpus: Path | None, folder: Path) -> Path:
    """A folder with a link to every book, by the name of its pair."""
    folder.mkdir(parents=True, exist_ok=True)
    links = {f"{p.parent.name}.txt": p for d in datasets for p in sorted(d.glob("*/book.txt"))}
    if corpus is not None:
        links |= {p.name: p for p in sorted(corpus.iterdir()) if p.suffix not in (".tsv", ".md")}
    for name, target in links.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(target.resolve())
    return folder


def without(library: Library, sha256: str) -> Library:
    """A library without one book."""
    kept = tuple(book for book in library.books if book.sha256 != sha256)
    return replace(library, books=kept)


def matrix(cases: list[Case], library: Library) -> list[str]:
    """The paper's table: each film against each book."""
    names = {book.sha256: book.path for book in library.books}
    columns = [names[case.sha256] for case in cases]
    numbers = " | ".join(str(k + 1) for k in range(len(cases)))
    lines = [f"| film | {numbers} |", "|---|" + "---|" * len(cases)]
    for k, case in enumerate(cases):
        found = retrieve(load_film(case.film), library, RetrieveConfig(shortlist=len(columns)))
        scores = {candidate.book: candidate.score for candidate in found.candidates}
        cells = [f"{scores[name]:.0f}" for name in columns]
        cells[k] = f"**{cells[k]}**"
        lines.append(f"| {k + 1}. {case.name} | {' | '.join(cells)} |")
        note(f"matrix: {case.name}")
    return lines


def search(cases: list[Case], library: Library, config: RetrieveConfig) -> list[str]:
    """Each film among all books, with its book there and without."""
    lines = [
        "| film | rank by words | by the chain | by both | score of the next | p | without it |",
        "|---|---|---|---|---|---|---|",
    ]
    names = {book.sha256: book.path for book in library.books}
    right = missed = alarms = 0
    for case in cases:
        own = names[case.sha256]
        film = load_film(case.film)
        found = retrieve(film, library, config)
        gone = retrieve(film, without(library, case.sha256), config)
        rank = rank_of(own, found, "score")
        chance = found.candidates[rank - 1].p_value if rank else 1.0
        right += rank == 1
        missed += own not in [candidate.book for candidate in found.found]
        alarms += bool(gone.found)
        cells = [
            *(case.name, rank_of(own, found, "similarity"), rank_of(own, found, "evidence"), rank),
            *(f"{found.candidates[1].score:.0f}", f"{chance:.1g}"),
            f"{gone.candidates[0].p_value:.2g}",
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        note(lines[-1])
        note(levels(gone))
    lines.append(
        f"\n{len(library.books)} books. The right book first: {right} of {len(cases)}; its book "
        f"there and not told so: {missed}; not there and told it was: {alarms}."
    )
    return lines


def rank_of(book: str, found: Retrieval, figure: str) -> int | None:
    """Which place a book has among the candidates by one of their figures."""
    ordered = sorted(found.candidates, key=lambda candidate: -getattr(candidate, figure))
    names = [candidate.book for candidate in ordered]
    return names.index(book) + 1 if book in names else None


def levels(found: Retrieval) -> str:
    """The scores of wrong books, from which the constants of `retrieve.py` come."""
    values = np.log([c.evidence * c.similarity for c in found.candidates])
    listed = " ".join(f"{value:.2f}" for value in values)
    return f"  wrong: mean {values.mean():.3f} sd {values.std(ddof=1):.3f}: {listed}"


def note(text: str) -> None:
    """A line on stderr."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--corpus", type=Path, help="a folder of further books")
    parser.add_argument("--work", type=Path, required=True, help="where links to books are made")
    parser.add_argument("--shortlist", type=int, default=8, help="books aligned in full")
    options = parser.parse_args()
    config = RetrieveConfig(shortlist=options.shortlist)
    cases = [case for dataset in options.datasets for case in find_cases(dataset)]
    library = open_library(gather(options.datasets, options.corpus, options.work / "all"))
    note(f"{len(library.books)} books skimmed, {len(library.failures)} failed")
    tables = ["\n".join(search(cases, library, config))]
    first = find_cases(options.datasets[0])
    few = open_library(gather(options.datasets[:1], None, options.work / "first"))
    tables.append("\n".join(matrix(first, few)))
    print("\n\n".join(tables))


if __name__ == "__main__":
    main()
