"""The program `folioreel`: one clear line and an exit code, whatever may be missing around it.

Most errors are told by the command line itself (cli/__init__.py). Here are those before it can run,
such as packages that are not installed, and those of the streams that everything is printed to.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

_STOPPED = 130  # as for every command that was stopped (cli/output.py)


def main() -> None:
    """Run a command, and exit."""
    received: list[int] = []
    _stop_by_signals(received)
    _open_missing_streams()
    os.environ.setdefault("FOLIOREEL_ISOLATE", "1")  # see isolation.py
    try:
        code = _run(received)
        if not received:
            code = _flush(code)
        _ignore_signals()
    except BaseException:
        _ignore_signals()
        if not received:
            raise
        _complain("stopped")
        code = _STOPPED
    if code and received:
        code = 128 + received[0]  # as shells have it
    if received:
        _discard(1)  # a pipe that nobody reads would keep us
    sys.exit(code)


def _run(received: list[int]) -> int:
    """Run a command; returns its exit code."""
    try:
        from folioreel.cli import main as commands  # here, where its errors are caught

        commands()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ImportError as error:
        # A mistake of ours, which no installation can mend; or a module that was interrupted.
        if (error.name or "").startswith("folioreel") or received:
            raise
        again = "pip install --upgrade folioreel (in a checkout: pip install --editable .)"
        _complain(f"a package is missing or out of date ({error}); run: {again}")
    except OSError as error:
        _complain(f"cannot print ({error.strerror or error})")
    return 1


def _stopping() -> list[int]:
    """The signals that stop a program; Windows has not all of them."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _stop_by_signals(received: list[int]) -> None:
    """A batch system that ends us, or a terminal that is closed, stops us as Ctrl-C does."""

    def stop(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for number in _stopping():
        if signal.getsignal(number) is not signal.SIG_IGN:  # as after nohup
            signal.signal(number, stop)


def _ignore_signals() -> None:
    """Python forgets our handlers before its end, and they would kill it."""
    for number in _stopping():
        signal.signal(number, signal.SIG_IGN)


def _open_missing_streams() -> None:
    """Where a stream is closed, the next file would take its place, and get what is printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _flush(code: int) -> int:
    """Print what is left; the exit code is 1 if that fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # a full disk, or closed as nobody reads it any more
            code = code or 1
            # Python would try again at its end, and complain in lines of its own.
            _discard(1 if stream is sys.stdout else 2)
    return code


def _discard(number: int) -> None:
    """What is still to be printed to a stream goes nowhere."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), number)


def _complain(message: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"folioreel: {' '.join(message.split())}\n")


if __name__ == "__main__":
    main()
