"""Readers that do what a broken library may do; they run in a process of their own."""

import ctypes
import logging
import os
import sys
import time

from folioreel import isolation
from folioreel.errors import InputError
from folioreel.progress import Progress


def crash(path, progress):
    ctypes.string_at(0)


def abort(path, progress):
    os.abort()


def leave(path, progress):
    os._exit(7)


def hang(path, progress):
    progress(Progress(stage=str(os.getpid()), done=0, total=1))
    time.sleep(600)


def fill_memory(path, progress):
    """Within a limit that the machine that tests can do without."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (2**30, resource.RLIM_INFINITY))
    return len(bytearray(2**31))


def memory_limit(path, progress):
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)[0]


def refuse(path, progress):
    raise InputError("is not what it seems", path, 3)


def fail_in_an_odd_way(path, progress):
    class LocalError(Exception):
        """No other process knows it."""

    raise LocalError("who knows")


def talk(path, first, second, progress):
    progress(Progress(stage="reading", done=1, total=2, name=path.name))
    logging.getLogger("folioreel.ingest").info("%s is odd", path.name)
    logging.getLogger("folioreel.ingest").debug("%s is even", path.name)
    sys.stdout.write("what a library prints")
    sys.stdout.flush()
    return os.getpid(), first + second


def take_long(path, progress):
    isolation._BEAT_S = 0.5
    with isolation.unhurried():
        time.sleep(5)
    return "done"
