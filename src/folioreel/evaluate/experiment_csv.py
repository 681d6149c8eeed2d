"""All figures and times of `folioreel reproduce` as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from folioreel.evaluate.experiment_results import (
    FIGURES,
    Reproduction,
    StoredResult,
    Table,
    visual_scores,
)
from folioreel.evaluate.intervals import figure_intervals
from folioreel.evaluate.metrics import ShotScores, score_outcomes
from folioreel.text import guard_cell

_PLACE = ("protocol", "training_pair", "row", "pair")
_SHOTS = tuple(f"shots_{field.name}" for field in fields(ShotScores))


def results_csv(found: Reproduction) -> str:
    """A line for each protocol, row and pair, with the ends of the intervals."""
    ends = [f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")]
    counts = ["trained_on", "seen", "pictures_used", "missing", "match", "none"]
    return _write([*_PLACE, *counts, *ends, *_SHOTS], _results(found))


def times_csv(found: Reproduction) -> str:
    """The processor time of each stage: of the measures of each pair, and of each result."""
    return _write([*_PLACE, "stage", "seconds"], _times(found))


def _results(found: Reproduction) -> Iterator[dict[str, Any]]:
    for table in found.tables:
        for row in table.rows:
            for result in row.results:
                yield {**_place(table, result), **_figures(result)}


def _figures(result: StoredResult) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "trained_on": " ".join(result.trained_on),
        "seen": "yes" if result.seen else "",
        "pictures_used": "yes" if result.looked else "",
        "missing": result.missing or "",
    }
    outcomes = result.restored()
    if outcomes is None:
        return cells
    scores = score_outcomes(outcomes)
    cells |= {"match": scores.match, "none": scores.none}
    for name, value in figure_intervals([outcomes]).items():
        if name in FIGURES and value is not None:
            cells |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
    shots = visual_scores(result)
    if shots is not None:
        cells |= {f"shots_{name}": value for name, value in asdict(shots).items()}
    return cells


def _times(found: Reproduction) -> Iterator[dict[str, Any]]:
    for pair, times in found.measure_times.items():
        for stage, seconds in times.items():
            yield {"pair": pair, "stage": stage, "seconds": round(seconds, 3)}
    for table in found.tables:
        for row in table.rows:
            for result in row.results:
                both = {**result.training_times, **result.linking_times}
                for stage, seconds in both.items():
                    cells = {"stage": stage, "seconds": round(seconds, 3)}
                    yield {**_place(table, result), **cells}


def _place(table: Table, result: StoredResult) -> dict[str, Any]:
    trained_on = table.trained_on or ""
    place = (table.protocol, trained_on, result.row, result.pair)
    return dict(zip(_PLACE, place, strict=True))


def _write(head: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, head, lineterminator="\n")
    writer.writeheader()
    for cells in rows:
        writer.writerow({key: guard_cell(cell) for key, cell in cells.items()})
    return file.getvalue()
