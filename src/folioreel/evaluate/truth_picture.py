"""Ground truth against prediction, as a picture of one pair (paper, figure 6).

The film runs from left to right and the book from the bottom up, so that a film which follows its
book is a rising line. As in the paper, dialogue is magenta and what pictures show is blue. Outcomes
differ in shape:

right        a match whose link claims the book, at most 3 paragraphs from the judged passage
wrong        a match whose link claims the book somewhere else; a thin line leads to the passage
missed       a match whose link says that it is not in the book, drawn at its passage
false claim  a line that the judges found nowhere in the book, but whose link claims it

All links that claim the book are small dots. A new line of a known scene has no right link, so it
is a dot like others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from folioreel.errors import ConfigError
from folioreel.evaluate import metrics
from folioreel.evaluate.dataset import Pair
from folioreel.files import replacing
from folioreel.text import cut_label
from folioreel.types import Alignment, Book

SUFFIXES = (".png", ".svg")

Outcome = Literal["right", "wrong", "missed", "false claim"]

_PAPER, _INK, _FAINT = "#faf8f3", "#343a40", "#adb5bd"
# The paper's for dialogue and pictures. The blue is dark: lightness tells them apart, too.
_COLOURS: dict[str, str] = {"dialogue": "#e040c0", "visual": "#1c3d9e", "audio": "#0b7285"}
_SHAPES: dict[Outcome, dict[str, Any]] = {
    "right": {"marker": "o", "s": 24},
    "wrong": {"marker": "x", "s": 40, "linewidths": 1.8},
    "missed": {"marker": "D", "s": 34},
    "false claim": {"marker": "v", "s": 40},
}
_FILLED: tuple[Outcome, ...] = ("right", "wrong")  # a cross has no inside
_MOST_CHAPTERS = 24  # labels that fit the height
_LONGEST_LABEL = 26


@dataclass(frozen=True, kw_only=True)
class JudgedPlace:
    """A judged line or shot: how its link turned out, and where both are."""

    outcome: Outcome
    kind: str  # dialogue, visual or audio
    minute: float
    line: int | None  # of the link; None for `missed`
    truth: int | None  # the nearest judged line of the book; None if it is not in the book


def judged_places(pair: Pair, alignment: Alignment) -> list[JudgedPlace]:
    """What the picture shows of each judgement, in the judges' order; see above."""
    found = []
    links = metrics.placed_links(alignment)
    own = metrics.own_links(pair, links)
    if alignment.film.shots:
        own += metrics.own_links(pair, links, shots=True)
    for judgement, link in own:
        start_s, end_s = judgement.times_s or _times_of(pair, judgement.line)
        near = metrics.distance(pair, judgement, link) <= metrics.NEAR_PARAGRAPHS
        claimed = link is not None and link.line is not None and link.in_book
        outcome: Outcome
        if judgement.verdict == "match":
            outcome = ("right" if near else "wrong") if claimed else "missed"
        elif judgement.verdict == "none" and claimed:
            outcome = "false claim"
        else:
            continue
        line = link.line if link is not None and claimed else None
        lines = [at for passage in judgement.passages for at in passage]
        truth = min(lines, key=lambda at: abs(at - (line or at))) if lines else None
        found.append(
            JudgedPlace(
                outcome=outcome,
                kind=judgement.kind,
                minute=(start_s + end_s) / 2 / 60,
                line=line,
                truth=truth,
            )
        )
    return found


def check_picture(path: Path) -> None:
    """Refuse a name that is no picture's, before the work."""
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--picture {path.name}: the name must end in {' or '.join(SUFFIXES)}")


def write_truth_picture(pair: Pair, alignment: Alignment, path: Path) -> None:
    """Draw one pair's judgements and links into a PNG or SVG file."""
    # No date and no random ids inside: two identical runs give identical files.
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else {}
    with (
        replacing(path) as unfinished,
        rc_context({"svg.hashsalt": "folioreel", "svg.fonttype": "none"}),
    ):
        figure = _draw(pair, alignment)
        figure.savefig(unfinished, format=path.suffix.lower()[1:], metadata=metadata)


def _times_of(pair: Pair, line: int) -> tuple[float, float]:
    return pair.spoken[line].start_s, pair.spoken[line].end_s


def _draw(pair: Pair, alignment: Alignment) -> Figure:
    figure = Figure(figsize=(10, 7.5), dpi=150, facecolor=_PAPER, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(_PAPER)
    links = [k for k in metrics.placed_links(alignment) if k.in_book and k.line is not None]
    minutes = [(link.start_s + link.end_s) / 120 for link in links]
    lines = [link.line or 0 for link in links]
    axes.scatter(minutes, lines, s=4, c=_FAINT, label=f"all links ({len(links)})")
    _draw_places(axes, judged_places(pair, alignment))
    _draw_book(axes, alignment.book)
    axes.set_xlim(0, alignment.film.duration_s / 60)
    axes.set_xlabel("film, in minutes")
    # A dollar sign would switch to mathematics.
    title = f"{pair.name}, {_system_of(alignment)}".replace("$", r"\$")
    axes.set_title(title, loc="left", color=_INK, family="serif")
    figure.legend(loc="outside lower center", frameon=False, ncols=5, fontsize=9)
    return figure


def _system_of(alignment: Alignment) -> str:
    """What made the links."""
    known = alignment.signature
    named = [f"{kind} {known[kind]}" for kind in ("preset", "baseline") if known.get(kind)]
    return named[0] if named else "unnamed links"


def _draw_places(axes: Axes, places: Sequence[JudgedPlace]) -> None:
    """The judged lines and shots, by kind and outcome."""
    for kind, colour in _COLOURS.items():
        for outcome, shape in _SHAPES.items():
            some = [place for place in places if (place.kind, place.outcome) == (kind, outcome)]
            if not some:
                continue
            filled = outcome in _FILLED
            axes.scatter(
                [place.minute for place in some],
                [(place.truth if place.line is None else place.line) or 0 for place in some],
                label=f"{kind}: {outcome} ({len(some)})",
                zorder=3,
                clip_on=False,  # marks of the first and last moments are whole
                facecolors=colour if filled else "none",
                edgecolors=None if outcome == "wrong" else colour,
                **shape,
            )
            for place in some if outcome == "wrong" else ():
                both = [place.line or 0, place.truth or 0]
                axes.plot([place.minute] * 2, both, color=colour, linewidth=0.6, alpha=0.5)


def _draw_book(axes: Axes, book: Book) -> None:
    """Lines on the left axis, chapters on the right one."""
    last = book.sentences[-1].line_end or book.sentences[-1].line or 1
    axes.set_ylim(1, last)
    axes.set_ylabel("book, in lines")
    chapters = axes.secondary_yaxis("right")
    every = -(-len(book.chapters) // _MOST_CHAPTERS)
    firsts, titles = [], []
    for chapter in book.chapters:
        first = book.sentences[book.paragraphs[chapter.paragraphs.start].sentences.start].line or 1
        axes.axhline(first, color=_FAINT, linewidth=0.4, zorder=0)
        if chapter.title and chapter.index % every == 0:
            firsts.append(first)
            titles.append(cut_label(chapter.title, _LONGEST_LABEL).replace("$", r"\$"))
    chapters.set_yticks(firsts, titles, fontsize=7)
    chapters.tick_params(length=0)
