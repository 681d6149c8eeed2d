"""The report of `folioreel reproduce`: the paper's tables in Markdown, beside ours."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from folioreel import __version__
from folioreel.evaluate.experiment_csv import results_csv, times_csv
from folioreel.evaluate.experiment_plots import write_bars, write_curves
from folioreel.evaluate.experiment_results import (
    FIGURES,
    NOT_COMPUTED,
    SEEN,
    WATCHING,
    Group,
    Reproduction,
    RowResults,
    StoredResult,
    Table,
    visual_scores,
)
from folioreel.evaluate.intervals import Interval
from folioreel.evaluate.metrics import score_by_kind, score_outcomes
from folioreel.files import write_text

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
# Stages of our rows that these are. The network of the CRF is that of CNN-3.
_STAGES = {
    "CNN (training)": (("CNN-3", "CRF", "CRF, literal"), "network, training"),
    "CNN (inference)": (("CNN-3", "CRF", "CRF, literal"), "network, inference"),
    "CRF (training)": (("CRF", "CRF, literal"), "chain, training"),
    "CRF (inference)": (("CRF", "CRF, literal"), "chain, inference"),
}
_ABOUT = f"""\
`recall` and `ap` are the paper's figures: a line is recalled if a line at most 5 sentences away is
linked at most 3 paragraphs from the truth. `near` and `strict` ask for the line's own link, at most
3 paragraphs away or in the very paragraph; `auroc` says how well the score separates lines that are
in the book from others. All but `auroc` are percentages. Our judges also marked new lines of a
known scene, which the paper does not have: for `ap` such a line counts as right if it is near its
scene, and not at all otherwise. The other figures, and the plots of precision and recall, leave
these lines out.

In brackets: 95 % intervals by bootstrap over the judged lines (`lines`: how many there are). Bold:
the best of each column, presets that were trained on one of the pairs (`{SEEN}`) apart. Means over
different pairs cannot be compared, so rows with figures for some of the pairs have a table of their
own, with what they are to be compared with on the same pairs. The paper's own figures are means
over its ten films, which are not these: compare the order of the rows, not the numbers.

