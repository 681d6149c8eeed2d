"""The illustrated edition: which stills, times and lines of the film stand at which passages.

A passage is a paragraph. It has at most one still, of its surest moment. No two stills are of one
shot, and between two of them there is some text to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from folioreel.apps.adaptation import scene_starts
from folioreel.errors import InputError
from folioreel.export.page_html import encode_jpeg
from folioreel.ingest.picture import FilmStills
from folioreel.progress import ProgressCallback, ignore_progress, track
from folioreel.text import find_words
from folioreel.times import format_clock
from folioreel.types import Alignment, Film, Link, Moment, Shot

_WIDTH_PX = 800  # fills the screen of most readers; about 60 KB
_QUALITIES = (75,)
_WORDS_BETWEEN = 120  # words of the book between two stills: a third of a page
_PAUSE_S = 60.0  # a passage that comes back after a longer pause has a second time in the margin


@dataclass(frozen=True, kw_only=True)
class Mark:
    """When the film comes to a sentence."""

    moment: int
    sentence: int
    said: str
    """The surest line until the film leaves the passage; empty if nobody speaks."""


@dataclass(frozen=True, kw_only=True)
class Still:
    """A picture of the film below a paragraph."""

    moment: int
    paragraph: int
    jpeg: bytes


@dataclass(frozen=True, kw_only=True)
class EditionScene:
    """A scene of the film, and where it is in the book."""

    start_s: float
    first_line: str
    paragraph: int


@dataclass(frozen=True, kw_only=True)
class Edition:
    """An illustrated edition, not yet written."""

    alignment: Alignment
    marks: tuple[Mark, ...]  # in the order of the book
    stills: tuple[Still, ...]  # in the order of the book
    scenes: tuple[EditionScene, ...]  # in the order of the film
    cover: bytes | None  # the still of the surest moment
    until_s: float | None = None  # nothing of the film that comes later was used


def make_edition(
    alignment: Alignment,
    progress: ProgressCallback = ignore_progress,
    *,
    until_s: float | None = None,
) -> Edition:
    """Choose what stands where, and take the stills.

    Args:
        alignment: The film and its book.
        progress: Called as stills are taken.
        until_s: How much of the film the reader has seen: nothing that comes later is used.

    Raises:
        InputError: Nothing of the film is in the book, or a file of the film cannot be opened.
    """
    moments = alignment.film.moments
    links = [
        link
        for link in alignment.links
        if link.in_book and (until_s is None or moments[link.moment].start_s < until_s)
    ]
    if not links:
        film = "the film" if until_s is None else f"the first {format_clock(until_s)} of the film"
        raise InputError(f"nothing in {film} is in the book; there is nothing to show")
    chosen = _choose_stills(alignment, links) if alignment.film.has_video else []
    stills = tuple(_take_stills(alignment, chosen, progress))
    best = max(stills, key=lambda still: alignment.links[still.moment].score, default=None)
    return Edition(
        alignment=alignment,
        marks=tuple(sorted(_find_marks(alignment, links), key=lambda mark: mark.sentence)),
        stills=stills,
        scenes=tuple(_list_scenes(alignment, links, until_s)),
        cover=None if best is None else best.jpeg,
        until_s=until_s,
    )


def _find_marks(alignment: Alignment, links: Sequence[Link]) -> Iterator[Mark]:
    """The times of each paragraph: one for each visit of the film."""
    film, book = alignment.film, alignment.book
    visits: dict[int, list[list[Link]]] = {}  # paragraph → visits, in time order
    for link in links:
        of_paragraph = visits.setdefault(book.paragraph_of[link.sentence], [])
        start_s = film.moments[link.moment].start_s
        if of_paragraph and start_s - film.moments[of_paragraph[-1][-1].moment].end_s <= _PAUSE_S:
            of_paragraph[-1].append(link)
        else:
            of_paragraph.append([link])
    for visit in (visit for of_paragraph in visits.values() for visit in of_paragraph):
        spoken = [link for link in visit if film.moments[link.moment].text]
        surest = max(spoken, key=lambda link: link.score, default=None)
        yield Mark(
            moment=visit[0].moment,
            sentence=visit[0].sentence,
            said="" if surest is None else film.moments[surest.moment].text,
        )


def _choose_stills(alignment: Alignment, links: Sequence[Link]) -> list[Link]:
    """The moments to show, the surest first choice, in the order of the book."""
    film, book = alignment.film, alignment.book
    lengths = (len(find_words(sentence.text)) for sentence in book.sentences)
    words = [0, *accumulate(lengths)]  # before each sentence
    ends = [words[paragraph.sentences.stop] for paragraph in book.paragraphs]
    chosen: dict[int, Link] = {}  # by where the still stands: below its paragraph, in words
    used: set[int] = set()
    for link in sorted(links, key=lambda link: (-link.score, link.moment)):
        shot = film.moments[link.moment].shot
        end = ends[book.paragraph_of[link.sentence]]
        if shot in used or any(abs(end - other) < _WORDS_BETWEEN for other in chosen):
            continue
        chosen[end] = link
        used |= set() if shot is None else {shot}
    return [link for _, link in sorted(chosen.items())]


def _take_stills(
    alignment: Alignment, links: Sequence[Link], progress: ProgressCallback
) -> Iterator[Still]:
    film, book = alignment.film, alignment.book
    with FilmStills(film, _WIDTH_PX) as stills:
        for link in track(links, "taking stills", progress):
            picture = stills.sharpest(_on_screen(film, film.moments[link.moment]))
            jpeg = None if picture is None else encode_jpeg(picture, qualities=_QUALITIES)
            if jpeg is not None:
                paragraph = book.paragraph_of[link.sentence]
                yield Still(moment=link.moment, paragraph=paragraph, jpeg=jpeg)


def _on_screen(film: Film, moment: Moment) -> Shot:
    """What is on screen in a moment: its shot, as long as the line is spoken."""
    start_s, end_s = moment.start_s, moment.end_s
    if moment.shot is not None:
        shot = film.shots[moment.shot]
        start_s, end_s = max(start_s, shot.start_s), min(end_s, shot.end_s)
    return Shot(index=0, start_s=start_s, end_s=end_s)


def _list_scenes(
    alignment: Alignment, links: Sequence[Link], until_s: float | None
) -> Iterator[EditionScene]:
    """The scenes that are in the book, each at the passage of its first moment that is."""
    film, book = alignment.film, alignment.book
    starts = [*scene_starts(film), len(film.moments)]
    for first, end in pairwise(starts):
        inside = [link for link in links if first <= link.moment < end]
        if not inside:
            continue
        moments = film.moments[first:end]
        lines = (m.text for m in moments if until_s is None or m.start_s < until_s)
        yield EditionScene(
            start_s=film.moments[first].start_s,
            first_line=next(filter(None, lines), ""),
            paragraph=book.paragraph_of[inside[0].sentence],
        )
