"""Handing the page's address to the browser, out of sight of other users of the machine.

A browser is started with what it should open on its command line, which everybody on the machine
can read. The address with its token is therefore written to a file that only the user can read,
and the browser is given the path of that file.
"""

from __future__ import annotations

import html
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Self

from folioreel.errors import InputError

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}"><title>folioreel</title>
<p><a href="{0}">Open the page</a></p></html>
"""


class PrivatePage:
    """A file that leads to an address; it is gone at the end of the block, or after `remove`."""

    def __init__(self, address: str) -> None:
        try:
            # The folder is for this user alone (0700), and so is the file.
            self._folder = Path(tempfile.mkdtemp(prefix="folioreel-", dir=_runtime_folder()))
            self._path = self._folder / "open.html"
            try:
                self._write(_PAGE.format(html.escape(address)))
            except OSError:
                self.remove()
                raise
        except OSError as error:
            message = f"no browser can be opened safely ({error.strerror or error})"
            raise InputError(f"{message}; open the address above yourself") from error

    def _write(self, text: str) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)

    @property
    def uri(self) -> str:
        """What the browser is given."""
        return self._path.as_uri()

    def remove(self) -> None:
        """Delete the file, if it is still there."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
            self._folder.rmdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def _runtime_folder() -> str | None:
    """The user's own folder for such files, which is emptied at logout; None for the usual one."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    with suppress(OSError):
        status = os.stat(folder)
        is_private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
        if is_private and hasattr(os, "getuid") and status.st_uid == os.getuid():
            return folder
    return None
