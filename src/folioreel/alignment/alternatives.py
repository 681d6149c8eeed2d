"""The best passages for each moment beside its link, for a reader who corrects it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from folioreel.types import Alternative, Book

_OTHERS = 2  # passages beside the link's own
_REACH = 3  # paragraphs on each side that are the same place, as for the link itself
_ROWS = 128  # moments that are looked at together, as for the links
_DIGITS = 3  # of a probability
_LEAST = 0.005  # passages with a smaller probability are not worth a reader's time


def find_places(
    rendered: NDArray[np.float32], sentences: NDArray[np.int64], book: Book
) -> NDArray[np.int64]:
    """The best sentence of each of the best places, that of the link first: (I, 1 + others).

    A place is a paragraph with those within `_REACH` of it, less what belongs to a better place.
    Where no other has a chance, the link's own sentence stands again.

    Args:
        rendered: The probability that a moment renders a sentence: (I, J).
        sentences: The sentence of each link: (I,).
        book: Where the sentences stand.
    """
    starts = np.array([paragraph.sentences.start for paragraph in book.paragraphs])
    own = np.array(book.paragraph_of)[sentences]
    found = np.repeat(sentences[:, None], 1 + _OTHERS, axis=1)
    for first in range(0, len(rendered), _ROWS):
        rows = rendered[first : first + _ROWS]
        masses = np.add.reduceat(rows, starts, axis=1)  # (rows, paragraphs)
        _take_out(masses, own[first : first + _ROWS])
        for k in range(1, 1 + _OTHERS):
            best = masses.argmax(axis=1)
            for i in np.flatnonzero(masses.max(axis=1) > 0):
                inside = book.paragraphs[best[i]].sentences
                place = rows[i, inside.start : inside.stop].argmax()
                found[first + i, k] = inside.start + place
            _take_out(masses, best)
    return found


def _take_out(masses: NDArray[np.float32], places: NDArray[np.int64]) -> None:
    """Set what lies within `_REACH` of a place to 0 in each row."""
    columns = places[:, None] + np.arange(-_REACH, _REACH + 1)  # (rows, 2 · reach + 1)
    columns = columns.clip(0, masses.shape[1] - 1)
    masses[np.arange(len(masses))[:, None], columns] = 0


def list_passages(
    sentences: NDArray[np.int64], scores: NDArray[np.float64]
) -> tuple[Alternative, ...]:
    """The passages of one moment, the link's own first and then by their scores.

    Each score is the probability that the truth is near that passage. They may add up to more than
    1: the truth may be near two of them, and books tell some things twice.
    """
    rounded = np.round(scores, _DIGITS).tolist()
    passages = [
        Alternative(sentence=sentence, score=score)
        for sentence, score in zip(sentences.tolist(), rounded, strict=True)
    ]
    link = passages[0]
    others = {other for other in passages[1:] if other.sentence != link.sentence}
    kept = [other for other in others if other.score >= _LEAST]
    return (link, *sorted(kept, key=lambda other: (-other.score, other.sentence)))
