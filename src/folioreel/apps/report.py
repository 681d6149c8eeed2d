"""The report of an adaptation: what scholars ask of a film and its book, with every uncertainty."""

from __future__ import annotations

from folioreel.apps.adaptation import Adaptation, chapter_name, measure_adaptation
from folioreel.apps.describe import place_of
from folioreel.apps.drawings import Strip, draw_bars, draw_order, draw_strips
from folioreel.apps.rendering import spoken_in_book
from folioreel.apps.report_pages import (
    Cell,
    Report,
    Section,
    Table,
    coefficient,
    percent,
)
from folioreel.apps.speakers import measure_speakers
from folioreel.export.estimates import Estimate, spaced_percent
from folioreel.text import cut_text
from folioreel.types import Alignment, Book

_SHOWN = 20  # rows of the long tables on a page
_QUOTED = 110  # characters of a line or passage in a table


def make_report(alignment: Alignment) -> Report:
    """The report of an alignment."""
    found = measure_adaptation(alignment)
    film, book = alignment.film, alignment.book
    subtitle = (
        f"{len(film.subtitles):,} spoken lines in {film.duration_s / 60:,.0f} minutes; "
        f"{sum(found.book_words.weights):,.0f} words in {len(book.chapters)} "
        f"chapter{'s' * (len(book.chapters) != 1)}. "
        f"Aligned by folioreel, preset {alignment.signature.get('preset', 'unknown')}; "
        f"{found.judged} lines judged by a reader."
    )
    return Report(
        title=alignment.title,
        subtitle=" ".join([subtitle, *(f"Warning: {warning}." for warning in alignment.warnings)]),
        sections=(
            _overview(alignment, found),
            _chapters(book, found),
            _scenes(alignment, found),
            _left_out(book, found),
            _added(alignment, found),
            _order(alignment, found),
            _renderings(found),
            *_speakers(alignment, found),
            _method(),
        ),
    )


def _overview(alignment: Alignment, found: Adaptation) -> Section:
    film_minutes = alignment.film.duration_s / 60
    words = sum(found.book_words.weights)
    shares: dict[str, Estimate | None] = {
        "lines of the film that are in the book": found.lines.share(),
        "words spoken that are in the book": found.words.share(),
        "minutes that are in the book": found.minutes.share(),
        "paragraphs of the book that are in the film": found.paragraphs.share(),
        "words of the book in these paragraphs": found.book_words.share(),
    }
    rows: list[dict[str, Cell]] = [
        {"figure": f"share of {what}", "share": share} for what, share in shares.items()
    ]
    tau, renderings = found.order.tau, found.renderings
    figures = [
        (percent(found.lines.share()), "of the film’s lines are in the book"),
        (
            percent(found.book_words.share()),
            "of the book’s words are in paragraphs the film renders",
        ),
        (f"{words / film_minutes:,.0f}", "words of the book to a minute of film"),
    ]
    if tau is not None:
        figures.append((coefficient(tau), "Kendall’s τ of the order: 1 is the book’s, 0 is none"))
    if renderings is not None:
        verbatim = renderings.shares["verbatim"]
        figures.append((percent(verbatim), "of the lines in the book are verbatim"))
    return Section(
        title="In short",
        figures=tuple(figures),
        table=Table(name="shares", rows=tuple(rows)),
        note="In brackets: 95 % intervals.",
    )


def _chapters(book: Book, found: Adaptation) -> Section:
    rows: list[dict[str, Cell]] = [
        {
            "chapter": use.title,
            "words": use.words,
            "share_in_film": use.share,
            "lines": use.lines,
            "minutes": use.minutes,
            "words_a_minute": use.words_a_minute,
        }
        for use in found.chapters
    ]
    drawing = draw_bars([(use.title, use.share) for use in found.chapters], "Chapters in the film")
    return Section(
        title="The chapters",
        text="How much of each chapter is in the film, by its words, and how the film compresses "
        "it: the words of the chapter for each minute of the film that renders it.",
        drawing=("chapters", drawing),
        table=Table(name="chapters", rows=tuple(rows), languages={"chapter": book.language}),
    )


