"""Progress of long work: the library reports values, and the caller draws the bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far one stage has come."""

    stage: str  # what is being done, in a word or two: the label of the bar
    done: float
    total: float
    """In the units of `done`, whatever they are; it may grow while the stage is running."""
    name: str = ""
    """What is being worked on, such as a file; it may change while the stage is running."""


ProgressCallback = Callable[[Progress], None]
"""Called from the thread that does the work, often: it should return quickly."""


def ignore_progress(progress: Progress) -> None:
    """The callback that draws nothing."""


def name_progress(progress: ProgressCallback | None, name: str) -> ProgressCallback:
    """A callback for work on one thing: its reports get a name if they have none."""
    if progress is None:
        return ignore_progress
    return lambda report: progress(replace(report, name=report.name or name))


def nest_progress(progress: ProgressCallback, whole: Progress) -> ProgressCallback:
    """A callback for work on one of many items, which has stages of its own.

    They are named in the report of the whole: a bar for each stage of each item would be a flood.
    """
    progress(whole)
    return lambda part: progress(replace(whole, name=f"{whole.name}, {part.stage}"))


def track(
    items: Iterable[Item],
    stage: str,
    progress: ProgressCallback,
    total: int | None = None,
    name: Callable[[Item], str] | None = None,
) -> Iterator[Item]:
    """Loop over items and report each one as done when the loop asks for the next.

    `total` is needed if the items are not a collection; all of them count the same. `name` says
    what to call the item in work.
    """
    if total is None:
        assert isinstance(items, Sized)
        total = len(items)
    progress(Progress(stage=stage, done=0, total=total))  # the first item may take long
    for done, item in enumerate(items, 1):
        named = "" if name is None else name(item)
        if named:
            progress(Progress(stage=stage, done=done - 1, total=total, name=named))
        yield item
        named = named if done < total else ""
        progress(Progress(stage=stage, done=done, total=total, name=named))
