"""The nearest sentences by cosine, as the skip-thoughts paper's table of neighbours shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from folioreel.models.inference import unit_rows
from folioreel.models.vocabulary import training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from folioreel.models.sentence_encoder import SentenceEncoder

BLOCK = 8192
"""Candidates whose vectors are held at a time."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A sentence that is near a query."""

    index: int
    """Its place among the candidates; the first one where the same words stand in several."""
    text: str
    cosine: float


def nearest_sentences(
    encoder: SentenceEncoder,
    queries: Sequence[str],
    candidates: Iterable[str],
    count: int = 1,
    progress: ProgressCallback = ignore_progress,
) -> list[list[Neighbour]]:
    """For each query its nearest candidates, the nearest first.

    A candidate of the same words as the query is left out, and of several with the same words
    only the first counts. The candidates are gone through once, in blocks.
    """
    if count < 1:
        raise ValueError("count must be at least 1")
    wanted = unit_rows(encoder.encode(list(queries)))  # (Q, units)
    asked = [_words(query) for query in queries]
    found: list[dict[str, Neighbour]] = [{} for _ in queries]
    total = float(len(candidates)) if isinstance(candidates, Sequence) else 0.0
    for first, block in _blocks(candidates):
        words = [_words(text) for text in block]
        # Equal words have equal vectors; one of them is enough.
        places = list({word: place for place, word in reversed(list(enumerate(words)))}.values())
        places.sort()
        vectors = unit_rows(encoder.encode([block[place] for place in places]))
        cosines = wanted @ vectors.T  # (Q, places)
        for query, row in enumerate(cosines):
            for k in _largest(row, count + 1 + len(found[query])):
                word, place = words[places[k]], places[k]
                if word != asked[query] and word not in found[query]:
                    found[query][word] = Neighbour(
                        index=first + place, text=block[place], cosine=float(row[k])
                    )
            best = sorted(found[query].items(), key=lambda item: (-item[1].cosine, item[1].index))
            found[query] = dict(best[:count])
        done = first + len(block)
        progress(Progress(stage="nearest sentences", done=done, total=max(total, done)))
    return [list(near.values()) for near in found]


def _blocks(candidates: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The candidates in blocks, each with the place of its first."""
    texts = iter(candidates)
    first = 0
    while block := list(islice(texts, BLOCK)):
        yield first, block
        first += len(block)


def _words(text: str) -> str:
    return " ".join(training_tokens(text))


def _largest(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """The places of the largest values, equals by place."""
    if count < len(values):
        least = np.partition(values, -count)[-count]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")]
