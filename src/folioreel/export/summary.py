"""The alignment in a few lines for a terminal."""

from __future__ import annotations

import textwrap

from folioreel.times import format_clock
from folioreel.types import Alignment, Link

_EXAMPLES = 5
_WIDTH = 58


def summarize(alignment: Alignment) -> str:
    """What was aligned, how much of it is in the book, and some of the surest links."""
    book, film = alignment.book, alignment.film
    in_book = sum(link.in_book for link in alignment.links)
    lines = [
        f"{film.title}: {len(film.moments)} moments "
        f"({len(film.subtitles)} spoken sentences, {len(film.shots)} shots)",
        f"{book.title}: {len(book.sentences)} sentences, {len(book.paragraphs)} paragraphs, "
        f"{len(book.chapters)} chapters",
        f"{in_book} of {len(alignment.links)} moments are in the book",
    ]
    examples = _examples(alignment)
    if examples:
        lines[-1] += "; for example:"
        lines.append("")
    for link in examples:
        moment = film.moments[link.moment]
        lines.append(f"  {format_clock(moment.start_s)}  {_short(moment.text)}")
        lines.append(f"   {link.score:7.0%}  {_short(book.sentences[link.sentence].text)}")
    return "\n".join(lines)


def _examples(alignment: Alignment) -> list[Link]:
    """The surest spoken link of each fifth of the film that says more than a few words."""
    spoken = [
        link
        for link in alignment.links
        if link.in_book and len(alignment.film.moments[link.moment].text.split()) >= 5
    ]
    parts = [
        spoken[k * len(spoken) // _EXAMPLES : (k + 1) * len(spoken) // _EXAMPLES]
        for k in range(_EXAMPLES)
    ]
    return [max(part, key=lambda link: link.score) for part in parts if part]


def _short(text: str) -> str:
    return textwrap.shorten(text, _WIDTH, placeholder=" …")
