"""The engine `local`: a pool of processes in which a crash costs one item, not the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_any
from typing import Generic

from folioreel.engines.batch import AHEAD, CRASHED, Item, Outcome, Result, attempt
from folioreel.errors import FolioReelError, WorkError


def run_in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Outcome[Item, Result]]:
    """Run a function over items in several processes, few items in flight at a time."""
    crew = _Crew(function, workers)
    try:
        for item in items:
            yield from crew.take(item)
        yield from crew.finish()
    finally:
        crew.dismiss()


_Answer = tuple[Result | None, FolioReelError | None]


class _Crew(Generic[Item, Result]):
    """A pool of processes that is made anew when one of them dies."""

    def __init__(self, function: Callable[[Item], Result], workers: int) -> None:
        self._function = function
        self._workers = workers
        self._pool = _make_pool(workers)
        self._running: dict[Future[_Answer[Result]], Item] = {}

    def take(self, item: Item) -> Iterator[Outcome[Item, Result]]:
        """Start an item, once there is room for it; yield those that were done meanwhile."""
        while len(self._running) >= AHEAD * self._workers:
            yield from self._collect()
        try:
            self._running[self._pool.submit(attempt, self._function, item)] = item
        except BrokenProcessPool:
            yield from self._recover([item])

    def finish(self) -> Iterator[Outcome[Item, Result]]:
        """Wait for all that is running."""
        while self._running:
            yield from self._collect()

    def dismiss(self) -> None:
        """Send the processes home; what has not begun is not begun."""
        self._pool.shutdown(cancel_futures=True)

    def _collect(self) -> Iterator[Outcome[Item, Result]]:
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                result, failure = future.result()
            except BrokenProcessPool:
                yield from self._recover([])
                return
            yield Outcome(item=self._running.pop(future), result=result, failure=failure)

    def _recover(self, waiting: list[Item]) -> Iterator[Outcome[Item, Result]]:
        """After a crash: run what was in flight one by one, and so find the item that crashes."""
        suspects = [*self._running.values(), *waiting]
        self._running.clear()
        self._pool.shutdown()
        for item in suspects:
            yield self._run_alone(item)
        self._pool = _make_pool(self._workers)

    def _run_alone(self, item: Item) -> Outcome[Item, Result]:
        with _make_pool(1) as pool:
            try:
                result, failure = pool.submit(attempt, self._function, item).result()
            except BrokenProcessPool:
                return Outcome(item=item, failure=WorkError(CRASHED))
        return Outcome(item=item, result=result, failure=failure)


def _make_pool(workers: int) -> ProcessPoolExecutor:
    # Forking a process that has threads may hang; a spawned one starts clean.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_any([parent.sentinel])
        os._exit(1)
