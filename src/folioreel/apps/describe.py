"""What the book says about a moment of the film, and where the film shows a passage of the book.

The paper presents its results in this way: a shot, and the best paragraph with one paragraph before
and after it (section 5.2, qualitative results).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from folioreel.errors import InputError
from folioreel.stems import find_terms, stem_word
from folioreel.text import join_sentences
from folioreel.times import format_timestamp as clock
from folioreel.types import Alignment, Book, Kind, Link

# Paragraphs: as near as the paper counts a match as correct.
_REACH = 3
_CHAPTER_AND_PARAGRAPH = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A paragraph of the book with its neighbours."""

    chapter: str  # the title of the chapter, or its number if it has none
    place: str  # lines or a page of the file, or which paragraph of the chapter it is
    sentence: str  # the sentence that the moment is linked to
    text: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class MomentDescription:
    """A moment of the film and its passage of the book."""

    moment: int
    start_s: float
    end_s: float
    kind: Kind
    said: str  # empty if nobody speaks
    in_book: bool
    score: float  # the probability that the passage is right
    passage: Passage  # the best guess if the moment is not in the book


def describe_time(alignment: Alignment, time_s: float) -> MomentDescription:
    """Describe the moment on screen at a time; between two moments, the nearer one."""
    duration_s = alignment.film.duration_s
    if not 0 <= time_s <= duration_s:
        long = clock(duration_s)
        raise InputError(f"{clock(time_s)} is not in the film, which is {long} long")
    moments = alignment.film.moments
    distance_s = [max(m.start_s - time_s, time_s - m.end_s, 0.0) for m in moments]
    # Of several subtitles on screen, the one that appeared last is being spoken.
    best = min(moments, key=lambda m: (distance_s[m.index], -m.start_s))
    return describe_link(alignment, alignment.links[best.index])


def describe_shot(alignment: Alignment, shot: int) -> tuple[MomentDescription, ...]:
    """Describe the moments of a shot, counted from 0."""
    shots = alignment.film.shots
    if not 0 <= shot < len(shots):
        held = f"shots 1 to {len(shots)}" if shots else "no shots, only subtitles"
        raise InputError(f"there is no shot {shot + 1}; the film has {held}")
    inside = [m.index for m in alignment.film.moments if m.shot == shot]
    if not inside:  # lines run through it, but each has most of its time in another shot
        return describe_range(alignment, shots[shot].start_s, shots[shot].end_s)
    return tuple(describe_link(alignment, alignment.links[i]) for i in inside)


def describe_range(
    alignment: Alignment, start_s: float, end_s: float
) -> tuple[MomentDescription, ...]:
    """Describe the moments that overlap a time range; there must be some."""
    if end_s <= start_s:
        raise InputError(
            f"the range from {clock(start_s)} to {clock(end_s)} is empty; it must end "
            "after it starts"
        )
    inside = [m.index for m in alignment.film.moments if m.start_s < end_s and m.end_s > start_s]
    if not inside:
        start, end = clock(start_s), clock(end_s)
        raise InputError(f"there are no moments from {start} to {end}")
    return tuple(describe_link(alignment, alignment.links[i]) for i in inside)


def describe_passage(alignment: Alignment, sentences: range) -> tuple[MomentDescription, ...]:
    """The other direction: describe the moments that render some sentences, in time order.

    If there are none, those of the same paragraphs; if there are none either, those at most three
    paragraphs away.
    """
    book = alignment.book
    first, last = (book.paragraph_of[j] for j in (sentences.start, sentences.stop - 1))
    # From the exact sentences outwards, until anything is found.
    for inside in (sentences, *(_sentences_of(book, first, last, reach) for reach in (0, _REACH))):
        found = [
            link
            for link in alignment.links
            if link.in_book and any(j in inside for j in link.sentences)
        ]
        if found:
            return tuple(describe_link(alignment, link) for link in found)
    return ()


def find_passage(book: Book, wanted: str) -> range:
    """The sentences that a user refers to by line, by chapter and paragraph, or by some words.

    Args:
        book: The book.
        wanted: `120`, a line of a plain-text book; `3:14`, the fourteenth paragraph of the third
            chapter, both counted from 1; or words, for which the most similar sentence is taken.
    """
    wanted = wanted.strip()
    if wanted.isdecimal():
        return _at_line(book, int(wanted))
    if place := _CHAPTER_AND_PARAGRAPH.fullmatch(wanted):
        return _at_paragraph(book, int(place[1]), int(place[2]))
    return _by_words(book, wanted)


def describe_link(alignment: Alignment, link: Link) -> MomentDescription:
    """A moment with its passage of the book."""
    moment = alignment.film.moments[link.moment]
    return MomentDescription(
        moment=moment.index,
        start_s=moment.start_s,
        end_s=moment.end_s,
        kind=moment.kind,
        said=moment.text,
        in_book=link.in_book,
        score=link.score,
        passage=read_passage(alignment.book, link.sentence),
    )


