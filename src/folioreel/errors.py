"""All errors that users meet; each message says what is wrong and what to do about it.

FolioReelError
├── InputError              a file is missing, damaged, empty or not writable
│   ├── UnknownFormatError  a file is in a format that we do not read
│   └── UnreadableWordsError  the words are pictures, and what reads them is not installed
├── ModelFolderError        a model folder is missing or damaged
├── ConfigError             a setting is unknown or out of range
├── AlignmentError          book and film are readable, but cannot be aligned with each other
└── WorkError               one job of many failed unexpectedly

Mistakes of a programmer who calls the library raise `ValueError` or `TypeError` instead.
"""

from __future__ import annotations

from pathlib import Path

LONGEST = 1000
"""Characters of a message: a value from a file, or given by mistake, may be endless."""


def shorten(line: str) -> str:
    """A line of bearable length: its beginning names the file, its end says what to do."""
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} … {line[-half:]}"


class FolioReelError(Exception):
    """Base class of all errors that a user can do something about."""

    def __str__(self) -> str:
        """The message, however long what it tells about is."""
        return shorten(super().__str__())


class InputError(FolioReelError):
    """A file that cannot be read or written."""

    def __init__(
        self, message: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        """Keep the message, the path and, if known, the line in the file.

        The message continues after the path: "is empty", "cannot be read".
        """
        # Exceptions are pickled by their arguments; errors must survive a worker process.
        super().__init__(message, path, line)
        self.message = message
        self.path = Path(path) if path is not None else None
        self.line = line

    def __str__(self) -> str:
        """`path:line: message`."""
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return shorten(f"{place}: {self.message}" if place else self.message)


class UnknownFormatError(InputError):
    """A file in a format that we do not read."""


class UnreadableWordsError(InputError):
    """The words of a film are pictures of text, and what reads those is not installed."""


class ModelFolderError(FolioReelError):
    """A model folder that is missing or damaged."""


class ConfigError(FolioReelError):
    """A setting that is unknown or out of range."""


class AlignmentError(FolioReelError):
    """A book and a film that cannot be aligned with each other."""


class WorkError(FolioReelError):
    """One job of many that failed unexpectedly, such as by a crash of its worker process."""
