"""Real pixels end to end: how many shots of a film made of pictures find their place in the book.

The film and the book are built from Flickr8k's test pictures (built_film.py); the program sees the
video and the book alone. First no shot has dialogue, and the pictures alone must tell. Then half of
the shots have dialogue, and the pictures are taken away. Last, the same film and a book that tells
of none of its pictures.

Run: python benchmarks/visual_film.py FLICKR8K PROSE… --other PROSE [--preset NAME] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from bisect import bisect_right
from pathlib import Path
from typing import Any

import numpy as np
from built_film import SHOT_S, BuiltPair, build_pair

from folioreel.ingest.book import load_book
from folioreel.types import Book

REACH = 3
"""Paragraphs between a link and the truth that count as right, as in the paper."""


def align(pair: BuiltPair, book: Path, *options: str) -> list[dict[str, Any]]:
    """The links of the real program."""
    command = [sys.executable, "-m", "folioreel", "align", str(book), str(pair.film), "--json"]
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    links: list[dict[str, Any]] = json.loads(done.stdout)["links"]
    return links


def judge(pair: BuiltPair, links: list[dict[str, Any]], book: Book) -> dict[str, float]:
    """The share of shots whose link is near, of those in the book, and of silent shots alone."""
    truth = true_paragraphs(pair, book)
    near = np.zeros(len(truth), dtype=bool)
    stated = np.zeros(len(truth), dtype=bool)
    for shot, link in enumerate(shot_links(links, len(truth))):
        near[shot] = abs(link["paragraph"] - truth[shot]) <= REACH
        stated[shot] = link["in_book"]
    silent = ~np.array(pair.spoken)
    return {
        "near": float(near.mean()),
        "near_silent": float(near[silent].mean()),
        "stated": float(stated.mean()),
        "right_if_stated": float(near[stated].mean()) if stated.any() else float("nan"),
    }


def true_paragraphs(pair: BuiltPair, book: Book) -> list[int]:
    """The paragraph that each shot renders."""
    starts = [book.sentences[p.sentences.start].line or 0 for p in book.paragraphs]
    return [bisect_right(starts, first) - 1 for first, _ in pair.lines]


def shot_links(links: list[dict[str, Any]], shots: int) -> list[dict[str, Any]]:
    """The link on screen in the middle of each shot that was built."""
    starts = [link["start_s"] for link in links]
    ends = np.array([link["end_s"] for link in links])
    found = []
    for shot in range(shots):
        begin_s, end_s = SHOT_S * shot, SHOT_S * (shot + 1)
        shared = np.minimum(ends, end_s) - np.maximum(starts, begin_s)
        found.append(links[int(shared.argmax())])
    return found


def chance(pair: BuiltPair, book: Book) -> dict[str, float]:
    """What a random paragraph, and the uniform timeline, get right."""
    truth = np.array(true_paragraphs(pair, book))
    count = len(book.paragraphs)
    places = np.arange(count)
    reached = [(np.abs(places - paragraph) <= REACH).mean() for paragraph in truth]
    timeline = (np.arange(len(truth)) + 0.5) / len(truth) * count
    return {
        "random": float(np.mean(reached)),
        "timeline": float((np.abs(timeline.astype(int) - truth) <= REACH).mean()),
    }


def main() -> None:
    """Build, align, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("prose", type=Path, nargs="+", help="novels in plain text, for the book")
    parser.add_argument("--other", type=Path, required=True, help="a novel of none of the pictures")
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    options = ("--preset", arguments.preset)
    with tempfile.TemporaryDirectory() as folder:
        pair = build_pair(
            arguments.flickr8k,
            arguments.split,
            arguments.prose,
            Path(folder),
            pictures=arguments.pictures,
        )
        book = load_book(pair.book)
        said = ("--subtitles", str(pair.subtitles))
        runs = {
            "pictures alone": (pair.book, ()),
            "half with dialogue": (pair.book, said),
            "half with dialogue, no pictures": (pair.book, (*said, "--no-pictures")),
        }
        figures: dict[str, Any] = {"chance": chance(pair, book)}
        for name, (text, more) in runs.items():
            figures[name] = judge(pair, align(pair, text, *options, *more), book)
        wrong = align(pair, arguments.other, *options)
        figures["another book"] = {"stated": float(np.mean([k["in_book"] for k in wrong]))}
        figures["paragraphs"], figures["shots"] = len(book.paragraphs), len(pair.lines)
    if arguments.json:
        print(json.dumps(figures, indent=1))
        return
    print(f"{figures.pop('shots')} shots, {figures.pop('paragraphs')} paragraphs")
    for name, values in figures.items():
        print(f"{name:32} " + "  ".join(f"{k} {100 * v:.1f} %" for k, v in values.items()))


if __name__ == "__main__":
    main()
