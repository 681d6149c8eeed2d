"""The share of lines in the book: the same number in summary, picture, page and report."""

import re
from dataclasses import replace

import pytest

from folioreel.apps.adaptation import measure_adaptation
from folioreel.apps.report_pages import percent
from folioreel.export.estimates import describe_share, paragraph_words
from folioreel.export.picture import draw_alignment
from folioreel.export.results import summarize
from folioreel.types import Alignment, Link


@pytest.fixture
def alignment(book, film):
    links = tuple(
        Link(moment=i, sentence=i, score=score, in_book=score >= 0.5)
        for i, score in enumerate((0.9, 0.2, 0.0, 0.6, 0.4, 0.7))
    )
    return Alignment(book=book, film=film, links=links)


def test_every_place_says_the_same(alignment):
    words = describe_share(alignment)
    share = percent(measure_adaptation(alignment).lines.share())
    assert words == f"{share} of 5 spoken lines are in the book"
    assert words in summarize(alignment)
    assert words in [text.get_text() for text in draw_alignment(alignment).texts]
    assert words in repr(alignment)


def test_silent_moments_do_not_count_and_guesses_do(alignment):
    """Moment 2 is silent: (0.9 + 0.2 + 0.6 + 0.4 + 0.7) / 5, whatever is said to be in the book."""
    assert describe_share(alignment).startswith("56 % (")
    silent = replace(alignment.links[2], score=0.99, in_book=True)
    links = (*alignment.links[:2], silent, *alignment.links[3:])
    assert describe_share(replace(alignment, links=links)).startswith("56 % (")


def test_a_film_in_which_nobody_speaks(alignment):
    film = replace(alignment.film, subtitles=())
    links = tuple(
        Link(moment=i, sentence=0, score=0.9, in_book=i == 0) for i in range(len(film.moments))
    )
    mute = Alignment(book=alignment.book, film=film, links=links)
    assert describe_share(mute) == f"1 of {len(links)} silent shots are in the book"


def test_words_are_counted_by_paragraph(book):
    first = " ".join(book.sentences[j].text for j in book.paragraphs[0].sentences)
    assert paragraph_words(book)[0] == len(re.findall(r"[\w’']+", first))
    assert len(paragraph_words(book)) == len(book.paragraphs)