def read_passage(book: Book, sentence: int) -> Passage:
    """The paragraph of a sentence, with its neighbours."""
    paragraph = book.paragraph_of[sentence]
    chapter = book.chapters[book.chapter_of[paragraph]]

    def text_of(index: int) -> str | None:
        if not 0 <= index < len(book.paragraphs):
            return None
        return join_sentences(book.sentences[j].text for j in book.paragraphs[index].sentences)

    return Passage(
        chapter=chapter.title or f"chapter {chapter.index + 1}",
        place=place_of(book, range(paragraph, paragraph + 1)),
        sentence=book.sentences[sentence].text,
        text=text_of(paragraph) or "",
        before=text_of(paragraph - 1),
        after=text_of(paragraph + 1),
    )


def place_of(book: Book, paragraphs: range) -> str:
    """Where paragraphs of one chapter are, in words that help a reader to find them.

    A file inside an EPUB means nothing to readers, so there the paragraphs are counted, from 1 in
    each chapter, as `find_passage` counts them.
    """
    first = book.sentences[book.paragraphs[paragraphs.start].sentences.start]
    last = book.sentences[book.paragraphs[paragraphs.stop - 1].sentences.stop - 1]
    if first.line is not None:
        return _count("line", first.line, last.line_end or first.line)
    page, end = (re.fullmatch(r"#page=(\d+)", one.href or "") for one in (first, last))
    if page and end:
        return _count("page", int(page[1]), int(end[1]))
    chapter = book.chapters[book.chapter_of[paragraphs.start]].paragraphs.start
    return _count("paragraph", paragraphs.start - chapter + 1, paragraphs.stop - chapter)


def _count(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}" if first == last else f"{unit}s {first}–{last}"


def _sentences_of(book: Book, first: int, last: int, reach: int) -> range:
    """All sentences of some paragraphs and of `reach` paragraphs around them."""
    low, high = max(0, first - reach), min(len(book.paragraphs) - 1, last + reach)
    return range(book.paragraphs[low].sentences.start, book.paragraphs[high].sentences.stop)


def _at_line(book: Book, line: int) -> range:
    if book.volumes:
        raise InputError(
            "each volume of this book has lines of its own; give chapter:paragraph, or some words"
        )
    if any(sentence.line is None for sentence in book.sentences):
        raise InputError("this book has no line numbers; give chapter:paragraph, or some words")
    inside = [
        sentence.index
        for sentence in book.sentences
        if (sentence.line or 0) <= line <= (sentence.line_end or 0)
    ]
    if not inside:
        raise InputError(f"there is no sentence on line {line}; it may be blank or a heading")
    return range(inside[0], inside[-1] + 1)


def _at_paragraph(book: Book, chapter: int, paragraph: int) -> range:
    if not 1 <= chapter <= len(book.chapters):
        raise InputError(f"there is no chapter {chapter}; the book has 1 to {len(book.chapters)}")
    inside = book.chapters[chapter - 1].paragraphs
    if not 1 <= paragraph <= len(inside):
        raise InputError(
            f"there is no paragraph {paragraph} in chapter {chapter}; it has 1 to {len(inside)}"
        )
    return book.paragraphs[inside[paragraph - 1]].sentences


def _by_words(book: Book, wanted: str) -> range:
    """The sentence with most of the words by idf; of equals, the shortest."""
    sought = _stems(wanted, book.language)
    held = [_stems(sentence.text, book.language) for sentence in book.sentences]
    frequency = Counter(stem for stems in held for stem in stems)
    # + 1, so that a word in every sentence still counts a little.
    worth = {stem: np.log((len(held) + 1) / frequency[stem]) for stem in sought & set(frequency)}
    if not worth:
        raise InputError(f"no sentence of the book has any word of {wanted!r}")
    values = [sum(worth.get(stem, 0.0) for stem in stems & sought) for stems in held]
    best = max(range(len(held)), key=lambda j: (values[j], -len(held[j]), -j))
    return range(best, best + 1)


def _stems(text: str, language: str | None) -> set[str]:
    return {stem_word(term, language) for term in find_terms(text, language)}


def best_of_shots(alignment: Alignment) -> tuple[MomentDescription, ...]:
    """For a contact sheet: the most certain moment of each shot in the book, in time order.

    Without shots, the most certain of consecutive moments that are in the same paragraph.
    """
    groups: dict[tuple[str, int], Link] = {}
    run = 0
    last: int | None = None
    for link in (link for link in alignment.links if link.in_book):
        paragraph = alignment.book.paragraph_of[link.sentence]
        run += paragraph != last  # a new run starts wherever the paragraph changes
        last = paragraph
        shot = alignment.film.moments[link.moment].shot
        key = ("run", run) if shot is None else ("shot", shot)
        if key not in groups or link.score > groups[key].score:
            groups[key] = link
    chosen = sorted(groups.values(), key=lambda link: link.moment)
    return tuple(describe_link(alignment, link) for link in chosen)
