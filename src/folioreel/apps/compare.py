"""Several adaptations side by side: films of one book, or one film against several books.

What each keeps is a probability for every paragraph of the book (or line of the film). That two
keep the same paragraph is their product, as if they had chosen independently of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from folioreel.apps.adaptation import (
    Adaptation,
    chapter_name,
    measure_adaptation,
    scene_starts,
)
from folioreel.apps.drawings import Strip, draw_strips
from folioreel.apps.report_pages import TAU, Cell, Report, Section, Table, percent
from folioreel.errors import AlignmentError
from folioreel.export.estimates import Chances, Estimate
from folioreel.types import Alignment

_NONE = Estimate(value=0.0, low=0.0, high=0.0)


def compare_alignments(alignments: Sequence[Alignment]) -> Report:
    """A report on adaptations that have their book, or their film, in common.

    Raises:
        AlignmentError: They have neither in common.
    """
    if len(alignments) < 2:
        raise AlignmentError("give two results or more to compare them")
    found = [measure_adaptation(alignment) for alignment in alignments]
    if _is_same([_book_key(alignment) for alignment in alignments]):
        return _compare_films(alignments, found)
    if _is_same([_film_key(alignment) for alignment in alignments]):
        return _compare_books(alignments, found)
    raise AlignmentError(
        "these results have neither the same book nor the same film; align the films with one "
        "file of the book"
    )


def _is_same(keys: Sequence[object]) -> bool:
    return all(key == keys[0] for key in keys)


def _book_key(alignment: Alignment) -> object:
    book = alignment.book
    return book.sha256 or book.title, len(book.sentences), len(book.paragraphs)


def _film_key(alignment: Alignment) -> object:
    return [(m.start_s, m.end_s, m.text) for m in alignment.film.moments if m.kind == "dialogue"]


def _compare_films(alignments: Sequence[Alignment], found: Sequence[Adaptation]) -> Report:
    book = alignments[0].book
    names = _unique([alignment.film.title for alignment in alignments])
    kept = [adaptation.book_words for adaptation in found]
    words = sum(kept[0].weights)
    ends = [0.0]
    for weight in kept[0].weights:
        ends.append(ends[-1] + weight / words)
    strips = [
        Strip(
            label=name,
            stretches=tuple(
                (ends[k], ends[k + 1], chance) for k, chance in enumerate(chances.chances)
            ),
        )
        for name, chances in zip(names, kept, strict=True)
    ]
    chapters: list[dict[str, Cell]] = []
    for chapter in book.chapters:
        row: dict[str, Cell] = {
            "chapter": chapter_name(book, chapter.index),
            "words": int(sum(kept[0].weights[k] for k in chapter.paragraphs)),
        }
        for name, chances in zip(names, kept, strict=True):
            row[f"kept by {name}"] = chances.only(chapter.paragraphs).share() or _NONE
        chapters.append(row)
    marks = [ends[chapter.paragraphs.start] for chapter in book.chapters[1:]]
    return Report(
        title=f"{book.title}: {len(alignments)} adaptations",
        subtitle=_subtitle(names, alignments),
        sections=(
            _in_short(names, alignments, found),
            _overlap(names, kept, "words of the book"),
            Section(
                title="What each keeps",
                text="The book from left to right, with a mark at each chapter: darker where it is "
                "more likely that the film renders the paragraph.",
                drawing=("kept", draw_strips(strips, "What each film keeps", marks)),
                table=Table(
                    name="chapters", rows=tuple(chapters), languages={"chapter": book.language}
                ),
            ),
        ),
    )


def _compare_books(alignments: Sequence[Alignment], found: Sequence[Adaptation]) -> Report:
    film = alignments[0].film
    names = _unique([alignment.book.title for alignment in alignments])
    kept = [adaptation.lines for adaptation in found]
    spoken = [moment for moment in film.moments if moment.kind == "dialogue"]
    strips = [
        Strip(
            label=name,
            stretches=tuple(
                (moment.start_s / film.duration_s, moment.end_s / film.duration_s, chance)
                for moment, chance in zip(spoken, chances.chances, strict=True)
            ),
        )
        for name, chances in zip(names, kept, strict=True)
    ]
    starts = [film.moments[k].start_s for k in scene_starts(film)]
    scenes: list[dict[str, Cell]] = []
    for k, start_s in enumerate(starts):
        end_s = starts[k + 1] if k + 1 < len(starts) else film.duration_s
        inside = [n for n, m in enumerate(spoken) if start_s <= m.start_s < end_s]
        row: dict[str, Cell] = {"from": film.clock(start_s), "lines": len(inside)}
        for name, chances in zip(names, kept, strict=True):
            row[f"kept from {name}"] = chances.only(inside).share() or _NONE
        scenes.append(row)
    return Report(
        title=f"{film.title} and {len(alignments)} books",
        subtitle=_subtitle(names, alignments),
        sections=(
            _in_short(names, alignments, found),
            _overlap(names, kept, "lines of the film"),
            Section(
                title="Where each is used",
                text="The film from left to right, with a mark at each scene: darker where it is "
                "more likely that the line is in the book.",
                drawing=(
                    "kept",
                    draw_strips(
                        strips,
                        "Where each book is used",
                        [start_s / film.duration_s for start_s in starts[1:]],
                    ),
                ),
                table=Table(name="scenes", rows=tuple(scenes)),
            ),
        ),
    )


def _subtitle(names: Sequence[str], alignments: Sequence[Alignment]) -> str:
    """What is compared, and what makes it doubtful."""
    warnings = [
        f"Warning: {name}: {warning}."
        for name, alignment in zip(names, alignments, strict=True)
        for warning in alignment.warnings
    ]
    return " ".join([f"{', '.join(names)}.", *warnings])


def _in_short(
    names: Sequence[str], alignments: Sequence[Alignment], found: Sequence[Adaptation]
) -> Section:
    rows: list[dict[str, Cell]] = []
    for name, alignment, adaptation in zip(names, alignments, found, strict=True):
        renderings = adaptation.renderings
        rows.append(
            {
                "adaptation": name,
                "minutes": round(alignment.film.duration_s / 60),
                "lines": len(adaptation.lines.weights),
                "share_of_lines_in_book": adaptation.lines.share(),
                "share_of_words_in_film": adaptation.book_words.share(),
                "share_verbatim": None if renderings is None else renderings.shares["verbatim"],
                TAU: adaptation.order.tau,
                "judged": adaptation.judged,
            }
        )
    figures = tuple(
        (percent(adaptation.lines.share()), f"of the lines are in the book: {name}")
        for name, adaptation in zip(names, found, strict=True)
    )
    return Section(
        title="In short",
        figures=figures,
        table=Table(name="compare", rows=tuple(rows)),
        note="In brackets: 95 % intervals. The reports of the adaptations explain the figures.",
    )


def _overlap(names: Sequence[str], kept: Sequence[Chances], what: str) -> Section:
    """What all have, what one has alone, and what none has."""

    def share(label: str, chances: Sequence[float], judged: Sequence[bool]) -> dict[str, Cell]:
        found = Chances(weights=kept[0].weights, chances=tuple(chances), judged=tuple(judged))
        return {"kept_by": label, "share": found.share() or _NONE}

    columns = list(zip(*(chances.chances for chances in kept), strict=True))
    known = [all(row) for row in zip(*(chances.judged for chances in kept), strict=True)]
    rows = [share("all", [prod(row) for row in columns], known)]
    for k, name in enumerate(names):
        alone = [
            row[k] * prod(1 - other for n, other in enumerate(row) if n != k) for row in columns
        ]
        rows.append(share(f"{name} alone", alone, known))
    rows.append(share("none", [prod(1 - chance for chance in row) for row in columns], known))
    return Section(
        title="What they share",
        text=f"Shares of the {what}.",
        table=Table(name="overlap", rows=tuple(rows)),
    )


def _unique(titles: Sequence[str]) -> list[str]:
    """Titles that tell the adaptations apart."""
    return [
        title if titles.count(title) == 1 else f"{title} ({k})" for k, title in enumerate(titles, 1)
    ]
