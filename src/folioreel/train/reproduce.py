"""`folioreel reproduce`: the paper's table on a folder of judged pairs (paper, section 5.1).

Two protocols. `one`: everything learns from a single pair, as in the paper, and is tested on all
others. `leave-one-out`: each pair is tested with what was learned from all others; films of the
same book are left out together.

```
OUT/data.json                            which pairs it is about
OUT/statistics.json                      the paper's table of the dataset
OUT/measures/PAIR.npy                    the measures                     (kept_rows.py)
OUT/results/PROTOCOL/ROW/PAIR.json       what is finished                 (experiment_results.py)
OUT/report.md, *.csv, *.png, *.svg       the tables and plots             (experiment_report.py)
```
A result is written as soon as it is there, so that a run which was stopped continues. The report is
of everything that is stored, whichever run computed it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.config import AlignConfig
from folioreel.errors import ConfigError, InputError
from folioreel.evaluate.dataset import ANNOTATIONS, Pair, find_pairs, load_pair, load_pair_film
from folioreel.evaluate.experiment_results import (
    NOT_COMPUTED,
    PROTOCOLS,
    Protocol,
    Reproduction,
    RowResults,
    StoredResult,
    Table,
    Times,
    read_result,
    store_outcomes,
    write_result,
)
from folioreel.evaluate.report import judge_alignment
from folioreel.evaluate.statistics import add_genres, count_dataset, read_index
from folioreel.files import file_sha256
from folioreel.ingest.book import load_book
from folioreel.ingest.video.shots import SCANNING
from folioreel.models.frame_features import load_frame_features
from folioreel.progress import Progress, ProgressCallback, ignore_progress, nest_progress
from folioreel.train import check_pytorch, runs
from folioreel.train.experiments import ROWS, Case, Linker, Row
from folioreel.train.judged import TrainingPair, judged_moments
from folioreel.train.kept_rows import keep_rows, read_times
from folioreel.types import Alignment

_RESULTS, _MEASURES, _STATISTICS = "results", "measures", "statistics.json"
_UNTRAINED = "untrained"  # rows that learn nothing are the same in both protocols
_FILES = ("book.txt", "gold.tsv", "film_sentences.tsv", "shots.tsv", *ANNOTATIONS)


@dataclass(frozen=True, kw_only=True)
class ReproduceConfig:
    """Which part of the table to compute."""

    rows: tuple[str, ...] = tuple(ROWS)
    protocols: tuple[Protocol, ...] = PROTOCOLS
    train: str | None = None
    """The pair to learn from in the protocol `one`; None: the one with the most matches among
    those with lines that are not in the book."""

    def __post_init__(self) -> None:
        unknown = [name for name in self.rows if name not in ROWS]
        if unknown or not self.rows:
            said = f"unknown row {unknown[0]!r}" if unknown else "no row was chosen"
            raise ConfigError(f"{said}; choose from: {'; '.join(ROWS)}")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Setting:
    """A protocol; for `one`, with the pair to learn from."""

    protocol: Protocol
    chosen: Pair | None
    cases: tuple[Case, ...]  # all of them
    results: Path  # the folder of all results

    @property
    def folder(self) -> Path:
        """The results of rows that learn."""
        return self.results / "-".join(filter(None, (self.protocol, self.trained_on)))

    @property
    def trained_on(self) -> str | None:
        return None if self.chosen is None else self.chosen.name

    @property
    def tests(self) -> tuple[Case, ...]:
        chosen = self.chosen
        return tuple(c for c in self.cases if chosen is None or not _same_book(c.pair, chosen))

    def folder_of(self, row: Row) -> Path:
        """The results of a row: PAIR.json."""
        name = row.name.replace(", ", "-").replace(" ", "-")
        return (self.folder if row.trained else self.results / _UNTRAINED) / name

    def training(self, test: Case) -> tuple[Case, ...]:
        """What a row learns from that is tested on a pair."""
        if self.chosen is not None:
            return tuple(case for case in self.cases if case.pair is self.chosen)
        return tuple(case for case in self.cases if not _same_book(case.pair, test.pair))


@dataclass(frozen=True, kw_only=True)
class _Fold:
    """One row, learned from some pairs and tested on others."""

    row: Row
    folder: Path
    training: tuple[Case, ...]
    tests: tuple[Case, ...]


def reproduce(
    dataset: Path,
    out: Path,
    config: ReproduceConfig | None = None,
    progress: ProgressCallback = ignore_progress,
    stopped: Callable[[Reproduction], None] | None = None,
) -> Reproduction:
    """Compute what is missing of the table, and return all that is stored in `out`.

    `stopped` is given what is finished if the work is interrupted (KeyboardInterrupt).

    Raises:
        ConfigError: PyTorch is missing, or `out` holds the results of other data.
        InputError: The dataset has a single book, or a pair is damaged.
    """
    config = config or ReproduceConfig()
    rows = [ROWS[name] for name in config.rows]
    folders = find_pairs(dataset)
    if len({file_sha256(folder / "book.txt") for folder in folders}) < 2:
        raise InputError(
            "holds a single book; the paper's table needs pairs of two or more", dataset
        )
    if any(row.pytorch for row in rows):
        check_pytorch()
    pairs = [load_pair(folder) for folder in folders]
    chosen = choose_pair(pairs, config.train)
    runs.open_run(out, _identity(pairs), checkpoint=_RESULTS)
    cases = tuple(_read_case(pair, out, progress) for pair in pairs)
    statistics = tuple(_read_statistics(dataset, out, progress))
    about = read_index(dataset)["about"]
    every = [
        *(_Setting(protocol="one", chosen=p, cases=cases, results=out / _RESULTS) for p in pairs),
        _Setting(protocol="leave-one-out", chosen=None, cases=cases, results=out / _RESULTS),
    ]
    asked = [
        s for s in every if s.protocol in config.protocols and s.trained_on in (None, chosen.name)
    ]

    def stored() -> Reproduction:
        return Reproduction(
            tables=tuple(_read_table(s) for s in every if s in asked or _is_stored(s)),
            measure_times={pair.name: read_times(_measures_of(out, pair)) for pair in pairs},
            pictures=tuple(case.pair.name for case in cases if case.pictures),
            statistics=statistics,
            about=about,
        )

    try:
        _run([fold for setting in asked for row in rows for fold in _folds(row, setting)], progress)
    except KeyboardInterrupt:
        if stopped is not None:
            stopped(stored())
        raise
    return stored()


def _is_stored(setting: _Setting) -> bool:
    """Whether an earlier run asked for a table."""
    if setting.folder.is_dir():
        return True
    # Rows that learn nothing are tested on all pairs for `leave-one-out` alone.
    names = [f"{case.pair.name}.json" for case in setting.cases]
    return setting.chosen is None and any(
        all((setting.folder_of(row) / name).is_file() for name in names)
        for row in ROWS.values()
        if not row.trained
    )


def _read_table(setting: _Setting) -> Table:
    """All rows of a table that have a result."""
    pairs = tuple(case.pair.name for case in setting.tests)
    rows = []
    for row in ROWS.values():
        found = {pair: read_result(setting.folder_of(row) / f"{pair}.json") for pair in pairs}
        results = tuple(
            result or StoredResult(row=row.name, pair=pair, missing=NOT_COMPUTED)
            for pair, result in found.items()
        )
        if any(found.values()):
            rows.append(RowResults(row=row.name, results=results, reference=row.reference))
    return Table(
        protocol=setting.protocol, pairs=pairs, trained_on=setting.trained_on, rows=tuple(rows)
    )


def _read_statistics(dataset: Path, out: Path, progress: ProgressCallback) -> list[dict[str, Any]]:
    """The paper's table of the dataset; counted once, since films are decoded for it."""
    kept = runs.read_json(out / _STATISTICS)
    if "pairs" not in kept:
        kept = {"pairs": count_dataset(dataset, progress=progress)}
        runs.write_json(out / _STATISTICS, kept)
    rows: list[dict[str, Any]] = kept["pairs"]
    return add_genres(rows, dataset)


