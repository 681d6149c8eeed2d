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
from folioreel.alignment.align import align
from folioreel.alignment.aligner import Aligner
from folioreel.evaluate import calibration, dataset, metrics
from folioreel.evaluate.baselines import BASELINES, baseline_links
from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.intervals import difference_intervals, figure_intervals
from folioreel.evaluate.metrics import Outcomes, ShotScores
from folioreel.files import write_text, writing_together
from folioreel.ingest.book import load_book
from folioreel.models.presets import AUTO
from folioreel.models.sentence_encoder import load_encoder
from folioreel.progress import Progress, ProgressCallback, ignore_progress, nest_progress
from folioreel.text import guard_cell
from folioreel.types import Alignment

# What the printed table shows.
COLUMNS = ("pair", "match", "none", "recall", "near", "strict", "ap", "auroc", "ece", "watched")
MEAN = "mean"
_FIGURES = COLUMNS[3:-1]
_COUNTS = ("match", "none", "false_claims")
_FRACTIONS = ("auroc", "ece", "ece_by_chance", "pooled_ece", "pooled_by_chance")
# Finer steps would show the noise of single lines: 5 % of a pair are five or six of them.
_CURVE = tuple(range(5, 101, 5))

Row = dict[str, Any]
Groups = Mapping[str, Sequence[str]]  # the name of a group of pairs → the names of the pairs
System = Callable[[Pair, ProgressCallback], Alignment]  # aligns the film of a pair with its book


@dataclass(frozen=True, kw_only=True, eq=False)
class PairResult:
    """How the judgements of one pair turned out: all figures are computed from this."""

    pair: str
    outcomes: Outcomes
    shots: ShotScores | None  # None if nobody judged silent shots, or the film has no shots
    watched: str
    signature: dict[str, Any]


def align_pair(pair: Pair, **options: Any) -> Alignment:
    """Align a judged pair; `options` are those of `folioreel.align` apart from the subtitles."""
    # The judged moments themselves: shots found anew in the video might differ from them.
    film = dataset.read_film_json(pair.film) if pair.film.suffix == ".json" else pair.film
    return align(pair.book, film, subtitles=pair.subtitles, **options)


def make_system(
    name: str = AUTO, encoder: str | None = None, *, shots: bool = True, pictures: bool = True
) -> System:
    """A preset or a baseline by name, with the options of `folioreel.align`."""
    if name not in BASELINES:
        if name != AUTO:
            Aligner.load(name)
        if encoder is not None:
            load_encoder(encoder)
        return lambda pair, progress: align_pair(
            pair, preset=name, encoder=encoder, shots=shots, pictures=pictures, progress=progress
        )
    loaded = load_encoder(encoder or "student") if name.startswith("encoder") else None

    def align_baseline(pair: Pair, progress: ProgressCallback) -> Alignment:
        # A baseline links silent shots, too, but has no use for what they show.
        film, book = dataset.load_pair_film(pair, progress, shots=shots), load_book(pair.book)
        links = baseline_links(name, film, book, loaded)
        return Alignment(book=book, film=film, links=links, signature={"baseline": name})

    return align_baseline


def evaluate_system(
    folder: Path,
    system: System,
    progress: ProgressCallback = ignore_progress,
    see: Callable[[Pair, Alignment], None] | None = None,
) -> list[PairResult]:
    """Align every judged pair of a dataset, and judge the links; `see` is shown each alignment."""
    folders = dataset.find_pairs(folder)
    results = []
    for done, path in enumerate(folders):
        pair = dataset.load_pair(path)
        whole = Progress(stage="evaluating", done=done, total=len(folders), name=pair.name)
        alignment = system(pair, nest_progress(progress, whole))
        if see is not None:
            see(pair, alignment)
        results.append(judge_alignment(pair, alignment))
    progress(Progress(stage="evaluating", done=len(folders), total=len(folders)))
    return results


def judge_alignment(pair: Pair, alignment: Alignment) -> PairResult:
    """Judge the links of one pair's alignment."""
    links, film = metrics.placed_links(alignment), alignment.film
    return PairResult(
        pair=pair.name,
        outcomes=metrics.judge_links(pair, links),
        # Without shots there are no silent moments, and every judged shot would count as missed.
        shots=metrics.score_shots(pair, links) if film.shots else None,
        watched="yes" if film.features is not None else "shots only" if film.shots else "no",
        signature=alignment.signature,
    )


