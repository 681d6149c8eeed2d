"""Aligning and scoring every judged pair of a dataset, and the report (paper, section 5.1).

A row of the report holds the figures of one pair, or their means over several pairs, and these:

watched       `yes`, `shots only` (the film was cut into shots, but nobody looked at them) or `no`
how           recall, near and strict of verbatim, paraphrased and reported matches
kind          the same for matches in dialogue, pictures and sound
shots         the figures of judged silent shots, if the pair has any (metrics.ShotScores)
calibration   the calibration error and its bins
precision_at  precision at some coverages, in percent; `coverage_curve` has more of them
intervals     the 95 % interval of each figure
signature     the settings that produced the alignment

In the row of a mean, `how`, `kind`, `calibration` and the precisions are those of all its pairs'
lines pooled; `intervals` are of the mean figures, and of the pooled calibration error.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.alignment.aligner import Aligner, align
from folioreel.config import AlignConfig
from folioreel.evaluate.baselines import BASELINES, baseline_alignment
from folioreel.evaluate.calibration import (
    Calibration,
    CalibrationBin,
    calibrate,
    precision_at,
    write_precision_coverage,
    write_reliability,
)
from folioreel.evaluate.dataset import (
    FILM_JSON,
    Pair,
    find_pairs,
    load_pair,
    load_pair_film,
    read_film_json,
)
from folioreel.evaluate.intervals import Interval, difference_intervals, figure_intervals
from folioreel.evaluate.metrics import (
    Outcomes,
    ShotScores,
    join_outcomes,
    judge_links,
    placed_links,
    score_by_how,
    score_by_kind,
    score_outcomes,
    score_shots,
)
from folioreel.files import make_folder, write_text
from folioreel.ingest.book import load_book
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.types import Alignment

COLUMNS = ("pair", "match", "none", "recall", "near", "strict", "ap", "auroc", "ece", "watched")
"""What the printed table shows."""

MEAN = "mean"
_FIGURES = COLUMNS[3:-1]
_COUNTS = ("match", "none", "false_claims")
_FRACTIONS = ("auroc", "ece", "ece_by_chance", "pooled_ece", "pooled_by_chance")
# Finer steps would show the noise of single lines: 5 % of a pair are five or six of them.
_CURVE = tuple(range(5, 101, 5))

Row = dict[str, Any]
Groups = Mapping[str, Sequence[str]]
"""The name of a group of pairs → the names of the pairs."""
System = Callable[[Pair, ProgressCallback], Alignment]
"""Whatever aligns the film of a judged pair with its book."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PairResult:
    """How the judgements of one pair turned out: all figures are computed from this."""

    pair: str
    outcomes: Outcomes
    shots: ShotScores | None
    """None if nobody judged the pair's silent shots, or the film was not cut into shots."""
    watched: str
    signature: dict[str, Any]


def align_pair(
    pair: Pair,
    *,
    preset: AlignConfig | str | Path = "default",
    encoder: SentenceEncoder | str | None = None,
    shots: bool = True,
    pictures: bool = True,
    progress: ProgressCallback = ignore_progress,
) -> Alignment:
    """Align a judged pair as `folioreel.align` does; if it has a video, it is watched."""
    return align(
        pair.book,
        # The judged moments themselves: shots found anew in the video might differ from them.
        read_film_json(pair.film) if pair.film_name == FILM_JSON else pair.film,
        preset=preset,
        encoder=encoder,
        subtitles=pair.subtitles,
        shots=shots,
        pictures=pictures,
        progress=progress,
    )


