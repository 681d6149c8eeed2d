"""What the building of a corpus is told (paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from folioreel.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """Which books a corpus keeps, and how it is built."""

    min_words: int = 20_000
    """Shorter books are left out (the paper's bound)."""
    duplicate_from: float = 0.3
    """Share of common runs of words from which two books are editions of one."""
    held_out_from: float = 0.1
    """Share of the shorter of a book and a held-out one from which the former stays out."""
    exclude: tuple[Path, ...] = ()
    """Folders of books that the corpus must not hold, such as those of an evaluation."""
    workers: int | None = None
    """Processes that read books; as many as there are cores if it is None."""

    def __post_init__(self) -> None:
        """Refuse bounds that make no sense."""
        if self.min_words < 0:
            raise ConfigError(f"corpus.min_words must not be negative, as {self.min_words} is")
        for name in ("duplicate_from", "held_out_from"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"corpus.{name} must be above 0 and at most 1")
        if self.workers is not None and self.workers < 1:
            raise ConfigError(f"corpus.workers must be at least 1, not {self.workers}")

    def settings(self) -> dict[str, Any]:
        """What changes which books are kept, for the record: not how or where it was built."""
        return {
            "min_words": self.min_words,
            "duplicate_from": self.duplicate_from,
            "held_out_from": self.held_out_from,
        }
