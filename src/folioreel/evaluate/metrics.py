"""How good an alignment is against judged lines (paper, section 5.1, and stricter figures).

recall  the paper's: a moment at most 5 sentences away is linked at most 3 paragraphs away
near    the line's own moment is linked at most 3 paragraphs from the judged passage
strict  the line's own moment is linked into the judged paragraph itself
ap      average precision of the lines' own links, surest first; wrong on `none`; a `scene` counts
        where it is near, and is left out otherwise
auroc   whether the score tells `match` from `none`

The score of a link is the probability that it is right, so these look at the lines whose link is
right or wrong beyond doubt: a `match` is right where it is near, a `none` is wrong whatever its
sentence. A `scene` is left out: its line is new, and yet its place is no error.

ece     how far the scores are from the share of right links, on average over 15 bins of equally
        many links; a line without a link states no probability and is left out
precision at a coverage of c percent: the share of right links among the surest c percent of these
        lines; one without a link comes last and is wrong
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.dataset import Judgement, Pair
from folioreel.types import Alignment

NEAR_PARAGRAPHS = 3
NEAR_SENTENCES = 5
HOWS = ("verbatim", "paraphrase", "reported")
"""How a match renders its passage: word for word, in other words, told in narration."""
CALIBRATION_BINS = 15
_DRAWS = 400
COVERAGES = (25, 50, 75, 90, 100)
UNLINKED = -1e9
"""The score of a line without a link."""

_NOWHERE = 10**9


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The figures of one pair, in percent but for `auroc`."""

    match: int
    """Judged lines with a counterpart."""
    none: int
    """Judged lines that are not in the book."""
    recall: float
    near: float
    strict: float
    ap: float
    auroc: float | None
    """None where one of the two classes is empty."""


@dataclass(frozen=True, kw_only=True)
class MatchScores:
    """The figures of some of the matches, in percent; None where there are none."""

    match: int
    recall: float | None
    near: float | None
    strict: float | None


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Links of nearly the same score."""

    links: int
    score: float
    """Their mean score: what they promise."""
    right: float
    """The share that is right: what they keep."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How well scores keep what they promise."""

    links: int
    ece: float | None
    """The expected calibration error, 0 … 1; None where nothing is linked."""
    by_chance: float | None
    """The error that these scores would show if each were exactly the chance to be right."""
    bins: tuple[CalibrationBin, ...]
    """By rising score."""


@dataclass(frozen=True, kw_only=True)
class PlacedLink:
    """A link as the judges see it: when, which line of the book, how sure."""

    start_s: float
    end_s: float
    line: int | None
    score: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """What became of each judgement of a pair, in the judges' order; all arrays are (N,)."""

    verdicts: NDArray[np.str_]
    hows: NDArray[np.str_]
    kinds: NDArray[np.str_]
    scores: NDArray[np.float64]
    """Of the line's own link, or UNLINKED."""
    distances: NDArray[np.int64]
    """Paragraphs between the line's own link and the truth."""
    recalled: NDArray[np.bool_]

    @property
    def near(self) -> NDArray[np.bool_]:
        """Whether the line's own link is near the truth; never for `none`."""
        return np.asarray(self.distances <= NEAR_PARAGRAPHS)

    @property
    def strict(self) -> NDArray[np.bool_]:
        """Whether the line's own link lies in the judged paragraph itself."""
        return np.asarray(self.distances == 0)

    @property
    def ranked(self) -> NDArray[np.bool_]:
        """The lines that count for `ap`."""
        return self.certain | self.near

    @property
    def certain(self) -> NDArray[np.bool_]:
        """The lines whose link is right or wrong beyond doubt."""
        return np.asarray(self.verdicts != "scene")

    @property
    def stated(self) -> NDArray[np.bool_]:
        """The lines that count for `ece`: those of `certain` that have a link."""
        return self.certain & (self.scores > UNLINKED)


