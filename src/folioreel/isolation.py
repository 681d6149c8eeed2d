"""Untrusted files that libraries in C parse are read in a process of their own.

A file that makes such a library crash, hang or take all memory then costs one line of error, and
not the command, the batch or the server that reads it. The program `folioreel` reads PDF files and
videos so; from Python they are read in the calling process, unless FOLIOREEL_ISOLATE=1 is set.

The process is a plain `python` that imports what it needs, on every system. It is given a function
and its arguments, and sends back what it logs, its progress, and its result or error, all pickled.
It ends with whoever started it.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from folioreel.errors import InputError, WorkError
from folioreel.progress import ProgressCallback

Result = TypeVar("Result")

SWITCH = "FOLIOREEL_ISOLATE"
# Seconds without a report. A long PDF takes a minute on a slow machine, and videos report with
# every few frames; what else takes long is `unhurried`.
_PATIENCE_S = 600.0
_BEAT_S = 30.0  # between two signs of life in work that takes long with every file
# Of the machine's memory: what a file may make a library take, so that the rest goes on.
_MEMORY_SHARE = 0.75
_START = "import sys; sys.path.append(sys.argv[1]); from folioreel.isolation import serve; serve()"
_PACKAGES = str(Path(__file__).parents[1])

_log = logging.getLogger(__name__)


def is_wanted() -> bool:
    """Whether untrusted files are read in processes of their own."""
    return os.environ.get(SWITCH) == "1" and bool(sys.executable)


def read_apart(
    function: Callable[..., Result],
    path: Path,
    *arguments: Any,
    progress: ProgressCallback | None = None,
) -> Result:
    """Call `function(path, *arguments, progress)` in a process of its own, or here.

    It is called here unless that is wanted, and if an argument cannot be sent elsewhere.

    Raises:
        InputError: The process crashed, took too much memory, or did not get on.
    """
    report = progress or _ignore
    if is_wanted():
        try:
            request = pickle.dumps((function, path, arguments, _log.getEffectiveLevel()))
        except (pickle.PicklingError, AttributeError, TypeError):
            pass  # such as an encoder that was made by the caller
        else:
            return _Reader(request, path).wait(report)  # type: ignore[no-any-return]
    return function(path, *arguments, report)


def _ignore(progress: Any) -> None:
    """Reports go nowhere."""


class _Reader:
    """The process that reads a file, as seen by who waits for it."""

    def __init__(self, request: bytes, path: Path) -> None:
        self._path = path
        try:
            self._process = subprocess.Popen(
                # Without -P, Python files in the folder in which the user works would be run.
                [sys.executable, "-P", "-c", _START, _PACKAGES],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, SWITCH: "0"},  # one is enough
            )
        except OSError as error:
            raise WorkError(f"no process can be started ({error.strerror or error})") from error
        self._messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._talk, args=(request,), daemon=True).start()

    def _talk(self, request: bytes) -> None:
        """Send the request, and take messages until the process ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()  # not closed: when it is, the process ends
            while True:
                self._messages.put(pickle.load(self._process.stdout))
        except Exception:  # the end, or what a crash left of a message
            self._messages.put(("end", None))

    def wait(self, progress: ProgressCallback) -> Any:
        """The result; raises the error that came in its place."""
        try:
            while True:
                kind, value = self._messages.get(timeout=_PATIENCE_S)
                if kind == "result":
                    return value
                if kind == "error":
                    raise value
                if kind == "alive":
                    continue
                if kind == "progress":
                    progress(value)
                elif kind == "log":
                    level, message = value
                    _log.log(level, "%s", message)
                else:
                    raise InputError(
                        f"{self._ended()}; get the file again, or convert it", self._path
                    )
        except queue.Empty:
            message = f"made no progress for {_PATIENCE_S:.0f} s; get the file again, or convert it"
            raise InputError(message, self._path) from None
        finally:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes

    def _ended(self) -> str:
        code = self._process.wait()
        with suppress(ValueError):
            return f"crashed the library that reads it ({signal.Signals(-code).name})"
        return f"crashed the library that reads it (exit code {code})"


@contextmanager
def unhurried() -> Iterator[None]:
    """What takes long however sound a file is: to hash all its bytes, to download a model."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(_BEAT_S):
            _answer("alive", None)

    threading.Thread(target=beat, daemon=True).start()
    try:
        yield
    finally:
        done.set()


_answer: Callable[[str, Any], None] = lambda kind, value: None  # noqa: E731  # serve() replaces it


def leave_signals_to_parent() -> None:
    """Ignore Ctrl-C and its like, which reach all processes: who waits for this one ends it."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def serve() -> None:
    """The other side: do what stdin asks for."""
    global _answer
    leave_signals_to_parent()
    request, answer = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between
    function, path, arguments, level = pickle.load(request)
    threading.Thread(target=_end_with_parent, args=(request,), daemon=True).start()
    lock = threading.Lock()

    def send(kind: str, value: Any) -> None:
        with lock:
            _send(answer, (kind, value))

    _answer = send
    logging.getLogger().addHandler(logging.NullHandler())  # other packages' logs; see `show_log`
    logger = logging.getLogger("folioreel")
    logger.setLevel(level)
    logger.addHandler(_Forward(send))
    logger.propagate = False
    limit = _limit_memory()
    try:
        send("result", function(path, *arguments, lambda progress: send("progress", progress)))
    except MemoryError:
        most = "there is" if limit is None else f"{limit / 2**30:.0f} GB"
        message = f"needs more memory than {most}; is it damaged?"
        send("error", InputError(message, path))
    except Exception as error:
        send("error", error)
    os._exit(0)  # at once: threads of libraries may still be at work


def _send(stream: BinaryIO, message: tuple[str, Any]) -> None:
    try:
        data = pickle.dumps(message)
        pickle.loads(data)  # some errors can be written and not read
    except Exception as error:
        data = pickle.dumps(("error", WorkError(f"{type(error).__name__}: {message[1]}")))
    stream.write(data)
    stream.flush()


class _Forward(logging.Handler):
    """Sends what is logged to who waits."""

    def __init__(self, send: Callable[[str, Any], None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record as text."""
        self._send("log", (record.levelno, record.getMessage()))


def _end_with_parent(request: BinaryIO) -> None:
    request.read(1)  # nothing comes any more, until the other end is closed
    os._exit(1)


def _limit_memory() -> int | None:
    """Limit the memory of this process, where the system can; returns the limit in bytes."""
    try:
        import resource

        limit = int(_MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is no news to us
    except (ImportError, OSError, ValueError, AttributeError):
        return None  # Windows has no such limits
    return limit
