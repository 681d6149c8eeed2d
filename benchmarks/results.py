"""The paper's table on a dataset of judged pairs (paper, section 5.1), as Markdown on stdout.

    python benchmarks/results.py DATASET --work FOLDER [--systems UNI SVM …] [--protocol one|out]

Two protocols. `one`: everything is trained on a single pair, as in the paper, and tested on all
others. The pair is the one with the most matches among those that also have lines judged `none`, so
the choice depends on the judgements alone. `out`: each pair is tested with models trained on all
others. Only dialogue is compared: a video is not decoded.

The sizes of the networks were chosen by training on each of five pairs alone and testing on the
four others: old-scrooge, peg-woffington, ghost-breaker, one-day-more and first-and-last.

In rows without the chain, a moment is linked to the sentence with the highest score. Measures and
finished pairs are kept under --work, so an interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from folioreel.alignment.aligner import Aligner
from folioreel.alignment.score import context_scores
from folioreel.config import AlignConfig
from folioreel.evaluate.baselines import baseline_links
from folioreel.evaluate.dataset import Pair, find_pairs, load_pair, load_pair_film
from folioreel.evaluate.metrics import Scores, judge_links, placed_links, score_outcomes
from folioreel.files import replacing, write_text
from folioreel.ingest.book import load_book
from folioreel.similarity.tensor import SimilarityRows, SimilarityTensor
from folioreel.train.context_cnn import (
    ContextConfig,
    one_layer_config,
    svm_config,
    without_measures,
)
from folioreel.train.judged import JudgedMoment, judged_moments
from folioreel.train.paper import (
    PAPER_MEASURES,
    TrainingPair,
    fit_context_model,
    fit_paper_chain,
)
from folioreel.types import Alignment, Book, Film, Link

CLOSE = (
    *("betsey-bobbet", "brass-bottle", "first-and-last", "ghost-breaker", "land-of-promise"),
    *("old-scrooge", "one-day-more", "peg-woffington", "the-devil"),
)
"""Pairs whose lines mostly have a counterpart; the others are loose."""
FIGURES = ("recall", "near", "strict", "ap", "auroc")
EPOCHS_OF_MANY = 8
"""Passes over the judged moments of many pairs: steps count, and each pass has more of them."""

Links = tuple[Link, ...]


class KeptRows:
    """The similarity tensor of one pair, computed once and kept in a file."""

    measures = PAPER_MEASURES

    def __init__(self, film: Film, book: Book, path: Path) -> None:
        """Open the file, or make it."""
        if not path.exists():
            config = AlignConfig(weights=dict.fromkeys(PAPER_MEASURES, 1.0))
            rows = SimilarityRows(film, book, config)
            planes = np.empty((len(PAPER_MEASURES), *rows.shape), dtype=np.float16)
            for block in rows.blocks():
                last = block.first + block.values.shape[0]
                planes[:, block.first : last] = np.moveaxis(block.values, -1, 0)
            with replacing(path) as unfinished, unfinished.open("wb") as file:
                np.save(file, planes)
        self._planes = np.load(path, mmap_mode="r")  # (M, I, J)
        self.shape: tuple[int, int] = self._planes.shape[1:]

    def block(self, first: int, last: int, halo: int = 0) -> SimilarityTensor:
        """Rows first … last - 1 with `halo` rows above and below, zeros beyond the ends."""
        low, high = max(0, first - halo), min(self.shape[0], last + halo)
        planes = np.zeros(
            (len(self.measures), last - first + 2 * halo, self.shape[1]), dtype=np.float32
        )
        above = low - (first - halo)
        planes[:, above : above + high - low] = self._planes[:, low:high]
        return SimilarityTensor(
            values=np.moveaxis(planes, 0, -1), measures=self.measures, first=first, halo=halo
        )

    def blocks(self, rows: int = 128, halo: int = 0) -> Iterator[SimilarityTensor]:
        """All rows in order."""
        for first in range(0, self.shape[0], rows):
            yield self.block(first, min(first + rows, self.shape[0]), halo)


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A judged pair, read and measured."""

    pair: Pair
    film: Film
    book: Book
    rows: KeptRows
    judged: tuple[JudgedMoment, ...]

    @property
    def training(self) -> TrainingPair:
        """What a model may learn from it."""
        return TrainingPair(film=self.film, rows=self.rows, judged=self.judged)


