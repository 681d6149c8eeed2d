"""The report of `folioreel reproduce`: the paper's tables in Markdown, and all figures as CSV."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.evaluate.experiment_plots import write_bars, write_curves
from folioreel.evaluate.experiment_results import (
    FIGURES,
    Reproduction,
    RowResults,
    StoredResult,
    Table,
)
from folioreel.evaluate.intervals import Interval, figure_intervals
from folioreel.evaluate.metrics import score_outcomes
from folioreel.files import write_text
from folioreel.text import guard_cell

# Mean recall and AP over the paper's ten test films (its table 3).
THE_PAPERS = {
    "UNI": (3.88, 0.40),
    "SVM": (38.01, 10.97),
    "CNN-1": (52.66, 9.62),
    "CNN-1 without BLEU": (52.95, 9.88),
    "CNN-1 without TF-IDF": (47.07, 5.94),
    "CNN-1 without BOOK": (48.75, 8.57),
    "CNN-1 without VIS": (50.03, 8.83),
    "CNN-1 without SCENE": (50.77, 9.31),
    "CNN-1 without PRIOR": (52.46, 9.64),
    "CNN-3": (66.77, 22.51),
    "CRF": (69.10, 23.17),
}
# Its running times for one pair (table 4).
THE_PAPERS_TIMES = {
    **{"BLEU": "6 h", "TF": "10 min", "BOOK": "3 min", "VIS": "2 h", "SCENE": "1 h"},
    **{"CNN (training)": "3 min", "CNN (inference)": "0.2 min"},
    **{"CRF (training)": "5 h", "CRF (inference)": "5 min"},
}
# Stages of our rows that these are: the row, whether it is training, and the stage.
_STAGES = {
    "CNN (training)": ("CNN-3", True, "network, training"),
    "CNN (inference)": ("CNN-3", False, "network, inference"),
    "CRF (training)": ("CRF", True, "chain, training"),
    "CRF (inference)": ("CRF", False, "chain, inference"),
}
_SEEN = "†"
_ABOUT = f"""\
`recall` and `ap` are the paper's figures: a line is recalled if a line at most 5 sentences away is
linked at most 3 paragraphs from the truth. `near` and `strict` ask for the line's own link, at most
3 paragraphs away or in the very paragraph; `auroc` says how well the score separates lines that are
in the book from others. All but `auroc` are percentages. In brackets: 95 % intervals by bootstrap
over the judged lines. The paper's own figures are means over its ten films, which are not these:
compare the order of the rows, not the numbers.

