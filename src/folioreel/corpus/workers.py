"""Work over several processes: few tasks in flight, and a crash costs one task, not the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_any
from typing import Generic, TypeVar

Task = TypeVar("Task")

_AHEAD = 2
"""Tasks that wait for each worker at most; each holds a whole book."""


def count_cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tasks(
    function: Callable[[Task], None],
    tasks: Iterable[Task],
    workers: int,
    on_crash: Callable[[Task], None],
) -> Iterator[Task]:
    """Run a function over tasks and yield each when it is done, in any order.

    Args:
        function: What is done; must be importable, as must the tasks' class.
        tasks: Drawn only as fast as they are done.
        workers: How many processes; one means that the work is done in this one.
        on_crash: Called with a task that brought its process down.
    """
    if workers == 1:
        for task in tasks:
            function(task)
            yield task
        return
    crew = _Crew(function, workers, on_crash)
    try:
        for task in tasks:
            yield from crew.take(task)
        yield from crew.finish()
    finally:
        crew.dismiss()


class _Crew(Generic[Task]):
    """A pool of processes that is made anew when one of them dies."""

    def __init__(
        self, function: Callable[[Task], None], workers: int, on_crash: Callable[[Task], None]
    ) -> None:
        self._function = function
        self._workers = workers
        self._on_crash = on_crash
        self._pool = _make_pool(workers)
        self._running: dict[Future[None], Task] = {}

    def take(self, task: Task) -> Iterator[Task]:
        """Start a task, once there is room for it; yield those that were done meanwhile."""
        while len(self._running) >= _AHEAD * self._workers:
            yield from self._collect()
        try:
            self._running[self._pool.submit(self._function, task)] = task
        except BrokenProcessPool:
            yield from self._recover([task])

    def finish(self) -> Iterator[Task]:
        """Wait for all that is running."""
        while self._running:
            yield from self._collect()

    def dismiss(self) -> None:
        """Send the processes home; what has not begun is not begun."""
        self._pool.shutdown(cancel_futures=True)

    def _collect(self) -> Iterator[Task]:
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                future.result()
            except BrokenProcessPool:
                yield from self._recover([])
                return
            yield self._running.pop(future)

    def _recover(self, waiting: list[Task]) -> Iterator[Task]:
        """After a crash: run what was in flight one by one, and so find the task that crashes."""
        suspects = [*self._running.values(), *waiting]
        self._running.clear()
        self._pool.shutdown()
        for task in suspects:
            with _make_pool(1) as pool:
                try:
                    pool.submit(self._function, task).result()
                except BrokenProcessPool:
                    self._on_crash(task)
            yield task
        self._pool = _make_pool(self._workers)


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
