"""Time and peak memory of every part beside a naive reference, in one run (`make bench`).

Each part runs in a process of its own, so that its peak memory is its own. A reference that would
take hours runs on a sample and is scaled up; the table marks it with `~`. The text is random, with
the word frequencies and sentence lengths of English novels, in the words of the demo's book, so
that it can be made anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from folioreel.models.chain import Chain
from folioreel.types import Book, Film

SIZES = ((651, 3151), (1302, 6302), (2604, 12603))
"""Moments × sentences; the last is the paper's largest film and book (Gone Girl)."""
PAPER = {"bleu": "6 h", "tfidf": "10 min", "map": "5 min"}
DOCS = Path(__file__).parents[1] / "docs" / "explanation"


def make_pair(moments: int, sentences: int) -> tuple[Film, Book]:
    """A random film and book: Zipf's words, 12 words a sentence, 7 words a spoken line."""
    from folioreel.types import Chapter, Paragraph, Sentence, Subtitle

    rng = np.random.default_rng(7)
    ranks = np.arange(1, 20_001)
    chances = 1 / (ranks + 2.7)
    words = demo_words(len(ranks))
    chances /= chances.sum()

    def texts(count: int, mean: int) -> list[str]:
        lengths = 1 + rng.poisson(mean - 1, count)
        drawn = iter(rng.choice(len(words), lengths.sum(), p=chances))
        return [" ".join(words[next(drawn)] for _ in range(length)) for length in lengths]

    film = Film(
        title="film",
        duration_s=3.0 * moments,
        subtitles=tuple(
            Subtitle(index=k, start_s=3.0 * k, end_s=3.0 * k + 2, text=text)
            for k, text in enumerate(texts(moments, 7))
        ),
    )
    book = Book(
        title="book",
        sentences=tuple(
            Sentence(index=k, text=text, line=k + 1, line_end=k + 1)
            for k, text in enumerate(texts(sentences, 12))
        ),
        paragraphs=tuple(Paragraph(index=k, sentences=range(k, k + 1)) for k in range(sentences)),
        chapters=(Chapter(index=0, title="", paragraphs=range(sentences)),),
    )
    return film, book


def demo_words(count: int) -> list[str]:
    """The words of the demo's book by frequency, then pairs of them joined, as rare words are."""
    from collections import Counter
    from itertools import islice

    from folioreel.text import tokenize

    counted = Counter(word for text in demo_sentences(1000) for word in tokenize(text))
    known = [word for word, _ in counted.most_common()]
    rare = (first + second for first in known for second in known)
    return list(islice(dict.fromkeys((*known, *islice(rare, count))), count))


def random_chain(moments: int, sentences: int, kind: str = "noise", **weights: float) -> Chain:
    """A chain whose scores are flat, noisy or peaked."""
    from folioreel.config import ChainConfig
    from folioreel.models.chain import make_chain

    rng = np.random.default_rng(7)
    unary = rng.random((moments, sentences), dtype=np.float32)
    if kind == "flat":
        unary[:] = 0
    elif kind == "peaked":
        unary **= 50
    return make_chain(unary, np.full(moments - 1, 1 / moments), ChainConfig(**weights))


def timed(work: Callable[[], object], warm_up: Callable[[], object] | None = None) -> float:
    """Seconds of one call, after the kernels were loaded by a small one."""
    if warm_up is not None:
        warm_up()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run_measures(moments: int, sentences: int, names: tuple[str, ...]) -> float:
    """Our measures over every block of rows, the preparation included."""
    from folioreel.config import AlignConfig
    from folioreel.similarity.tensor import SimilarityRows

    config = AlignConfig(weights=dict.fromkeys(names, 1.0))

    def measure(film: Film, book: Book) -> None:
        for _ in SimilarityRows(film, book, config).blocks():
            pass

    small, pair = make_pair(20, 30), make_pair(moments, sentences)
    return timed(lambda: measure(*pair), lambda: measure(*small))


def bleu(moments: int, sentences: int) -> float:
    """BLEU-1 … BLEU-5 of all pairs."""
    return run_measures(moments, sentences, tuple(f"bleu{n}" for n in range(1, 6)))


