"""Engines that could hold the search store, on the same sentences: time, memory, disk, recall@10.

    python benchmarks/compare_stores.py CORPUS --rows 200000

Not needed to run folioreel: what is not installed is left out (`pip install usearch lancedb
sqlite-vec`). Times are those that a processor core spends, in a process for each engine.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folioreel.corpus.reader import open_corpus
from folioreel.corpus.search import nearest_by_signs
from folioreel.corpus.store import pack_signs, read_record, vector_file
from folioreel.corpus.words import WordIndex, WordWriter
from folioreel.models.onnx_graphs import unit_rows

COUNT, QUERIES, SHORTLIST = 10, 100, 2_000
Vectors = NDArray[np.float32]
Search = Callable[[int], list[int]]
"""The rows that answer the query of a number."""


def ours(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """Signs, and then bytes."""
    signs, asked = pack_signs(vectors), pack_signs(queries)
    rows = np.rint(vectors * (127 / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
    rows.tofile(folder / "rows")
    signs.tofile(folder / "signs")
    stored = np.memmap(folder / "rows", np.int8, "r", shape=rows.shape)

    def search(number: int) -> list[int]:
        near = nearest_by_signs(signs, asked[number], SHORTLIST)
        cosines = unit_rows(stored[near].astype(np.float32)) @ queries[number]
        return [int(row) for row in near[np.argsort(-cosines, kind="stable")[:COUNT]]]

    return search


def usearch(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """HNSW over bytes, memory-mapped for the search."""
    from usearch.index import Index

    index = Index(ndim=vectors.shape[1], metric="cos", dtype="i8", expansion_search=200)
    index.add(np.arange(len(vectors)), vectors, threads=1)
    index.save(str(folder / "index"))
    del index
    mapped = Index.restore(str(folder / "index"), view=True)
    mapped.expansion_search = 200
    return lambda number: [int(key) for key in mapped.search(queries[number], COUNT).keys]


def lancedb(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """IVF and HNSW over bytes, as its documentation advises."""
    import lancedb
    import pyarrow

    values = pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array(vectors.ravel()), vectors.shape[1]
    )
    rows = pyarrow.table({"row": np.arange(len(vectors)), "vector": values})
    table = lancedb.connect(str(folder)).create_table("sentences", rows)
    table.create_index(
        metric="cosine", vector_column_name="vector", index_type="IVF_HNSW_SQ", num_partitions=1
    )

    def search(number: int) -> list[int]:
        found = table.search(queries[number]).distance_type("cosine").ef(200).limit(COUNT)
        return [int(row) for row in found.select(["row"]).to_arrow()["row"].to_pylist()]

    return search


def sqlite_vec(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """The same idea as ours, in SQL: signs, and then bytes."""
    import sqlite_vec

    database = sqlite3.connect(folder / "index.sqlite")
    database.enable_load_extension(True)
    sqlite_vec.load(database)
    units = vectors.shape[1]
    database.execute(f"create virtual table v using vec0(signs bit[{units}], +bytes int8[{units}])")
    scaled = np.rint(vectors * (127 / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
    bits = np.packbits(vectors > 0, axis=1, bitorder="little")
    asked = np.packbits(queries > 0, axis=1, bitorder="little")
    database.executemany(
        "insert into v(rowid, signs, bytes) values (?, vec_bit(?), vec_int8(?))",
        ((k, bits[k].tobytes(), scaled[k].tobytes()) for k in range(len(vectors))),
    )
    database.commit()

    def search(number: int) -> list[int]:
        found = database.execute(
            "select rowid, bytes from v where signs match vec_bit(?) and k = ?",
            (asked[number].tobytes(), SHORTLIST),
        ).fetchall()
        rows = np.frombuffer(b"".join(row[1] for row in found), np.int8).reshape(-1, units)
        cosines = unit_rows(rows.astype(np.float32)) @ queries[number]
        return [int(found[k][0]) for k in np.argsort(-cosines)[:COUNT]]

    return search


def tantivy(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """BM25, our full text."""
    writer = WordWriter(folder)
    writer.add_book("all", texts)
    writer.commit()
    writer.close()
    index = WordIndex(folder)
    asked = choose(texts)
    return lambda number: [place[1] for place in index.search(texts[asked[number]], COUNT)]


def fts5(vectors: Vectors, queries: Vectors, texts: list[str], folder: Path) -> Search:
    """BM25 of SQLite, any of the words."""
    database = sqlite3.connect(folder / "index.sqlite")
    database.execute("create virtual table t using fts5(text, content='', tokenize='porter')")
    database.executemany("insert into t(rowid, text) values (?, ?)", enumerate(texts))
    database.commit()
    asked = choose(texts)

    def search(number: int) -> list[int]:
        words = "".join(c if c.isalnum() else " " for c in texts[asked[number]]).split()
        query = " OR ".join(f'"{word}"' for word in words)
        sql = "select rowid from t where t match ? order by rank limit ?"
        return [int(row[0]) for row in database.execute(sql, (query, COUNT))]

    return search


ENGINES = {each.__name__: each for each in (ours, usearch, lancedb, sqlite_vec, tantivy, fts5)}
BY_WORDS = ("tantivy", "fts5")


def choose(texts: list[str]) -> NDArray[np.int64]:
    """The sentences that are asked for: some of those with six words or more."""
    long = np.flatnonzero([len(text.split()) >= 6 for text in texts])
    return np.random.default_rng(5).choice(long, QUERIES, replace=False)


def read(corpus: Path, rows: int) -> tuple[Vectors, Vectors, list[str]]:
    """The first sentences of an indexed corpus, their vectors, and vectors near some of them."""
    opened, record = open_corpus(corpus), read_record(corpus)
    books = {book.id: book for book in opened.books}
    pieces: list[NDArray[np.int8]] = []
    texts: list[str] = []
    for book in record.books:
        pieces.append(vector_file(corpus, book, record.fingerprint, record.units).read_all())
        texts += opened.read(books[book.id]).text.texts
        if len(texts) >= rows:
            break
    vectors = unit_rows(np.concatenate(pieces)[:rows].astype(np.float32))
    kept = np.flatnonzero(vectors.any(axis=1))
    vectors, texts = vectors[kept], [texts[k] for k in kept]
    rng = np.random.default_rng(6)
    near = vectors[choose(texts)]
    moves = unit_rows(rng.standard_normal(near.shape, dtype=np.float32))
    return vectors, unit_rows(near + 0.7 * moves), texts


def measure(name: str, corpus: Path, rows: int) -> dict[str, object]:
    """Build one engine's store and ask it all queries."""
    vectors, queries, texts = read(corpus, rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        search = ENGINES[name](vectors, queries, texts, Path(folder))
        built = time.process_time() - start
        for number in range(QUERIES):
            search(number)
        times, found = [], []
        for number in range(QUERIES):
            start = time.process_time()
            found.append(search(number))
            times.append(1000 * (time.process_time() - start))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    result: dict[str, object] = {
        "engine": name,
        "build_core_s": built,
        "extra_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before,
        "bytes_a_row": size / len(texts),
        "median_core_ms": float(np.median(times)),
        "p95_core_ms": float(np.percentile(times, 95)),
    }
    if name not in BY_WORDS:
        exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :COUNT]
        pairs = zip(exact, found, strict=True)
        hits = [len(set(right.tolist()) & set(answer)) for right, answer in pairs]
        result["recall"] = sum(hits) / (COUNT * QUERIES)
    return result


def main() -> None:
    """A row an engine."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.engine:
        print(json.dumps(measure(given.engine, given.corpus, given.rows)))
        return
    print("engine       build core s   extra MB   bytes/row   query core ms: median   p95   recall")
    for name in ENGINES:
        command = [sys.executable, __file__, str(given.corpus), "--rows", str(given.rows)]
        done = subprocess.run(
            [*command, "--engine", name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"{name:12} left out: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        recall = f"{row['recall']:8.3f}" if "recall" in row else " " * 8
        print(
            f"{name:12} {row['build_core_s']:12.1f} {row['extra_mb']:10.0f} "
            f"{row['bytes_a_row']:11.0f} {row['median_core_ms']:23.1f} {row['p95_core_ms']:5.1f}"
            f" {recall}",
            flush=True,
        )


if __name__ == "__main__":
    main()