SVM, as in the paper, is with the chain. CRF is CNN-3 with the chain; `CRF, literal` takes
probabilities instead of logits and prunes, as the paper does. `positions` is the position model of
the preset `default`, fitted to the same pairs as the other rows. `unwatched`: a shipped preset
without the pictures of the film.
`{SEEN}`: a shipped preset was trained on this pair, or on one of the mean's pairs.
"""
_PLOTS = {"means": "Means", "curve": "Precision and recall"}  # by how their names begin
_GAINS = ("recall", "ap")  # the paper's figures


def write_reproduction(found: Reproduction, folder: Path, command: str) -> list[Path]:
    """Write tables and plots into a folder; returns the files."""
    files = [folder / name for name in ("report.md", "results.csv", "times.csv")]
    parts = [_head(found, command), "## Dataset\n", _table(found.statistics)]
    parts += [f"- {pair}: {about}" for pair, about in found.about.items()]
    parts += ["", _ABOUT] if found.about else [_ABOUT]
    for table in found.tables:
        plots = [
            write(table, folder / f"{stem}-{table.name}{suffix}")
            for stem, write in (("means", write_bars), ("curves", write_curves))
            for suffix in (".png", ".svg")
        ]
        written = [path for path in plots if path is not None]
        files += written
        parts += _protocol(table, written)
    parts += ["## Running times\n", _times(found)]
    write_text(files[0], "\n".join(parts))
    write_text(files[1], results_csv(found))
    write_text(files[2], times_csv(found))
    return files


def mean_rows(rows: Sequence[RowResults]) -> list[dict[str, Any]]:
    """Means with their intervals, and what they are about, for printing."""
    return [
        {
            "system": row.label,
            **{name: _with_interval(name, row.means[name]) for name in FIGURES},
            "pairs": len(row.pairs),
            "lines": row.lines,
        }
        for row in rows
    ]


def group_rows(group: Group) -> list[dict[str, Any]]:
    """The same for rows with figures for some pairs alone, and what they gain over others."""
    rows = []
    for row, shown in zip(group.rows, mean_rows(group.rows), strict=True):
        gains = group.gains(row)
        cells = {f"{n}_gain": _with_interval(n, gains.get(n), "+") for n in _GAINS}
        rows.append({**shown, **cells, "over": row.reference if gains else "–"})
    return rows


def group_title(group: Group) -> str:
    """Which pairs the rows of a group are about."""
    pairs = ", ".join(group.pairs)
    return f"Means over {pairs} alone: rows without figures for other pairs, and their references"


def missing_notes(table: Table) -> list[str]:
    """Why rows lack figures; the pairs are named where the reasons differ, or some have figures."""
    rows: dict[str, list[str]] = {}  # by what is said of them
    for row in table.rows:
        pairs: dict[str, list[str]] = {}  # by the reason
        for result in row.results:
            if result.missing is not None:
                pairs.setdefault(result.missing, []).append(result.pair)
        if pairs:
            whole = max(map(len, pairs.values())) == len(row.results)
            reasons = (why if whole else f"{why} ({', '.join(of)})" for why, of in pairs.items())
            rows.setdefault(", ".join(reasons), []).append(row.row)
    return [f"No figures for {'; '.join(names)}: {said}" for said, names in rows.items()]


def _head(found: Reproduction, command: str) -> str:
    pictures = ", ".join(found.pictures) if found.pictures else "none"
    return (
        "# The paper's experiments\n\n"
        f"`{command}` and what earlier runs left in this folder, folioreel {__version__}, "
        f"{date.today().isoformat()}, {os.cpu_count()} cores. Films with pictures: {pictures}. Of "
        "the others, only the dialogue is compared, so that leaving out VIS or SCENE says "
        "nothing.\n"
    )


def _protocol(table: Table, plots: Sequence[Path]) -> list[str]:
    parts = [f"## {table.title}\n"]
    if any(result.missing == NOT_COMPUTED for row in table.rows for result in row.results):
        parts += ["Not all of it is finished.\n"]
    if table.whole:
        shown = _with_papers(table.whole, _in_bold(table.whole, mean_rows(table.whole)))
        parts += ["Means over pairs:\n", _table(shown)]
    parts += [f"{note}.\n" for note in missing_notes(table)]
    for group in table.groups:
        parts += [f"{group_title(group)}.\n", _table(_with_papers(group.rows, group_rows(group)))]
    parts += [f"![{_PLOTS[p.stem[:5]]}]({p.name})\n" for p in plots if p.suffix == ".svg"]
    each = [
        {"system": row.row, **{result.pair: _recall_ap(result) for result in row.results}}
        for row in table.rows
    ]
    if each:
        parts += ["Recall / AP of each pair:\n", _table(each)]
    return parts + _kinds(table)


def _with_papers(
    rows: Sequence[RowResults], shown: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rows with the paper's figures behind ours."""
    found = []
    for row, cells in zip(rows, shown, strict=True):
        papers = [f"{figure:.2f}" for figure in THE_PAPERS.get(row.row, ())] or ["–", "–"]
        found.append({**cells, "paper's recall": papers[0], "paper's ap": papers[1]})
    return found


