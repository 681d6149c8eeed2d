"""What can go wrong, in words that tell the user what to do next.

FolioReelError
├── InputError            a file is missing, broken, empty or protected
│   └── UnknownFormatError  a file is of a kind that we do not read
├── ModelFolderError      a model folder is missing or damaged
├── ConfigError           a setting is unknown or out of range
├── AlignmentError        two good files that cannot be aligned with each other
└── WorkError             one piece of many failed in a way that nobody foresaw
"""

from __future__ import annotations

from pathlib import Path


class FolioReelError(Exception):
    """The root of all errors that a user can mend."""


class InputError(FolioReelError):
    """A file that cannot be read as what it should be."""

    def __init__(
        self, message: str, path: Path | str | None = None, line: int | None = None
    ) -> None:
        """Keep the place beside the message: `path`, and the line in it where known."""
        super().__init__(message, path, line)
        self.message = message
        self.path = Path(path) if path is not None else None
        self.line = line

    def __str__(self) -> str:
        """`path:line: message`."""
        place = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class UnknownFormatError(InputError):
    """A file of a kind that we do not read."""


class ModelFolderError(FolioReelError):
    """A model folder that is missing or damaged."""


class ConfigError(FolioReelError):
    """A setting that is unknown or out of range."""


class AlignmentError(FolioReelError):
    """A book and a film that cannot be aligned with each other."""


class WorkError(FolioReelError):
    """One piece of many that failed in a way that nobody foresaw; its process may have died."""
