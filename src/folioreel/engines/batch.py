"""`run_many`: apply one function to many items, on this machine or on a Ray cluster.

Both engines run the same function on the same items and give the same results. A task that fails,
or whose process dies, costs that one item; the others go on. The paper's corpus has 11,038 books,
and one bad file must not end a run over all of them.

The function must be importable by the workers, and safe to run twice: Ray repeats a task when the
process or the machine under it dies. Results are sent back to the caller, so a cluster needs no
shared disk.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for_any
from typing import Generic, Literal, TypeVar, get_args

from folioreel.errors import ConfigError, FolioReelError, WorkError
from folioreel.files import scratch_folder
from folioreel.isolation import leave_signals_to_parent

EngineName = Literal["local", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

Item = TypeVar("Item")
Result = TypeVar("Result")
Answer = tuple[Result | None, FolioReelError | None]
"""What a worker sends back: a result, or why there is none."""

QUEUED_PER_WORKER = 2
"""Tasks submitted per worker: one that runs and one that waits, so that no worker idles between
tasks. More would only cost memory, as each may hold a whole book."""

CRASHED = "its process crashed or was killed (out of memory?)"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[Item, Result]):
    """What came of one item."""

    item: Item
    result: Result | None = None
    failure: FolioReelError | None = None  # why there is no result; None if there is one

    def get(self) -> Result:
        """The result; raises the failure if there is none."""
        if self.failure is not None:
            raise self.failure
        return self.result  # type: ignore[return-value]  # a result may be None by its own type


def run_many(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    engine: EngineName = "local",
    workers: int | None = None,
) -> Iterator[Outcome[Item, Result]]:
    """Apply a function to items and yield each outcome as it arrives, in any order.

    Args:
        function: Importable by name, as must be the items' class.
        items: Consumed only as fast as they are processed.
        engine: `local` for processes on this machine; `ray` for the cluster named by the
            environment variable RAY_ADDRESS, or for a temporary one on this machine. While Ray
            runs, stdout is redirected to stderr.
        workers: Number of parallel tasks; None for one per core, or for the whole cluster. With
            `local`, 1 runs everything in the current process. More start new processes, which
            import the calling script: it must be guarded by `if __name__ == "__main__":`.

    Raises:
        ConfigError: Unknown engine, missing package, or `workers` below 1.
    """
    if workers is not None and workers < 1:
        raise ConfigError(f"workers must be at least 1, not {workers}")
    if engine == "ray":
        from folioreel.engines.ray_cluster import run_on_ray

        return run_on_ray(function, items, workers)
    if engine != "local":
        raise ConfigError(f"unknown engine {engine!r}; choose from {', '.join(ENGINES)}")
    workers = workers or count_cores()
    if workers == 1:
        return _run_here(function, items)
    return _run_in_processes(function, items, workers)


def count_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # containers and batch systems often grant fewer than all
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def attempt(function: Callable[[Item], Result], item: Item) -> Answer[Result]:
    """Run one task, turning any error into a value that can be sent back."""
    try:
        return function(item), None
    except FolioReelError as error:
        return None, error
    except Exception as error:
        # An unforeseen error must not end a run over thousands; the log keeps its traceback.
        _LOG.warning("a task failed", exc_info=True)
        return None, WorkError(f"failed unexpectedly ({type(error).__name__}: {error})")


def _run_here(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Outcome[Item, Result]]:
    for item in items:
        result, failure = attempt(function, item)
        yield Outcome(item=item, result=result, failure=failure)


def _run_in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Outcome[Item, Result]]:
    pool = _SturdyPool(function, workers)
    try:
        for item in items:
            yield from pool.submit(item)
        yield from pool.drain()
    finally:
        pool.close()


class _SturdyPool(Generic[Item, Result]):
    """A process pool that is replaced when one of its processes dies."""

    def __init__(self, function: Callable[[Item], Result], workers: int) -> None:
        self._function = function
        self._workers = workers
        self._resources = ExitStack()
        # Of all workers, as those that are killed do not tidy up.
        self._scratch = self._resources.enter_context(scratch_folder())
        self._pool = self._make_pool(workers)
        self._running: dict[Future[Answer[Result]], Item] = {}

    def submit(self, item: Item) -> Iterator[Outcome[Item, Result]]:
        """Start an item once there is room, yielding the outcomes that arrive meanwhile."""
        while len(self._running) >= QUEUED_PER_WORKER * self._workers:
            yield from self._collect()
        try:
            self._running[self._pool.submit(attempt, self._function, item)] = item
        except BrokenProcessPool:
            yield from self._recover([item])

    def drain(self) -> Iterator[Outcome[Item, Result]]:
        """Wait for everything that is running."""
        while self._running:
            yield from self._collect()

    def close(self) -> None:
        """End the processes; what still runs, when the work was stopped, is not waited for."""
        if self._running:
            self._kill_workers()
        self._pool.shutdown(cancel_futures=True)
        self._resources.close()

    def _kill_workers(self) -> None:
        for process in (getattr(self._pool, "_processes", None) or {}).values():
            process.kill()

    def _make_pool(self, workers: int) -> ProcessPoolExecutor:
        # Forking a process that has threads may deadlock; a spawned one starts clean.
        context = multiprocessing.get_context("spawn")
        arguments = (str(self._scratch),)
        with _hang_ups_blocked():
            resource_tracker.ensure_running()
        return ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=arguments
        )

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
        """After a crash, run what was in flight one by one to find the item that crashes.

        A broken pool fails all its futures alike and does not say which of them was to blame.
        """
        suspects = [*self._running.values(), *waiting]
        self._running.clear()
        # The one that died may hold the lock of their queue, for which they would wait for ever;
        # and the pool would wait for them, as they ignore how it asks them to end.
        self._kill_workers()
        self._pool.shutdown()
        for item in suspects:
            yield self._run_alone(item)
        self._pool = self._make_pool(self._workers)

    def _run_alone(self, item: Item) -> Outcome[Item, Result]:
        self._pool = self._make_pool(1)  # where `close` finds it, if the work is stopped
        try:
            future = self._pool.submit(attempt, self._function, item)
            self._running[future] = item
            result, failure = future.result()
        except BrokenProcessPool:
            result, failure = None, WorkError(CRASHED)
        self._running.clear()
        self._pool.shutdown()
        return Outcome(item=item, result=result, failure=failure)


@contextmanager
def _hang_ups_blocked() -> Iterator[None]:
    """What is started here does not end when the terminal is closed.

    Python's own process that counts semaphores ends with its user. If it ended before, another
    would be started, which knows none of them, and prints so.
    """
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(scratch: str) -> None:
    """Leave signals to the parent, and exit when the parent does, even if it is killed."""
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    leave_signals_to_parent()
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_any([parent.sentinel])
        os._exit(1)