SVM, as in the paper, is with the chain. CRF is CNN-3 with the chain; `CRF, literal` takes
probabilities instead of logits and prunes, as the paper does. `positions` is the position model of
the preset `default`, fitted to the same pairs as the other rows. `unwatched`: a shipped preset
without the pictures of the film.
`{_SEEN}`: a shipped preset was trained on this pair, or on one of the mean's pairs.
"""


_PLOTS = {"means": "Means", "curve": "Precision and recall"}  # by how their names begin


def write_reproduction(
    found: Reproduction, statistics: Sequence[dict[str, Any]], folder: Path, command: str
) -> list[Path]:
    """Write tables and plots into a folder; returns the files."""
    files = [folder / "report.md", folder / "results.csv"]
    parts = [_head(found, command), "## Dataset\n", _table(statistics), _ABOUT]
    for table in found.tables:
        plots = [
            write(table, folder / f"{stem}-{table.protocol}{suffix}")
            for stem, write in (("means", write_bars), ("curves", write_curves))
            for suffix in (".png", ".svg")
        ]
        written = [path for path in plots if path is not None]
        files += written
        parts += _protocol(table, written)
    parts += ["## Running times\n", _times(found)]
    write_text(files[0], "\n".join(parts))
    write_text(files[1], _csv(found))
    return files


def mean_rows(table: Table) -> list[dict[str, str]]:
    """The means of one protocol with their intervals, for printing."""
    rows = []
    for row in table.rows:
        means = row.means()
        cells = {name: _with_interval(name, means[name]) for name in FIGURES}
        rows.append({"system": row.row + _seen(row.results), **cells})
    return rows


def title_of(table: Table) -> str:
    """What was trained on what."""
    if table.trained_on is not None:
        return f"Trained on {table.trained_on}, tested on the others, as in the paper"
    return "Leave one pair out: each is tested with what was learned from the others"


def _head(found: Reproduction, command: str) -> str:
    pictures = ", ".join(found.pictures) if found.pictures else "none"
    return (
        "# The paper's experiments\n\n"
        f"`{command}`, folioreel {__version__}, {date.today().isoformat()}, "
        f"{os.cpu_count()} cores. Films with pictures: {pictures}. Of the others, only the "
        "dialogue is compared, so that leaving out VIS or SCENE says nothing.\n"
    )


def _protocol(table: Table, plots: Sequence[Path]) -> list[str]:
    rows: list[dict[str, Any]] = []
    for row, shown in zip(table.rows, mean_rows(table), strict=True):
        recall, ap = THE_PAPERS.get(row.row, (None, None))
        count = {"pairs": len(row.outcomes)}
        rows.append({**shown, **count, "paper's recall": recall, "paper's ap": ap})
    parts = [f"## {title_of(table)}\n", "Means over pairs:\n", _table(rows)]
    parts += [f"![{_PLOTS[p.stem[:5]]}]({p.name})\n" for p in plots if p.suffix == ".svg"]
    each = [
        {"system": row.row, **{result.pair: _recall_ap(result) for result in row.results}}
        for row in table.rows
    ]
    parts += ["Recall / AP of each pair:\n", _table(each)]
    shots = [
        {"system": row.row, "pair": result.pair, **asdict(result.shots)}
        for row in table.rows
        for result in row.results
        if result.shots is not None
    ]
    if shots:
        parts += ["Judged silent shots, which only pictures and their neighbours can place:\n"]
        parts += [_table(shots)]
    return parts


def _recall_ap(result: StoredResult) -> str:
    outcomes = result.restored()
    if outcomes is None:
        return result.missing or "–"
    scores = score_outcomes(outcomes)
    return f"{scores.recall:.1f} / {scores.ap:.1f}{_seen([result])}"


def _seen(results: Sequence[StoredResult]) -> str:
    return f" {_SEEN}" if any(result.seen and result.missing is None for result in results) else ""


def _times(found: Reproduction) -> str:
    """The paper's table of running times, with ours below."""
    ours: dict[str, str] = {}
    for name in THE_PAPERS_TIMES:
        seconds = _stage_times(found, name) if name in _STAGES else _measure_times(found, name)
        ours[name] = _duration(sum(seconds) / len(seconds)) if seconds else "–"
    watching = [times["watching"] for times in found.measure_times.values() if "watching" in times]
    rows = [{"per pair": "the paper's", **THE_PAPERS_TIMES}, {"per pair": "ours", **ours}]
    note = (
        "Ours is processor time, the mean over pairs; training times are for the smallest training "
        "set. What was in the cache counts as read, not as computed: to measure all of it, set "
        "FOLIOREEL_CACHE to an empty folder."
    )
    if watching:
        mean = _duration(sum(watching) / len(watching))
        note += f" Watching a film (for VIS and SCENE) took another {mean}."
    return f"{_table(rows)}\n{note}\n"


def _measure_times(found: Reproduction, name: str) -> list[float]:
    return [times[name] for times in found.measure_times.values() if name in times]


def _stage_times(found: Reproduction, name: str) -> list[float]:
    wanted, training, stage = _STAGES[name]
    results = [
        result
        for table in found.tables
        for row in table.rows
        if row.row == wanted
        for result in row.results
    ]
    fewest = min((len(result.trained_on) for result in results), default=0)
    some = [result for result in results if len(result.trained_on) == fewest]
    kept = [result.training_times if training else result.linking_times for result in some]
    return [times[stage] for times in kept if stage in times]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _with_interval(name: str, value: Interval | None) -> str:
    if value is None:
        return "–"
    digits = 3 if name == "auroc" else 1
    shown, low, high = (f"{number:.{digits}f}" for number in value)
    return f"{shown} [{low}, {high}]"


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows with the same keys as Markdown."""
    head = list(rows[0])
    lines = ["| " + " | ".join(name.replace("_", " ") for name in head) + " |"]
    lines.append("|---" * len(head) + "|")
    for row in rows:
        lines.append("| " + " | ".join(_cell(row[name]) for name in head) + " |")
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", r"\|")


def _csv(found: Reproduction) -> str:
    """A line for each protocol, row and pair, with the ends of the intervals."""
    ends = [f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")]
    head = ["protocol", "row", "pair", "trained_on", "seen", "missing", "match", "none", *ends]
    file = io.StringIO()
    writer = csv.DictWriter(file, head, lineterminator="\n")
    writer.writeheader()
    for table in found.tables:
        for row in table.rows:
            for result in row.results:
                cells = {"protocol": table.protocol, **_csv_cells(row, result)}
                writer.writerow({key: guard_cell(cell) for key, cell in cells.items()})
    return file.getvalue()


def _csv_cells(row: RowResults, result: StoredResult) -> dict[str, Any]:
    cells: dict[str, Any] = {
        "row": row.row,
        "pair": result.pair,
        "trained_on": " ".join(result.trained_on),
        "seen": "yes" if result.seen else "",
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
    return cells
