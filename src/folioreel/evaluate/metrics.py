"""How good an alignment is against judged lines (paper, section 5.1, and stricter figures).

recall  the paper's: a moment at most 5 sentences away is linked at most 3 paragraphs away
near    the line's own moment is linked at most 3 paragraphs from the judged passage
strict  the line's own moment is linked into the judged paragraph itself
ap      average precision of the lines' own links, surest first; a link of a `none` is wrong; a
        `scene` counts as right if it is near, and is left out otherwise
auroc   how well the score separates `match` from `none`
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from folioreel.evaluate.dataset import Pair
from folioreel.evaluate.judged_tables import Judgement
from folioreel.types import Alignment

# Both tolerances are the paper's (section 5.1).
NEAR_PARAGRAPHS = 3
NEAR_SENTENCES = 5
HOWS = ("verbatim", "paraphrase", "reported")
"""How a match renders its passage: word for word, in other words, told in narration."""
UNLINKED = -1e9
"""The score of a line without a link: below any real one, so that it ranks last."""

_NOWHERE = 10**9  # paragraphs: further than any book is long


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The figures of one pair, in percent except `auroc`."""

    match: int
    """Judged lines with a counterpart."""
    none: int
    """Judged lines that are not in the book."""
    recall: float
    near: float
    strict: float
    ap: float
    auroc: float | None
    """None if one of the two classes is empty."""


@dataclass(frozen=True, kw_only=True)
class MatchScores:
    """The figures of some of the matches, in percent; None if there are none."""

    match: int
    recall: float | None
    near: float | None
    strict: float | None


@dataclass(frozen=True, kw_only=True)
class ShotScores:
    """The figures of judged silent shots; shares in percent, None if there are no such shots."""

    match: int
    """Judged shots that show something from the book."""
    none: int
    """Judged shots that are not in the book."""
    near: float | None
    strict: float | None
    claimed: float | None
    """The share of `match` shots whose link claims to be in the book."""
    false_claims: int
    """How many `none` shots claim it, too."""


@dataclass(frozen=True, kw_only=True)
class PlacedLink:
    """A link in the judges' terms: when, which line of the book, how sure."""

    start_s: float
    end_s: float
    line: int | None
    score: float
    in_book: bool = True
    """Whether the aligner claims that the moment is in the book at all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """How each judgement of a pair turned out, in the judges' order; all arrays are (N,)."""

    verdicts: NDArray[np.str_]
    hows: NDArray[np.str_]
    kinds: NDArray[np.str_]
    scores: NDArray[np.float64]
    """The score of the line's own link, or UNLINKED."""
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
        """The lines whose link is clearly right or wrong."""
        return np.asarray(self.verdicts != "scene")

    @property
    def stated(self) -> NDArray[np.bool_]:
        """The lines that count for `ece`: those of `certain` with a link."""
        return self.certain & (self.scores > UNLINKED)


def placed_links(alignment: Alignment) -> list[PlacedLink]:
    """The links of an alignment with a plain-text book."""
    return [
        PlacedLink(
            start_s=alignment.film.moments[link.moment].start_s,
            end_s=alignment.film.moments[link.moment].end_s,
            line=alignment.book.sentences[link.sentence].line,
            score=link.score,
            in_book=link.in_book,
        )
        for link in alignment.links
    ]


def score_links(pair: Pair, links: Sequence[PlacedLink]) -> Scores:
    """Judge the links of one pair."""
    return score_outcomes(judge_links(pair, links))


def score_shots(pair: Pair, links: Sequence[PlacedLink]) -> ShotScores | None:
    """Judge the links of a pair's silent shots; None if nobody judged its shots.

    A shot's own link is the one that shares most time with it. The links must come from a film
    with shots: where there is no link at the time of a shot, it counts as missed.
    """
    if not pair.shots:
        return None
    index = _LinkIndex(links)
    own = [index.most_shared(*(shot.times_s or (0.0, 0.0))) for shot in pair.shots]
    distances = np.array([_distance(pair, *both) for both in zip(pair.shots, own, strict=True)])
    claimed = np.array([link is not None and link.in_book for link in own])
    match = np.array([shot.verdict == "match" for shot in pair.shots])
    none = np.array([shot.verdict == "none" for shot in pair.shots])
    matches = int(match.sum())

    def share(hits: NDArray[np.bool_]) -> float | None:
        return _percent(hits[match].sum(), matches) if matches else None

    return ShotScores(
        match=matches,
        none=int(none.sum()),
        near=share(distances <= NEAR_PARAGRAPHS),
        strict=share(distances == 0),
        claimed=share(claimed),
        false_claims=int(claimed[none].sum()),
    )


