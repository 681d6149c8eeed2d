"""Progress of long work: the library reports values, and the caller draws the bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far one stage has come."""

    stage: str  # what is being done, in a word or two: the label of the bar
    done: float
    total: float
    """In the units of `done`, whatever they are; it may grow while the stage is running."""


ProgressCallback = Callable[[Progress], None]
"""Called from the thread that does the work, often: it should return quickly."""


def ignore_progress(progress: Progress) -> None:
    """The callback that draws nothing."""


def track(
    items: Iterable[Item], stage: str, progress: ProgressCallback, total: int | None = None
) -> Iterator[Item]:
    """Loop over items and report each one as done when the loop asks for the next.

    `total` is needed if the items are not a collection; all of them count the same.
    """
    if total is None:
        assert isinstance(items, Sized)
        total = len(items)
    progress(Progress(stage=stage, done=0, total=total))  # the first item may take long
    for done, item in enumerate(items, 1):
        yield item
        progress(Progress(stage=stage, done=done, total=total))