def make_rows(results: Sequence[PairResult], groups: Groups | None = None) -> list[Row]:
    """A row for each pair; with several pairs also one for each group's mean and the mean."""
    rows = [_pair_row(result) for result in results]
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
    alone = {results[0].pair: [results[0].pair]}
    for name, members in (_members(results, groups) or alone).items():
        ours, theirs = (
            [result.outcomes for result in side if result.pair in members]
            for side in (results, others)
        )
        gains = difference_intervals(theirs, ours)  # the second minus the first
        found.append({"gain": name, **{f: gain and list(gain) for f, gain in gains.items()}})
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
        {"gain": row["gain"]}
        | {f: row[f] and _with_interval(f, row[f][0], row[f][1:], "+") for f in _FIGURES}
        for row in gains
    ]


def write_report(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write tables, plots and all the figures into a folder; returns the files.

    `report.json` is written last: if it exists, the report is complete.
    """
    names = {row["pair"]: "all pairs" if row["pair"] == MEAN else row["pair"] for row in rows}
    last = rows[-1]
    title = names[last["pair"]]
    files = [
        folder / name
        for name in ("report.csv", "report.md", "reliability.png", "coverage.png", "report.json")
    ]
    with writing_together(folder, [path.name for path in files]):
        write_text(files[0], _csv(rows))
        write_text(files[1], _markdown(rows))
        bins = tuple(calibration.CalibrationBin(**one) for one in last["calibration"]["bins"])
        found = calibration.Calibration(**{**last["calibration"], "bins": bins})
        calibration.write_reliability(found, files[2], f"Reliability: {title}")
        curves = {
            names[row["pair"]]: {int(c): share for c, share in row["coverage_curve"].items()}
            for row in rows
        }
        calibration.write_precision_coverage(
            curves, files[3], f"Precision and coverage: {title}", bold=title
        )
        head = {"format": "folioreel-report", "version": 1, "package_version": __version__}
        whole = json.dumps({**head, "rows": list(rows)}, ensure_ascii=False, indent=1)
        write_text(files[4], whole + "\n")
    return files


def _members(results: Sequence[PairResult], groups: Groups | None) -> dict[str, Sequence[str]]:
    """The pairs of each mean: the groups, then all; none for a single pair."""
    if len(results) < 2:
        return {}
    return {**(groups or {}), MEAN: [result.pair for result in results]}


def _pair_row(result: PairResult) -> Row:
    details = _details(result.outcomes, [result.outcomes])
    error = details["calibration"]["ece"]
    return {
        "pair": result.pair,
        **asdict(metrics.score_outcomes(result.outcomes)),
        "ece": error and round(error, 3),
        "watched": result.watched,
        "shots": result.shots and asdict(result.shots),
        **details,
        "signature": result.signature,
    }


def _details(outcomes: Outcomes, pairs: Sequence[Outcomes]) -> Row:
    """The nested part of a row, as JSON would read it back: lists, and strings for keys."""
    calibrated = asdict(calibration.calibrate(outcomes))
    precision_at = calibration.precision_at
    return {
        "how": {name: asdict(part) for name, part in metrics.score_by_how(outcomes).items()},
        "kind": {name: asdict(part) for name, part in metrics.score_by_kind(outcomes).items()},
        "calibration": {**calibrated, "bins": list(calibrated["bins"])},
        "precision_at": {str(c): p for c, p in precision_at(outcomes).items()},
        "coverage_curve": {str(c): p for c, p in precision_at(outcomes, _CURVE).items()},
        "intervals": {
            name: interval and [interval.low, interval.high]
            for name, interval in figure_intervals(pairs).items()
        },
    }


def _mean_row(name: str, rows: Sequence[Row], outcomes: Sequence[Outcomes]) -> Row:
    pooled = metrics.join_outcomes(outcomes)
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
        writer.writerow({key: guard_cell(cell) for key, cell in shown.items()})
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
    name: str, value: float | None, ends: Sequence[float] | None, sign: str = ""
) -> str | None:
    """A figure as tables show it, such as `90.6 [88.3, 92.8]`; None if it is undefined."""
    if value is None:
        return None
    digits = 3 if name in _FRACTIONS else 1
    shown, *interval = (f"{number:{sign}.{digits}f}" for number in (value, *(ends or ())))
    return f"{shown} [{', '.join(interval)}]" if interval else shown
