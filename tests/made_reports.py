"""Alignments that are made by hand, for reports."""

from conftest import make_book

from folioreel.types import Alignment, Link

SPOKEN_TEN = tuple((10.0 * k, 10.0 * k + 4, f"This is said in line {k}.") for k in range(10))


def make_long_book(paragraphs):
    """A book of one sentence a paragraph."""
    return make_book([f"The sentence of the paragraph {k}." for k in range(paragraphs)], 1)


def align_by_hand(film, book, sentences, scores):
    """Links to these sentences; those below 0.5 do not claim to be in the book."""
    links = tuple(
        Link(moment=k, sentence=j, score=score, in_book=score >= 0.5)
        for k, (j, score) in enumerate(zip(sentences, scores, strict=True))
    )
    return Alignment(book=book, film=film, links=links, signature={"preset": "test"})
