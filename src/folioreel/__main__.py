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
    stopped_by = _stop_as_with_ctrl_c()
    _open_missing_streams()
    os.environ.setdefault("FOLIOREEL_ISOLATE", "1")  # see isolation.py
    code = 1
    try:
        from folioreel.cli import main as commands  # here, where its errors are caught

        commands()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = _STOPPED
    except ImportError as error:
        if (error.name or "").startswith("folioreel"):
            raise  # a mistake of ours, which no installation can mend
        again = "pip install --upgrade folioreel (in a checkout: pip install --editable .)"
        _complain(f"a package is missing or out of date ({error}); run: {again}")
    except OSError as error:
        _complain(f"cannot print ({error.strerror or error})")
    if code == _STOPPED and stopped_by:
        code = 128 + stopped_by[0]  # as shells have it
    sys.exit(_flush(code))


def _stop_as_with_ctrl_c() -> list[int]:
    """A batch system that ends us, or a terminal that is closed, stops us as Ctrl-C does.

    Returns:
        Where their signals will be found.
    """
    received: list[int] = []

    def stop(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has but one of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, stop)
    return received


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
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1 if stream is sys.stdout else 2)
    return code


def _complain(message: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"folioreel: {' '.join(message.split())}\n")


if __name__ == "__main__":
    main()
