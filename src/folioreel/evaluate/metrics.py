"""How good an alignment is against judged lines (paper, section 5.1, and stricter figures).

recall  the paper's: a moment at most 5 sentences away is linked at most 3 paragraphs away
near    the line's own moment is linked at most 3 paragraphs from the judged passage
strict  the line's own moment is linked into the judged paragraph itself
ap      average precision of the lines' own links, surest first; a link of a `none` is wrong; a
        `scene` counts as right if it is near, and is left out otherwise
auroc   how well the score separates `match` from `none`

Figures are computed from a weight for each judged line: 1, or how often a resample drew it.
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
# How a match renders its passage: word for word, in other words, told in narration.
HOWS = ("verbatim", "paraphrase", "reported")
UNLINKED = -1e9  # the score of a line without a link: below any real one, so that it ranks last

Floats = NDArray[np.float64]

_NOWHERE = 10**9  # paragraphs: further than any book is long


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The figures of one pair, in percent except `auroc`."""

    match: int  # judged lines with a counterpart
    none: int  # judged lines that are not in the book
    recall: float
    near: float
    strict: float
    ap: float
    auroc: float | None  # None if one of the two classes is empty


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

    match: int  # judged shots that show something from the book
    none: int  # judged shots that are not in the book
    near: float | None
    strict: float | None
    claimed: float | None  # the share of `match` shots whose link claims to be in the book
    false_claims: int  # how many `none` shots claim it, too


@dataclass(frozen=True, kw_only=True)
class PlacedLink:
    """A link in the judges' terms: when, which line of the book, how sure."""

    start_s: float
    end_s: float
    line: int | None
    score: float
    in_book: bool = True  # whether the aligner claims that the moment is in the book at all


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """How each judgement of a pair turned out, in the judges' order; all arrays are (N,)."""

    verdicts: NDArray[np.str_]
    hows: NDArray[np.str_]
    kinds: NDArray[np.str_]
    scores: NDArray[np.float64]  # the score of the line's own link, or UNLINKED
    distances: NDArray[np.int64]  # paragraphs between the line's own link and the truth
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
    own = own_links(pair, links, shots=True)
    distances = np.array([distance(pair, *both) for both in own])
    claimed = np.array([link is not None and link.in_book for _, link in own])
    match = np.array([shot.verdict == "match" for shot in pair.shots])
    none = np.array([shot.verdict == "none" for shot in pair.shots])
    return ShotScores(
        match=int(match.sum()),
        none=int(none.sum()),
        near=_percent(distances[match] <= NEAR_PARAGRAPHS),
        strict=_percent(distances[match] == 0),
        claimed=_percent(claimed[match]),
        false_claims=int(claimed[none].sum()),
    )


def own_links(
    pair: Pair, links: Sequence[PlacedLink], *, shots: bool = False
) -> list[tuple[Judgement, PlacedLink | None]]:
    """Each judgement of a pair (of its silent shots) with its link: the one that overlaps it most.

    An annotated time may lie between links, and then means the nearest one; a shot has none then.
    """
    index = _LinkIndex(links)
    found = []
    for judgement in pair.shots if shots else pair.judgements:
        if judgement.times_s is not None:
            own = index.find(*judgement.times_s, nearest=not shots)
        else:
            line = pair.spoken[judgement.line]
            own = index.find(line.start_s, line.end_s)
        found.append((judgement, own))
    return found


def judge_links(pair: Pair, links: Sequence[PlacedLink]) -> Outcomes:
    """How each judged line turned out; every figure of lines is a function of this."""
    index = _LinkIndex(links)
    spoken = [index.find(line.start_s, line.end_s) for line in pair.spoken]
    scores, distances, recalled = [], [], []
    for judgement, own in own_links(pair, links):
        low, high = judgement.line - NEAR_SENTENCES, judgement.line + NEAR_SENTENCES + 1
        around = [own, *spoken[max(0, low) : high]]
        # Books other than plain text have no lines: such a link cannot be judged.
        scores.append(own.score if own is not None and own.line else UNLINKED)
        distances.append(distance(pair, judgement, own))
        recalled.append(any(distance(pair, judgement, k) <= NEAR_PARAGRAPHS for k in around))
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
    once = np.ones((1, len(outcomes.verdicts)), dtype=np.int64)
    figures = {name: float(values[0]) for name, values in weighted_scores(outcomes, once).items()}
    auroc = figures.pop("auroc")
    return Scores(
        match=int((outcomes.verdicts == "match").sum()),
        none=int((outcomes.verdicts == "none").sum()),
        **{name: round(value, 2) for name, value in figures.items()},
        auroc=None if np.isnan(auroc) else round(auroc, 3),
    )