def bleu_reference(moments: int, sentences: int) -> float:
    """NLTK in a loop over 400 pairs, scaled to all."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    film, book = make_pair(moments, sentences)
    rng = np.random.default_rng(1)
    sample = 400
    pairs = [
        (film.subtitles[rng.integers(moments)].text.split(),
         book.sentences[rng.integers(sentences)].text.split())
        for _ in range(sample)
    ]  # fmt: skip
    smooth = SmoothingFunction().method2

    def loop() -> None:
        for hypothesis, reference in pairs:
            for n in range(1, 6):
                order = min(n, len(hypothesis))
                weights = [1 / order] * order
                sentence_bleu([reference], hypothesis, weights, smoothing_function=smooth)

    return timed(loop) * moments * sentences / sample


def tfidf(moments: int, sentences: int) -> float:
    """tf-idf of all pairs."""
    return run_measures(moments, sentences, ("tfidf",))


def tfidf_reference(moments: int, sentences: int) -> float:
    """scikit-learn: fit, transform, and the product as one dense table."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    film, book = make_pair(moments, sentences)

    def whole() -> None:
        vectorizer = TfidfVectorizer(token_pattern=r"\S+")
        columns = vectorizer.fit_transform([sentence.text for sentence in book.sentences])
        rows = vectorizer.transform([subtitle.text for subtitle in film.subtitles])
        (rows @ columns.T).toarray()

    return timed(whole)


def measures(moments: int, sentences: int) -> float:
    """BLEU, tf-idf and the prior together; the encoders have rows of their own, on true words."""
    names = ("prior", "tfidf", *(f"bleu{n}" for n in range(1, 6)))
    return run_measures(moments, sentences, names)


def map_path(moments: int, sentences: int) -> float:
    """The best path, exactly, without the paper's pruning."""
    from folioreel.alignment.decode import decode_chain

    small, chain = random_chain(5, 100), random_chain(moments, sentences)
    return timed(lambda: decode_chain(chain), lambda: decode_chain(small))


def map_reference(moments: int, sentences: int) -> float:
    """The dynamic program in plain NumPy over a few steps, scaled to all."""
    chain = random_chain(4, sentences)
    here = np.arange(sentences)
    values = chain.unary[0].astype(np.float64)

    def steps() -> None:
        nonlocal values
        for i in range(1, 4):
            costs = chain.costs(i)[here[:, None] - here[None, :] + sentences - 1]
            table = values[None, :] - costs
            table.argmax(axis=1)
            values = table.max(axis=1) + chain.unary[i]

    return timed(steps) * (moments - 1) / 3


def marginals(moments: int, sentences: int) -> float:
    """Exact marginals of every cell."""
    from folioreel.alignment.marginals import chain_marginals

    small, chain = random_chain(5, 100), random_chain(moments, sentences)
    return timed(lambda: chain_marginals(chain), lambda: chain_marginals(small))


def marginals_reference(moments: int, sentences: int) -> float:
    """Forward sums in plain NumPy over a few steps, scaled to all and to both directions."""
    chain = random_chain(4, sentences)
    here = np.arange(sentences)
    message = np.zeros(sentences)

    def steps() -> None:
        nonlocal message
        for i in range(1, 4):
            costs = chain.costs(i)[here[:, None] - here[None, :] + sentences - 1]
            table = (message + chain.unary[i - 1])[None, :] - costs
            peaks = table.max(axis=1)
            message = peaks + np.log(np.exp(table - peaks[:, None]).sum(axis=1))

    return timed(steps) * 2 * (moments - 1) / 3


def align(moments: int, sentences: int, preset: str = "default") -> float:
    """Everything from texts to links."""
    from folioreel.alignment.aligner import Aligner

    aligner = Aligner.load(preset)
    small, pair = make_pair(20, 30), make_pair(moments, sentences)
    return timed(lambda: aligner.align(*pair), lambda: aligner.align(*small))


def demo_sentences(count: int) -> list[str]:
    """The sentences of the demo's book, over and over: encoders must read true words."""
    from itertools import cycle, islice

    import folioreel
    from folioreel.ingest.book import load_book

    book = load_book(Path(folioreel.__file__).parent / "demo" / "book.txt")
    return list(islice(cycle(sentence.text for sentence in book.sentences), count))


def encode(moments: int, sentences: int, name: str) -> float:
    """The vectors of as many sentences as a film and its book have together."""
    from folioreel.models.sentence_encoder import load_encoder

    encoder, texts = load_encoder(name), demo_sentences(moments + sentences)
    return timed(lambda: encoder.encode(texts), lambda: encoder.encode(texts[:20]))


