"""The engine `ray`: `run_many` on the machines of a Ray cluster (extra `ray`).

Ray itself repeats a task elsewhere when its worker process or machine dies. All machines of the
cluster need the same version of folioreel.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from folioreel.engines.batch import (
    CRASHED,
    QUEUED_PER_WORKER,
    Item,
    Outcome,
    Result,
    attempt,
    count_cores,
)
from folioreel.errors import ConfigError, WorkError

# Ray's own default, stated: a machine may fail a few times, but an item that kills every process
# it meets must not be retried forever.
_RETRIES = 3
# For a temporary cluster. By default Ray would reserve 30 % of all memory; we keep a few tasks in
# flight, each no larger than a book.
_OBJECT_STORE_BYTES = 256_000_000


def run_on_ray(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int | None
) -> Iterator[Outcome[Item, Result]]:
    """Run on the cluster that RAY_ADDRESS names, or on a temporary one on this machine.

    Raises:
        ConfigError: Ray is not installed, or there is no cluster at that address.
    """
    try:
        import ray
    except ImportError:
        raise ConfigError("--engine ray needs Ray: pip install 'folioreel[ray]'") from None
    return _run(ray, function, items, workers)


def _run(
    ray: Any, function: Callable[[Item], Result], items: Iterable[Item], workers: int | None
) -> Iterator[Outcome[Item, Result]]:
    # Ray prints notices to stdout, which is reserved for results.
    with redirect_stdout(sys.stderr), _connected(ray, workers) as cores:
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(attempt)
        running: dict[Any, Item] = {}
        for item in items:
            if len(running) >= QUEUED_PER_WORKER * (workers or cores):
                yield _collect(ray, running)
            running[remote.remote(function, item)] = item
        while running:
            yield _collect(ray, running)


def _collect(ray: Any, running: dict[Any, Item]) -> Outcome[Item, Any]:
    """Wait for one of the running tasks."""
    (done,), _ = ray.wait(list(running), num_returns=1)
    item = running.pop(done)
    try:
        result, failure = ray.get(done)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[0]
        return Outcome(item=item, failure=WorkError(f"{CRASHED} ({reason})"))
    return Outcome(item=item, result=result, failure=failure)


@contextmanager
def _connected(ray: Any, workers: int | None) -> Iterator[int]:
    """Connect to the cluster; yields its number of cores."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    ours = not ray.is_initialized()
    if ours:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if "RAY_ADDRESS" not in os.environ:
            options |= {
                "address": "local",
                "num_cpus": workers or count_cores(),
                "object_store_memory": _OBJECT_STORE_BYTES,
                "include_dashboard": False,
            }
        try:
            ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            address = os.environ.get("RAY_ADDRESS", "this machine")
            raise ConfigError(
                f"cannot connect to a Ray cluster at {address} ({error}); check RAY_ADDRESS"
            ) from error
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if ours:
            ray.shutdown()
