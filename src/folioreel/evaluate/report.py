"""Aligning and scoring every judged pair of a dataset (paper, section 5.1).

A row holds a pair's figures, and below keys of their own what does not fit a table:

how           recall, near and strict of verbatim, paraphrased and reported matches
kind          the same for matches in dialogue, picture and sound
calibration   the calibration error and its bins
precision_at  precision at some coverages, in percent; `coverage_curve` has more of them
intervals     the 95 % interval of each figure
signature     the settings that gave the alignment

In the row of the mean they are those of all pairs' lines together, but for the intervals, which
are of the mean figures.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.alignment.aligner import Aligner
from folioreel.evaluate.calibration import (
    Calibration,
    CalibrationBin,
    calibrate,
    precision_at,
    write_precision_coverage,
    write_reliability,
)
from folioreel.evaluate.dataset import find_pairs, load_pair, load_pair_film
from folioreel.evaluate.intervals import figure_intervals
from folioreel.evaluate.metrics import (
    Outcomes,
    join_outcomes,
    judge_links,
    placed_links,
    score_by_how,
    score_by_kind,
    score_outcomes,
)
from folioreel.files import make_folder, write_text
from folioreel.ingest.book import load_book
from folioreel.models.frame_features import FrameFeatures
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Alignment, Book, Film

COLUMNS = ("pair", "match", "none", "recall", "near", "strict", "ap", "auroc", "ece")
"""What the printed table shows."""

MEAN = "mean"
_FIGURES = COLUMNS[3:]
_FRACTIONS = ("auroc", "ece")
_CURVE = tuple(range(5, 101, 5))

Row = dict[str, Any]


def evaluate_dataset(
    folder: Path, preset: str = "default", progress: ProgressCallback = ignore_progress
) -> list[Row]:
    """A row for each pair, and one for their mean where there are several."""
    aligner = Aligner.load(preset)
    return evaluate_system(folder, aligner.align, progress, aligner.frame_features())


def evaluate_system(
    folder: Path,
    align: Callable[[Film, Book], Alignment],
    progress: ProgressCallback = ignore_progress,
    encoder: FrameFeatures | None = None,
) -> list[Row]:
    """The same for whatever aligns a film with a book, such as a baseline.

    Args:
        folder: The dataset.
        align: Aligns a film with a book.
        progress: Told of the pairs that are done.
        encoder: What looks at films with a video first.
    """
    folders = find_pairs(folder)
    names, judged, signatures = [], [], []
    for done, path in enumerate(folders):
        progress(Progress(stage="evaluating", done=done, total=len(folders)))
        pair = load_pair(path)
        alignment = align(load_pair_film(pair, encoder=encoder), load_book(pair.book))
        names.append(pair.name)
        judged.append(judge_links(pair, placed_links(alignment)))
        signatures.append(alignment.signature)
    return rows_of(names, judged, signatures)


def rows_of(
    names: Sequence[str], judged: Sequence[Outcomes], signatures: Sequence[dict[str, Any]]
) -> list[Row]:
    """The rows of pairs whose lines were judged, and one for their mean."""
    rows: list[Row] = [
        {
            "pair": name,
            **_figures(outcomes),
            **_details(outcomes, [outcomes]),
            "signature": signature,
        }
        for name, outcomes, signature in zip(names, judged, signatures, strict=True)
    ]
    if len(rows) > 1:
        rows.append({**_mean(rows), **_details(join_outcomes(judged), judged)})
    return rows


def table_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows without what is nested in them, to be printed as a table."""
    return [{column: row[column] for column in COLUMNS} for row in rows]


