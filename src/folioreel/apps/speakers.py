"""Who speaks in a film, and how much of what each says is in the book.

Only the film's side: its subtitles may name who speaks. Who speaks a line of the book can seldom be
told from the text for certain, so it is not said whose lines they were there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from folioreel.apps.rendering import How, Reader, Renderings, expected_shares
from folioreel.export.estimates import Estimate, spoken_lines
from folioreel.text import find_words, squeeze
from folioreel.types import Alignment


@dataclass(frozen=True, kw_only=True)
class SpeakerUse:
    """What one person says in the film."""

    name: str
    lines: int
    words: int
    share: Estimate  # of these lines, those that are in the book
    verbatim: Estimate | None  # of those in the book; None if there are none, or it is not counted


def measure_speakers(alignment: Alignment, renderings: Renderings | None) -> list[SpeakerUse]:
    """Everybody whom the subtitles name, who speaks most first."""
    moments = [moment for moment in alignment.film.moments if moment.kind == "dialogue"]
    names = [alignment.film.subtitles[moment.subtitle or 0].speaker for moment in moments]
    said: dict[str, list[int]] = {}
    spellings: dict[str, Counter[str]] = {}
    for k, name in enumerate(map(squeeze, (name or "" for name in names))):
        if name:  # `JOHN` and `John` are one
            said.setdefault(name.casefold(), []).append(k)
            spellings.setdefault(name.casefold(), Counter())[name] += 1
    lines = spoken_lines(alignment)
    reader = None if renderings is None else Reader(alignment.book)
    found = []
    for key, inside in said.items():
        share = lines.only(inside).share()
        if share is None:
            continue
        links = [alignment.links[moments[k].index] for k in inside]
        hows: list[How] = [
            reader.how(alignment.film.moments[link.moment].text, link.sentence)
            for link in links
            if reader is not None and link.in_book
        ]
        name = spellings[key].most_common(1)[0][0]
        found.append(
            SpeakerUse(
                name=name.title() if name.isupper() else name,
                lines=len(inside),
                words=sum(len(find_words(moments[k].text)) for k in inside),
                share=share,
                verbatim=expected_shares(hows)["verbatim"] if hows else None,
            )
        )
    return sorted(found, key=lambda use: (-use.lines, use.name))