def _scenes(alignment: Alignment, found: Adaptation) -> Section:
    film = alignment.film
    rows: list[dict[str, Cell]] = [
        {
            "scene": k,
            "from": film.clock(scene.start_s),
            "minutes": f"{(scene.end_s - scene.start_s) / 60:.1f}",
            "lines": scene.lines,
            "share_in_book": scene.share,
            "chapter": "–"
            if scene.chapter is None
            else chapter_name(alignment.book, scene.chapter),
            "begins": _quote(scene.first_line),
        }
        for k, scene in enumerate(found.scenes, 1)
    ]
    whole = film.duration_s
    strip = Strip(
        label="share of lines in the book",
        stretches=tuple(
            (scene.start_s / whole, scene.end_s / whole, scene.share.value)
            for scene in found.scenes
            if scene.share is not None
        ),
    )
    marks = [scene.start_s / whole for scene in found.scenes[1:]]
    return Section(
        title="The scenes",
        text="The film is cut at its longest pauses in the dialogue, into a scene for every two "
        "minutes. These are not the scenes of a screenplay.",
        drawing=("scenes", draw_strips([strip], "Scenes in the book", marks)),
        table=Table(
            name="scenes",
            rows=tuple(rows),
            languages={"chapter": alignment.book.language, "begins": film.language},
        ),
    )


def _left_out(book: Book, found: Adaptation) -> Section:
    rows: list[dict[str, Cell]] = []
    for gap in found.gaps:
        first = book.sentences[book.paragraphs[gap.paragraphs.start].sentences.start]
        rows.append(
            {
                "words": gap.words,
                "chance": gap.chance,
                "chapter": chapter_name(book, book.chapter_of[gap.paragraphs.start]),
                "place": place_of(book, gap.paragraphs),
                "begins": _quote(first.text),
            }
        )
    return Section(
        title="Not in the film",
        text="The longest passages that no line of the film renders, within a chapter, and the "
        "chance that this is so. Only those with a chance of 80 % or more are listed; they end "
        "where a paragraph is in doubt. What is shown in silence may still be there.",
        table=Table(
            name="not-in-film",
            rows=tuple(rows),
            columns=("words", "chance", "chapter", "place", "begins"),
            most=_SHOWN,
            languages=dict.fromkeys(("chapter", "begins"), book.language),
        ),
    )


def _added(alignment: Alignment, found: Adaptation) -> Section:
    rows: list[dict[str, Cell]] = [
        {
            "from": alignment.film.clock(scene.start_s),
            "minutes": f"{(scene.end_s - scene.start_s) / 60:.1f}",
            "lines": scene.lines,
            "share_in_book": scene.share,
            "begins": _quote(scene.first_line),
        }
        for scene in found.added
    ]
    text = "Scenes of whose lines less than a quarter is expected to be in the book, longest first."
    return Section(
        title="Not in the book",
        text=text if rows else "Of every scene, at least a quarter is expected to be in the book.",
        table=Table(
            name="not-in-book",
            rows=tuple(rows),
            columns=("from", "minutes", "lines", "share_in_book", "begins"),
            most=_SHOWN,
            languages={"begins": alignment.film.language},
        ),
    )


