"""The skip-thoughts paper's table of nearest sentences, in books no model was trained on.

Run: python benchmarks/neighbours.py FOLDER… [--encoder NAME…] > table.md

A FOLDER is a book, or a folder with books (`book.txt`) somewhere below it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.ingest.book import load_book
from folioreel.models.onnx_graphs import unit_rows
from folioreel.models.sentence_encoder import SentenceEncoder, load_encoder
from folioreel.models.vocabulary import training_tokens
from folioreel.progress import Progress, ProgressCallback, ignore_progress

QUERIES = (
    "he drove down the street off into the distance .",
    "she opened the letter with trembling hands and read it twice .",
    '" i have never seen that man in my life , " said the lawyer .',
    "the old man sat by the fire and did not speak .",
    "they were married in the spring .",
    "it was raining when we left the house .",
    "what do you want me to do ?",
    "he took a pistol out of the drawer and put it into his pocket .",
    "the children laughed and ran down to the river .",
    '" how much money do you need ? " he asked .',
)
BLOCK = 8192
"""Candidates whose vectors are in memory at once."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A sentence near a query."""

    index: int
    """Its place among the candidates; the first one if several have the same words."""
    text: str
    cosine: float


def nearest_sentences(
    encoder: SentenceEncoder,
    queries: Sequence[str],
    candidates: Iterable[str],
    count: int = 1,
    progress: ProgressCallback = ignore_progress,
) -> list[list[Neighbour]]:
    """The nearest candidates of each query by cosine, the nearest first.

    Candidates with the same words as the query are left out; of several with the same words only
    the first counts. The candidates are read once, in blocks.
    """
    if count < 1:
        raise ValueError("count must be at least 1")
    wanted = unit_rows(encoder.encode(list(queries)))  # (Q, units)
    asked = [_words(query) for query in queries]
    found: list[dict[str, Neighbour]] = [{} for _ in queries]
    total = float(len(candidates)) if isinstance(candidates, Sequence) else 0.0
    for first, block in _blocks(candidates):
        words = [_words(text) for text in block]
        # Equal words have equal vectors: encode them once.
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
    """The places of the largest values, ties by place."""
    if count < len(values):
        least = np.partition(values, -count)[-count]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")]


def find_books(places: list[Path]) -> list[Path]:
    """The books at or below some places."""
    found = [
        book
        for place in places
        for book in (sorted(place.rglob("book.txt")) if place.is_dir() else [place])
    ]
    if not found:
        sys.exit("no book found: give book files, or folders with a book.txt below them")
    return found


def cell(text: str) -> str:
    """A text that does not break the table."""
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--encoder", action="append", help="name or folder; may be repeated")
    parser.add_argument("--count", type=int, default=1, help="neighbours of each query")
    arguments = parser.parse_args()
    texts, titles = [], []
    seen: set[bytes] = set()
    for path in find_books(arguments.places):
        content = hashlib.sha256(path.read_bytes()).digest()
        if content in seen:  # one book may have been made into several films
            continue
        seen.add(content)
        book = load_book(path)
        texts += [sentence.text for sentence in book.sentences]
        # A book that does not tell its title has that of its file, which is `book`.
        title = path.parent.name if book.title == path.stem else book.title
        titles += [title] * len(book.sentences)
    print(f"The nearest of {len(texts):,} sentences from {len(set(titles))} books.\n")
    print("| query | encoder | nearest sentence | book | cosine |")
    print("|---|---|---|---|---|")
    names = arguments.encoder or ["skip-thought"]
    found = {
        name: nearest_sentences(load_encoder(name), QUERIES, texts, arguments.count)
        for name in names
    }
    for number, query in enumerate(QUERIES):
        for name in names:
            for near in found[name][number]:
                place = f"{cell(near.text)} | {cell(titles[near.index])} | {near.cosine:.3f}"
                print(f"| {cell(query)} | {name} | {place} |")


if __name__ == "__main__":
    main()