Linker = Callable[[Case], Links]
System = Callable[[Sequence[Case]], Linker]
"""Fits itself to some pairs, and then links others."""


def uniform(cases: Sequence[Case]) -> Linker:
    """UNI: the sentence at the same share of the book; there is nothing to fit."""
    return lambda case: baseline_links("uniform", case.film, case.book)


def context(config: ContextConfig) -> System:
    """A context model (or the SVM), each moment by itself."""

    def fit(cases: Sequence[Case]) -> Linker:
        model = fit_context_model(_for(config, cases), [case.training for case in cases])
        return lambda case: best_cells(context_scores(case.rows, model))

    return fit


def context_and_chain(config: ContextConfig) -> System:
    """A context model with the chain."""

    def fit(cases: Sequence[Case]) -> Linker:
        fitted = _for(config, cases)
        training = [case.training for case in cases]
        model = fit_context_model(fitted, training)
        chain = fit_paper_chain(fitted, training).config
        report(f"  ω_u {chain.unary:.3f} ω_p {chain.pace:.3f} ω_q {chain.stay:.3f}")
        report(f"  σ {chain.sigma:.5f}")
        aligner = Aligner(AlignConfig(chain=chain))
        return lambda case: aligner.link(case.film, case.book, context_scores(case.rows, model))[0]

    return fit


def default(cases: Sequence[Case]) -> Linker:
    """The preset `default`, fitted to the same pairs."""
    align = train_default([case.pair.folder for case in cases])
    return lambda case: align(case.film, case.book).links


def train_default(folders: Sequence[Path]) -> Callable[[Film, Book], Alignment]:
    """An aligner like the preset `default`, trained on the judged pairs of some folders."""
    from folioreel.train.positions import fit_preset

    return Aligner(fit_preset([_read_default(folder) for folder in folders])).align


@cache
def _read_default(folder: Path):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from folioreel.train.positions import read_judged

    return read_judged(folder, shots=False)[0]


def _for(config: ContextConfig, cases: Sequence[Case]) -> ContextConfig:
    return config if len(cases) == 1 else replace(config, epochs=EPOCHS_OF_MANY)


def best_cells(log_odds: NDArray[np.float32]) -> Links:
    """Each moment's sentence of highest score, with its probability."""
    best = log_odds.argmax(axis=1)
    odds = np.clip(log_odds[np.arange(len(best)), best].astype(np.float64), -50, 50)
    chances = 1 / (1 + np.exp(-odds))
    return tuple(
        Link(moment=i, sentence=int(j), score=float(chance))
        for i, (j, chance) in enumerate(zip(best, chances, strict=True))
    )


CONTEXT_1 = one_layer_config(PAPER_MEASURES)
CONTEXT_3 = ContextConfig(measures=PAPER_MEASURES)
BLEU = tuple(name for name in PAPER_MEASURES if name.startswith("bleu"))
SYSTEMS: dict[str, System] = {
    "UNI": uniform,
    "SVM": context(svm_config(PAPER_MEASURES)),
    "CNN-1": context(CONTEXT_1),
    "CNN-1 without bleu": context(without_measures(CONTEXT_1, *BLEU)),
    "CNN-1 without tfidf": context(without_measures(CONTEXT_1, "tfidf")),
    "CNN-1 without sentence": context(without_measures(CONTEXT_1, "sentence")),
    "CNN-1 without prior": context(without_measures(CONTEXT_1, "prior")),
    "CNN-3": context(CONTEXT_3),
    "CNN-3 + CRF": context_and_chain(CONTEXT_3),
    "default": default,
}


