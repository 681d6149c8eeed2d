"""Pictures of how far scores can be trusted: reliability, and precision against coverage."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from folioreel.evaluate.metrics import Calibration
from folioreel.files import replacing

_BLUE, _ORANGE, _GREY = "#1f5fa8", "#d9480f", "#adb5bd"
_INK = "#343a40"
_PAPER = "#faf8f3"
_STROKES = ("-", "--", ":")


def write_reliability(calibration: Calibration, path: Path, title: str = "") -> None:
    """Draw what the scores promise against what they keep, a dot a bin, into a PNG or SVG file."""
    figure, axes = _blank(title or "Reliability")
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle="--", label="perfect")
    scores = [b.score for b in calibration.bins]
    right = [b.right for b in calibration.bins]
    axes.vlines(scores, scores, right, color=_ORANGE, linewidth=2, alpha=0.6)
    label = f"{calibration.links} links"
    if calibration.ece is not None:
        label += f", error {calibration.ece:.3f}"
    axes.plot(scores, right, color=_BLUE, marker="o", markersize=5, linewidth=1.2, label=label)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("mean score of the bin")
    axes.set_ylabel("share of right links")
    _save(figure, axes, path)


def write_precision_coverage(
    curves: Mapping[str, Mapping[int, float]],
    path: Path,
    title: str = "",
    bold: str | None = None,
) -> None:
    """Draw the precision of the surest lines by coverage, a curve a pair, into a PNG or SVG file.

    Args:
        curves: Name → coverage → precision, both in percent.
        path: Where to write; its ending says as what.
        title: What stands above.
        bold: The curve that stands out, such as that of all pairs together.
    """
    figure, axes = _blank(title or "Precision and coverage")
    for number, (name, curve) in enumerate(curves.items()):
        stands_out = name == bold or len(curves) == 1
        axes.plot(
            list(curve),
            list(curve.values()),
            color=_BLUE if stands_out else None,
            linewidth=2.6 if stands_out else 1.0,
            alpha=1.0 if stands_out else 0.7,
            # The ten colours come again with another stroke.
            linestyle="-" if stands_out else _STROKES[number // 10 % len(_STROKES)],
            label=name,
        )
    axes.set_xlim(0, 101)
    axes.set_ylim(-1, 101)
    axes.set_xlabel("coverage: the surest lines, in percent")
    axes.set_ylabel("right links among them, in percent")
    _save(figure, axes, path)


def _blank(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.5, 6), dpi=150, facecolor=_PAPER, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(_PAPER)
    axes.set_title(title.replace("$", r"\$"), family="serif", fontsize=14, color=_INK, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    # No date and no chance inside: two identical runs give identical files.
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with replacing(path) as temporary, rc_context({"svg.hashsalt": "folioreel"}):
        figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
