"""How often `corpus search` finds what a film's line was made from: words, meaning, and both.

    python benchmarks/search_quality.py CORPUS DATASET

Each judged line with a counterpart in its book is a query; the corpus, which must hold the
dataset's books, is indexed. Recall@10: the share of queries for which one of the first ten answers
lies on the counterpart's lines, among all sentences of all books.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from folioreel.corpus.reader import open_corpus
from folioreel.corpus.search import Place, SearchStore
from folioreel.evaluate.dataset import find_pairs, load_pair
from folioreel.ingest.book import load_book

COUNT = 10
WAYS = ("words", "meaning", "both")


def read_queries(corpus: Path, dataset: Path) -> list[tuple[str, str, set[Place]]]:
    """Each query with its kind (verbatim, paraphrase, reported) and the right answers."""
    import hashlib

    books = {book.sha256: book.id for book in open_corpus(corpus).books}
    queries = []
    for folder in find_pairs(dataset):
        digest = hashlib.sha256((folder / "book.txt").read_bytes()).hexdigest()
        if digest not in books:
            print(f"{folder.name}: its book is not in the corpus")
            continue
        pair, book = load_pair(folder), load_book(folder / "book.txt")
        for judgement in pair.judgements:
            right = {
                (books[digest], sentence.index)
                for sentence in book.sentences
                for lines in judgement.passages
                if sentence.line is not None
                and sentence.line <= lines[1]
                and (sentence.line_end or sentence.line) >= lines[0]
            }
            if judgement.verdict == "match" and right:
                queries.append((pair.spoken[judgement.line].text, judgement.how, right))
    return queries


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("dataset", type=Path)
    arguments = parser.parse_args()
    store = SearchStore.open(arguments.corpus)
    queries = read_queries(arguments.corpus, arguments.dataset)
    found: Counter[tuple[str, str]] = Counter()
    for text, kind, right in queries:
        for way in WAYS:
            places = store.rank(text, COUNT, by=way)
            if right & {place for place, _ in places[:COUNT]}:
                found[way, kind] += 1
    kinds = Counter(kind for _, kind, _ in queries)
    print(f"{store.sentences:,} sentences, {len(queries)} queries, recall@{COUNT}")
    print(f"{'':10}" + "".join(f"{f'{kind} ({n})':>18}" for kind, n in kinds.items()) + "     all")
    for way in WAYS:
        shares = "".join(f"{found[way, kind] / n:18.3f}" for kind, n in kinds.items())
        total = sum(found[way, kind] for kind in kinds) / len(queries)
        print(f"{way:10}{shares}{total:8.3f}")


if __name__ == "__main__":
    main()