def read_case(folder: Path, work: Path) -> Case:
    """Read a pair; its measures come from the work folder if an earlier run left them there."""
    pair = load_pair(folder)
    film, book = load_pair_film(pair, shots=False), load_book(pair.book)
    rows = KeptRows(film, book, work / "measures" / f"{pair.name}.npy")
    return Case(pair=pair, film=film, book=book, rows=rows, judged=judged_moments(pair, film, book))


def training_case(cases: Sequence[Case]) -> Case:
    """The pair with the most matches among those that have lines judged `none`."""

    def count(case: Case, verdict: str) -> int:
        return sum(judgement.verdict == verdict for judgement in case.pair.judgements)

    return max((c for c in cases if count(c, "none")), key=lambda case: count(case, "match"))


def run_system(
    name: str, training: Sequence[Case], tests: Sequence[Case], folder: Path
) -> dict[str, Scores]:
    """A system's figures on some pairs; those of an earlier run are read from their files."""
    found: dict[str, Scores] = {}
    linker = None
    for case in tests:
        path = folder / name.replace(" ", "_") / f"{case.pair.name}.json"
        if path.exists():
            found[case.pair.name] = Scores(**json.loads(path.read_text(encoding="utf-8")))
            continue
        if linker is None:
            report(f"{name}: fitting to {len(training)}")
            linker = SYSTEMS[name](training)
        links = placed_links(Alignment(book=case.book, film=case.film, links=linker(case)))
        scores = score_outcomes(judge_links(case.pair, links))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(vars(scores)))
        report(f"  {name} {case.pair.name} recall {scores.recall} ap {scores.ap}")
        found[case.pair.name] = scores
    return found


def means(scores: Sequence[Scores]) -> str:
    """The mean of each figure over pairs, as cells of a table."""
    cells = []
    for figure in FIGURES:
        values = [v for v in (getattr(score, figure) for score in scores) if v is not None]
        digits = 3 if figure == "auroc" else 1
        cells.append(f"{np.mean(values):.{digits}f}" if values else "–")
    return " | ".join(cells)


def print_tables(results: dict[str, dict[str, Scores]], close: Sequence[str]) -> None:
    """Means over close and over loose pairs, and the recall and AP of each pair."""
    groups = {
        "close": [name for name in next(iter(results.values())) if name in close],
        "loose": [name for name in next(iter(results.values())) if name not in close],
    }
    for group, names in groups.items():
        if not names:
            continue
        print(f"\nMean over {len(names)} {group} pairs:\n")
        print(f"| system | {' | '.join(FIGURES)} |\n|---|{'---|' * len(FIGURES)}")
        for system, found in results.items():
            print(f"| {system} | {means([found[name] for name in names])} |")
    names = [*groups["close"], *groups["loose"]]
    print("\nRecall / AP of each pair:\n")
    print(f"| pair | {' | '.join(results)} |\n|---|{'---|' * len(results)}")
    for name in names:
        cells = [f"{found[name].recall:.1f} / {found[name].ap:.1f}" for found in results.values()]
        print(f"| {name} | {' | '.join(cells)} |")


def report(message: str) -> None:
    """Progress, apart from the tables."""
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    """Run what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where finished parts are kept")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--protocol", choices=("one", "out", "both"), default="both")
    parser.add_argument("--close", nargs="+", default=CLOSE, help="the pairs that count as close")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    (arguments.work / "measures").mkdir(parents=True, exist_ok=True)
    cases = [read_case(folder, arguments.work) for folder in find_pairs(arguments.dataset)]
    if arguments.protocol != "out":
        chosen = training_case(cases)
        tests = [case for case in cases if case is not chosen]
        print(f"## Trained on {chosen.pair.name} alone")
        folder = arguments.work / f"one-{chosen.pair.name}"
        results = {name: run_system(name, [chosen], tests, folder) for name in arguments.systems}
        print_tables(results, arguments.close)
    if arguments.protocol != "one":
        print("\n## Leave one pair out")
        results = {}
        for name in arguments.systems:
            results[name] = {}
            for case in cases:
                others = [other for other in cases if other is not case]
                results[name] |= run_system(name, others, [case], arguments.work / "out")
        print_tables(results, arguments.close)


if __name__ == "__main__":
    main()
