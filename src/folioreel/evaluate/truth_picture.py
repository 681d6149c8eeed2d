"""Ground truth against prediction, as a picture of one pair (paper, figure 6).

The film runs from left to right and the book from the bottom up, so that a film which follows its
book is a rising line. Outcomes differ in shape as well as in colour:

right    the link of a judged line claims the book, at most 3 paragraphs from the judged passage
wrong    it claims the book somewhere else, or for a line that is not in it; a thin line leads from
         the link to the passage, if there is one
missed   the judges found the line in the book, but the link says that it is not there

All links that claim the book are small dots. A new line of a known scene has no right link:
it is only drawn where it is near its scene.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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

Outcome = Literal["right", "wrong", "missed"]

_PAPER, _INK, _FAINT = "#faf8f3", "#343a40", "#adb5bd"
# Told apart by people who confuse red and green, too: by shape, fill and lightness.
_STYLES: dict[Outcome, dict[str, object]] = {
    "right": {"marker": "o", "s": 22, "facecolors": "#2b8a3e", "edgecolors": "none"},
    "wrong": {"marker": "x", "s": 40, "c": "#c92a2a", "linewidths": 1.8},
    "missed": {"marker": "D", "s": 34, "facecolors": "none", "edgecolors": "#1864ab"},
}
_MOST_CHAPTERS = 24  # labels that fit the height
_LONGEST_LABEL = 26


@dataclass(frozen=True, kw_only=True)
class JudgedPlace:
    """A judged line or shot: how its link turned out, and where both are."""

    outcome: Outcome
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
        if claimed and near:
            outcome = "right"
        elif judgement.verdict == "scene" or (judgement.verdict == "none" and not claimed):
            continue
        else:
            outcome = "wrong" if claimed else "missed"
        line = link.line if link is not None and claimed else None
        lines = [at for passage in judgement.passages for at in passage]
        truth = min(lines, key=lambda at: abs(at - (line or at))) if lines else None
        minute = (start_s + end_s) / 2 / 60
        found.append(JudgedPlace(outcome=outcome, minute=minute, line=line, truth=truth))
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
    places = judged_places(pair, alignment)
    for outcome, style in _STYLES.items():
        some = [place for place in places if place.outcome == outcome]
        heights = [place.line if place.line is not None else place.truth for place in some]
        axes.scatter(
            [place.minute for place in some],
            heights,  # type: ignore[arg-type]
            label=f"{outcome} ({len(some)})",
            zorder=3,
            **style,  # type: ignore[arg-type]
        )
        for place in some if outcome == "wrong" else ():
            if place.truth is not None and place.line is not None:
                both = [place.line, place.truth]
                axes.plot([place.minute] * 2, both, color="#c92a2a", linewidth=0.6, alpha=0.5)
    _draw_book(axes, alignment.book)
    axes.set_xlim(0, alignment.film.duration_s / 60)
    axes.set_xlabel("film, in minutes")
    axes.set_title(pair.name.replace("$", r"\$"), loc="left", color=_INK, family="serif")
    figure.legend(loc="outside upper right", frameon=False, ncols=4, fontsize=9)
    return figure


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
            # A dollar sign would switch to mathematics.
            titles.append(cut_label(chapter.title, _LONGEST_LABEL).replace("$", r"\$"))
    chapters.set_yticks(firsts, titles, fontsize=7)
    chapters.tick_params(length=0)
