"""The best passages for each moment beside its link, for a reader who corrects it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.types import Alternative, Book, Link

_OTHERS = 2  # passages beside the link's own
_REACH = 3  # paragraphs on each side that are the same place, as for the link itself
_ROWS = 128  # moments that are looked at together, as for the links
_DIGITS = 3  # of a probability
_LEAST = 0.005  # passages with a smaller probability are not worth a reader's time

Others = list[tuple[Alternative, ...]]
"""For each moment, the best other places, with their probabilities if the link is wrong."""


def find_others(rendered: NDArray[np.float32], sentences: NDArray[np.int64], book: Book) -> Others:
    """The best sentence of each of the best places that are not the link's own.

    A place is a paragraph with those within `_REACH` of it, less what belongs to a better place, so
    the probabilities of all places add up to at most 1.

    Args:
        rendered: The probability that a moment renders a sentence: (I, J).
        sentences: The sentence of each link: (I,).
        book: Where the sentences stand.
    """
    starts = np.array([paragraph.sentences.start for paragraph in book.paragraphs])
    own = np.array(book.paragraph_of)[sentences]
    found: Others = []
    for first in range(0, len(rendered), _ROWS):
        rows = rendered[first : first + _ROWS]
        masses = np.add.reduceat(rows, starts, axis=1).astype(np.float64)  # (rows, paragraphs)
        here = _take_out(masses, own[first : first + _ROWS])
        places = []
        for _ in range(_OTHERS):
            best = masses.argmax(axis=1)
            places.append((best, _take_out(masses, best) / np.maximum(1 - here, 1e-9)))
        for i, row in enumerate(rows):
            others = []
            for best, shares in places:
                inside = book.paragraphs[best[i]].sentences
                sentence = inside.start + int(row[inside.start : inside.stop].argmax())
                others.append(Alternative(sentence=sentence, score=min(1.0, float(shares[i]))))
            found.append(tuple(other for other in others if other.score > 0))
    return found


def _take_out(masses: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum what lies within `_REACH` of a place in each row, and set it to 0: (rows,)."""
    columns = places[:, None] + np.arange(-_REACH, _REACH + 1)  # (rows, 2 · reach + 1)
    inside = (columns >= 0) & (columns < masses.shape[1])
    columns = columns.clip(0, masses.shape[1] - 1)
    rows = np.arange(len(masses))[:, None]
    total: NDArray[np.float64] = np.where(inside, masses[rows, columns], 0).sum(axis=1)
    masses[rows, columns] = 0
    return total


def all_passages(link: Link, others: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """The link's own passage and the others, with the probability of each."""
    passages = [Alternative(sentence=link.sentence, score=round(link.score, _DIGITS))]
    for other in others:
        score = round((1 - link.score) * other.score, _DIGITS)
        if score >= _LEAST:
            passages.append(Alternative(sentence=other.sentence, score=score))
    return tuple(passages)
