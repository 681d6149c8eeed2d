"""Payloads of the page: a small pair whose every link is known, and one as large as books get."""

import base64
import io

from PIL import Image

from folioreel.export.page_html import make_payload
from folioreel.types import (
    Alignment,
    Alternative,
    Book,
    Chapter,
    Film,
    Link,
    Paragraph,
    Sentence,
    Shot,
    Subtitle,
)

PARAGRAPHS_A_CHAPTER = 10
SENTENCES_A_PARAGRAPH = 4
WORDS = "ferry river dial kilos band bolt inspector letter plank grass door plate".split()


def make_book(sentences: int, title: str = "The Weighbridge") -> Book:
    """A book of numbered sentences; each can be told from all others by its number."""
    texts = tuple(
        Sentence(
            index=j,
            text=f"Sentence {j} speaks of the {WORDS[j % 12]} and the {WORDS[j * 7 % 11]}"
            + (", " + "and on it goes, " * (j % 5) + "at length" if j % 3 == 0 else "")
            + ".",
            line=j + 1,
        )
        for j in range(sentences)
    )
    starts = range(0, sentences, SENTENCES_A_PARAGRAPH)
    paragraphs = tuple(
        Paragraph(index=p, sentences=range(first, min(first + SENTENCES_A_PARAGRAPH, sentences)))
        for p, first in enumerate(starts)
    )
    chapters = tuple(
        Chapter(
            index=c,
            title=f"Chapter {c + 1}: The {WORDS[c % 12].title()}",
            paragraphs=range(first, min(first + PARAGRAPHS_A_CHAPTER, len(paragraphs))),
        )
        for c, first in enumerate(range(0, len(paragraphs), PARAGRAPHS_A_CHAPTER))
    )
    return Book(title=title, sentences=texts, paragraphs=paragraphs, chapters=chapters)


def make_film(moments: int, every_s: float = 4.0) -> Film:
    """A film with a line every few seconds; each fifth shot is silent."""
    shots = tuple(
        Shot(index=k, start_s=k * every_s, end_s=(k + 1) * every_s) for k in range(moments)
    )
    spoken = [k for k in range(moments) if k % 5 != 4]
    subtitles = tuple(
        Subtitle(
            index=n,
            start_s=k * every_s + 0.5,
            end_s=k * every_s + 3.0,
            text=f"Line {k} is said of the {WORDS[k % 12]}.",
        )
        for n, k in enumerate(spoken)
    )
    return Film(
        title="The Weighbridge, a film",
        duration_s=moments * every_s,
        shots=shots,
        subtitles=subtitles,
    )


def small_alignment(book: Book | None = None) -> Alignment:
    """60 moments over 200 sentences: moment i → sentence 3i, but each seventh is not in the book.

    Scores fall from 1.0 to 0.3 and begin again, in steps of a tenth. The second best passage is 40
    sentences further on.
    """
    book = book or make_book(200)
    film = make_film(60)
    links = []
    for i in range(len(film.moments)):
        score = round(1 - (i % 8) / 10, 1)
        others = (
            Alternative(sentence=3 * i, score=score),
            Alternative(sentence=(3 * i + 40) % 200, score=round((1 - score) / 2, 3)),
        )
        links.append(
            Link(moment=i, sentence=3 * i, score=score, in_book=i % 7 != 6, alternatives=others)
        )
    return Alignment(book=book, film=film, links=tuple(links))


def small_payload(book: Book | None = None) -> dict:
    """The small pair as the page gets it, with a picture for each shot."""
    alignment = small_alignment(book)
    return make_payload(alignment, [picture(k) for k in range(len(alignment.film.shots))])


def large_payload() -> dict:
    """15,000 sentences and 2,400 moments, as a long novel and a long film have."""
    book, film = make_book(15_000, "A Long Book"), make_film(2400, every_s=3.5)
    links = tuple(
        Link(
            moment=i,
            sentence=(i * 6 + i * i % 40) % 15_000,
            score=0.3 + (i * 37 % 70) / 100,
            in_book=i % 9 != 8,
        )
        for i in range(len(film.moments))
    )
    return make_payload(
        Alignment(book=book, film=film, links=links), [picture(0)] * len(film.shots)
    )


def picture(number: int) -> str:
    """A small picture as a data: address."""
    image = Image.new("RGB", (32, 18), (number * 37 % 256, number * 91 % 256, 120))
    stream = io.BytesIO()
    image.save(stream, "JPEG")
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
