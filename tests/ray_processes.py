"""Finding the processes in which Ray works, so that a test can kill one in the middle."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def ray_workers_below(process_id: int) -> list[int]:
    """The processes at work for Ray that a process has started, itself or by others."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            name = (folder / "cmdline").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        parents[int(folder.name)] = (int(status.rsplit(")", 1)[1].split()[1]), name)

    def is_below(each: int) -> bool:
        while each in parents and each != process_id:
            each = parents[each][0]
        return each == process_id

    return [
        each for each, (_, name) in parents.items() if "ray::attempt" in name and is_below(each)
    ]


def kill_a_ray_worker(process_id: int, goes_on: Callable[[], bool]) -> int | None:
    """Kill the first process that is at work for Ray, and give its id."""
    while goes_on():
        for worker in ray_workers_below(process_id):
            os.kill(worker, signal.SIGKILL)
            return worker
        time.sleep(0.02)
    return None