def _in_bold(rows: Sequence[RowResults], shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best of each figure in bold, as in the paper's table."""
    fair = [(row, cells) for row, cells in zip(rows, shown, strict=True) if not row.seen]
    for name in FIGURES:
        values = [value.value for row, _ in fair if (value := row.means[name]) is not None]
        for row, cells in fair:
            value = row.means[name]
            if value is not None and value.value == max(values):
                figure, _, interval = cells[name].partition(" ")
                cells[name] = f"**{figure}** {interval}"
    return shown


def _kinds(table: Table) -> list[str]:
    """What pictures must place, and the spoken lines of films where both were judged together."""
    shots, spoken = [], []
    # By film, in which systems can be compared.
    for results in zip(*(row.results for row in table.rows), strict=True):
        for result in results:
            place: dict[str, Any] = {"system": result.row, "pair": result.pair}
            scores, outcomes = visual_scores(result), result.restored()
            if scores is not None:
                cells = asdict(scores)
                # Annotations in the paper's form have no places that are not in the book.
                cells["false_claims"] = scores.false_claims if scores.none else None
                looked = {True: "yes", False: "no", None: None}[result.looked]
                shots.append(place | cells | {"pictures_used": looked})
            kinds = score_by_kind(outcomes) if outcomes is not None else {}
            if len(kinds) > 1 and "dialogue" in kinds:
                spoken.append(place | asdict(kinds["dialogue"]))
    parts = []
    if shots:
        parts += [
            "Judged silent shots, which only pictures and their neighbours can place; of films "
            "that were judged in `annotations.tsv`, the visual matches there. `pictures used`: "
            "whether a system looked at the film; those with a network do if they learned from a "
            "film with pictures:\n",
            _table(shots),
        ]
    if spoken:
        parts += [
            "Dialogue by itself, of films whose figures above are of dialogue and visual matches "
            "together:\n",
            _table(spoken),
        ]
    return parts


def _recall_ap(result: StoredResult) -> str:
    outcomes = result.restored()
    if outcomes is None:
        return result.missing or "–"
    scores = score_outcomes(outcomes)
    return f"{scores.recall:.1f} / {scores.ap:.1f}" + (f" {SEEN}" if result.seen else "")


def _times(found: Reproduction) -> str:
    """The paper's table of running times, with ours below."""
    ours: dict[str, str] = {}
    for name in THE_PAPERS_TIMES:
        seconds = _stage_times(found, name) if name in _STAGES else _measure_times(found, name)
        ours[name] = _duration(sum(seconds) / len(seconds)) if seconds else "–"
    rows = [{"per pair": "the paper's", **THE_PAPERS_TIMES}, {"per pair": "ours", **ours}]
    note = (
        "Ours is processor time, the mean over pairs; training times are for the smallest training "
        "set. `times.csv` has all of them."
    )
    watching = [times[WATCHING] for times in found.measure_times.values() if WATCHING in times]
    if watching:
        mean = _duration(sum(watching) / len(watching))
        note += f" Watching a film (for VIS and SCENE) took another {mean}."
    if len(watching) < len(found.pictures):
        note += (
            f" {len(found.pictures) - len(watching)} of {len(found.pictures)} films had been "
            "watched before, and were in the cache: to measure that too, set FOLIOREEL_CACHE to an "
            "empty folder."
        )
    return f"{_table(rows)}\n{note}\n"


def _measure_times(found: Reproduction, name: str) -> list[float]:
    return [times[name] for times in found.measure_times.values() if name in times]


def _stage_times(found: Reproduction, name: str) -> list[float]:
    wanted, stage = _STAGES[name]
    for row_name in wanted:
        results = [
            result
            for table in found.tables
            for row in table.rows
            if row.row == row_name
            for result in row.results
            if stage in result.training_times or stage in result.linking_times
        ]
        if results:
            fewest = min(len(result.trained_on) for result in results)
            some = [result for result in results if len(result.trained_on) == fewest]
            return [(one.training_times | one.linking_times)[stage] for one in some]
    return []


def _duration(seconds: float) -> str:
    if seconds < 0.05:
        return "< 0.1 s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _with_interval(name: str, value: Interval | None, sign: str = "") -> str:
    if value is None:
        return "–"
    digits = 3 if name == "auroc" else 1
    shown, low, high = (f"{number:{sign}.{digits}f}" for number in value)
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
