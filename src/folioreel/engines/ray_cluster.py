"""The engine `ray`: the same function over the machines of a Ray cluster (extra `ray`).

A piece whose worker process or machine dies is run again elsewhere, by Ray itself. The package
must be installed on every machine of the cluster, in the same version.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from folioreel.engines.batch import AHEAD, CRASHED, Item, Outcome, Result, attempt, count_cores
from folioreel.errors import ConfigError, WorkError

_RETRIES = 3
"""How often a piece is run again after the process under it died."""
_STORE_BYTES = 256_000_000
"""For the pieces in flight, where the cluster is started here: they are few and small."""


def run_on_ray(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int | None
) -> Iterator[Outcome[Item, Result]]:
    """Run a function over items on the cluster that RAY_ADDRESS names, or on one started here.

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
    # Ray writes notes of its own to stdout, where results go and nothing else.
    with redirect_stdout(sys.stderr), _connected(ray, workers) as cores:
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(attempt)
        running: dict[Any, Item] = {}
        for item in items:
            if len(running) >= AHEAD * (workers or cores):
                yield _collect(ray, running)
            running[remote.remote(function, item)] = item
        while running:
            yield _collect(ray, running)


def _collect(ray: Any, running: dict[Any, Item]) -> Outcome[Item, Any]:
    """Wait for one of the pieces that are running."""
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
    """A connection to the cluster; gives its number of cores."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    ours = not ray.is_initialized()
    if ours:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if "RAY_ADDRESS" not in os.environ:
            options |= {
                "address": "local",
                "num_cpus": workers or count_cores(),
                "object_store_memory": _STORE_BYTES,
                "include_dashboard": False,
            }
        try:
            ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            address = os.environ.get("RAY_ADDRESS", "this machine")
            raise ConfigError(f"no Ray cluster at {address} ({error}); check it there") from error
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if ours:
            ray.shutdown()