def judge_links(pair: Pair, links: Sequence[PlacedLink]) -> Outcomes:
    """How each judged line turned out; every figure of lines is a function of this."""
    index = _LinkIndex(links)
    spoken = [index.most_shared(line.start_s, line.end_s) for line in pair.spoken]
    scores, distances, recalled = [], [], []
    for judgement in pair.judgements:
        times_s = judgement.times_s
        own = index.at(*times_s) if times_s is not None else spoken[judgement.line]
        low, high = judgement.line - NEAR_SENTENCES, judgement.line + NEAR_SENTENCES + 1
        around = [own, *spoken[max(0, low) : high]]
        # Books other than plain text have no lines: such a link cannot be judged.
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
    names = [field.name for field in fields(Outcomes)]
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
    """Separate figures for verbatim, paraphrased and reported matches."""
    return {how: score_matches(outcomes, outcomes.hows == how) for how in HOWS}


def score_by_kind(outcomes: Outcomes) -> dict[str, MatchScores]:
    """Separate figures for each kind of match that the judges marked: dialogue, visual, audio."""
    kinds = sorted(set(outcomes.kinds.tolist()))
    return {kind: score_matches(outcomes, outcomes.kinds == kind) for kind in kinds}


class _LinkIndex:
    """Links in time order, looked up by time."""

    def __init__(self, links: Sequence[PlacedLink]) -> None:
        self._links = sorted(links, key=lambda link: link.start_s)
        self._starts = np.array([link.start_s for link in self._links], dtype=np.float64)
        self._ends = np.array([link.end_s for link in self._links], dtype=np.float64)

    def most_shared(self, start_s: float, end_s: float) -> PlacedLink | None:
        """The link that overlaps a span of time most, the first of equals; None if none does."""
        before = int(np.searchsorted(self._starts, end_s))
        starts, ends = self._starts[:before], self._ends[:before]
        shared = np.minimum(end_s, ends) - np.maximum(start_s, starts)
        best, longest = None, 0.0
        for k in np.flatnonzero(shared > 0):
            # Times are given to the millisecond; a smaller difference is rounding, not overlap.
            if shared[k] > longest + 1e-6:
                best, longest = self._links[k], float(shared[k])
        return best

    def at(self, start_s: float, end_s: float) -> PlacedLink | None:
        """The link for an annotated time: the one that overlaps it most, else the nearest."""
        if not self._links:
            return None
        shared = np.minimum(end_s, self._ends) - np.maximum(start_s, self._starts)
        return self._links[int(np.argmax(shared))]  # a negative overlap is a distance


def _distance(pair: Pair, judgement: Judgement, link: PlacedLink | None) -> int:
    """Paragraphs between a link and the truth."""
    if link is None or not link.line or not judgement.passages:
        return _NOWHERE

    def paragraph(number: int) -> int:
        return bisect.bisect_right(pair.paragraph_lines, number) - 1

    here = paragraph(link.line)
    # Inside the passage the distance is 0; otherwise to its nearer end. The best alternate counts.
    return min(
        max(paragraph(first) - here, here - paragraph(last), 0)
        for first, last in judgement.passages
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * int(part) / max(1, whole), 2)


def _average_precision(
    scores: NDArray[np.float64], right: NDArray[np.bool_], matches: int
) -> float:
    # Scenes that are near count as right, too, so there may be more right links than matches.
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
    # The share of (match, none) pairs in which the match has the higher score; ties count half.
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    up_to = np.searchsorted(ordered, positive, side="right")
    wins = float((below + 0.5 * (up_to - below)).sum())
    return round(wins / (len(positive) * len(negative)), 3)
