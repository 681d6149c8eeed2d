"""How far the scores of links can be trusted: calibration, precision at coverage, their plots.

A link's score is the probability that the link is right. The figures here are therefore
computed from the lines whose link is clearly right or wrong: a `match` is right if it is near, a
`none` is wrong whatever its sentence. A `scene` is left out: its line is new, but its place is
no error.

ece     expected calibration error: the mean difference between the scores and the share of right
        links, over 15 bins with equally many links; lines without a link are left out
precision at a coverage of c percent: the share of right links among the surest c percent of these
        lines; lines without a link come last and count as wrong
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.metrics import Outcomes
from folioreel.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The usual number. More bins resolve the scores better, but with the 110 judged lines of our pairs
# each of the 15 already holds just seven, and the noise of small bins counts as error.
CALIBRATION_BINS = 15
# Enough to know the mean error by chance to the third digit, at a few milliseconds per pair.
_DRAWS = 400
COVERAGES = (25, 50, 75, 90, 100)

_BLUE, _ORANGE, _GREY, _INK, _PAPER = "#1f5fa8", "#d9480f", "#adb5bd", "#343a40", "#faf8f3"
_STROKES = ("-", "--", ":")


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Links of nearly the same score."""

    links: int
    score: float  # their mean score
    right: float  # the share of right links


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How well the scores agree with the share of right links."""

    links: int
    ece: float | None  # the expected calibration error, 0 … 1; None if nothing is linked
    by_chance: float | None
    """The error that these scores would have by chance if they were perfectly calibrated."""
    bins: tuple[CalibrationBin, ...]  # by rising score


def calibrate(outcomes: Outcomes, bins: int = CALIBRATION_BINS) -> Calibration:
    """The expected calibration error, and the bins of the reliability diagram."""
    kept = outcomes.stated
    scores, right = outcomes.scores[kept], outcomes.near[kept]
    if not len(scores):
        return Calibration(links=0, ece=None, by_chance=None, bins=())
    places = equal_mass_bins(scores, bins)
    found = tuple(
        CalibrationBin(
            links=int((places == k).sum()),
            score=float(scores[places == k].mean()),
            right=float(right[places == k].mean()),
        )
        for k in np.unique(places)
    )
    # If each link were right with exactly the probability that its score states, the error would
    # not be 0: in a small bin the share of right links differs from the mean score by chance.
    draws = np.random.default_rng(0).random((_DRAWS, len(scores))) < np.clip(scores, 0, 1)
    return Calibration(
        links=len(scores),
        ece=round(float(_gaps((scores - right)[None], places)[0] / len(scores)), 4),
        by_chance=round(float(_gaps(draws - scores, places).mean() / len(scores)), 4),
        bins=found,
    )


def weighted_errors(outcomes: Outcomes, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """The calibration error if line n counts `weights[r, n]` times, in unchanged bins: (R,)."""
    kept = outcomes.stated
    scores, counts = outcomes.scores[kept], weights[:, kept]
    if not len(scores):
        return np.full(len(weights), np.nan)
    gaps = _gaps(counts * (scores - outcomes.near[kept]), equal_mass_bins(scores, CALIBRATION_BINS))
    lines = counts.sum(axis=1)
    return np.where(lines > 0, gaps / np.maximum(1, lines), np.nan)


def _gaps(excess: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Σ over bins of links · |mean score - share right|, which is |the sum of score - right|.

    `excess` is score - right, for each draw and link: (R, N); `places` are the bins: (N,).
    """
    return np.asarray(np.abs(excess @ (places[:, None] == np.unique(places))).sum(axis=1))


def equal_mass_bins(scores: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """The bin of each score, with equally many in each; equal scores share a bin.

    Splitting equal scores over bins would count chance as error.
    """
    _, group, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts + (counts - 1) / 2  # the mean rank of equal scores
    return np.floor(middles * bins / len(scores)).astype(np.int64)[group]


def precision_at(outcomes: Outcomes, coverages: Sequence[int] = COVERAGES) -> dict[int, float]:
    """The precision, in percent, of the surest lines at each coverage in percent.

    If the cut falls among equal scores, each of them is counted in part.
    """
    scores, right = outcomes.scores[outcomes.certain], outcomes.near[outcomes.certain]
    if not len(scores):
        return {}
    _, group, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    taken = np.concatenate([[0], np.cumsum(counts)])
    hits = np.concatenate([[0], np.cumsum(np.bincount(group, weights=right))])
    wanted = [-(-coverage * len(scores) // 100) for coverage in coverages]
    found = np.interp(wanted, taken, hits) / np.maximum(wanted, 1)
    return {c: round(100 * float(p), 2) for c, p in zip(coverages, found, strict=True)}


def write_reliability(calibration: Calibration, path: Path, title: str = "") -> None:
    """Plot the share of right links against the mean score, one dot per bin, as PNG or SVG."""
    figure, axes = _blank(title or "Reliability")
    axes.plot([0, 1], [0, 1], color=_GREY, linewidth=1, linestyle="--", label="perfect")
    scores, right = [b.score for b in calibration.bins], [b.right for b in calibration.bins]
    axes.vlines(scores, scores, right, color=_ORANGE, linewidth=2, alpha=0.6)
    label = f"{calibration.links} links"
    if calibration.ece is not None:
        label += f", error {calibration.ece:.3f}"
    axes.plot(scores, right, color=_BLUE, marker="o", markersize=5, linewidth=1.2, label=label)
    limits = (-0.02, 1.02)
    axes.set(
        xlim=limits, ylim=limits, xlabel="mean score of the bin", ylabel="share of right links"
    )
    _save(figure, axes, path)


def write_precision_coverage(
    curves: Mapping[str, Mapping[int, float]], path: Path, title: str = "", bold: str | None = None
) -> None:
    """Plot precision against coverage, one curve per pair, as PNG or SVG.

    `curves` are by name, then by coverage, both in percent; `bold` is emphasised.
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
            # Matplotlib has ten colours; then they repeat with another line style.
            linestyle="-" if stands_out else _STROKES[number // 10 % len(_STROKES)],
            label=name,
        )
    axes.set(xlim=(0, 101), xlabel="coverage: the surest lines, in percent")
    axes.set(ylim=(-1, 101), ylabel="right links among them, in percent")
    _save(figure, axes, path)


def _blank(title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 6), dpi=150, facecolor=_PAPER, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(_PAPER)
    axes.set_title(title.replace("$", r"\$"), family="serif", fontsize=14, color=_INK, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def _save(figure: Figure, axes: Axes, path: Path) -> None:
    import matplotlib

    if axes.get_legend_handles_labels()[0]:
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    # No date and no random ids inside: identical runs give identical files.
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with replacing(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "folioreel"}):
        figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
