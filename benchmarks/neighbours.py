"""The nearest sentences of some queries among books that no model was trained on, as Markdown.

Run: python benchmarks/neighbours.py FOLDER… [--encoder NAME…] > table.md

A FOLDER is a book, or a folder with books (`book.txt`) somewhere below it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from folioreel.evaluate.neighbours import nearest_sentences
from folioreel.ingest.book import load_book
from folioreel.models.sentence_encoder import load_encoder

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
