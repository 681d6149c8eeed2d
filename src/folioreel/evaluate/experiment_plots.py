"""Plots of `folioreel reproduce`: recall and AP as bars, and precision against recall."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from folioreel.evaluate.experiment_results import Table, precision_recall
from folioreel.files import replacing

_BLUE, _ORANGE, _INK, _PAPER = "#1f5fa8", "#d9480f", "#343a40", "#faf8f3"
# Colours and strokes change together, so that curves can be told apart without colours.
_STROKES = ("-", "--", ":", "-.")


def write_bars(table: Table, path: Path) -> Path | None:
    """Mean recall and AP of each row, with 95 % intervals, as PNG or SVG.

    Returns the file, or None if no row has figures.
    """
    rows = [(row.row, row.means()) for row in table.rows if row.outcomes]
    if not rows:
        return None
    figure, axes = _blank("Means over pairs, with 95 % intervals", 0.42 * len(rows) + 1.6)
    places = np.arange(len(rows), dtype=np.float64)
    for name, shift, colour in (("recall", -0.2, _BLUE), ("ap", 0.2, _ORANGE)):
        values = np.array([means[name] or (np.nan,) * 3 for _, means in rows], dtype=np.float64)
        reach = np.abs(values[:, 1:] - values[:, :1]).T  # below and above
        axes.barh(places + shift, values[:, 0], 0.38, color=colour, label=name)
        axes.errorbar(
            values[:, 0], places + shift, xerr=reach, fmt="none", ecolor=_INK, elinewidth=0.9
        )
    axes.set_yticks(places, [name for name, _ in rows], fontsize=9)
    axes.invert_yaxis()
    axes.set(xlim=(0, 105), xlabel="percent")
    return _save(figure, path)


def write_curves(table: Table, path: Path) -> Path | None:
    """Precision against recall, the lines of all pairs together, as PNG or SVG.

    Ablations are left out: they would hide the rest. None if nothing else is left.
    """
    rows = [row for row in table.rows if row.outcomes and " without " not in row.row]
    if not rows:
        return None
    figure, axes = _blank("Precision and recall, all pairs together", 6)
    for number, row in enumerate(rows):
        recall, precision = precision_recall(row.outcomes)
        axes.plot(
            recall,
            precision,
            linestyle=_STROKES[number % len(_STROKES)],
            color=f"C{number % 10}",
            linewidth=1.6,
            marker="o" if len(recall) == 1 else None,
            label=row.row,
        )
    axes.set(xlim=(0, 101), xlabel="recall (near), in percent")
    axes.set(ylim=(0, 101), ylabel="precision, in percent")
    return _save(figure, path)


def _blank(title: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9, height), dpi=150, facecolor=_PAPER, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(_PAPER)
    axes.set_title(title, family="serif", fontsize=13, color=_INK, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _save(figure: Figure, path: Path) -> Path:
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    # No date and no random ids inside: identical runs give identical files.
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with (
        replacing(path) as unfinished,
        matplotlib.rc_context({"svg.hashsalt": "folioreel", "svg.fonttype": "none"}),
    ):
        figure.savefig(unfinished, format=path.suffix[1:], metadata=metadata)
    return path