def encode_reference(moments: int, sentences: int, name: str) -> float:
    """The same graph, one sentence at a time, over 400 of them, scaled to all."""
    from folioreel.models.sentence_encoder import load_encoder

    sample = 400
    encoder, texts = load_encoder(name), demo_sentences(sample)

    def loop() -> None:
        for text in texts:
            encoder.encode([text])

    seconds = timed(loop, lambda: encoder.encode(texts[:20]))
    return seconds * (moments + sentences) / sample


ENCODERS = ("skip-thought", "student", "paraphrase")
PARTS: dict[str, tuple[Callable[[int, int], float], Callable[[int, int], float] | None, str]] = {
    "bleu": (bleu, bleu_reference, "~NLTK in a loop"),
    "tfidf": (tfidf, tfidf_reference, "scikit-learn"),
    "measures": (measures, None, ""),
    "map": (map_path, map_reference, "~NumPy"),
    "marginals": (marginals, marginals_reference, "~NumPy"),
    "align": (align, None, ""),
    "align-fast": (partial(align, preset="fast"), None, ""),
}
PARTS |= {
    name: (partial(encode, name=name), partial(encode_reference, name=name), "~one at a time")
    for name in ENCODERS
}


def sweep(what: str) -> None:
    """Best path or marginals at 1,800 × 7,750 over many weights and scores: the slowest three."""
    from folioreel.alignment.decode import decode_chain
    from folioreel.alignment.marginals import chain_marginals

    solve = decode_chain if what == "map" else chain_marginals
    solve(random_chain(5, 100))
    found = []
    for kind in ("flat", "noise", "peaked"):
        for sigma in (0.001, 0.03, 1.0):
            for weight in (0.01, 1.0, 100.0):
                weights = {"unary": 1.0, "pace": weight, "stay": weight, "sigma": sigma}
                chain = random_chain(1800, 7750, kind, **weights)
                found.append([timed(lambda c=chain: solve(c)), f"{kind} σ={sigma} ω={weight}"])
    found.sort(reverse=True)
    times = [seconds for seconds, _ in found]
    print(json.dumps({"slowest": found[:3], "median": float(np.median(times)), "runs": len(found)}))