def choose_pair(pairs: Sequence[Pair], name: str | None) -> Pair:
    """The pair to learn from in the protocol `one`."""
    if name is not None:
        for pair in pairs:
            if pair.name == name:
                return pair
        raise ConfigError(
            f"there is no pair {name!r}; there are {', '.join(p.name for p in pairs)}"
        )

    def count(pair: Pair, verdict: str) -> int:
        return sum(judgement.verdict == verdict for judgement in pair.judgements)

    # Judgements in the paper's way have no `none` at all.
    full = [pair for pair in pairs if count(pair, "none")] or list(pairs)
    return max(full, key=lambda pair: count(pair, "match"))


def _run(folds: Sequence[_Fold], progress: ProgressCallback) -> None:
    """Compute every result that has no file."""
    done, total = 0, sum(len(fold.tests) for fold in folds)
    for fold in folds:
        _run_fold(fold, progress, done, total)
        done += len(fold.tests)
    progress(Progress(stage="reproducing", done=total, total=total))


def _run_fold(fold: _Fold, progress: ProgressCallback, done: int, total: int) -> None:
    linker: Linker | None = None
    times: Times = {}
    for number, case in enumerate(fold.tests, done):
        path = fold.folder / f"{case.pair.name}.json"
        if read_result(path) is not None:
            continue
        name = f"{fold.row.name}, {case.pair.name}"
        whole = Progress(stage="reproducing", done=number, total=total, name=name)
        nested = nest_progress(progress, whole)
        missing = fold.row.cannot(fold.training, case)
        if missing is None and linker is None:
            linker = fold.row.fit(fold.training, times, nested)
        result = StoredResult(
            row=fold.row.name,
            pair=case.pair.name,
            trained_on=[one.pair.name for one in fold.training],
            missing=missing,
            training_times=times,
            seen=fold.row.saw(case.pair.name),
            looked=fold.row.looks(fold.training, case),
        )
        if linker is not None and missing is None:
            result = _test(result, linker, case, nested)
        write_result(result, path)


