"""Mutation fuzzing of every reader, for as long as it is told: `make fuzz SECONDS=600`.

First come the files of `nasty_files.py`, then mutants of valid files, reader by reader in turn.
Each is read in a child process with limits on time and memory, which lives on as long as nothing
goes wrong. What fails is kept in a folder, under the name of its reader and what went wrong.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import nasty_files
from fuzzed_readers import all_readers, mutate, read

from folioreel.errors import FolioReelError

SLOW_S = 2.0
_KILL_AFTER_S = 120.0  # by the clock on the wall, which runs on while other programs work
_MEMORY = 4 * 2**30
_KINDS = ("inputs", "clean errors", "tracebacks", "slow", "crashes")


def _serve(pipe: Connection, folder: str) -> None:
    """The child: read what comes through the pipe, and say how it went."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    logging.disable()
    warnings.simplefilter("ignore")
    while True:
        name, data = pipe.recv()
        begin, problem, verdict = time.process_time(), "", "read"
        try:
            read(all_readers()[name], data, Path(folder))
        except FolioReelError as error:
            verdict = "clean errors"
            if "\n" in str(error) or len(str(error)) > 2000:
                verdict, problem = "tracebacks", f"an error of several lines: {error!s:.500}"
        except Exception:
            verdict, problem = "tracebacks", traceback.format_exc()
        pipe.send((verdict, problem, time.process_time() - begin))


class Child:
    """A process that reads files, replaced when it dies."""

    def __init__(self, folder: Path) -> None:
        """Start it."""
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self._pipe, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_serve, args=(other, str(self._folder)), daemon=True)
        self._process.start()
        other.close()

    def try_file(self, name: str, data: bytes) -> tuple[str, str]:
        """What happens when a reader gets some bytes: the kind, and a report if it is bad."""
        try:
            self._pipe.send((name, data))
            if not self._pipe.poll(_KILL_AFTER_S):
                self.stop()
                self._start()
                return "slow", f"more than {_KILL_AFTER_S} s"
            verdict, problem, took_s = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            self._start()
            return "crashes", f"the process ended with {code}"
        if took_s > SLOW_S and verdict != "tracebacks":
            return "slow", f"{took_s:.1f} s"
        return verdict, problem

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.join()


def _nasty_files() -> Iterator[tuple[str, bytes]]:
    by_suffix = {".zip": "fb2"}
    for name, reader in all_readers().items():
        by_suffix.setdefault(Path(reader.file).suffix, name)
    for file, content in (*nasty_files.books(), *nasty_files.subtitles()):
        data = content.encode() if isinstance(content, str) else content
        yield by_suffix[Path(file).suffix], data


def _mutants(rng: random.Random, names: list[str]) -> Iterator[tuple[str, bytes]]:
    while True:
        for name in names:
            seeds = all_readers()[name].seeds
            yield name, mutate(rng.choice(seeds), seeds, rng)


def main() -> int:
    """Fuzz, print the counts, and exit with 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--seed", type=int, default=None, help="to repeat a run")
    parser.add_argument("--reader", action="append", help="only this one")
    parser.add_argument("--no-nasty", action="store_true")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    names = options.reader or list(all_readers())
    counts = {name: Counter[str]() for name in all_readers()}
    seen: Counter[str] = Counter()
    deadline = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        child = Child(Path(folder))
        files = [] if options.no_nasty or options.reader else _nasty_files()
        for source in (files, _mutants(random.Random(seed), names)):
            for name, data in source:
                if time.monotonic() > deadline:
                    break
                kind, problem = child.try_file(name, data)
                counts[name].update(["inputs", kind])
                if problem:
                    last = problem.strip().splitlines()[-1]
                    seen[f"{name}: {kind}: {last[:150]}"] += 1
                    _keep(options.keep, f"{name} {kind} {counts[name][kind]}", name, data, problem)
        child.stop()
    _report(counts, seen, seed, options.keep)
    return int(bool(seen))


def _keep(folder: Path, label: str, name: str, data: bytes, problem: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    suffix = Path(all_readers()[name].file).suffix
    (folder / f"{label}{suffix}").write_bytes(data)
    (folder / f"{label}.problem").write_text(problem, encoding="utf-8", errors="replace")


def _report(counts: dict[str, Counter[str]], seen: Counter[str], seed: int, folder: Path) -> None:
    lines = [f"{'reader':18}" + "".join(f"{kind:>14}" for kind in _KINDS)]
    total: Counter[str] = Counter()
    for name, found in counts.items():
        total += found
        lines.append(f"{name:18}" + "".join(f"{found[kind]:14,}" for kind in _KINDS))
    lines.append(f"{'all':18}" + "".join(f"{total[kind]:14,}" for kind in _KINDS))
    lines += [f"{count:6,}  {problem}" for problem, count in seen.most_common(40)]
    lines.append(f"seed {seed}" + (f"; what failed is in {folder}/" if seen else ""))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
