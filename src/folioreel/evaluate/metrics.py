"""How good an alignment is against judged lines (paper, section 5.1, and stricter figures).

recall  the paper's: a moment at most 5 sentences away is linked at most 3 paragraphs away
near    the line's own moment is linked at most 3 paragraphs from the judged passage
strict  the line's own moment is linked into the judged paragraph itself
ap      average precision of the lines' own links, surest first; wrong on `none`; a `scene` counts
        where it is near, and is left out otherwise
auroc   whether the score tells `match` from `none`
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from folioreel.evaluate.dataset import Judgement, Pair
from folioreel.types import Alignment

NEAR_PARAGRAPHS = 3
NEAR_SENTENCES = 5


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
class PlacedLink:
    """A link as the judges see it: when, which line of the book, how sure."""

    start_s: float
    end_s: float
    line: int | None
    score: float


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
    own = _own_links(pair, links)
    ranked: list[tuple[float, bool]] = []  # (score, right), the lines that count for ap
    matches: list[tuple[float, int]] = []  # (score, distance) of `match` lines
    recalled, missing = 0, []
    for judgement in pair.judgements:
        score, distance = _judge(pair, judgement, own[judgement.line])
        near = distance <= NEAR_PARAGRAPHS
        if judgement.verdict == "none":
            missing.append(score)
            ranked.append((score, False))
        elif judgement.verdict == "scene":
            if near:
                ranked.append((score, True))
        else:
            matches.append((score, distance))
            ranked.append((score, near))
            recalled += _is_recalled(pair, judgement, own)
    return Scores(
        match=len(matches),
        none=len(missing),
        recall=_percent(recalled, len(matches)),
        near=_percent(sum(d <= NEAR_PARAGRAPHS for _, d in matches), len(matches)),
        strict=_percent(sum(d == 0 for _, d in matches), len(matches)),
        ap=_average_precision(ranked, len(matches)),
        auroc=_auroc([score for score, _ in matches], missing),
    )


_UNLINKED = -1e9
_NOWHERE = 10**9


def _own_links(pair: Pair, links: Sequence[PlacedLink]) -> list[PlacedLink | None]:
    """For each spoken line the link that shares most time with it."""
    ordered = sorted(links, key=lambda link: link.start_s)
    own = []
    for line in pair.spoken:
        best, longest = None, 0.0
        for link in ordered:
            if link.start_s >= line.end_s:
                break
            shared = min(line.end_s, link.end_s) - max(line.start_s, link.start_s)
            if shared > longest + 1e-6:
                best, longest = link, shared
        own.append(best)
    return own


def _judge(pair: Pair, judgement: Judgement, link: PlacedLink | None) -> tuple[float, int]:
    """The link's score and its distance from the truth, in paragraphs."""
    if link is None or not link.line:
        return _UNLINKED, _NOWHERE
    if not judgement.passages:
        return link.score, _NOWHERE
    return link.score, _distance(pair, judgement, link.line)


def _distance(pair: Pair, judgement: Judgement, line: int) -> int:
    def paragraph(number: int) -> int:
        return bisect.bisect_right(pair.paragraph_lines, number) - 1

    here = paragraph(line)
    return min(
        max(paragraph(first) - here, here - paragraph(last), 0)
        for first, last in judgement.passages
    )


def _is_recalled(pair: Pair, judgement: Judgement, own: list[PlacedLink | None]) -> bool:
    around = own[max(0, judgement.line - NEAR_SENTENCES) : judgement.line + NEAR_SENTENCES + 1]
    return any(
        link is not None
        and bool(link.line)
        and _distance(pair, judgement, link.line or 0) <= NEAR_PARAGRAPHS
        for link in around
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 2)


def _average_precision(ranked: list[tuple[float, bool]], matches: int) -> float:
    total = max(matches or 1, sum(right for _, right in ranked))
    hits, summed = 0, 0.0
    for place, (score, right) in enumerate(sorted(ranked, key=lambda item: -item[0]), 1):
        if score <= _UNLINKED:
            break
        if right:
            hits += 1
            summed += hits / place
    return round(100 * summed / total, 2)


def _auroc(positive: list[float], negative: list[float]) -> float | None:
    if not positive or not negative:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in positive for b in negative)
    return round(wins / (len(positive) * len(negative)), 3)