def _test(
    result: StoredResult, linker: Linker, case: Case, progress: ProgressCallback
) -> StoredResult:
    times: Times = {}
    alignment = linker(case, times, progress)
    judged = judge_alignment(case.pair, alignment)
    return replace(
        result,
        outcomes=store_outcomes(judged.outcomes),
        shots=judged.shots,
        linking_times=times,
        settings=_chain_of(alignment),
    )


def _chain_of(alignment: Alignment) -> dict[str, object]:
    settings = alignment.signature.get("config")
    return {"chain": settings["chain"]} if isinstance(settings, dict) else {}


def _folds(row: Row, setting: _Setting) -> Iterator[_Fold]:
    folder, tests = setting.folder_of(row), setting.tests
    if not row.trained:
        yield _Fold(row=row, folder=folder, training=(), tests=tests)
    elif setting.chosen is not None:
        yield _Fold(row=row, folder=folder, training=setting.training(tests[0]), tests=tests)
    else:
        for test in tests:
            yield _Fold(row=row, folder=folder, training=setting.training(test), tests=(test,))


def _same_book(one: Pair, other: Pair) -> bool:
    """Whether one film would give away which passages of the other's book are filmed."""
    return file_sha256(one.book) == file_sha256(other.book)


def _read_case(pair: Pair, out: Path, progress: ProgressCallback) -> Case:
    start, decoded = _processor_s(), False

    def see(report: Progress) -> None:
        nonlocal decoded
        decoded = decoded or report.stage == SCANNING
        progress(report)

    has_video = pair.film.suffix != ".srt"
    encoder = load_frame_features(AlignConfig().frame_features) if has_video else None
    film, book = load_pair_film(pair, see, encoder), load_book(pair.book)
    # A film in the cache is not decoded: reading it says nothing of how long that takes.
    watching_s = _processor_s() - start if decoded and film.features is not None else 0.0
    rows = keep_rows(film, book, _measures_of(out, pair), progress, watching_s)
    judged = judged_moments(pair, film, book, shots=True)
    training = TrainingPair(film=film, rows=rows, judged=judged)
    return Case(pair=pair, film=film, book=book, rows=rows, training=training)


def _processor_s() -> float:
    """The processor time of this process and of those it started: videos are read in another."""
    return sum(os.times()[:4])


def _measures_of(out: Path, pair: Pair) -> Path:
    return out / _MEASURES / f"{pair.name}.npy"


def _identity(pairs: Sequence[Pair]) -> dict[str, object]:
    """What must not change between the parts of a run."""
    hashes = {}
    for pair in pairs:
        total = hashlib.sha256()
        for path in (pair.film, *(pair.folder / name for name in ("film.srt", *_FILES))):
            if path.exists():
                total.update(bytes.fromhex(file_sha256(path)))
        hashes[f"pair {pair.name}"] = total.hexdigest()
    names = ", ".join(pair.name for pair in pairs)
    header = {"format": "folioreel-reproduce", "version": 1, "package_version": __version__}
    return {**header, "pairs": names, **hashes}