def weighted_scores(outcomes: Outcomes, weights: NDArray[np.int64]) -> dict[str, Floats]:
    """The figures of `Scores` if line n counts `weights[r, n]` times, unrounded: (R,) each.

    `auroc` is NaN where one of its classes is empty.
    """
    match = outcomes.verdicts == "match"
    matches = np.maximum(1, weights[:, match].sum(axis=1))  # (R,)
    hits = {"recall": outcomes.recalled, "near": outcomes.near, "strict": outcomes.strict}
    return {
        **{
            n: 100 * (weights[:, match] @ hit[match].astype(int)) / matches
            for n, hit in hits.items()
        },
        "ap": _average_precisions(outcomes, weights, matches),
        "auroc": _aurocs(outcomes, weights),
    }


def score_by_how(outcomes: Outcomes) -> dict[str, MatchScores]:
    """Separate figures for verbatim, paraphrased and reported matches."""
    return {how: _score_matches(outcomes, outcomes.hows == how) for how in HOWS}


def score_by_kind(outcomes: Outcomes) -> dict[str, MatchScores]:
    """Separate figures for each kind of match that the judges marked: dialogue, visual, audio."""
    kinds = sorted(set(outcomes.kinds.tolist()))
    return {kind: _score_matches(outcomes, outcomes.kinds == kind) for kind in kinds}


def _score_matches(outcomes: Outcomes, chosen: NDArray[np.bool_]) -> MatchScores:
    kept = chosen & (outcomes.verdicts == "match")
    return MatchScores(
        match=int(kept.sum()),
        recall=_percent(outcomes.recalled[kept]),
        near=_percent(outcomes.near[kept]),
        strict=_percent(outcomes.strict[kept]),
    )


class _LinkIndex:
    """Links in time order, looked up by time."""

    def __init__(self, links: Sequence[PlacedLink]) -> None:
        self._links = sorted(links, key=lambda link: link.start_s)
        self._starts = np.array([link.start_s for link in self._links], dtype=np.float64)
        self._ends = np.array([link.end_s for link in self._links], dtype=np.float64)

    def find(self, start_s: float, end_s: float, *, nearest: bool = False) -> PlacedLink | None:
        """The link that overlaps a span of time most, the first of equals.

        If none does, the nearest link or None.
        """
        if not self._links:
            return None
        # A negative overlap is a distance.
        shared = np.minimum(end_s, self._ends) - np.maximum(start_s, self._starts)
        # Times are given to the millisecond; a smaller difference is rounding, not overlap.
        best = int(np.argmax(shared > shared.max() - 1e-6))
        return self._links[best] if nearest or shared[best] > 1e-6 else None


def distance(pair: Pair, judgement: Judgement, link: PlacedLink | None) -> int:
    """Paragraphs between a link and the truth; very many if there is no link or no truth."""
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


def _percent(hits: NDArray[np.bool_]) -> float | None:
    return round(100 * int(hits.sum()) / len(hits), 2) if len(hits) else None


def _average_precisions(
    outcomes: Outcomes, weights: NDArray[np.int64], matches: NDArray[np.int64]
) -> Floats:
    ranked = np.flatnonzero(outcomes.ranked)
    order = ranked[np.argsort(-outcomes.scores[ranked], kind="stable")]
    linked = order[outcomes.scores[order] > UNLINKED]
    right = outcomes.near[linked]
    counts = weights[:, linked]  # (R, K), surest first
    places = np.cumsum(counts, axis=1)
    hits = np.cumsum(counts * right, axis=1)
    # w copies of a right line after P places with H hits add the sum of (H + t) / (P + t) over
    # t = 1 … w, which is w + (H - P) (h(P + w) - h(P)) with the harmonic numbers h.
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, places.max(initial=0) + 1))])
    before = places - counts
    gains = counts + (hits - counts - before) * (harmonic[places] - harmonic[before])
    # Scenes that are near count as right, too, so there may be more right links than matches.
    all_right = (weights[:, ranked] * outcomes.near[ranked]).sum(axis=1)
    return np.asarray(100 * (gains * right).sum(axis=1) / np.maximum(matches, all_right))


def _aurocs(outcomes: Outcomes, weights: NDArray[np.int64]) -> Floats:
    match, none = outcomes.verdicts == "match", outcomes.verdicts == "none"
    if not match.any() or not none.any():
        return np.full(len(weights), np.nan)
    order = np.argsort(outcomes.scores)
    _, firsts = np.unique(outcomes.scores[order], return_index=True)
    # The share of (match, none) pairs in which the match has the higher score; ties count half.
    # Equal scores together, rising: (R, groups).
    positive = np.add.reduceat((weights * match)[:, order], firsts, axis=1)
    negative = np.add.reduceat((weights * none)[:, order], firsts, axis=1)
    below = np.cumsum(negative, axis=1) - negative
    wins = (positive * (below + 0.5 * negative)).sum(axis=1)
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    return np.where(pairs > 0, wins / np.maximum(1, pairs), np.nan)
