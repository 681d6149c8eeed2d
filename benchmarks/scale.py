"""What a large corpus and many films would take, from measured rates (docs/explanation/scale.md).

    python benchmarks/scale.py --library BOOKS

Times are those that a processor core spends, so that other programs on the machine hardly matter:
each part runs in a process of its own that uses one core. The library is a folder of whole novels;
the films are the demo's, and random text of a usual size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOOKS, SENTENCES, FILMS = 11_038, 74_004_228, 10_000
"""The paper's corpus, and as many films as we would like to see."""
FILM_HOURS = 2.0
PAIR = (1_800, 7_750)
"""Moments and sentences of a usual pair, as in the paper's chain."""


def core_seconds(start: os.times_result) -> float:
    """What this process and those that it waited for have used since then."""
    now = os.times()
    return (now.user - start.user) + (now.system - start.system)


def read_books(library: Path, folder: Path) -> dict[str, float]:
    """Build a corpus out of a library."""
    from folioreel.corpus.build import CorpusConfig, build_corpus

    start = os.times()
    report = build_corpus(library, folder / "corpus", CorpusConfig(min_words=1000, workers=1))
    sentences = sum(book.sentences for book in report.kept)
    return {"units": len(report.kept), "sentences": sentences, "core_s": core_seconds(start)}


def embed(library: Path, folder: Path) -> dict[str, float]:
    """Turn the sentences of the corpus into vectors."""
    from folioreel.corpus.index import EmbedTask, embed_book
    from folioreel.corpus.reader import open_corpus
    from folioreel.models.sentence_encoder import load_encoder

    fingerprint = load_encoder("student").fingerprint
    books = list(open_corpus(folder / "corpus").read_books())[:4]
    tasks = [
        EmbedTask(book_id="", texts=book.text.texts, encoder="student", fingerprint=fingerprint)
        for book in books
    ]
    start = os.times()
    data = sum(len(embed_book(task)) for task in tasks)
    used = core_seconds(start)
    units = sum(len(task.texts) for task in tasks)
    return {"units": units, "core_s": used, "bytes": data}


def index_words(library: Path, folder: Path) -> dict[str, float]:
    """Put the words of the corpus into the full-text index."""
    from folioreel.corpus.reader import open_corpus
    from folioreel.corpus.words import WordWriter

    books = list(open_corpus(folder / "corpus").read_books())
    start = os.times()
    writer = WordWriter(folder / "words")
    for book in books:
        writer.add_book(book.record.id, book.text.texts)
    writer.commit()
    writer.close()
    data = sum(path.stat().st_size for path in (folder / "words").iterdir())
    units = sum(len(book.text.texts) for book in books)
    return {"units": units, "core_s": core_seconds(start), "bytes": data}


def watch(library: Path, folder: Path) -> dict[str, float]:
    """Read a video: its subtitles and its shots."""
    import folioreel
    from folioreel.ingest.film import load_film

    path = Path(folioreel.__file__).parent / "demo" / "film.mp4"
    start = os.times()
    film = load_film(path)
    return {"units": film.duration_s / 3600, "core_s": core_seconds(start)}


def align(library: Path, folder: Path) -> dict[str, float]:
    """Align a film of a usual size with its book, dialogue alone."""
    from bench import make_pair

    from folioreel.alignment.aligner import Aligner

    os.environ["FOLIOREEL_CACHE"] = str(folder)  # an empty cache: nothing is known beforehand
    aligner = Aligner.load()
    aligner.align(*make_pair(20, 30))  # the kernels are compiled
    pair = make_pair(*PAIR)
    start = os.times()
    aligner.align(*pair)
    return {"units": 1, "core_s": core_seconds(start)}


PARTS = {
    "read_books": (read_books, "books", BOOKS),
    "embed": (embed, "sentences", SENTENCES),
    "index_words": (index_words, "sentences", SENTENCES),
    "watch": (watch, "hours of film", FILMS * FILM_HOURS),
    "align": (align, "pairs", FILMS),
}


def report(library: Path) -> None:
    """Each rate, and what it makes of the whole."""
    print(f"{'part':12} {'measured on':>24} {'a core does':>26} {'all of':>26} {'core hours':>11}")
    with tempfile.TemporaryDirectory() as folder:
        for part, (_, name, total) in PARTS.items():
            command = [sys.executable, __file__, "--library", str(library), "--part", part]
            command += ["--folder", folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            rate = found["units"] / found["core_s"]
            shown = f"{rate:,.0f} {name}/s" if rate >= 20 else f"{3600 * rate:,.0f} {name}/h"
            hours = total / rate / 3600
            size = f"{found['units']:,.4g} {name}" if found["units"] < 1e4 else ""
            size = size or f"{found['units']:,.0f} {name}"
            print(f"{part:12} {size:>24} {shown:>26} {f'{total:,.0f} {name}':>26} {hours:11,.1f}")
            if "bytes" in found:
                each = found["bytes"] / found["units"]
                print(f"{'':12} {each:.0f} bytes a sentence, {each * total / 1e9:,.1f} GB in all")


def main() -> None:
    """The whole report, or one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part is None:
        report(given.library)
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    started = time.perf_counter()
    found = PARTS[given.part][0](given.library, given.folder)
    print(json.dumps(found | {"wall_s": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