def make_system(
    name: str = "default",
    encoder: str | None = None,
    *,
    shots: bool = True,
    pictures: bool = True,
) -> System:
    """A preset or a baseline by name, with the options of `folioreel.align`.

    Raises:
        ConfigError: There is no such preset or encoder: refused here, before any pair is read.
    """
    if name not in BASELINES:
        Aligner.load(name)
        if encoder is not None:
            load_encoder(encoder)
        return lambda pair, progress: align_pair(
            pair, preset=name, encoder=encoder, shots=shots, pictures=pictures, progress=progress
        )
    loaded = load_encoder(encoder or "student") if name.startswith("encoder") else None

    def align_baseline(pair: Pair, progress: ProgressCallback) -> Alignment:
        # A baseline links silent shots, too, but has no use for what they show.
        film = load_pair_film(pair, progress, shots=shots)
        return baseline_alignment(name, film, load_book(pair.book), loaded)

    return align_baseline


def evaluate_system(
    folder: Path, system: System, progress: ProgressCallback = ignore_progress
) -> list[PairResult]:
    """Align every judged pair of a dataset, and judge the links."""
    folders = find_pairs(folder)
    results = []
    for done, path in enumerate(folders):
        progress(Progress(stage="evaluating", done=done, total=len(folders)))
        pair = load_pair(path)
        results.append(judge_alignment(pair, system(pair, progress)))
    return results


def judge_alignment(pair: Pair, alignment: Alignment) -> PairResult:
    """Judge the links of one pair's alignment."""
    links, film = placed_links(alignment), alignment.film
    watched = "yes" if film.features is not None else "shots only" if film.shots else "no"
    return PairResult(
        pair=pair.name,
        outcomes=judge_links(pair, links),
        # Without shots there are no silent moments, and every judged shot would count as missed.
        shots=score_shots(pair, links) if film.shots else None,
        watched=watched,
        signature=alignment.signature,
    )


def make_rows(results: Sequence[PairResult], groups: Groups | None = None) -> list[Row]:
    """A row for each pair; with several pairs also one for each group's mean and the mean."""
    rows = [
        {
            "pair": result.pair,
            **_figures(result.outcomes),
            "watched": result.watched,
            "shots": None if result.shots is None else asdict(result.shots),
            **_details(result.outcomes, [result.outcomes]),
            "signature": result.signature,
        }
        for result in results
    ]
    for name, members in _members(results, groups).items():
        chosen = [row for row in rows if row["pair"] in members]
        outcomes = [result.outcomes for result in results if result.pair in members]
        rows.append(_mean_row(name, chosen, outcomes))
    return rows


def compare_results(
    results: Sequence[PairResult], others: Sequence[PairResult], groups: Groups | None = None
) -> list[Row]:
    """What a system gains over another on the same pairs, with paired 95 % intervals."""
    found = []
    for name, members in (
        _members(results, groups) or {results[0].pair: [results[0].pair]}
    ).items():
        ours, theirs = (
            [result.outcomes for result in side if result.pair in members]
            for side in (results, others)
        )
        gains = difference_intervals(theirs, ours)  # the second minus the first
        found.append({"gain": name, **{figure: _plain(gains[figure]) for figure in _FIGURES}})
    return found


def table_rows(rows: Sequence[Row]) -> list[Row]:
    """The columns of the printed table."""
    return [{column: row[column] for column in COLUMNS} for row in rows]


def interval_rows(rows: Sequence[Row]) -> list[Row]:
    """The means (a single pair's own figures) with their 95 % intervals, for printing."""
    means = [row for row in rows if "pairs" in row]
    columns = [*_FIGURES, *(["ece_by_chance", "pooled_ece", "pooled_by_chance"] if means else [])]
    return [
        {"mean" if means else "pair": row["pair"]}
        | {c: _with_interval(c, row.get(c), row["intervals"].get(c)) for c in columns}
        for row in means or rows
    ]


def shot_rows(rows: Sequence[Row]) -> list[Row]:
    """The figures of judged silent shots, for printing; empty if there are none."""
    return [{"silent shots of": row["pair"], **row["shots"]} for row in rows if row["shots"]]


def gain_rows(gains: Sequence[Row]) -> list[Row]:
    """The result of `compare_results`, for printing."""
    return [
        {
            name: value
            if isinstance(value, str)
            else _with_interval(name, value and value[0], value and value[1:], signed=True)
            for name, value in row.items()
        }
        for row in gains
    ]