def write_report(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write a report into a folder: tables, pictures and all the figures; returns the files.

    Each file is written whole or not at all; `report.json` is the last: where it is, all are.
    """
    make_folder(folder)
    last = rows[-1]
    what = "all pairs" if last["pair"] == MEAN else last["pair"]
    files = [
        folder / name
        for name in ("report.csv", "report.md", "reliability.png", "coverage.png", "report.json")
    ]
    write_text(files[0], _csv(rows))
    write_text(files[1], _markdown(rows))
    write_reliability(_calibration(last["calibration"]), files[2], f"Reliability: {what}")
    curves = {
        "all pairs" if row["pair"] == MEAN else row["pair"]: {
            int(coverage): precision for coverage, precision in row["coverage_curve"].items()
        }
        for row in rows
    }
    write_precision_coverage(curves, files[3], f"Precision and coverage: {what}", bold=what)
    whole = {
        "format": "folioreel-report",
        "version": 1,
        "package_version": __version__,
        "rows": list(rows),
    }
    write_text(files[4], json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    return files


def _figures(outcomes: Outcomes) -> Row:
    error = calibrate(outcomes).ece
    return {
        **asdict(score_outcomes(outcomes)),
        "ece": None if error is None else round(error, 3),
    }


def _details(outcomes: Outcomes, pairs: Sequence[Outcomes]) -> Row:
    """What is nested in a row, as JSON would read it back: lists, and strings for keys."""
    intervals = figure_intervals(pairs)
    calibration = asdict(calibrate(outcomes))
    return {
        "how": {how: asdict(scores) for how, scores in score_by_how(outcomes).items()},
        "kind": {kind: asdict(scores) for kind, scores in score_by_kind(outcomes).items()},
        "calibration": {**calibration, "bins": list(calibration["bins"])},
        "precision_at": {str(c): p for c, p in precision_at(outcomes).items()},
        "coverage_curve": {str(c): p for c, p in precision_at(outcomes, _CURVE).items()},
        "intervals": {
            name: None if interval is None else [interval.low, interval.high]
            for name, interval in intervals.items()
        },
    }


def _mean(rows: Sequence[Row]) -> Row:
    mean: Row = {
        "pair": MEAN,
        "match": sum(row["match"] for row in rows),
        "none": sum(row["none"] for row in rows),
    }
    for figure in _FIGURES:
        values = [row[figure] for row in rows if row[figure] is not None]
        digits = 3 if figure in _FRACTIONS else 2
        mean[figure] = round(sum(values) / len(values), digits) if values else None
    return mean


def _calibration(nested: Row) -> Calibration:
    bins = tuple(CalibrationBin(**one) for one in nested["bins"])
    return Calibration(**{**nested, "bins": bins})


def _csv(rows: Sequence[Row]) -> str:
    """The table, with two columns for each figure's interval."""
    ends = [f"{figure}_{end}" for figure in _FIGURES for end in ("low", "high")]
    file = io.StringIO()
    writer = csv.DictWriter(file, [*COLUMNS, *ends], lineterminator="\n")
    writer.writeheader()
    for row, shown in zip(rows, table_rows(rows), strict=True):
        for figure in _FIGURES:
            low, high = row["intervals"][figure] or (None, None)
            shown |= {f"{figure}_low": low, f"{figure}_high": high}
        writer.writerow(shown)
    return file.getvalue()


def _markdown(rows: Sequence[Row]) -> str:
    """The table, each figure with its interval."""
    lines = [
        "| " + " | ".join(COLUMNS) + " |",
        "|---" + "|---:" * (len(COLUMNS) - 1) + "|",
    ]
    for row in rows:
        cells = [row["pair"].replace("|", r"\|"), str(row["match"]), str(row["none"])]
        for figure in _FIGURES:
            digits = 3 if figure in _FRACTIONS else 1
            cells.append(_with_interval(row[figure], row["intervals"][figure], digits))
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "In brackets: 95 % intervals by bootstrap over the judged lines.", ""]
    return "\n".join(lines)


def _with_interval(value: float | None, interval: Sequence[float] | None, digits: int) -> str:
    if value is None:
        return "-"
    if interval is None:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"