def placed_links(alignment: Alignment) -> list[PlacedLink]:
    """The links of an alignment with a plain-text book."""
    return [
        PlacedLink(
            start_s=alignment.film.moments[link.moment].start_s,
            end_s=alignment.film.moments[link.moment].end_s,
            line=alignment.book.sentences[link.sentence].line,
            score=link.score,
        )
        for link in alignment.links
    ]


def score_links(pair: Pair, links: Sequence[PlacedLink]) -> Scores:
    """Judge the links of one pair."""
    return score_outcomes(judge_links(pair, links))


def judge_links(pair: Pair, links: Sequence[PlacedLink]) -> Outcomes:
    """What became of each judged line; every figure is a function of this."""
    index = _LinkIndex(links)
    spoken = [index.most_shared(line.start_s, line.end_s) for line in pair.spoken]
    scores, distances, recalled = [], [], []
    for judgement in pair.judgements:
        times_s = judgement.times_s
        own = index.at(*times_s) if times_s is not None else spoken[judgement.line]
        low, high = judgement.line - NEAR_SENTENCES, judgement.line + NEAR_SENTENCES + 1
        around = [own, *spoken[max(0, low) : high]]
        scores.append(own.score if own is not None and own.line else UNLINKED)
        distances.append(_distance(pair, judgement, own))
        recalled.append(any(_distance(pair, judgement, k) <= NEAR_PARAGRAPHS for k in around))
    return Outcomes(
        verdicts=np.array([judgement.verdict for judgement in pair.judgements], dtype=np.str_),
        hows=np.array([judgement.how for judgement in pair.judgements], dtype=np.str_),
        kinds=np.array([judgement.kind for judgement in pair.judgements], dtype=np.str_),
        scores=np.array(scores, dtype=np.float64),
        distances=np.array(distances, dtype=np.int64),
        recalled=np.array(recalled, dtype=np.bool_),
    )


def join_outcomes(outcomes: Sequence[Outcomes]) -> Outcomes:
    """The lines of several pairs as if they were one."""
    names = ("verdicts", "hows", "kinds", "scores", "distances", "recalled")
    return Outcomes(
        **{name: np.concatenate([getattr(o, name) for o in outcomes]) for name in names}
    )


def score_outcomes(outcomes: Outcomes) -> Scores:
    """The figures of judged lines."""
    match, none = outcomes.verdicts == "match", outcomes.verdicts == "none"
    matches, ranked = int(match.sum()), outcomes.ranked
    return Scores(
        match=matches,
        none=int(none.sum()),
        recall=_percent(outcomes.recalled[match].sum(), matches),
        near=_percent(outcomes.near[match].sum(), matches),
        strict=_percent(outcomes.strict[match].sum(), matches),
        ap=_average_precision(outcomes.scores[ranked], outcomes.near[ranked], matches),
        auroc=_auroc(outcomes.scores[match], outcomes.scores[none]),
    )


def score_matches(outcomes: Outcomes, chosen: NDArray[np.bool_]) -> MatchScores:
    """Recall, near and strict of the matches among the chosen lines."""
    kept = chosen & (outcomes.verdicts == "match")
    count = int(kept.sum())
    if not count:
        return MatchScores(match=0, recall=None, near=None, strict=None)
    return MatchScores(
        match=count,
        recall=_percent(outcomes.recalled[kept].sum(), count),
        near=_percent(outcomes.near[kept].sum(), count),
        strict=_percent(outcomes.strict[kept].sum(), count),
    )


def score_by_how(outcomes: Outcomes) -> dict[str, MatchScores]:
    """The figures of verbatim, paraphrased and reported matches apart."""
    return {how: score_matches(outcomes, outcomes.hows == how) for how in HOWS}


def score_by_kind(outcomes: Outcomes) -> dict[str, MatchScores]:
    """The figures of each kind of match that the judges marked: dialogue, visual, audio."""
    kinds = sorted(set(outcomes.kinds.tolist()))
    return {kind: score_matches(outcomes, outcomes.kinds == kind) for kind in kinds}