def write_report(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write tables, plots and all the figures into a folder; returns the files.

    `report.json` is written last: if it exists, the report is complete.
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


def _members(results: Sequence[PairResult], groups: Groups | None) -> dict[str, Sequence[str]]:
    """The pairs of each mean: the groups, then all; none for a single pair."""
    if len(results) < 2:
        return {}
    return {**(groups or {}), MEAN: [result.pair for result in results]}


def _figures(outcomes: Outcomes) -> Row:
    error = calibrate(outcomes).ece
    return {
        **asdict(score_outcomes(outcomes)),
        "ece": None if error is None else round(error, 3),
    }


def _details(outcomes: Outcomes, pairs: Sequence[Outcomes]) -> Row:
    """The nested part of a row, as JSON would read it back: lists, and strings for keys."""
    calibration = asdict(calibrate(outcomes))
    return {
        "how": {how: asdict(scores) for how, scores in score_by_how(outcomes).items()},
        "kind": {kind: asdict(scores) for kind, scores in score_by_kind(outcomes).items()},
        "calibration": {**calibration, "bins": list(calibration["bins"])},
        "precision_at": {str(c): p for c, p in precision_at(outcomes).items()},
        "coverage_curve": {str(c): p for c, p in precision_at(outcomes, _CURVE).items()},
        "intervals": {
            name: None if interval is None else [interval.low, interval.high]
            for name, interval in figure_intervals(pairs).items()
        },
    }


def _mean_row(name: str, rows: Sequence[Row], outcomes: Sequence[Outcomes]) -> Row:
    pooled = join_outcomes(outcomes)
    details = _details(pooled, outcomes)
    pooled_error = figure_intervals([pooled])["ece"]
    # With a hundred lines per pair the mean ece is mostly noise, which pooling averages out.
    details["intervals"]["pooled_ece"] = pooled_error and [pooled_error.low, pooled_error.high]
    shots = [row["shots"] for row in rows if row["shots"]]
    watched = {row["watched"] for row in rows}
    by_chance = [{"ece_by_chance": row["calibration"]["by_chance"]} for row in rows]
    return {
        "pair": name,
        **_mean([{figure: row[figure] for figure in COLUMNS[1:-1]} for row in rows]),
        "watched": watched.pop() if len(watched) == 1 else "some",
        "pairs": [row["pair"] for row in rows],
        "shots": _mean(shots) if shots else None,
        **_mean(by_chance),
        "pooled_ece": details["calibration"]["ece"],
        "pooled_by_chance": details["calibration"]["by_chance"],
        **details,
    }


def _mean(rows: Sequence[Row]) -> Row:
    """Sums of counts, and means of the other numbers over the rows that have them."""
    mean: Row = {}
    for name in rows[0]:
        values = [row[name] for row in rows if row[name] is not None]
        if name in _COUNTS:
            mean[name] = sum(values)
        else:
            digits = 3 if name in _FRACTIONS else 2
            mean[name] = round(sum(values) / len(values), digits) if values else None
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
        "|---" + "|---:" * (len(COLUMNS) - 2) + "|---|",
    ]
    for row in rows:
        cells = [row["pair"].replace("|", r"\|"), str(row["match"]), str(row["none"])]
        cells += [_with_interval(f, row[f], row["intervals"][f]) or "-" for f in _FIGURES]
        lines.append("| " + " | ".join([*cells, row["watched"]]) + " |")
    lines += ["", "In brackets: 95 % intervals by bootstrap over the judged lines.", ""]
    return "\n".join(lines)


def _with_interval(
    name: str, value: float | None, ends: Sequence[float] | None, *, signed: bool = False
) -> str | None:
    """A figure as tables show it; None if it is undefined."""
    digits = 3 if name in _FRACTIONS else 1
    if value is None:
        return None
    if ends is None:
        return f"{value:.{digits}f}"
    return Interval(value=value, low=ends[0], high=ends[1]).show(digits, signed=signed)


def _plain(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.value, interval.low, interval.high]
