"""Plots of `folioreel reproduce`: recall and AP as bars, and precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from folioreel.evaluate.experiment_results import SEEN, RowResults, Table, precision_recall
from folioreel.files import replacing

_BLUE, _ORANGE, _INK, _PAPER = "#1f5fa8", "#d9480f", "#343a40", "#faf8f3"
# More curves than these cannot be told apart. Colours and strokes change together, so that they can
# be told apart without colours.
_CURVES: dict[str, tuple[str, str]] = {
    "UNI": ("#868e96", "-"),
    "SVM": ("#d9480f", "--"),
    "CNN-1": ("#2b8a3e", ":"),
    "CNN-3": ("#0b7285", "-."),
    "CRF": ("#1f5fa8", "-"),
    "positions": ("#ae3ec9", "--"),
    "default, shipped": ("#212529", "-"),
}


def write_bars(table: Table, path: Path) -> Path | None:
    """Mean recall and AP of each row, with 95 % intervals, as PNG or SVG.

    Rows with figures for some pairs have a panel of their own, where all means are over the same.
    Returns the file, or None if no row has figures.
    """
    panels = [("Means over pairs, with 95 % intervals", table.whole)]
    panels += [
        (f"The same, over {_listed(group.pairs)} alone", group.rows) for group in table.groups
    ]
    drawn = [(title, [row for row in rows if row.outcomes]) for title, rows in panels]
    drawn = [(title, rows) for title, rows in drawn if rows]
    if not drawn:
        return None
    # A title and an axis take the height of some three rows.
    heights = [len(rows) + 3 for _, rows in drawn]
    figure = _blank(0.42 * (sum(heights) + 1), table, [row for _, rows in drawn for row in rows])
    axes = figure.subplots(len(drawn), squeeze=False, gridspec_kw={"height_ratios": heights})
    for number, (place, (title, rows)) in enumerate(zip(axes[:, 0], drawn, strict=True)):
        _style(place, title)
        _draw_bars(place, rows, labelled=number == 0)
    return _save(figure, path)


def _draw_bars(axes: Axes, rows: Sequence[RowResults], *, labelled: bool) -> None:
    places = np.arange(len(rows), dtype=np.float64)
    for name, shift, colour in (("recall", -0.2, _BLUE), ("ap", 0.2, _ORANGE)):
        values = np.array([row.means[name] or (np.nan,) * 3 for row in rows], dtype=np.float64)
        reach = np.abs(values[:, 1:] - values[:, :1]).T  # below and above
        label = name if labelled else None
        axes.barh(places + shift, values[:, 0], 0.38, color=colour, label=label)
        axes.errorbar(
            values[:, 0], places + shift, xerr=reach, fmt="none", ecolor=_INK, elinewidth=0.9
        )
    axes.set_yticks(places, [row.label for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set(xlim=(0, 105), xlabel="percent")


def write_curves(table: Table, path: Path) -> Path | None:
    """Precision against recall, the lines of all pairs together, as PNG or SVG.

    Only the main rows are drawn, and only those with figures for all pairs; None if there are none.
    """
    rows = [row for row in table.whole if row.outcomes and row.row in _CURVES]
    if not rows:
        return None
    figure = _blank(6.4, table, rows)
    axes = figure.add_subplot()
    _style(axes, "Precision and recall, all pairs together")
    for row in rows:
        recall, precision = precision_recall(row.outcomes)
        colour, stroke = _CURVES[row.row]
        axes.plot(
            recall,
            precision,
            linestyle=stroke,
            color=colour,
            linewidth=1.6,
            marker="o" if len(recall) == 1 else None,
            label=row.label,
        )
    axes.set(xlim=(0, 101), xlabel="recall (near), in percent")
    axes.set(ylim=(0, 101), ylabel="precision, in percent")
    return _save(figure, path)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _blank(height: float, table: Table, rows: Sequence[RowResults]) -> Figure:
    """An empty figure that says what was trained on what, and explains the mark of its rows."""
    figure = Figure(figsize=(9, height), dpi=150, facecolor=_PAPER, layout="constrained")
    figure.suptitle(_plain(table.title), x=0.01, ha="left", fontsize=10, color=_INK)
    if any(row.seen for row in rows):
        note = f"{SEEN} a preset that was trained on one of these pairs"
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color=_INK)
    return figure


def _style(axes: Axes, title: str) -> None:
    axes.set_facecolor(_PAPER)
    axes.set_title(_plain(title), family="serif", fontsize=13, color=_INK, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # a dollar sign would switch to mathematics


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