def calibrate(outcomes: Outcomes, bins: int = CALIBRATION_BINS) -> Calibration:
    """The expected calibration error, and the bins for a reliability diagram."""
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
    error = sum(b.links * abs(b.score - b.right) for b in found) / len(scores)
    return Calibration(
        links=len(scores),
        ece=round(error, 4),
        by_chance=round(_error_by_chance(scores, places), 4),
        bins=found,
    )


def _error_by_chance(scores: NDArray[np.float64], places: NDArray[np.int64]) -> float:
    """The mean error of drawn outcomes: few lines in a bin are never right just as promised."""
    draws = np.random.default_rng(0).random((_DRAWS, len(scores))) < np.clip(scores, 0, 1)
    surplus = draws - scores  # (draws, N)
    bins = places == np.unique(places)[:, None]  # (bins, N)
    return float(np.abs(surplus @ bins.T).sum(axis=1).mean() / len(scores))


def equal_mass_bins(scores: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """The bin of each score, equally many in each; equal scores share a bin.

    Scores that are all the same make one bin: to split them would count chance as error.
    """
    _, group, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts + (counts - 1) / 2  # the mean rank of equal scores
    return np.floor(middles * bins / len(scores)).astype(np.int64)[group]


def precision_at(outcomes: Outcomes, coverages: Sequence[int] = COVERAGES) -> dict[int, float]:
    """The precision, in percent, of the surest lines at each coverage in percent.

    Where the border falls among equal scores, each of them is in by its share.
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


class _LinkIndex:
    """Links in time order, to be asked what happens when."""

    def __init__(self, links: Sequence[PlacedLink]) -> None:
        self._links = sorted(links, key=lambda link: link.start_s)
        self._starts = np.array([link.start_s for link in self._links], dtype=np.float64)
        self._ends = np.array([link.end_s for link in self._links], dtype=np.float64)

    def most_shared(self, start_s: float, end_s: float) -> PlacedLink | None:
        """The link that shares most time with a spoken line; the first of equals."""
        before = int(np.searchsorted(self._starts, end_s))
        starts, ends = self._starts[:before], self._ends[:before]
        shared = np.minimum(end_s, ends) - np.maximum(start_s, starts)
        best, longest = None, 0.0
        for k in np.flatnonzero(shared > 0):
            if shared[k] > longest + 1e-6:
                best, longest = self._links[k], float(shared[k])
        return best

    def at(self, start_s: float, end_s: float) -> PlacedLink | None:
        """The link that an annotated time means: it shares most time, else it is nearest."""
        if not self._links:
            return None
        shared = np.minimum(end_s, self._ends) - np.maximum(start_s, self._starts)
        return self._links[int(np.argmax(shared))]  # a negative share is a distance


def _distance(pair: Pair, judgement: Judgement, link: PlacedLink | None) -> int:
    """Paragraphs between a link and the truth."""
    if link is None or not link.line or not judgement.passages:
        return _NOWHERE

    def paragraph(number: int) -> int:
        return bisect.bisect_right(pair.paragraph_lines, number) - 1

    here = paragraph(link.line)
    return min(
        max(paragraph(first) - here, here - paragraph(last), 0)
        for first, last in judgement.passages
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * int(part) / max(1, whole), 2)


def _average_precision(
    scores: NDArray[np.float64], right: NDArray[np.bool_], matches: int
) -> float:
    total = max(matches or 1, int(right.sum()))
    hits, summed = 0, 0.0
    for place, k in enumerate(np.argsort(-scores, kind="stable"), 1):
        if scores[k] <= UNLINKED:
            break
        if right[k]:
            hits += 1
            summed += hits / place
    return round(100 * summed / total, 2)


def _auroc(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float | None:
    if not len(positive) or not len(negative):
        return None
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    up_to = np.searchsorted(ordered, positive, side="right")
    wins = float((below + 0.5 * (up_to - below)).sum())
    return round(wins / (len(positive) * len(negative)), 3)
