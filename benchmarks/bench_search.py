"""A search store of a given size: time and peak memory of building and asking, and recall@10.

    python benchmarks/bench_search.py                                   # small: the demo's book
    python benchmarks/bench_search.py --corpus CORPUS --rows 4000000 --queries DATASET

The store has the sentences of CORPUS that are indexed (`folioreel corpus index`), and, until there
are enough, more books like them: the sentences of each in reverse order, every vector moved by a
random step half as long as itself. Two books have no vectors, so that the building reads some too.
Building and asking run in processes of their own, whose peak memory is the system's count. The
queries are lines of DATASET's films, or sentences of the corpus with every third word left out.
Recall@10 is that of the vectors against all cosines by brute force, over the bytes on disk.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from folioreel.corpus.build import CorpusConfig, build_corpus
from folioreel.corpus.index import IndexConfig, index_corpus
from folioreel.corpus.manifest import BookRecord, Manifest, text_path, write_manifest
from folioreel.corpus.reader import BookText, Corpus, encode_text, open_corpus, read_text
from folioreel.corpus.search import SearchStore
from folioreel.corpus.store import (
    IndexedBook,
    StoreRecord,
    pack_vectors,
    read_record,
    vector_file,
)
from folioreel.models.onnx_graphs import unit_rows

COUNT = 10
STEP = 0.5
"""How far the vectors of made-up sentences are from real ones, in lengths of a vector."""
UNREAD = 2
"""Books that the building has to read itself."""


def small_corpus(folder: Path) -> Path:
    """The demo's book as a corpus, indexed."""
    import folioreel

    demo = Path(folioreel.__file__).parent / "demo" / "book.txt"
    (folder / "library").mkdir()
    text = demo.read_text(encoding="utf-8")
    for number in range(4):
        piece = text[number * len(text) // 4 : (number + 1) * len(text) // 4]
        (folder / "library" / f"{number}.txt").write_text(piece, encoding="utf-8")
    build_corpus(folder / "library", folder / "source", CorpusConfig(min_words=100, workers=1))
    index_corpus(folder / "source", IndexConfig(workers=1))
    return folder / "source"


def grow(source: Corpus, out: Path, rows: int) -> int:
    """Write a corpus with at least so many sentences, and its vectors; returns the real ones."""
    record = read_record(source.folder)
    records = {book.id: book for book in source.books}
    (out / "books").mkdir(parents=True)
    (out / "search" / "vectors").mkdir(parents=True)
    made: list[BookRecord] = []
    real = total = 0
    for copy in range(1000):
        for book in record.books:
            if total >= rows and copy:
                write_manifest(out, Manifest(config={}, books=tuple(made)))
                return real
            made.append(_copy_book(source, records[book.id], book, record, out, copy))
            total += book.sentences
            real += book.sentences if copy == 0 else 0
    raise ValueError("the corpus is too small for so many sentences")


def _copy_book(
    source: Corpus,
    book: BookRecord,
    indexed: IndexedBook,
    record: StoreRecord,
    out: Path,
    copy: int,
) -> BookRecord:
    text = read_text(text_path(source.folder, book.id), book.sentences)
    rows = vector_file(source.folder, indexed, record.fingerprint, record.units).read_all()
    vectors = rows.astype(np.float32)
    if copy:
        rng = np.random.default_rng([copy, *book.id.encode()])
        moves = unit_rows(rng.standard_normal(vectors.shape, dtype=np.float32))
        vectors = (unit_rows(vectors) + STEP * moves)[::-1]
        text = BookText(
            chapter_titles=text.chapter_titles,
            chapters=text.chapters,
            paragraphs=text.paragraphs,
            texts=tuple(f"{sentence}{' ' * copy}" for sentence in text.texts[::-1]),
        )
    made = replace(book, id=f"{book.id}-{copy}", path=f"{copy}/{book.path}")
    data = encode_text(text)
    text_path(out, made.id).write_bytes(data)
    new = replace(indexed, id=made.id, text_sha256=hashlib.sha256(data).hexdigest())
    path = vector_file(out, new, record.fingerprint, record.units).path
    path.write_bytes(pack_vectors(vectors))
    return made


def leave_unread(folder: Path) -> int:
    """Remove the vectors of a few books; returns how many sentences they have."""
    paths = sorted((folder / "search" / "vectors").iterdir())[:UNREAD]
    units = 384 + 48
    sentences = sum(path.stat().st_size // units for path in paths)
    for path in paths:
        path.unlink()
    return sentences


def build(folder: Path, encoder: str) -> dict[str, float]:
    """Index a corpus most of whose vectors are there."""
    start = time.perf_counter()
    report = index_corpus(folder, IndexConfig(encoder=encoder, workers=1))
    return {"seconds": time.perf_counter() - start, "sentences": report.sentences}


def ask(folder: Path, queries: list[str]) -> dict[str, object]:
    """Open the store, ask each query once to warm up, and then each again on the clock."""
    start = time.perf_counter()
    store = SearchStore.open(folder)
    opened = time.perf_counter() - start
    for query in queries:
        store.search(query, COUNT)
    walls, cores = [], []
    for query in queries:
        wall, core = time.perf_counter(), time.process_time()
        store.search(query, COUNT)
        walls.append(1000 * (time.perf_counter() - wall))
        cores.append(1000 * (time.process_time() - core))
    return {
        "open_s": opened,
        "median_ms": float(np.median(walls)),
        "p95_ms": float(np.percentile(walls, 95)),
        "core_median_ms": float(np.median(cores)),
        "core_p95_ms": float(np.percentile(cores, 95)),
        "nearest": [[list(place) for place in store.nearest(query, COUNT)] for query in queries],
    }


def brute_force(folder: Path, queries: list[str]) -> list[list[tuple[str, int]]]:
    """The ten sentences with the largest cosines, over all rows of all files."""
    from folioreel.models.sentence_encoder import load_encoder

    record = read_record(folder)
    vectors = unit_rows(load_encoder(record.encoder).encode(queries))
    best: list[list[tuple[float, str, int]]] = [[] for _ in queries]
    for book in record.books:
        rows = vector_file(folder, book, record.fingerprint, record.units).read_all()
        cosines = unit_rows(rows.astype(np.float32)) @ vectors.T  # (N, queries)
        for number in range(len(queries)):
            order = np.argsort(-cosines[:, number], kind="stable")[:COUNT]
            found = [(float(-cosines[row, number]), book.id, int(row)) for row in order]
            best[number] = sorted(best[number] + found)[:COUNT]
    return [[(book_id, row) for _, book_id, row in each] for each in best]


def choose_queries(folder: Path, dataset: Path | None, count: int) -> list[str]:
    """Lines of films, or sentences of the corpus with every third word left out."""
    rng = np.random.default_rng(11)
    if dataset is not None:
        from folioreel.evaluate.dataset import find_pairs, load_pair

        lines = [line.text for pair in find_pairs(dataset) for line in load_pair(pair).spoken]
        texts = [line for line in lines if len(line.split()) >= 3]
    else:
        texts = next(open_corpus(folder).read_books()).text.texts
        texts = [text for text in texts if len(text.split()) >= 6]
        texts = [" ".join(w for k, w in enumerate(t.split()) if k % 3 != 2) for t in texts]
    return [texts[k] for k in rng.choice(len(texts), min(count, len(texts)), replace=False)]


def in_process(*arguments: str) -> dict:
    """Run this script on a part of the work, in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(folder: Path, corpus: Path | None, rows: int, dataset: Path | None, count: int) -> None:
    """Build, ask, compare; print what came of it."""
    source = open_corpus(corpus or small_corpus(folder))
    out = folder / "grown"
    real = grow(source, out, rows)
    queries = choose_queries(out, dataset, count)
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    unread = leave_unread(out)
    built = in_process("--build", str(out), read_record(source.folder).encoder)
    asked = in_process("--ask", str(out), str(folder / "queries.json"))
    exact = brute_force(out, queries)
    hits = sum(
        len(set(right) & {(place[0], place[1]) for place in found})
        for right, found in zip(exact, asked["nearest"], strict=True)
    )
    sizes = {part: _size(out / "search" / part) for part in ("vectors", "words")}
    print(f"{built['sentences']:,} sentences, {real:,} of them real, {len(queries)} queries")
    print(
        f"build: {built['seconds']:.0f} s, of which {unread:,} sentences were read anew; "
        f"peak {built['peak_mb']:,.0f} MB"
    )
    print("disk: " + ", ".join(f"{part} {size / 1e6:,.0f} MB" for part, size in sizes.items()))
    print(f"open: {asked['open_s']:.1f} s; peak of asking {asked['peak_mb']:,.0f} MB")
    print(
        f"a query, warm: median {asked['median_ms']:.0f} ms, 95 % under {asked['p95_ms']:.0f} ms; "
        f"time on a core: {asked['core_median_ms']:.0f} and {asked['core_p95_ms']:.0f} ms"
    )
    print(f"recall@{COUNT} against brute force: {hits / (COUNT * len(queries)):.4f}")


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _report(work: Callable[[], dict]) -> None:
    result = work()
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result | {"peak_mb": peak_mb}))


def main() -> None:
    """Measure all of it, or run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--queries", type=Path, metavar="DATASET")
    parser.add_argument("--count", type=int, default=100, help="how many queries")
    parser.add_argument("--folder", type=Path, help="where to work; a temporary one by default")
    parser.add_argument("--build", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--ask", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        _report(lambda: build(Path(given.build[0]), given.build[1]))
    elif given.ask:
        queries = json.loads(given.ask[1].read_text(encoding="utf-8"))
        _report(lambda: ask(given.ask[0], queries))
    else:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            measure(Path(folder), given.corpus, given.rows, given.queries, given.count)


if __name__ == "__main__":
    main()
