"""How long work reports on itself: the library emits values, the caller draws the bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far one stage has come."""

    stage: str
    done: float
    total: float


ProgressCallback = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """The callback that draws nothing."""
