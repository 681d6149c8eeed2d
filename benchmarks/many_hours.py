"""Many hours: whether memory stays flat, and whether a corpus survives being killed.

    python benchmarks/many_hours.py --pairs 200 --seconds 3600 --books 10000 --kills 10

Each part runs the real program, and prints one line. Memory is what Linux says of the process and
all that it started. The books and films are made here, of random words.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_WORDS = (
    "ferry river dawn dial figure kilos water evening band malt bolt morning bus letter".split()
)


@dataclass(frozen=True, kw_only=True)
class PairsResult:
    """What came of many pairs."""

    pairs: int
    failed: int
    early_mb: float  # when a quarter of the pairs was done
    grown_mb: float  # from then to the end
    seconds: float


@dataclass(frozen=True, kw_only=True)
class PageResult:
    """What came of a page in use."""

    requests: int
    early_mb: float
    grown_mb: float


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """What came of a corpus that was killed."""

    books: int
    kills: int
    is_same: bool  # whether the corpus is the one that a single run makes, byte by byte
    seconds: float


def align_pairs(folder: Path, pairs: int) -> PairsResult:
    """Align many small pairs in one process, and measure its memory after each."""
    rng, rows = random.Random(1), ["book,film,name"]
    for number in range(pairs):
        _write_pair(folder, str(number), rng)
        rows.append(f"{number}.txt,{number}.srt,{number}")
    (folder / "pairs.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    begin = time.monotonic()
    out = folder / "out"
    command = ["align-many", folder / "pairs.csv", "--out", out, "--preset", "fast", "--workers", 1]
    seen: dict[int, float] = {}
    with _start(*command, "--json") as process:
        while process.poll() is None:
            done = sum((out / str(number) / "alignment.json").exists() for number in range(pairs))
            seen[done] = max(seen.get(done, 0.0), memory_mb(process.pid))
            time.sleep(0.1)
        printed = process.stdout.read() if process.stdout else ""
    outcomes = json.loads(printed)
    early = [mb for done, mb in seen.items() if done <= pairs // 4]
    late = [mb for done, mb in seen.items() if done > pairs // 4]
    return PairsResult(
        pairs=pairs,
        failed=sum(outcome["status"] != "aligned" for outcome in outcomes),
        early_mb=max(early),
        grown_mb=max(late) - max(early),
        seconds=time.monotonic() - begin,
    )


def use_page(folder: Path, seconds: float, fewest: int = 100) -> PageResult:
    """Read, judge and undo on a served page for some time, and measure the server's memory.

    `fewest` is how many requests there are at least, however slow the machine is.
    """
    _write_pair(folder, "one", random.Random(2))
    with _start(
        "align", folder / "one.txt", folder / "one.srt", "--preset", "fast", "--out", folder / "one"
    ) as process:
        assert process.wait() == 0
    with _start("view", folder / "one", "--no-open") as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        requests = 0
        revision = _post(address, "judge", _judgement(0, 0))["revision"]  # when all is loaded
        early = late = 0.0
        begin, until = time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < until or requests < fewest:
            where = "undo" if requests % 3 == 2 else "judge"
            revision = _post(address, where, _judgement(revision, requests))["revision"]
            requests += 1
            if requests % 10 == 0:
                with urllib.request.urlopen(address, timeout=60) as response:
                    response.read()
            is_early = requests < fewest / 4 or time.monotonic() < begin + seconds / 4
            early = max(early, memory_mb(process.pid)) if is_early else early
            late = late if is_early else max(late, memory_mb(process.pid))
        process.terminate()
    return PageResult(requests=requests, early_mb=early, grown_mb=late - early)


def kill_builds(folder: Path, books: int, kills: int, seed: int) -> BuildResult:
    """Build a corpus, kill the program at random moments, and compare with one run."""
    rng = random.Random(seed)
    (folder / "books").mkdir()
    for number in range(books):
        text = " ".join(_sentence(rng, number) for _ in range(200))
        (folder / "books" / f"{number:05}.txt").write_text(text, encoding="utf-8")
    begin = time.monotonic()

    def build(out: Path) -> list[object]:
        return ["corpus", "build", folder / "books", "--out", out, "--min-words", 500]

    with _start(*build(folder / "whole"), "--workers", 1) as process:
        assert process.wait() == 0
    whole_s, killed = time.monotonic() - begin, 0
    while killed < kills:
        with _start(*build(folder / "killed"), "--workers", 1) as process:
            try:
                # Early enough that there is something left to do, late enough to have begun.
                process.wait(rng.uniform(0.3, max(0.6, whole_s / kills)))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
                continue
        # It came to its end: the machine is faster than before.
        shutil.rmtree(folder / "killed")
        whole_s, killed = whole_s / 2, 0
    with _start(*build(folder / "killed"), "--workers", 1) as process:
        assert process.wait() == 0
    is_same = _files(folder / "whole") == _files(folder / "killed")
    seconds = time.monotonic() - begin
    return BuildResult(books=books, kills=killed, is_same=is_same, seconds=seconds)


def memory_mb(process: int) -> float:
    """The memory of a process and of all that it started, in megabytes; 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return 0.0
    return pages * _PAGE_BYTES / 1e6 + sum(memory_mb(int(child)) for child in children)


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "folioreel", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def _judgement(revision: int, number: int) -> dict[str, object]:
    judgement = {"moment": number % 5, "verdict": "match", "sentence": 1 + number % 7}
    return {"revision": revision, "judgement": judgement}


def _post(address: str, where: str, body: object) -> dict[str, int]:
    origin = "/".join(address.split("/")[:3])
    headers = {"Origin": origin, "Content-Type": "application/json"}
    request = urllib.request.Request(address + where, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: dict[str, int] = json.load(response)
    return answer


def _sentence(rng: random.Random, number: int) -> str:
    return f"The {' '.join(rng.choices(_WORDS, k=8))} was number {number} of {rng.randrange(1000)}."


def _write_pair(folder: Path, name: str, rng: random.Random) -> None:
    said = [_sentence(rng, number) for number in range(60)]
    (folder / f"{name}.txt").write_text("\n\n".join(said), encoding="utf-8")
    cues = (
        f"{k + 1}\n00:00:{k:02},000 --> 00:00:{k:02},900\n{text}\n"
        for k, text in enumerate(said[:50])
    )
    (folder / f"{name}.srt").write_text("\n".join(cues), encoding="utf-8")


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def main() -> None:
    """Run all parts, and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--books", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for part in ("pairs", "page", "books"):
            (Path(name) / part).mkdir()
        print(align_pairs(Path(name) / "pairs", options.pairs), flush=True)
        print(use_page(Path(name) / "page", options.seconds), flush=True)
        print(kill_builds(Path(name) / "books", options.books, options.kills, seed=1), flush=True)


if __name__ == "__main__":
    main()