def in_process(*arguments: str) -> dict:
    """Run one part of this script by itself and read what it prints."""
    command = [sys.executable, __file__, *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def start_up() -> list[tuple[str, str]]:
    """How long the command takes to say hello, and the first run to compile."""
    best = min(
        timed(lambda: subprocess.run([sys.executable, "-m", "folioreel", "--help"],
                                     stdout=subprocess.DEVNULL, check=True))
        for _ in range(5)
    )  # fmt: skip
    align = (
        "import numpy as np; from folioreel.alignment.decode import decode_chain; "
        "from folioreel.alignment.marginals import chain_marginals; import sys; "
        f"sys.path.insert(0, {str(Path(__file__).parent)!r}); import bench; "
        "bench.run_measures(20, 30, ('bleu1', 'tfidf', 'prior')); "
        "c = bench.random_chain(5, 100); decode_chain(c); chain_marginals(c)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        run = lambda: subprocess.run([sys.executable, "-c", align], env=environment, check=True)  # noqa: E731
        first, second = timed(run), timed(run)
    return [
        ("folioreel --help, best of 5", f"{best:.2f} s"),
        ("compiling the kernels, first run only", f"{first - second:.1f} s"),
    ]


def report() -> None:
    """Everything, as a table on stdout and in `docs/explanation/`, with a plot."""
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    head = f"{'part':12} {'size':>14} {'time':>9} {'peak':>8} {'reference':>16} {'its time':>10} "
    say(head + f"{'its peak':>9} {'ratio':>9} {'paper':>7} {'growth':>7}")
    rows = []
    for part in PARTS:
        before = None
        for moments, sentences in SIZES:
            row = measure_part(part, moments, sentences)
            row["growth"] = row["seconds"] / before if before else None
            before = row["seconds"]
            rows.append(row)
            say(_line(row))
    for row in rows:
        if row["part"] in ENCODERS and (row["moments"], row["sentences"]) == SIZES[-1]:
            rate = (row["moments"] + row["sentences"]) / row["seconds"]
            say(f"{row['part']}: {rate:,.0f} sentences/s")
    for label, value in start_up():
        say(f"{label}: {value}")
    for what in ("map", "marginals"):
        found = in_process("--sweep", what)
        say(f"{what} at 1,800 × 7,750, {found['runs']} settings: median {found['median']:.1f} s")
        for seconds, where in found["slowest"]:
            say(f"  among the slowest: {seconds:.1f} s with {where}")
    for name in ("search", "watch", "speech", "ocr"):
        script = Path(__file__).with_name(f"bench_{name}.py")
        found = subprocess.run([sys.executable, script], capture_output=True, check=True, text=True)
        for line in found.stdout.splitlines():
            say(f"{name}: {line}")
    write_page(lines)
    plot(rows)


def measure_part(part: str, moments: int, sentences: int) -> dict:
    """One row of the table: ours, and the reference where there is one."""
    _, reference, name = PARTS[part]
    size = ("--size", str(moments), str(sentences))
    row = {"part": part, "moments": moments, "sentences": sentences, "reference": name}
    row |= in_process("--part", part, *size)
    if reference is not None:
        theirs = in_process("--part", part, *size, "--naive")
        row |= {"naive_s": theirs["seconds"], "naive_mb": theirs["peak_mb"]}
    return row


def write_page(lines: list[str]) -> None:
    """The table as a page of the documentation."""
    page = (
        "# Speed and memory\n\n"
        f"Made by `make bench` on {os.cpu_count()} cores. Times differ between machines; "
        "compare the ratios, which were taken in one run. `growth` is relative to the size "
        "before, which has a quarter of the cells. A reference marked `~` ran on a sample, "
        "and its time was extrapolated. `paper` is the paper's table of running times. The "
        "best path and the marginals are exact, over the whole book, without the paper's "
        "pruning. `skip-thought`, `student` and `paraphrase` encode as many sentences of the "
        "demo's book as film and book have together.\n\n"
    )
    DOCS.mkdir(exist_ok=True)
    text = page + "```\n" + "\n".join(lines) + "\n```\n\n![time against cells](bench.svg)\n"
    (DOCS / "bench.md").write_text(text, encoding="utf-8")


def _line(row: dict) -> str:
    size = f"{row['moments']:,} × {row['sentences']:,}"
    text = f"{row['part']:12} {size:>14} {row['seconds']:8.2f}s {row['peak_mb']:6.0f}MB "
    if "naive_s" in row:
        text += f"{row['reference']:>16} {_duration(row['naive_s']):>10} {row['naive_mb']:7.0f}MB "
        text += f"{row['naive_s'] / row['seconds']:8,.0f}x "
    else:
        text += " " * 47
    growth = f"{row['growth']:.1f}x" if row["growth"] else ""
    return text + f"{PAPER.get(row['part'], ''):>7} {growth:>7}"


def _duration(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 90 else f"{seconds:.1f} s"


def plot(rows: list[dict]) -> None:
    """Time against cells, ours and the references', on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for k, part in enumerate(PARTS):
        mine = [row for row in rows if row["part"] == part]
        cells = [row["moments"] * row["sentences"] / 1e6 for row in mine]
        axes.loglog(cells, [row["seconds"] for row in mine], "o-", color=f"C{k}", label=part)
        if "naive_s" in mine[0]:
            label = f"{part}: {mine[0]['reference'].lstrip('~')}"
            naive = [row["naive_s"] for row in mine]
            axes.loglog(cells, naive, "x--", color=f"C{k}", alpha=0.6, label=label)
    axes.set_xlabel("cells, in millions (moments × sentences)")
    axes.set_ylabel("seconds on two cores")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend(fontsize=8, ncols=2)
    figure.savefig(DOCS / "bench.svg", metadata={"Date": None})


def main() -> None:
    """Run one part (`--part`), or the whole report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--size", type=int, nargs=2)
    parser.add_argument("--naive", action="store_true")
    parser.add_argument("--sweep", choices=("map", "marginals"))
    arguments = parser.parse_args()
    if arguments.sweep:
        sweep(arguments.sweep)
    elif arguments.part:
        ours, reference, _ = PARTS[arguments.part]
        seconds = (reference if arguments.naive else ours)(*arguments.size)
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak_mb": peak_mb}))
    else:
        report()


if __name__ == "__main__":
    main()
