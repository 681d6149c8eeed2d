"""What `folioreel reproduce` keeps of each row of the paper's table and each pair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.intervals import Interval, figure_intervals
from folioreel.evaluate.metrics import UNLINKED, Outcomes, ShotScores
from folioreel.files import make_folder, write_text
from folioreel.json_input import parse_json
from folioreel.reading import read_plain

Protocol = Literal["one", "leave-one-out"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
Times = dict[str, float]  # stage → processor time in seconds

FIGURES = ("recall", "ap", "near", "strict", "auroc")
"""The paper's two figures, and ours."""
# Why there is no figure.
NO_PICTURES = "no pictures"
UNSEEN = "no pictures in training"


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """A result as its file holds it: plain JSON types."""

    row: str
    pair: str
    trained_on: list[str] = field(default_factory=list)
    missing: str | None = None
    """Why there are no outcomes; None if there are."""
    outcomes: dict[str, list[Any]] | None = None
    shots: ShotScores | None = None
    training_times: Times = field(default_factory=dict)
    linking_times: Times = field(default_factory=dict)
    seen: bool = False  # whether the row is a shipped preset that was trained on this pair
    settings: dict[str, Any] = field(default_factory=dict)  # weights of the chain, if it has one

    def restored(self) -> Outcomes | None:
        """The outcomes as arrays."""
        if self.outcomes is None:
            return None
        kinds = {"verdicts": np.str_, "hows": np.str_, "kinds": np.str_, "scores": np.float64}
        kinds |= {"distances": np.int64, "recalled": np.bool_}
        return Outcomes(
            **{name: np.array(self.outcomes[name], dtype=kind) for name, kind in kinds.items()}
        )


def store_outcomes(outcomes: Outcomes) -> dict[str, list[Any]]:
    """Outcomes as a file holds them."""
    return {item.name: getattr(outcomes, item.name).tolist() for item in fields(Outcomes)}


def write_result(result: StoredResult, path: Path) -> None:
    """Write one result, whole or not at all."""
    make_folder(path.parent)
    write_text(path, json.dumps(asdict(result), allow_nan=False) + "\n")


def read_result(path: Path) -> StoredResult | None:
    """What `write_result` wrote; None if it is missing or damaged, to be made again."""
    try:
        found = parse_json(read_plain(path), StoredResult)
        found.restored()
    except (OSError, ValueError, KeyError):
        return None
    return found


@dataclass(frozen=True, kw_only=True)
class RowResults:
    """A row of the table over the pairs of one protocol."""

    row: str
    results: tuple[StoredResult, ...]  # in the order of the pairs

    @property
    def outcomes(self) -> list[Outcomes]:
        """Those of the pairs that have any."""
        found = (result.restored() for result in self.results)
        return [outcomes for outcomes in found if outcomes is not None]

    def means(self) -> dict[str, Interval | None]:
        """Each figure's mean over pairs, with its interval; None if it is undefined."""
        return figure_intervals(self.outcomes) if self.outcomes else dict.fromkeys(FIGURES)


@dataclass(frozen=True, kw_only=True)
class Table:
    """The results of one protocol."""

    protocol: Protocol
    pairs: tuple[str, ...]  # those that were tested, in order
    trained_on: str | None  # the pair of the protocol `one`
    rows: tuple[RowResults, ...]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that the report is made of."""

    tables: tuple[Table, ...]
    measure_times: dict[str, Times]  # pair → measure → processor time
    pictures: tuple[str, ...]  # the pairs whose films were watched


def precision_recall(outcomes: Sequence[Outcomes]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Recall and precision in percent of the surest 1, 2, 3 … links of all pairs together.

    Right and wrong as for `ap`: see metrics.py. Links of one score enter together.
    """
    ranked = [o.ranked & (o.scores > UNLINKED) for o in outcomes]
    scores = np.concatenate([o.scores[kept] for o, kept in zip(outcomes, ranked, strict=True)])
    right = np.concatenate([o.near[kept] for o, kept in zip(outcomes, ranked, strict=True)])
    matches = sum(int((o.verdicts == "match").sum()) for o in outcomes)
    all_right = sum(int(o.near[o.ranked].sum()) for o in outcomes)
    order = np.argsort(-scores, kind="stable")
    hits, places = np.cumsum(right[order]), np.arange(1, len(order) + 1)
    last = np.append(np.diff(scores[order]) != 0, True) if len(order) else np.zeros(0, bool)
    return 100 * hits[last] / max(1, matches, all_right), 100 * hits[last] / places[last]
