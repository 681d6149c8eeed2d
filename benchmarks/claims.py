"""How many lines are said to be in the book (docs/how-to/languages.md), as Markdown.

    python training/parallel_films.py BOOKS --out FILMS --judged 1 --without fi hu ca
    python benchmarks/claims.py FILMS [--preset NAME]

In films made from parallel books, all that is not in the book comes from another one: single lines
between others, which are judged `scene`, and whole scenes, judged `none`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from folioreel.alignment.align import align
from folioreel.evaluate.dataset import find_pairs, load_pair
from folioreel.evaluate.metrics import own_links, placed_links


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", type=Path, help="folder of judged pairs")
    parser.add_argument("--preset", default="auto")
    options = parser.parse_args()
    judged, claimed = Counter[str](), Counter[str]()
    for folder in find_pairs(options.pairs):
        pair = load_pair(folder)
        alignment = align(pair.book, pair.film, preset=options.preset)
        for judgement, link in own_links(pair, placed_links(alignment)):
            judged[judgement.verdict] += 1
            claimed[judgement.verdict] += link is not None and link.in_book
    print("| judged | lines | said to be in the book | share |\n|---|---|---|---|")
    for verdict in ("match", "scene", "none"):
        lines, hits = judged[verdict], claimed[verdict]
        print(f"| {verdict} | {lines} | {hits} | {100 * hits / max(lines, 1):.1f} % |")


if __name__ == "__main__":
    main()
