"""`run_many`: one function over many items (past one machine: the paper has 11,038 books).

It takes a function and items, and gives back what came of each. Both engines run the very same
function; a piece that fails or whose process dies costs that piece, and the rest goes on.

A function must be importable, and it must not matter whether it runs once or twice: Ray runs a
piece again when the process or the machine under it dies. What it returns travels back, so that a
cluster needs no disk that all its machines can write.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from folioreel.errors import ConfigError, FolioReelError, WorkError

EngineName = Literal["local", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Pieces that wait for each worker at most; each may hold a whole book."""

CRASHED = "its process crashed or was killed; was there memory enough?"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[Item, Result]):
    """What came of one item."""

    item: Item
    result: Result | None = None
    failure: FolioReelError | None = None
    """Why there is no result; None where there is one."""

    def get(self) -> Result:
        """The result.

        Raises:
            FolioReelError: There is none.
        """
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
    """Run a function over items and yield the outcome of each as it is there, in any order.

    Args:
        function: What is done with an item; importable, as must be the items' class.
        items: Drawn only as fast as they are done.
        engine: `local`, processes on this machine; or `ray`, the cluster that the environment
            variable RAY_ADDRESS names, or one that is started here for the time of the run. While
            it runs, what is printed goes to stderr.
        workers: How many pieces run at once: one a core if it is None. With `local`, one means
            that the work is done in this very process.

    Raises:
        ConfigError: There is no such engine, its package is missing, or `workers` is below 1.
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
    from folioreel.engines.processes import run_in_processes

    return run_in_processes(function, items, workers)


def attempt(
    function: Callable[[Item], Result], item: Item
) -> tuple[Result | None, FolioReelError | None]:
    """The result of one item, or why there is none: what a worker sends back."""
    try:
        return function(item), None
    except FolioReelError as error:
        return None, error
    except Exception as error:
        # What nobody foresaw must not end a run over thousands; the log keeps where it happened.
        _LOG.warning("a piece of the work failed", exc_info=True)
        return None, WorkError(f"failed unexpectedly ({type(error).__name__}: {error})")


def _run_here(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Outcome[Item, Result]]:
    for item in items:
        result, failure = attempt(function, item)
        yield Outcome(item=item, result=result, failure=failure)


def count_cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
