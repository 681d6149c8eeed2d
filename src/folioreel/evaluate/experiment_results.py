"""What `folioreel reproduce` keeps of each row of the paper's table and each pair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.intervals import Interval, difference_intervals, figure_intervals
from folioreel.evaluate.metrics import Outcomes, ShotScores, score_by_kind
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
NOT_COMPUTED = "not computed"
SEEN = "†"  # marks presets that were trained on a pair that they are tested on
WATCHING = "WATCHING"
"""The time it took to watch a film, unless it was in the cache; the others are measures."""


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
    looked: bool | None = None  # whether it used what the film shows; None: not known
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


def visual_scores(result: StoredResult) -> ShotScores | None:
    """The figures of what pictures must place; None if nobody judged any.

    Those are judged silent shots, or else the matches that `annotations.tsv` calls visual. The
    latter have no `none`, and whether their links claim the book is not kept.
    """
    outcomes = result.restored()
    if result.shots is not None or outcomes is None:
        return result.shots
    found = score_by_kind(outcomes).get("visual")
    if found is None or not found.match:
        return None
    return ShotScores(
        match=found.match,
        none=0,
        near=found.near,
        strict=found.strict,
        claimed=None,
        false_claims=0,
    )


@dataclass(frozen=True, kw_only=True)
class RowResults:
    """A row of the table over the pairs of one protocol."""

    row: str
    results: tuple[StoredResult, ...]  # in the order of the pairs
    reference: str | None = None  # the row that it is to be compared with

    @property
    def label(self) -> str:
        """Its name, marked if one of its figures is of a pair that it was trained on."""
        return f"{self.row} {SEEN}" if self.seen else self.row

    @property
    def seen(self) -> bool:
        """Whether one of its figures is of a pair that it was trained on."""
        return any(result.seen and result.missing is None for result in self.results)

    @property
    def pairs(self) -> tuple[str, ...]:
        """Those that it has figures for."""
        return tuple(result.pair for result in self.results if result.outcomes is not None)

    @cached_property
    def outcomes(self) -> list[Outcomes]:
        """Those of the pairs that have any."""
        found = (result.restored() for result in self.results)
        return [outcomes for outcomes in found if outcomes is not None]

    @property
    def lines(self) -> int:
        """How many judged lines its figures are about."""
        return sum(len(outcomes.verdicts) for outcomes in self.outcomes)

    @cached_property
    def means(self) -> dict[str, Interval | None]:
        """Each figure's mean over pairs, with its interval; None if it is undefined."""
        return figure_intervals(self.outcomes) if self.outcomes else dict.fromkeys(FIGURES)

    def on(self, pairs: Sequence[str]) -> RowResults | None:
        """The same on some pairs alone; None if it has no figures for one of them."""
        if not set(pairs) <= set(self.pairs):
            return None
        return replace(self, results=tuple(one for one in self.results if one.pair in pairs))


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows that have figures for some of the pairs, with what they are to be compared with.

    All of them are about the same pairs: means over different ones cannot be compared.
    """

    pairs: tuple[str, ...]
    rows: tuple[RowResults, ...]

    def gains(self, row: RowResults) -> dict[str, Interval | None]:
        """What a row has more than its reference, with paired intervals; empty without one."""
        for other in self.rows:
            if other.row == row.reference:
                return difference_intervals(other.outcomes, row.outcomes)
        return {}


@dataclass(frozen=True, kw_only=True)
class Table:
    """The results of one protocol."""

    protocol: Protocol
    pairs: tuple[str, ...]  # those that were tested, in order
    trained_on: str | None  # the pair of the protocol `one`
    rows: tuple[RowResults, ...]

    @property
    def name(self) -> str:
        """For files: the protocol, and what `one` was trained on."""
        return "-".join(filter(None, (self.protocol, self.trained_on)))

    @property
    def title(self) -> str:
        """What was trained on what."""
        if self.trained_on is not None:
            return f"Trained on {self.trained_on}, tested on the others, as in the paper"
        return "Leave one pair out: each is tested with what was learned from the others"

    @property
    def whole(self) -> tuple[RowResults, ...]:
        """The rows with figures for all pairs, whose means can be compared; and those with none."""
        return tuple(row for row in self.rows if row.pairs in ((), self.pairs))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The other rows, by the pairs that they have figures for."""
        partial = [row for row in self.rows if row.pairs not in ((), self.pairs)]
        return tuple(
            Group(pairs=pairs, rows=tuple(self._compared([r for r in partial if r.pairs == pairs])))
            for pairs in dict.fromkeys(row.pairs for row in partial)
        )

    def _compared(self, rows: Sequence[RowResults]) -> Iterator[RowResults]:
        """Rows with the same pairs; each reference before the first that needs it."""
        seen = {row.row for row in rows}
        for row in rows:
            reference = next((other for other in self.rows if other.row == row.reference), None)
            cut = reference.on(row.pairs) if reference is not None else None
            if cut is not None and cut.row not in seen:
                seen.add(cut.row)
                yield cut
            yield row


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that the report is made of."""

    tables: tuple[Table, ...]
    measure_times: dict[str, Times]  # pair → measure → processor time
    pictures: tuple[str, ...]  # the pairs whose films were watched
    statistics: tuple[dict[str, Any], ...]  # the paper's table of the dataset
    about: dict[str, str]  # pair → what it is, in the words of the dataset


def precision_recall(outcomes: Sequence[Outcomes]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Recall and precision in percent of the surest 1, 2, 3 … links of all pairs together.

    A link is right if it is near the passage of a match. New lines of a known scene have no right
    link and are left out. Links of one score enter together.
    """
    ranked = [o.stated for o in outcomes]
    scores = np.concatenate([o.scores[kept] for o, kept in zip(outcomes, ranked, strict=True)])
    right = np.concatenate([o.near[kept] for o, kept in zip(outcomes, ranked, strict=True)])
    matches = sum(int((o.verdicts == "match").sum()) for o in outcomes)
    order = np.argsort(-scores, kind="stable")
    hits, places = np.cumsum(right[order]), np.arange(1, len(order) + 1)
    last = np.append(np.diff(scores[order]) != 0, True) if len(order) else np.zeros(0, bool)
    return 100 * hits[last] / max(1, matches), 100 * hits[last] / places[last]
