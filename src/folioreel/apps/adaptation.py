"""An adaptation in figures: how much of the film is in the book, of the book in the film, where.

Shares of the film are shares of its spoken lines: folioreel seldom finds a silent shot in the book.
A line lasts until the next one begins. A paragraph is in the film if any line renders it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import prod

from folioreel.apps.moved import Order, measure_order
from folioreel.apps.rendering import Renderings, measure_renderings
from folioreel.export.estimates import Chances, Estimate, paragraph_words, spoken_lines
from folioreel.text import find_words
from folioreel.types import Alignment, Book, Film, Moment

_SCENE_S, _SHORTEST_SCENE_S = 120, 40
"""Scenes are as on the page (frontend/src/fidelity.ts): a film is cut at its longest pauses, into
one scene for every two minutes, none of them shorter than 40 s."""
_ADDED = 0.25
"""Scenes with a smaller share are called new: of a scene that follows the book, even loosely, more
lines are found (the loosest of the judged films has 0.26 over all its scenes)."""
_LEFT_OUT = 0.8
"""The chance from which a passage is called left out: a list that starts with coin tosses, long as
they may be, is of no use."""
_LEAST_S = 30  # a chapter that may have less time on screen has no rate worth showing


@dataclass(frozen=True, kw_only=True)
class ChapterUse:
    """What the film takes from a chapter."""

    chapter: int
    title: str
    words: int
    share: Estimate  # of its words, those in paragraphs that the film renders
    lines: Estimate  # of the film
    minutes: Estimate
    words_a_minute: Estimate | None  # None if it has hardly any time on screen


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A stretch of the film, and how much of it is in the book."""

    start_s: float
    end_s: float
    lines: int
    share: Estimate | None  # of its lines; None if nobody speaks
    chapter: int | None  # where most of it is; None if it is not in the book
    first_line: str


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Consecutive paragraphs that the film most likely leaves out."""

    paragraphs: range
    words: int
    chance: float  # that no line of the film renders any of it


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """All figures of an alignment."""

    lines: Chances  # of the film: its spoken lines, by number, by words and by minutes
    words: Chances
    minutes: Chances
    paragraphs: Chances  # of the book: its paragraphs, by number and by words
    book_words: Chances
    chapters: tuple[ChapterUse, ...]
    scenes: tuple[Scene, ...]
    gaps: tuple[Gap, ...]  # longest first
    order: Order
    renderings: Renderings | None
    judged: int  # how many lines a reader has judged

    @property
    def added(self) -> list[Scene]:
        """The scenes that are not in the book, longest first."""
        new = [s for s in self.scenes if s.share is not None and s.share.value < _ADDED]
        return sorted(new, key=lambda scene: scene.start_s - scene.end_s)


def measure_adaptation(alignment: Alignment) -> Adaptation:
    """The figures of an alignment, corrected or not."""
    spoken = [moment for moment in alignment.film.moments if moment.kind == "dialogue"]
    lines = spoken_lines(alignment)
    minutes = [seconds / 60 for seconds in line_times(alignment.film, spoken)]

    def weigh(weights: Sequence[float]) -> Chances:
        return replace(lines, weights=tuple(weights))

    by_time = weigh(minutes)
    book_words = weigh_book(alignment)
    return Adaptation(
        lines=lines,
        words=weigh([float(len(find_words(moment.text))) for moment in spoken]),
        minutes=by_time,
        paragraphs=replace(book_words, weights=(1.0,) * len(book_words.weights)),
        book_words=book_words,
        chapters=_use_chapters(alignment, spoken, lines, by_time, book_words),
        scenes=tuple(_measure_scenes(alignment, spoken, lines)),
        gaps=tuple(_find_gaps(alignment, book_words)),
        order=measure_order(alignment),
        renderings=measure_renderings(alignment),
        judged=sum(lines.judged),
    )


def line_times(film: Film, spoken: Sequence[Moment]) -> list[float]:
    """How long each line lasts: until the next one begins, the last until the film ends."""
    starts = [*(moment.start_s for moment in spoken), film.duration_s]
    return [max(0.0, after - start) for start, after in pairwise(starts)]


def weigh_book(alignment: Alignment) -> Chances:
    """Each paragraph with its words, and the probability that some moment renders it."""
    book = alignment.book
    absent = [1.0] * len(book.paragraphs)
    judged = [False] * len(book.paragraphs)
    for link in alignment.links:
        is_judged = link.judged is not None
        for paragraph in {book.paragraph_of[j] for j in link.sentences}:
            absent[paragraph] *= 1 - (float(link.in_book) if is_judged else link.score)
            judged[paragraph] |= is_judged and link.in_book
    return Chances(
        weights=tuple(map(float, paragraph_words(book))),
        chances=tuple(1 - chance for chance in absent),
        judged=tuple(judged),
    )


def chapter_name(book: Book, chapter: int) -> str:
    """The title of a chapter, or its number."""
    return book.chapters[chapter].title or f"chapter {chapter + 1}"


def _use_chapters(
    alignment: Alignment,
    spoken: Sequence[Moment],
    lines: Chances,
    minutes: Chances,
    book_words: Chances,
) -> tuple[ChapterUse, ...]:
    book = alignment.book
    places = [book.paragraph_of[alignment.links[moment.index].sentence] for moment in spoken]
    nothing = Estimate(value=0.0, low=0.0, high=0.0)
    found = []
    for chapter in book.chapters:
        inside = [k for k, place in enumerate(places) if place in chapter.paragraphs]
        words = int(sum(book_words.weights[k] for k in chapter.paragraphs))
        on_screen = minutes.only(inside).total()
        rate = None
        if 60 * on_screen.low >= _LEAST_S:  # less time makes more words a minute
            rate = Estimate(
                value=words / on_screen.value,
                low=words / on_screen.high,
                high=words / on_screen.low,
            )
        found.append(
            ChapterUse(
                chapter=chapter.index,
                title=chapter_name(book, chapter.index),
                words=words,
                share=book_words.only(chapter.paragraphs).share() or nothing,
                lines=lines.only(inside).total(),
                minutes=on_screen,
                words_a_minute=rate,
            )
        )
    return tuple(found)


def scene_starts(film: Film) -> list[int]:
    """The first moment of each scene."""
    moments = film.moments
    wanted = max(1, round(film.duration_s / _SCENE_S))
    spoken = [moment.index for moment in moments if moment.text]
    rows = spoken if len(spoken) > 1 else [moment.index for moment in moments]
    pauses = [
        (moments[before].end_s - moments[after].start_s, after) for before, after in pairwise(rows)
    ]
    starts = [0]
    for _, after in sorted(pauses):  # the longest pause first
        if len(starts) >= wanted:
            break
        time_s = moments[after].start_s
        if all(abs(moments[k].start_s - time_s) >= _SHORTEST_SCENE_S for k in starts):
            starts.append(after)
    return sorted(starts)


def _measure_scenes(alignment: Alignment, spoken: Sequence[Moment], lines: Chances) -> list[Scene]:
    film, book = alignment.film, alignment.book
    starts = scene_starts(film)
    scenes = []
    for k, first in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else len(film.moments)
        inside = [n for n, moment in enumerate(spoken) if first <= moment.index < end]
        weights: dict[int, float] = {}
        for n in inside:
            link = alignment.links[spoken[n].index]
            if link.in_book:
                chapter = book.chapter_of[book.paragraph_of[link.sentence]]
                weights[chapter] = weights.get(chapter, 0.0) + lines.chances[n]
        scenes.append(
            Scene(
                start_s=film.moments[first].start_s if k else 0.0,
                end_s=film.moments[end].start_s if end < len(film.moments) else film.duration_s,
                lines=len(inside),
                share=lines.only(inside).share(),
                chapter=max(weights, key=lambda c: weights[c]) if weights else None,
                first_line=spoken[inside[0]].text if inside else "",
            )
        )
    return scenes


def _find_gaps(alignment: Alignment, book_words: Chances) -> list[Gap]:
    """Runs of paragraphs within a chapter that are likely to be left out as a whole.

    Where a run has a doubtful paragraph, it is split there.
    """
    book, chances = alignment.book, book_words.chances
    used = {book.paragraph_of[j] for k in alignment.links if k.in_book for j in k.sentences}
    runs = groupby(range(len(book.paragraphs)), key=lambda k: (k in used, book.chapter_of[k]))
    left = [list(run) for (is_used, _), run in runs if not is_used]
    gaps = []
    while left:
        inside = left.pop()
        chance = prod(1 - chances[k] for k in inside)
        if chance >= _LEFT_OUT:
            words = int(sum(book_words.weights[k] for k in inside))
            run = range(inside[0], inside[-1] + 1)
            gaps.append(Gap(paragraphs=run, words=words, chance=chance))
        else:
            doubtful = inside.index(max(inside, key=lambda k: chances[k]))
            halves = (inside[:doubtful], inside[doubtful + 1 :])
            left += [half for half in halves if half]
    return sorted(gaps, key=lambda gap: (-gap.words, gap.paragraphs.start))