def _order(alignment: Alignment, found: Adaptation) -> Section:
    order, book = found.order, alignment.book
    moved = {link.moment for stretch in order.moved for link in stretch.links}
    in_order = [link.moment for link in spoken_in_book(alignment) if link.moment not in moved]
    rows: list[dict[str, Cell]] = []
    for stretch in sorted(order.moved, key=lambda stretch: -len(stretch.links)):
        first = stretch.links[0]
        rows.append(
            {
                "film": alignment.film.clock(alignment.film.moments[first.moment].start_s),
                "lines": len(stretch.links),
                "moved_by_paragraphs": stretch.paragraphs,
                "chance": max(link.score for link in stretch.links),
                "chapter": chapter_name(book, book.chapter_of[book.paragraph_of[first.sentence]]),
                "passage": _quote(book.sentences[first.sentence].text),
            }
        )
    share = "" if order.inversions is None else spaced_percent(order.inversions, 1)
    text = "Too few lines are in the book to speak of an order."
    if order.tau is not None:
        text = (
            f"Kendall’s τ is {coefficient(order.tau)}; "
            f"{share} of all pairs of lines come in the other order. Lines that stand elsewhere in "
            "the book than those around them are drawn in orange; the chance is that of the surest "
            "of them. A negative number of paragraphs is a step back in the book."
        )
    return Section(
        title="The order",
        text=text,
        drawing=("order", draw_order(alignment, in_order, sorted(moved))),
        table=Table(
            name="moved",
            rows=tuple(rows),
            columns=("film", "lines", "moved_by_paragraphs", "chance", "chapter", "passage"),
            most=_SHOWN,
            languages=dict.fromkeys(("chapter", "passage"), book.language),
        ),
    )


def _renderings(found: Adaptation) -> Section:
    renderings = found.renderings
    if renderings is None:
        return Section(
            title="How the lines render the book",
            text="Not counted: no line is in the book, or the two are in different languages.",
        )
    rows: list[dict[str, Cell]] = [
        {"rendering": how, "share_of_lines": share} for how, share in renderings.shares.items()
    ]
    note = (
        "Decided from the text: verbatim if the words are there in order, otherwise paraphrase of "
        "speech, or report of what the book narrates. Judges agree on 86 % of 741 lines; the "
        "shares are corrected for what they call otherwise."
    )
    if not renderings.marks_speech:
        note += " This book does not mark speech, so “reported” includes paraphrased speech."
    return Section(
        title="How the lines render the book",
        text=f"Of the {renderings.lines:,} lines with a link:",
        drawing=("renderings", draw_bars(list(renderings.shares.items()), "Renderings")),
        table=Table(name="renderings", rows=tuple(rows)),
        note=note,
    )


def _speakers(alignment: Alignment, found: Adaptation) -> list[Section]:
    if not alignment.film.names_speakers:
        return []
    rows: list[dict[str, Cell]] = [
        {
            "speaker": use.name,
            "lines": use.lines,
            "words": use.words,
            "share_in_book": use.share,
            "share_verbatim": use.verbatim,
        }
        for use in measure_speakers(alignment, found.renderings)
    ]
    named = sum(said.speaker is not None for said in alignment.film.subtitles)
    section = Section(
        title="Who speaks",
        text=f"The subtitles name the speaker of {named:,} of {len(alignment.film.subtitles):,} "
        "lines. The share in the book is that of a speaker’s lines, the share verbatim that of "
        "those in the book.",
        table=Table(name="speakers", rows=tuple(rows), most=_SHOWN),
        note="This covers the film only: who speaks in the book is not worked out, so this does "
        "not show lines that pass from one character to another.",
    )
    return [section]


def _method() -> Section:
    return Section(
        title="How to read the figures",
        text="Shares of the film are shares of its spoken lines, as silent shots are seldom found. "
        "The probability of a link says that its line has a counterpart at most three paragraphs "
        "from the sentence shown, and shares are sums of these probabilities, not counts of links. "
        "A line lasts until the next one begins. A paragraph counts as being in the film if any "
        "line renders it, so short lines may count for long paragraphs.",
        note="An interval covers the chance of each line, and that the probabilities of a whole "
        "film may all be too high or too low. How much they are was measured on fourteen judged "
        "films, which the models were trained on: the expected share of lines was 7 points off, "
        "and 4 points too high on average. Lines that a reader has judged are certain. That a "
        "passage is moved or left out rests on links, each of which may be wrong.",
    )


def _quote(text: str) -> str:
    return cut_text(text, _QUOTED)
